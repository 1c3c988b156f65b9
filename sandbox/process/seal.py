"""Put the layers around this process in the one order that works, and say what held."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nl2net.sandbox.outcome import LayerReport, Level
from nl2net.sandbox.process import layers

HELD = "held"

# Without one of these nothing runs, unless the operator accepted it by name.
REQUIRED = ("parent death", "descriptors", "rlimits", "user", "no_new_privs", "seccomp")
OPTIONAL = ("namespaces", "mdwe", "landlock")
LAYERS = REQUIRED + OPTIONAL


@dataclass(frozen=True, slots=True)
class SealPlan:
    """How to seal.

    ``emulate`` maps a layer to the error number that it fails with instead of being tried: this is how degraded
    kernels are tested. It can only take away, and what it takes away is reported.
    """

    memory_bytes: int = 2048 << 20
    cpu_s: float = 30.0
    emulate: Mapping[str, int] | None = None
    allow_read_paths: tuple[str, ...] = ()


def _reason(error: OSError) -> str:
    name = errno.errorcode.get(error.errno or 0, "error")
    causes = {
        "EPERM": "not permitted here, usual in containers",
        "ENOSYS": "this kernel does not have it",
        "EOPNOTSUPP": "switched off at boot",
        "EINVAL": "this kernel does not have it",
    }
    return f"{name}: {causes.get(name, error.strerror or 'refused')}"


def seal(pipe: int, *, parent: int, plan: SealPlan) -> dict[str, str]:
    """Seal this process for good.

    Parameters
    ----------
    pipe : int
        Descriptor that stays open, as number 3.
    parent : int
        Process number of the supervisor, which must still be the parent.
    plan : SealPlan
        Budgets and, in tests, layers to leave out.

    Returns
    -------
    dict of str to str
        Each layer with ``"held"`` or the reason why it is missing.
    """
    state: dict[str, str] = {}
    emulate = plan.emulate or {}

    def put(name: str, step: Callable[[], object]) -> None:
        try:
            if name in emulate:
                raise OSError(emulate[name], os.strerror(emulate[name]))
            step()
        except (OSError, ValueError, KeyError) as error:
            state[name] = _reason(error) if isinstance(error, OSError) else "no table for this machine"
        else:
            state.setdefault(name, HELD)

    put("parent death", lambda: layers.die_with_parent(parent))
    put("descriptors", lambda: layers.keep_only_pipe(pipe))
    cpu = max(1, math.ceil(plan.cpu_s))
    put("rlimits", lambda: layers.limit_resources(memory_bytes=plan.memory_bytes, cpu_s=cpu))
    put("namespaces", layers.leave_namespaces)
    put("user", layers.drop_user)
    put("parent death", lambda: layers.die_with_parent(parent))
    put("no_new_privs", layers.forbid_privileges)
    put("mdwe", layers.forbid_writable_code)
    put("landlock", lambda: layers.restrict_files(plan.allow_read_paths))
    if state["descriptors"] == HELD:
        put("rlimits", layers.limit_descriptors)
    machine = os.uname().machine
    put("seccomp", lambda: layers.filter_calls(machine))
    return state


def level_of(state: Mapping[str, str]) -> Level:
    """The level that a set of layers amounts to.

    Examples
    --------
    >>> level_of({name: "held" for name in LAYERS}).value
    'SEALED'
    >>> level_of({name: "held" for name in LAYERS if name != "seccomp"}).value
    'PARTIAL'
    """
    held = {name for name, value in state.items() if value == HELD}
    if held.issuperset(REQUIRED):
        return Level.SEALED
    if held.issuperset({"landlock", "namespaces"}):
        return Level.PARTIAL
    return Level.UNSEALED


def describe(report: LayerReport) -> str:
    """One line for the operator: what held, what is missing and why that is or is not enough."""
    held = [name for name, value in report.layers.items() if value == HELD]
    missing = [f"no {name} here ({value})" for name, value in report.layers.items() if value != HELD]
    line = f"sandbox: {report.level} ({', '.join(held) or 'no layer'})"
    if missing:
        line += "; " + "; ".join(missing)
    if "namespaces" not in held and "seccomp" in held:
        line += "; sockets are blocked by seccomp"
    return line + ("; run accepted without a full seal" if report.accepted_unsealed else "")
