"""What happens inside one forked child: seal, say what held, then look at the program for the first time."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import import_module
from typing import Any

from nl2net.errors import RefusedCode
from nl2net.model import Finding, Library, Severity
from nl2net.sandbox.channel.encode import CannotEncode, Encoder, TooLarge
from nl2net.sandbox.outcome import Level, Limits, Outcome
from nl2net.sandbox.process import failure, wire
from nl2net.sandbox.process.baseline import compare
from nl2net.sandbox.process.prepare import frames
from nl2net.sandbox.process.seal import HELD, SealPlan, level_of, seal
from nl2net.sandbox.twin import made_up_graph, stand_ins, texts_of

_RESULT = 3
_MOST_ERROR = 4000

NO_CHANGES = "changes are read from a networkx graph only: this program worked on tables, so no change is proposed"

EMPTY_REPLY: Mapping[str, Any] = {
    "outcome": Outcome.ERROR.value,
    "value": None,
    "rows_total": None,
    "changes": None,
    "printed": "",
    "findings": [],
    "kind": "",
    "late": "",
    "place": [],
    "operands": [],
    "error": "",
    "message": "",
    "choices": [],
    "notes": [],
    "program": "",
}


def run(
    pipe: int, parent: int, request: Mapping[str, Any], *, state: Mapping[str, Any], options: Mapping[str, Any]
) -> None:
    """Body of a child; returns when its two frames are written."""
    gc.disable()
    limits: Limits = request["limits"]
    prepared = _before_seal(request, state, limits)
    plan = SealPlan(
        memory_bytes=limits.memory_mb << 20,
        cpu_s=limits.cpu_s,
        emulate=options.get("emulate"),
        allow_read_paths=tuple(options.get("allow_read_paths", ())),
    )
    layers = seal(pipe, parent=parent, plan=plan)
    out = _RESULT if layers["descriptors"] == HELD else pipe
    wire.write_frame(out, json.dumps({"layers": layers}).encode())
    if level_of(layers) is not Level.SEALED and not request["accept_unsealed"]:
        return
    wire.write_frame(out, _frame(lambda: _HANDLERS[request["kind"]](request, prepared, options)))


def _frame(body: Callable[[], dict[str, Any]]) -> bytes:
    """The result frame; a failure to make it is reported in place of it."""
    try:
        return _pack({**EMPTY_REPLY, **body()})
    except MemoryError:
        pass
    except RecursionError:
        said = "the answer is nested too deeply"
        return _pack({**EMPTY_REPLY, "outcome": Outcome.RECURSION.value, "error": said})
    # Outside the handler, so that the traceback no longer holds what filled the memory.
    gc.collect()
    said = "the program needs more memory than it may have"
    return _pack({**EMPTY_REPLY, "outcome": Outcome.MEMORY.value, "error": said})


def _pack(reply: Mapping[str, Any]) -> bytes:
    return json.dumps(reply, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def _before_seal(request: Mapping[str, Any], state: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """Arguments of the program. Only DuckDB must be opened while files can still be seen."""
    library = request.get("library")
    if request["kind"] == "twin":
        schema = request["schema"]
        texts = texts_of(request["program"], schema)
        graph = made_up_graph(schema, placeholders=request["placeholders"], texts=texts)
        held: dict[str, Any] = {"graph": graph}
        if library != Library.NETWORKX:
            held["frames"] = frames(graph)
    else:
        held = dict(state)
    if library == Library.SQL and "frames" in held:
        from nl2net.sandbox.process import sql

        held["database"] = sql.open_database(held["frames"], memory_mb=max(64, limits.memory_mb // 2))
    return held


def _arguments(library: Library, held: Mapping[str, Any]) -> tuple[Any, ...]:
    if library == Library.PANDAS:
        tables = {name: frame.copy() for name, frame in held["frames"].items()}
        return (tables.pop("nodes"), tables.pop("edges"), tables)
    return (held["graph"],)


def _check(request: Mapping[str, Any], held: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Validator, then lint; a program that does not pass the first is not looked at by the second."""
    wall = import_module(options["language"])
    source, library = request["program"], request["library"]
    try:
        findings = list(wall.validate(source, library=library))
        if library == Library.SQL and not findings:
            from nl2net.sandbox.process import sql

            sql.check_statement(source)
    except RefusedCode as error:
        findings = [finding_of(error)]
    if not any(finding.severity is Severity.REFUSE for finding in findings):
        findings += wall.lint(source, library=library, schema=request["schema"], facts=request["facts"])
    return {"outcome": Outcome.OK.value, "findings": [_finding_json(finding) for finding in findings]}


