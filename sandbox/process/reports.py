"""Turn what a supervisor and its child said into a run report. Everything from the child is treated as hostile."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nl2net.errors import Unavailable
from nl2net.model import Finding, Severity
from nl2net.sandbox.changes import read_changes
from nl2net.sandbox.channel.classify import classify
from nl2net.sandbox.channel.decode import BadFrame, Decoder, parse_object
from nl2net.sandbox.outcome import Facts, LayerReport, Level, Limits, Outcome, RunReport
from nl2net.sandbox.process import wire
from nl2net.sandbox.process.demand import ON_DEMAND
from nl2net.sandbox.process.seal import LAYERS, describe, level_of

_NUMBER = (int, type(None))
_REPLY: Mapping[str, type | tuple[type, ...]] = {
    "outcome": str,
    "value": (type(None), bool, int, float, str, list, dict),
    "rows_total": _NUMBER,
    "changes": (type(None), dict),
    "printed": str,
    "findings": list,
    "kind": str,
    "late": str,
    "place": list,
    "operands": list,
    "error": str,
    "message": str,
    "choices": list,
    "notes": list,
    "program": str,
}
_FINDING: Mapping[str, tuple[type, ...]] = {
    "rule": (str,),
    "message": (str,),
    "severity": (str,),
    "line": _NUMBER,
    "column": _NUMBER,
    "hint": (str,),
}
_MOST_LIST = 200
_MOST_TEXT = 100_000
_UNAVAILABLE_HINT = (
    "Run `nl2net doctor` to see which layer is missing, use a kernel or container that allows seccomp, or accept the "
    "risk for this one command with --i-accept-unsealed-execution."
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A checked reply: layers, the fields of the result frame, and how the child ended."""

    layers: LayerReport
    fields: Mapping[str, Any] | None
    head: Mapping[str, Any]
    fault: str = ""


def read_reply(head: Mapping[str, Any], data: bytes, *, accept_unsealed: bool) -> Reply:
    """Read the two frames of a child.

    Raises
    ------
    Unavailable
        The seal is too weak and was not accepted, or the child ended before it was sealed.
    """
    if head["kind"] == "broken":
        raise Unavailable(head["message"], hint="Report this with the output of `nl2net doctor --json`.")
    frames = wire.split_frames(data, most=2)
    try:
        layers = read_layers(frames[0], accept_unsealed=accept_unsealed) if frames else None
    except BadFrame:
        layers = None
    if layers is None:
        if head["reason"] in ("time", "cancelled"):
            return Reply(LayerReport(Level.UNSEALED), None, head)
        raise Unavailable("the sandbox ended before it was sealed", hint=_UNAVAILABLE_HINT)
    if layers.level is not Level.SEALED and not accept_unsealed:
        raise Unavailable(f"no sealed sandbox on this machine; {describe(layers)}", hint=_UNAVAILABLE_HINT)
    # A deadline or a cap stands whatever the child managed to write before.
    if head["reason"] != "done" or len(frames) < 2:
        return Reply(layers, None, head)
    try:
        return Reply(layers, _check_reply(parse_object(frames[1], _REPLY)), head)
    except BadFrame as error:
        return Reply(layers, None, head, fault=str(error))


def read_layers(frame: bytes, *, accept_unsealed: bool) -> LayerReport:
    """The first frame, written by honest code before the program was looked at."""
    found = parse_object(frame, {"layers": dict})["layers"]
    if set(found) != set(LAYERS) or any(type(value) is not str for value in found.values()):
        raise BadFrame("malformed layers")
    level = level_of(found)
    return LayerReport(level, found, accept_unsealed and level is not Level.SEALED)


def _check_reply(fields: dict[str, Any]) -> dict[str, Any]:
    if fields["outcome"] not in set(Outcome):
        raise BadFrame("an unknown outcome")
    for name in ("choices", "notes", "operands"):
        if len(fields[name]) > _MOST_LIST or any(type(item) is not str for item in fields[name]):
            raise BadFrame(f"malformed {name}")
    if len(fields["place"]) not in (0, 4) or any(type(part) is not int for part in fields["place"]):
        raise BadFrame("a malformed place")
    for name in ("error", "message", "program", "kind", "late"):
        if len(fields[name]) > _MOST_TEXT:
            raise BadFrame(f"malformed {name}")
    fields["findings"] = tuple(_finding(one) for one in fields["findings"][:_MOST_LIST])
    return fields


