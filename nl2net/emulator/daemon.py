"""What `emulate up` leaves behind: one process that holds one network, behind a socket of mode 0600.

It ends by `down`, or by itself when nobody has called for a while.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from nl2net import errors
from nl2net.emulator.forms import applied_to_json, operation_from_json
from nl2net.emulator.interface import Emulator, build
from nl2net.emulator.kernel.channel import read_frame, write_frame
from nl2net.emulator.topology import Topology, topology_from_json, topology_to_json
from nl2net.errors import Nl2netError, Unavailable, UserError
from nl2net.locations import Locations, atomic_write, private_folder

IDLE_STOP_S = 1800.0
START_LIMIT_S = 120.0


def socket_path(locations: Locations, name: str) -> Path:
    """Where the network of that name listens."""
    if not name.replace("-", "").replace("_", "").isalnum() or len(name) > 40:
        raise UserError(f"{name!r} cannot name a network", hint="Letters, digits, - and _, at most 40.")
    return locations.runtime / f"emulator-{name}.sock"


def start(topology: Topology, *, backend: str, name: str, locations: Locations, idle_s: float = IDLE_STOP_S) -> Any:
    """Start the process that holds the network and wait until it is built; what `info` answers.

    Raises
    ------
    UserError
        A network of that name is up already.
    Unavailable
        The backend cannot be had.
    """
    path = socket_path(locations, name)
    private_folder(path.parent)
    if path.exists():
        if _alive(path):
            raise UserError(f"a network named {name!r} is up", hint="`nl2net emulate down` ends it.")
        path.unlink()
    plan = path.with_suffix(".json")
    body = {"topology": topology_to_json(topology), "backend": backend, "idle_s": idle_s}
    with atomic_write(plan, private=True) as stream:
        stream.write(json.dumps(body).encode())
    log = path.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "nl2net.emulator.daemon", str(path), str(plan)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            start_new_session=True,
        )
    limit = time.monotonic() + START_LIMIT_S
    while time.monotonic() < limit:
        if process.poll() is not None:
            raise _startup_error(log)
        if path.exists() and _alive(path):
            return call(path, "info")
        time.sleep(0.02)
    process.kill()
    raise Unavailable(f"the network was not built within {START_LIMIT_S:.0f} s")


def _startup_error(log: Path) -> Nl2netError:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    try:
        answer = json.loads(lines[-1])
    except (IndexError, ValueError):
        return Unavailable(f"the network could not be built: {lines[-1] if lines else 'no message'}")
    return _rebuild(answer)


def _rebuild(answer: Mapping[str, str]) -> Nl2netError:
    kind = getattr(errors, answer["error"], Unavailable)
    if not (isinstance(kind, type) and issubclass(kind, Nl2netError)) or kind is errors.RefusedCode:
        kind = Unavailable
    return kind(answer["message"], hint=answer["hint"])


def _alive(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def call(path: Path, name: str, **arguments: Any) -> Any:
    """Call the process that holds a network.

    Raises
    ------
    UserError
        No network of that name is up.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(path))
        except OSError:
            hint = "Start one with `nl2net emulate up TOPOLOGY`."
            raise UserError("no network is up under this name", hint=hint) from None
        with connection.makefile("rwb") as stream:
            write_frame(stream, {"call": name, "arguments": arguments})
            try:
                answer = read_frame(stream)
            except EOFError:
                raise Unavailable("the network ended during the call") from None
    if "error" in answer:
        raise _rebuild(answer)
    return answer["result"]


def answer_call(network: Emulator, name: str, arguments: Mapping[str, Any]) -> Any:
    """Carry out one call on a network."""
    match name:
        case "info":
            counts = {"nodes": len(network.topology.nodes), "links": len(network.topology.links)}
            cluster = network.topology.cluster is not None
            facts = {"name": network.topology.name, "backend": network.backend, "note": network.note}
            return {**facts, "cluster": cluster, **counts}
        case "ping":
            pairs = arguments.get("pairs")
            return network.ping_matrix(None if pairs is None else [(a, b) for a, b in pairs]).to_json()
        case "tcp":
            pairs = arguments.get("pairs")
            return network.tcp_matrix(None if pairs is None else [(a, b, c) for a, b, c in pairs]).to_json()
        case "trace":
            return network.path(arguments["source"], arguments["target"]).to_json()
        case "exec":
            limit = float(arguments.get("timeout_s", 10.0))
            return network.exec(arguments["node"], arguments["line"], timeout_s=limit).to_json()
        case "apply":
            return applied_to_json(network.apply(operation_from_json(arguments["operation"])))
        case "routing":
            if arguments["protocol"] == "off":
                return {"daemons": network.stop_routing()}
            return network.start_routing(arguments["protocol"]).to_json()
        case "state":
            return network.snapshot().to_json()
        case _:
            raise UserError(f"unknown call {name!r}")


def serve(path: Path, plan: Path) -> None:
    """Build the network of a plan and answer calls until `down` or idleness."""
    body = json.loads(plan.read_text(encoding="utf-8"))
    plan.unlink()
    network = build(topology_from_json(body["topology"]), backend=body["backend"])
    with network, socket.socket(socket.AF_UNIX) as listener:
        mask = os.umask(0o177)
        listener.bind(str(path))
        os.umask(mask)
        listener.listen(8)
        listener.settimeout(body["idle_s"])
        try:
            while _serve_one(listener, network):
                pass
        finally:
            path.unlink(missing_ok=True)


def _serve_one(listener: socket.socket, network: Emulator) -> bool:
    try:
        connection, _ = listener.accept()
    except TimeoutError:
        return False
    connection.settimeout(None)
    with connection, connection.makefile("rwb") as stream:
        try:
            request = read_frame(stream)
            if request["call"] == "down":
                write_frame(stream, {"result": None})
                return False
            write_frame(stream, _guarded(network, request))
        except (EOFError, OSError, ValueError, KeyError, TypeError):
            return True  # a caller that hung up or spoke nonsense ends only its own call
    return True


def _guarded(network: Emulator, request: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return {"result": answer_call(network, request["call"], request["arguments"])}
    except Nl2netError as error:
        return describe(error)
    except Exception as error:  # the network must outlive a faulty call
        return describe(Unavailable(f"the call failed: {type(error).__name__}: {error}"))


def describe(error: Nl2netError) -> dict[str, str]:
    """An error as it crosses the socket."""
    return {"error": type(error).__name__, "message": str(error), "hint": error.hint}


def _main(stream: IO[str]) -> None:
    try:
        serve(Path(sys.argv[1]), Path(sys.argv[2]))
    except Nl2netError as error:
        stream.write("\n" + json.dumps(describe(error)) + "\n")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    _main(sys.stderr)
