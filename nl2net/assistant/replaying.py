"""Programs after their answer: headers of saved scripts, replay without a model, approval into the library."""

from __future__ import annotations

import re
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nl2net.assistant.answer import Answer, Attempt, Provenance, Timing
from nl2net.assistant.concluding import graph_facts, labels_of, sandbox_words
from nl2net.assistant.entries import Entry, append_entry, attribute_roles
from nl2net.assistant.loop import Assistant
from nl2net.assistant.scripts import Script, program_hash
from nl2net.assistant.store import Store
from nl2net.assistant.validators import caveats
from nl2net.assistant.wording import expected_type
from nl2net.errors import UserError
from nl2net.graphs import LoadedGraph
from nl2net.model import Library, Status
from nl2net.sandbox.outcome import Facts, Outcome, Task

_STATUS = {
    Outcome.OK: (Status.ANSWERED, 0),
    Outcome.CANNOT_ANSWER: (Status.CANNOT_ANSWER, 6),
    Outcome.ASK_USER: (Status.NEEDS_CLARIFICATION, 6),
    Outcome.REFUSED: (Status.REFUSED, 5),
    Outcome.ERROR: (Status.FAILED, 1),
}


def script_header(answer: Answer, graph: LoadedGraph) -> dict[str, Any]:
    """Facts that a saved script carries."""
    return {
        "question": answer.question,
        "graph": graph.name,
        "fingerprint": graph.fingerprint,
        "schema": graph.schema_hash,
        "class": graph.schema.graph_class.name,
        "library": str(answer.library),
        "model": answer.provenance.model,
        "template": answer.provenance.template,
        "program_hash": program_hash(answer.code),
        "sandbox": answer.provenance.sandbox,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def run_script(assistant: Assistant, script: Script, *, cancel: threading.Event | None = None) -> Answer:
    """Run a saved program over the graph of an assistant.

    Parameters
    ----------
    assistant : Assistant
    script : Script
    cancel : Event, optional
        Ends the run when it is set.

    Raises
    ------
    Cancelled
        ``cancel`` was set.

    Notes
    -----
    A program saved on another schema or graph class still runs; the answer says so, for names may mean other things.
    """
    started = time.perf_counter()
    graph = assistant.graph
    question = str(script.header.get("question", ""))
    task = Task(script.program, library=script.library, facts=Facts(is_change=True))
    report = assistant.holder.run(task, cancel=cancel)
    status, code = _STATUS.get(report.outcome, (Status.FAILED, 4))
    notes = list(_differences(script, graph))
    if report.outcome is Outcome.OK:
        notes += caveats(question, script.program, report, graph.schema)
    return Answer(
        status=status,
        exit_code=code,
        question=question,
        masked="",
        graph=graph_facts(graph),
        library=script.library,
        code=script.program,
        result=report.result,
        labels=labels_of(report.result.data, graph.graph) if report.result else {},
        changes=report.changes or None,
        message="" if report.outcome is Outcome.OK else report.message or report.error,
        caveats=tuple(dict.fromkeys(notes)),
        printed=report.printed,
        attempts=(Attempt(script.program, str(report.outcome), error=report.error, findings=report.findings),),
        timing=Timing(sandbox_s=report.wall_s, total_s=time.perf_counter() - started),
        egress={"requests": 0, "bytes": 0, "log": str(assistant.gate.log)},
        provenance=Provenance(
            model="none",
            origin="user",
            schema_hash=graph.schema_hash,
            fingerprint=graph.fingerprint,
            program_hash=program_hash(script.program),
            sandbox=sandbox_words(report.layers),
        ),
    )


def _differences(script: Script, graph: LoadedGraph) -> list[str]:
    notes = []
    saved_class = script.header.get("class")
    if saved_class and saved_class != graph.schema.graph_class.name:
        notes.append(
            f"saved for a {saved_class}, this is a {graph.schema.graph_class.name}: results may mean other things"
        )
    saved_schema = script.header.get("schema")
    if saved_schema and saved_schema != graph.schema_hash:
        notes.append("saved for a graph with another schema")
    return notes


def approve_turn(store: Store, number: int, path: Path, *, schema: Any = None) -> Entry:
    """Put the masked program of a turn into the user's library.

    Parameters
    ----------
    store : Store
    number : int
        Turn.
    path : Path
        JSONL file of the user's library.
    schema : GraphSchema, optional
        Gives the roles of attributes, so that the entry can be adapted to other graphs.

    Raises
    ------
    UserError
        The turn was not answered by a program.
    """
    turn = store.get(number)
    if not turn.program or turn.status not in {"answered", "cannot_answer"} or not turn.masked:
        raise UserError(f"question {number} has no answer that could be approved")
    class_name = str((turn.envelope or {}).get("graph", {}).get("class", "Graph"))
    entry = Entry(
        question=turn.masked,
        program=turn.program,
        library=turn.library or str(Library.NETWORKX),
        result_type=expected_type(turn.masked),
        roles=attribute_roles(turn.program, schema) if schema is not None else _unknown_roles(turn.program),
        origin="approved",
        schema_hash=turn.schema_hash,
        directed="Di" in class_name,
        multi=class_name.startswith("Multi"),
    )
    append_entry(path, entry)
    store.approve(number, "approved")
    return entry


def _unknown_roles(program: str) -> dict[str, list[str]]:
    """Without a schema an attribute literal counts as itself: the entry fits only graphs with the same names."""
    names = re.findall(r"\[[\"'](\w+)[\"']\]|\.get\([\"'](\w+)[\"']", program)
    return {a or b: ["edge", ""] for a, b in names if (a or b) not in {"name", "kind"}}
