"""The worker process: started clean by exec, imports the libraries once, then forks one sealed child per request.

The same program is the base zygote (never holds data) and, after a ``load`` frame, the holder of one graph. Frames from
the parent are its own pickles; frames to the parent are JSON and the bytes of a child. Nothing is unpickled there.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import pickle
import select
import socket
import sys
from importlib import import_module
from typing import Any

from nl2net.sandbox.process import wire
from nl2net.sandbox.process.layers import prepare_filter

_IDLE_S = 900.0
_NEVER = ("pyarrow", "jinja2", "matplotlib")


class Worker:
    """State of one worker: the two pipes to the parent, and the graph once there is one."""

    def __init__(self, control: int, out: int, options: dict[str, Any]) -> None:
        self.control = control
        self.out = out
        self.options = options
        self.adopt = socket.socket(fileno=options["adopt"])
        self.state: dict[str, Any] = {}
        self.forked: list[int] = []

    def serve(self) -> None:
        """Answer frames until the parent closes the pipe or nothing comes for the idle time."""
        idle = float(self.options.get("idle_s", _IDLE_S))
        while True:
            if not select.select([self.control], [], [], idle)[0]:
                return
            try:
                frame = wire.read_frame(self.control)
            except wire.Closed:
                return
            # An empty frame is a cancel that came after its run had ended.
            if frame and not self.answer(pickle.loads(frame)):  # noqa: S301 - written by our own parent
                return

    def answer(self, request: dict[str, Any]) -> bool:
        """Handle one request; false when the parent is gone."""
        from nl2net.sandbox.process import child, prepare, supervise

        if request["kind"] == "fork":
            self.fork()
            return True
        if request["kind"] == "load":
            self.state = prepare.hold(self.receive())
            # No collection here: it would walk the whole fresh graph and find nothing.
            gc.freeze()
            self.send({"kind": "loaded", "threads": supervise.thread_count()}, b"")
            return True
        prepare.complete(self.state, request)
        threads = supervise.thread_count()
        if threads != 1:
            self.send({"kind": "broken", "message": f"the worker has {threads} threads; it must have one"}, b"")
            return True
        watch = supervise.Watch(request["wall_s"], request["most_bytes"], self.control)
        verdict, data = supervise.run_child(
            lambda pipe, parent: child.run(pipe, parent, request, state=self.state, options=self.options), watch
        )
        if verdict.reason == "orphaned":
            return False
        self.send({"kind": "ran", **verdict.to_json()}, data)
        return True

    def receive(self) -> Any:
        """The graph, unpickled while it still comes in; with the collector off, which would walk it again and again."""
        stream = wire.ChunkReader(self.control)
        gc.disable()
        try:
            graph = pickle.Unpickler(stream).load()  # noqa: S301 - written by our own parent
        finally:
            gc.enable()
        stream.drain()
        return graph

    def fork(self) -> None:
        """Fork a worker that serves two pipes of its own; only ever before this process holds data."""
        self.forked = [number for number in self.forked if os.waitpid(number, os.WNOHANG)[0] == 0]
        _, pipes, _, _ = socket.recv_fds(self.adopt, 1, 2)
        number = os.fork()
        if number == 0:
            os.setsid()
            for descriptor in (self.control, self.out):
                os.close(descriptor)
            self.adopt.close()
            self.control, self.out = pipes
            self.send({"kind": "ready"}, b"")
            return
        for descriptor in pipes:
            os.close(descriptor)
        self.forked.append(number)
        self.send({"kind": "forked", "number": number}, b"")

    def send(self, head: dict[str, Any], data: bytes) -> None:
        """One head frame, one data frame."""
        wire.write_frame(self.out, json.dumps(head).encode())
        wire.write_frame(self.out, data)


def _settle() -> None:
    # Frozen objects are never visited by a collection in a child, so their pages stay shared.
    gc.collect()
    gc.freeze()


def _own_pipes() -> tuple[int, int]:
    """Move the pipes away from 0 and 1, so that a library that prints cannot reach them."""
    control, out = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    return control, out


def main(options_text: str) -> None:
    """Entry of the process; ``options_text`` is JSON from the parent's command line."""
    options = json.loads(options_text)
    control, out = _own_pipes()
    for name in _NEVER:
        sys.modules[name] = None  # type: ignore[assignment]
    os.environ.pop("LC_CTYPE", None)
    for name in ("nl2net.sandbox.process.child", *options["modules"]):
        import_module(name)
    if options["warm"]:
        from nl2net.sandbox.process.warm import warm_up

        warm_up(import_module(options["language"]))
    _settle()
    with contextlib.suppress(KeyError):
        prepare_filter(os.uname().machine)
    worker = Worker(control, out, options)
    worker.send({"kind": "ready"}, b"")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 2)
    os.close(null)
    worker.serve()
    os._exit(0)
