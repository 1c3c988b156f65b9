"""One job runner: the same call runs work in this process, in threads, in processes, or on a Ray cluster.

What runs where is a question of the engine only. Items are taken from their iterator no faster than they are worked on,
so that a caller who stops feeding, because a cap is reached, leaves nothing queued behind.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any, Generic, TypeVar

from nl2net.errors import Nl2netError, Unavailable, UserError

Item = TypeVar("Item")
Result = TypeVar("Result")
ENGINES = ("serial", "threads", "processes", "ray")
_DIED = "the worker died while it worked on this item"
_MEMORY = "Is there too little memory?"


class JobFailed(Nl2netError):
    """An item made its worker die, twice."""


@dataclass(frozen=True, slots=True)
class Done(Generic[Item, Result]):
    """One item with its result, or with the error that it raised."""

    item: Item
    result: Result | None = None
    error: BaseException | None = None


def run_jobs(
    function: Callable[[Item], Result], items: Iterable[Item], *, engine: str = "processes", workers: int = 1
) -> Iterator[Done[Item, Result]]:
    """Apply a function to items, and give results as they are ready.

    Parameters
    ----------
    function : callable
        For ``processes`` and ``ray`` it must be found by its name from another process.
    items : iterable
        Read lazily, at most ``2 * workers`` ahead of what is done.
    engine : str
        ``serial``, ``threads``, ``processes`` or ``ray`` (extra ``ray``; a running cluster is joined through the
        variable ``RAY_ADDRESS``, else one is started on this machine).
    workers : int
        How many items are worked on at once.

    Yields
    ------
    Done
        In order of completion. An error of the function is handed over, not raised.

    Raises
    ------
    UserError
        The engine is unknown, or its extra is not installed.

    Examples
    --------
    >>> sorted(done.result for done in run_jobs(abs, [-3, 2], engine="serial"))
    [2, 3]
    """
    if engine not in ENGINES:
        raise UserError(f"unknown engine {engine!r}", hint=f"Known are {', '.join(ENGINES)}.")
    if engine == "ray":
        return _run_on_ray(function, items, workers)
    if engine == "serial" or (engine == "threads" and workers <= 1):
        return (_attempt(function, item) for item in items)
    return _run_in_pool(function, items, engine, workers)


def _attempt(function: Callable[[Item], Result], item: Item) -> Done[Item, Result]:
    try:
        return Done(item, function(item))
    except Exception as error:
        return Done(item, error=error)


def _open_pool(engine: str, workers: int) -> Executor:
    if engine == "threads":
        return ThreadPoolExecutor(workers, thread_name_prefix="nl2net-job")
    # A plain fork of a process with threads may deadlock.
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def _run_in_pool(
    function: Callable[[Item], Result], items: Iterable[Item], engine: str, workers: int
) -> Iterator[Done[Item, Result]]:
    source = iter(items)
    pool = _open_pool(engine, workers)
    flying: dict[Future[Result], Item] = {}
    try:
        while True:
            for item in islice(source, 2 * workers - len(flying)):
                flying[pool.submit(function, item)] = item
            if not flying:
                return
            finished, _ = wait(flying, return_when=FIRST_COMPLETED)
            broken = [future for future in finished if isinstance(future.exception(), BrokenProcessPool)]
            for future in finished.difference(broken):
                yield _done(flying.pop(future), future)
            if broken:
                # All that was in the air is lost with the pool, and nobody can say whose fault it was.
                lost, flying = list(flying.values()), {}
                pool.shutdown(wait=False, cancel_futures=True)
                pool = _open_pool(engine, workers)
                yield from (_alone(function, item) for item in lost)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _done(item: Item, future: Future[Result]) -> Done[Item, Result]:
    error = future.exception()
    return Done(item, error=error) if error is not None else Done(item, future.result())


def _alone(function: Callable[[Item], Result], item: Item) -> Done[Item, Result]:
    """Try a lost item once more in a process of its own: if that dies too, it is the item's doing."""
    with _open_pool("processes", 1) as pool:
        done = _done(item, pool.submit(function, item))
    return Done(item, error=JobFailed(_DIED, hint=_MEMORY)) if isinstance(done.error, BrokenProcessPool) else done


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers
    try:
        return import_module("ray")
    except ImportError:
        raise UserError("the engine ray needs the package ray", hint="Install the extra: nl2net[ray].") from None


def _run_on_ray(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Done[Item, Result]]:
    ray = _ray()
    started = not ray.is_initialized()
    if started:
        _start(ray, workers)
    try:
        remote = ray.remote(max_retries=1)(_attempt)
        source = iter(items)
        flying: dict[Any, Item] = {}
        while True:
            for item in islice(source, 2 * workers - len(flying)):
                flying[remote.remote(function, item)] = item
            if not flying:
                return
            ready, _ = ray.wait(list(flying), num_returns=1)
            item = flying.pop(ready[0])
            try:
                yield ray.get(ready[0])
            except ray.exceptions.RayError as error:
                yield Done(item, error=JobFailed(f"{_DIED}: {type(error).__name__}", hint=_MEMORY))
    finally:
        if started:
            ray.shutdown()


def _start(ray: Any, workers: int) -> None:
    # Workers find the same modules as this process, also those of folders that were added to its path.
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}}
    common = {"log_to_driver": False, "configure_logging": False, "runtime_env": environment}
    where = {"address": "auto"} if os.environ.get("RAY_ADDRESS") else {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(**where, **common)
    except Exception as error:  # Ray raises what it likes here
        hint = "Try again when the machine is less busy, or use the engine processes."
        raise Unavailable(f"Ray did not start: {error}", hint=hint) from error