def finding_of(error: RefusedCode) -> Finding:
    """A refusal as a finding."""
    return Finding(error.rule, error.message, Severity.REFUSE, line=error.line, hint=error.hint)


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {**asdict(finding), "severity": finding.severity.value}


def _places(request: Mapping[str, Any], held: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Positions of all expressions of a program: what feedback may point at. No data was ever in this process."""
    return {"outcome": Outcome.OK.value, "value": failure.expression_places(request["program"])}


def _run(request: Mapping[str, Any], held: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    wall = import_module(options["language"])
    limits: Limits = request["limits"]
    library = request["library"]
    twin = request["kind"] == "twin"
    bindings = _twin_bindings(request) if twin else request["bindings"]
    try:
        if library == Library.SQL:
            from nl2net.sandbox.process import sql

            refused = next(iter(wall.validate(request["program"], library=library)), None)
            if refused is not None:
                raise RefusedCode(refused.message, rule=refused.rule, line=refused.line, hint=refused.hint)
            program = sql.bind_literals(request["program"], bindings)
            sql.check_statement(program)
            value, printed, notes = sql.run_query(held["database"], program), "", list[str]()
        else:
            ran = wall.run_restricted(
                request["program"],
                _arguments(library, held),
                library=library,
                bindings=bindings,
                seed=request["seed"],
            )
            value, printed, notes, program = ran.value, ran.printed, list(ran.notes), ran.program
    except wall.CannotAnswer as signal:
        return {"outcome": Outcome.CANNOT_ANSWER.value, "message": _short(signal.reason)}
    except wall.AskUser as signal:
        choices = [_short(choice) for choice in signal.choices][:20]
        return {"outcome": Outcome.ASK_USER.value, "message": _short(signal.question), "choices": choices}
    except RefusedCode as error:
        refusal = _finding_json(finding_of(error))
        found = {"findings": [refusal], "error": _short(str(error)), "kind": "policy"}
        return {"outcome": Outcome.REFUSED.value, "place": failure.place_of(error), **found}
    except MemoryError:
        raise
    except BaseException as error:  # a program may raise anything
        return failure.report(error)
    if request["is_change"] and library != Library.NETWORKX and not twin:
        notes.append(NO_CHANGES)
    reply = {
        "outcome": Outcome.OK.value,
        "printed": printed.encode("utf-8", "replace")[: limits.printed_bytes].decode("utf-8", "ignore"),
        "notes": [_short(note) for note in notes],
        "program": program,
    }
    return reply | _value(value, request, held, limits)


def _twin_bindings(request: Mapping[str, Any]) -> dict[str, str]:
    """Names stand for themselves on the twin; what a program parses gets a made-up value."""
    names = request["placeholders"]
    return dict(zip(names, names, strict=True)) | stand_ins(names)


def _value(value: Any, request: Mapping[str, Any], held: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    encoder = Encoder(limits)
    changes = None
    try:
        if request["is_change"] and "baseline" in held and request["library"] == Library.NETWORKX:
            changed = value if hasattr(type(value), "is_multigraph") else held["graph"]
            found = compare(held["baseline"], changed)
            changes = {name: encoder.each(rows, 0) for name, rows in found.items()}
        encoded = encoder.encode_answer(value)
    except CannotEncode as error:
        return {
            "outcome": Outcome.ERROR.value,
            "kind": "result",
            "error": f"a value of type {error} cannot be returned",
        }
    except TooLarge as error:
        return {"outcome": Outcome.OUTPUT.value, "kind": "output", "error": f"the answer is too large: {error}"}
    except (ValueError, TypeError, AttributeError) as error:
        return {"outcome": Outcome.ERROR.value, "kind": "result", "error": _short(str(error))}
    return {"value": encoded, "changes": changes, "rows_total": encoder.rows_total}


def _short(text: Any) -> str:
    return text[:_MOST_ERROR] if type(text) is str else ""


def _parse(request: Mapping[str, Any], held: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Call one function of a module that was loaded before the seal."""
    module, _, name = request["function"].partition(":")
    if module not in options["modules"]:
        return {"error": f"{module} is not one of the parsers of this worker"}
    encoder = Encoder(request["limits"])
    try:
        value = encoder.encode(getattr(import_module(module), name)(request["data"]), 0)
    except (MemoryError, RecursionError):
        raise
    except TooLarge as error:
        return {"outcome": Outcome.OUTPUT.value, "error": str(error)}
    except BaseException as error:  # a parser may raise anything
        return failure.report(error)
    return {"outcome": Outcome.OK.value, "value": value}


_HANDLERS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "check": _check,
    "parse": _parse,
    "places": _places,
    "run": _run,
    "twin": _run,
}