def _finding(found: Any) -> Finding:
    if type(found) is not dict or set(found) != set(_FINDING) or found["severity"] not in set(Severity):
        raise BadFrame("a malformed finding")
    if any(type(found[name]) not in kinds for name, kinds in _FINDING.items()):
        raise BadFrame("a malformed finding")
    return Finding(
        found["rule"][:100],
        found["message"][:2000],
        Severity(found["severity"]),
        line=found["line"],
        column=found["column"],
        hint=found["hint"][:2000],
    )


def late_module(reply: Reply) -> str:
    """A module that the child could not import once sealed, from the closed list; empty for anything else."""
    name = reply.fields["late"] if reply.fields is not None else ""
    return name if name in ON_DEMAND else ""


def ending(head: Mapping[str, Any], limits: Limits) -> tuple[Outcome, str, str]:
    """Outcome, kind and sentence for a child that left no result."""
    if head["reason"] == "time":
        return Outcome.TIME, "time", f"the program was stopped after {limits.wall_s:g} s"
    if head["reason"] == "output":
        return Outcome.OUTPUT, "output", f"the answer is larger than {limits.frame_bytes} bytes"
    killed_by = head["killed_by"]
    if killed_by == signal.SIGSYS:
        return Outcome.REFUSED, "policy", "the program made a system call that the sandbox does not allow"
    if killed_by in (signal.SIGKILL, signal.SIGXCPU):
        # The hard limit on CPU time kills; the kernel counts whole seconds.
        if head["cpu_s"] >= limits.cpu_s * 0.9:
            return Outcome.TIME, "time", f"the program used up {limits.cpu_s:g} s of CPU time"
        return Outcome.MEMORY, "memory", "the program was stopped because memory ran out"
    if killed_by in (signal.SIGSEGV, signal.SIGBUS):
        return Outcome.ERROR, "other", "the program crashed its own process"
    return Outcome.ERROR, "other", "the program ended its own process without an answer"


def run_report(reply: Reply, *, limits: Limits, graph: Any, facts: Facts) -> RunReport:
    """The report of one run, without its feedback."""
    head = reply.head
    base = RunReport(
        Outcome.ERROR,
        layers=reply.layers,
        wall_s=head["wall_s"],
        cpu_s=head["cpu_s"],
        peak_mb=head["peak_mb"],
    )
    if reply.fault:
        return replace(base, error=f"the answer of the program's process is not usable: {reply.fault}")
    if reply.fields is None:
        outcome, _, said = ending(head, limits)
        refusal = (Finding("system-call", said, Severity.REFUSE),) if outcome is Outcome.REFUSED else ()
        return replace(base, outcome=outcome, error=said, findings=refusal)
    try:
        return _from_fields(base, reply.fields, limits=limits, graph=graph, facts=facts)
    except (BadFrame, RecursionError) as error:
        return replace(base, error=f"the answer of the program's process is not usable: {error}")


def _from_fields(base: RunReport, fields: Mapping[str, Any], *, limits: Limits, graph: Any, facts: Facts) -> RunReport:
    # The hint of a refusal at run time may be built from data by a hostile program; feedback says enough.
    findings = tuple(replace(finding, hint="") for finding in fields["findings"])
    report = replace(
        base,
        outcome=Outcome(fields["outcome"]),
        printed=fields["printed"][: limits.printed_bytes],
        findings=findings,
        error=fields["error"],
        message=fields["message"],
        choices=tuple(fields["choices"]),
        notes=tuple(fields["notes"]),
        program=fields["program"],
    )
    if report.outcome is not Outcome.OK:
        return report
    decoder = Decoder(limits)
    value = decoder.decode(fields["value"])
    changes = None
    if facts.is_change and fields["changes"] is not None and graph is not None:
        changes = read_changes({name: decoder.decode(rows) for name, rows in fields["changes"].items()}, graph)
    return replace(report, value=value, result=classify(value, rows_total=fields["rows_total"]), changes=changes)


def kind_of_reply(reply: Reply, report: RunReport, limits: Limits) -> str:
    """The kind for feedback: by outcome where that says it, else what the child named."""
    by_outcome = {
        Outcome.TIME: "time",
        Outcome.MEMORY: "memory",
        Outcome.OUTPUT: "output",
        Outcome.RECURSION: "recursion",
        Outcome.REFUSED: "policy",
        Outcome.PROCESSES: "policy",
    }
    if report.outcome in by_outcome:
        return by_outcome[report.outcome]
    if reply.fields is None:
        return "result" if reply.fault else ending(reply.head, limits)[1]
    return str(reply.fields["kind"])
