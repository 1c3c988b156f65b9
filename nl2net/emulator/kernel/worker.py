"""The worker process: enters its namespaces, builds one network and answers calls until the parent is gone.

It is started fresh, because entering a user namespace needs one thread and cannot be undone.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from nl2net.emulator.forms import applied_to_json, operation_from_json

# Everything must be imported before root is given up: the interpreter's own folder may be unreadable afterwards.
from nl2net.emulator.kernel import system
from nl2net.emulator.kernel.channel import read_frame, write_frame
from nl2net.emulator.kernel.network import Network
from nl2net.emulator.topology import topology_from_json
from nl2net.errors import Nl2netError


def handlers(network: Network) -> Mapping[str, Callable[[Mapping[str, Any]], Any]]:
    """What the parent may call."""
    return {
        "apply": lambda a: applied_to_json(network.apply(operation_from_json(a["operation"]))),
        "state": lambda a: network.state(),
        "ping": lambda a: network.ping(a["pairs"], a["idle_s"]),
        "tcp": lambda a: network.tcp(a["pairs"], a["idle_s"], a["resolve"]),
        "path": lambda a: network.path(a["source"], a["target"], a["idle_s"]).to_json(),
        "exec": lambda a: network.exec(a["node"], a["line"], a["timeout_s"], a["output_bytes"]).to_json(),
        "start_routing": lambda a: network.start_routing(a["protocol"]),
        "stop_routing": lambda a: network.stop_routing(),
        "drop_foreign": lambda a: network.drop_foreign(),
    }


def serve() -> None:
    """Answer calls; the first one carries the topology."""
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    network: Network | None = None
    try:
        while True:
            call = read_frame(incoming)
            try:
                if network is None:
                    system.enter()
                    started = time.perf_counter()
                    network = Network(topology_from_json(call["topology"]))
                    write_frame(outgoing, {"result": {"wall_s": time.perf_counter() - started}})
                else:
                    write_frame(outgoing, {"result": handlers(network)[call["call"]](call["arguments"])})
            except Nl2netError as error:
                write_frame(outgoing, {"error": type(error).__name__, "message": str(error), "hint": error.hint})
            except Exception as error:  # the parent must learn of it
                write_frame(outgoing, {"error": "Fault", "message": f"{type(error).__name__}: {error}", "hint": ""})
                if network is None:
                    return
    except (EOFError, BrokenPipeError):
        return
    finally:
        if network is not None:
            network.close()


if __name__ == "__main__":
    serve()
    sys.stdout.close()
    os._exit(0)
