"""Parse an untrusted document in a sealed child: a worker that holds no graph, and one fork per document."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Self

from nl2net.errors import MemoryLimit, OutputLimit, ProgramFailed, SandboxError, TimeLimit
from nl2net.sandbox.channel.decode import Decoder
from nl2net.sandbox.outcome import Limits, Outcome
from nl2net.sandbox.process.reports import ending, read_reply
from nl2net.sandbox.process.worker import WorkerDied, WorkerOptions, WorkerProcess, fresh

PARSER_LIMITS = Limits(wall_s=60.0, cpu_s=60.0, memory_mb=1024, items=2_000_000, text_chars=20_000_000)
_ERRORS: dict[Outcome, type[SandboxError]] = {
    Outcome.TIME: TimeLimit,
    Outcome.MEMORY: MemoryLimit,
    Outcome.OUTPUT: OutputLimit,
}


class ParserWorker:
    """Parses documents behind the operating-system wall.

    Parameters
    ----------
    modules : sequence of str
        Modules that hold the parsing functions and everything they import late; loaded before the seal. Only these
        can be called.
    accept_unsealed : bool
        As for `Sandbox`.

    Examples
    --------
    >>> with ParserWorker(["json"]) as worker:
    ...     worker.parse_sealed("json:loads", b'{"a": [1, 2]}')
    {'a': [1, 2]}
    """

    def __init__(self, modules: list[str], *, accept_unsealed: bool = False) -> None:
        self._options = WorkerOptions(modules=tuple(modules), warm=False)
        self._accept = accept_unsealed
        self._lock = threading.Lock()
        self._worker: WorkerProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def parse_sealed(self, module_function: str, data: bytes, *, limits: Limits = PARSER_LIMITS) -> Any:
        """Call ``module:function`` with the bytes in a sealed child.

        Parameters
        ----------
        module_function : str
            Such as ``nl2net.incident.pdf:extract``; the function takes bytes and returns plain values.
        data : bytes
            The document, untrusted.
        limits : Limits

        Returns
        -------
        Any
            What the function returned, decoded from JSON; treat the texts in it as untrusted.

        Raises
        ------
        TimeLimit, MemoryLimit, OutputLimit
            A limit was hit.
        ProgramFailed
            The parser raised or crashed.
        Unavailable
            There is no sandbox here.
        """
        request = {
            "kind": "parse",
            "function": module_function,
            "data": data,
            "limits": limits,
            "wall_s": limits.wall_s,
            "most_bytes": limits.frame_bytes,
            "accept_unsealed": self._accept,
        }
        head, body = self._ask(request, limits)
        reply = read_reply(head, body, accept_unsealed=self._accept)
        if reply.fields is None:
            outcome, _, said = ending(head, limits)
            raise _ERRORS.get(outcome, ProgramFailed)(said.replace("the program", "the parser"))
        outcome = Outcome(reply.fields["outcome"])
        if outcome is not Outcome.OK:
            raise _ERRORS.get(outcome, ProgramFailed)(
                f"the document cannot be parsed: {reply.fields['error'] or outcome}"
            )
        return Decoder(limits).decode(reply.fields["value"])

    def _ask(self, request: dict[str, Any], limits: Limits) -> tuple[dict[str, Any], bytes]:
        with self._lock:
            for attempt in (1, 2):
                self._worker = fresh(self._worker, self._options)
                try:
                    return self._worker.ask(request, wall_s=limits.wall_s)
                except WorkerDied:
                    if attempt == 2:
                        break
        raise ProgramFailed("the parser process keeps dying")


def parse_sealed(module_function: str, data: bytes, *, limits: Limits = PARSER_LIMITS) -> Any:
    """Parse one document in a worker of its own; for several keep a `ParserWorker`."""
    with ParserWorker([module_function.partition(":")[0]]) as worker:
        return worker.parse_sealed(module_function, data, limits=limits)
