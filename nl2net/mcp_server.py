"""A Model Context Protocol server over stdio: six tools on the same core.

The client's model sees what the tools return. Results therefore stay on this machine unless the operator allows them:
``none`` gives status, masked program and a number for the history, ``summary`` adds type, size and caveats, ``full``
adds the values, real names included.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, Literal, get_args

from nl2net.assistant import Answer, Assistant, Conversation, Script, Store, open_assistant, run_script
from nl2net.config import Settings
from nl2net.display import clean
from nl2net.errors import Nl2netError, UserError
from nl2net.locations import Locations
from nl2net.model import Library, ResultType

Exposure = Literal["none", "summary", "full"]
EXPOSURES: tuple[str, ...] = get_args(Exposure)
_STAYS = "the result stays on the operator's machine; see `nl2net history show {turn}` there"


@dataclass(slots=True)
class Tools:
    """What the six tools do, apart from the protocol; each returns plain data.

    Parameters
    ----------
    settings, locations : Settings, Locations
    results : str
        ``none``, ``summary`` or ``full``.
    environ : mapping, optional
        Environment for the model client.
    """

    settings: Settings
    locations: Locations
    results: Exposure = "none"
    environ: Mapping[str, str] | None = None
    _open: dict[str, tuple[Assistant, Conversation]] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def close(self) -> None:
        """End all workers."""
        self._open.clear()
        self._stack.close()

    def _assistant(self, graph: str) -> tuple[Assistant, Conversation]:
        if graph not in {entry["name"] for entry in self.list_graphs()}:
            raise UserError(
                "no registered graph or sample of that name", hint="The operator adds one with `nl2net graph add`."
            )
        with self._lock:
            if graph not in self._open:
                opened = self._stack.enter_context(
                    open_assistant(graph, settings=self.settings, locations=self.locations, environ=self.environ)
                )
                self._open[graph] = (opened.assistant, opened.assistant.conversation())
            return self._open[graph]

    def list_graphs(self) -> list[dict[str, str]]:
        """Registered graphs and shipped samples; files are never opened by path from here."""
        from nl2net.graphs import all_samples, list_registered

        own = [{"name": entry.name, "origin": "registered"} for entry in list_registered(self.locations)]
        return own + [{"name": s.name, "origin": "sample", "summary": s.summary} for s in all_samples()]

    def describe_schema(self, graph: str) -> str:
        """The same schema text that a question sends to a model."""
        from nl2net.prompts import render_schema

        return render_schema(self._assistant(graph)[0].graph.schema)

    def ask(self, graph: str, question: str) -> dict[str, Any]:
        """Ask a question; earlier questions about the same graph are its context."""
        assistant, conversation = self._assistant(graph)
        return self._shown(assistant.ask(question, conversation=conversation))

    def run_saved(self, number: int, graph: str = "") -> dict[str, Any]:
        """Run the program of an earlier question again, without a model, on the same or another graph."""
        with closing(Store(self.locations.store)) as store:
            turn = store.get(number)
        if not turn.bound:
            raise UserError(f"question {number} has no program")
        assistant, _ = self._assistant(graph or turn.graph)
        script = Script(turn.bound, Library(turn.library or "networkx"), {"schema": turn.schema_hash})
        answer = self._shown(run_script(assistant, script))
        return answer | ({} if self.results == "full" else {"program": turn.program or ""})

    def history(self, limit: int = 20, search: str = "") -> list[dict[str, Any]]:
        """Earlier questions; masked unless results are exposed in full."""
        with closing(Store(self.locations.store)) as store:
            # A search over real names would tell whether a name exists.
            turns = store.turns(limit=min(max(limit, 1), 200), search=search if self.results == "full" else "")
        rows = []
        for turn in turns:
            question = turn.question if self.results == "full" else (turn.masked or "")
            if search and search.casefold() not in question.casefold():
                continue
            rows.append({"number": turn.id, "graph": turn.graph, "status": turn.status, "question": clean(question)})
        return rows

    def golden_report(self, run: str) -> dict[str, Any]:
        """Figures of a golden run, by the name of its folder; its questions are generated, not the operator's."""
        from nl2net.benchmark.golden_runs import open_golden
        from nl2net.benchmark.summary import summarise, summary_json

        finished = open_golden(run_folder(self.locations, run))
        figures: dict[str, Any] = summary_json(summarise(finished.records, finished.cases))
        return {"suite": finished.manifest.suite, "agent": finished.manifest.agent, **figures}

    def _shown(self, answer: Answer) -> dict[str, Any]:
        """What of an answer may be seen by the client's model."""
        shown: dict[str, Any] = {
            "status": str(answer.status), "graph": answer.graph["name"], "library": str(answer.library or ""),
            "program": clean(answer.masked_code), "history": answer.turn or None,
        }  # fmt: skip
        if self.results == "full":
            body: dict[str, Any] = _cleaned(json.loads(json.dumps(answer.to_json(), default=str)))
            return body
        shown["note"] = _STAYS.format(turn=answer.turn) if answer.turn else "the result stays on this machine"
        if self.results == "summary":
            shown |= _summary(answer)
        return shown


def _summary(answer: Answer) -> dict[str, Any]:
    """Type and size; of the caveats only how many, for they may name what they speak of."""
    result = answer.result
    found: dict[str, Any] = {"caveats": len(answer.caveats), "confidence": answer.confidence}
    if result is not None:
        found["result"] = {"type": str(result.type), "truncated": result.truncated}
        if result.type in {ResultType.LIST, ResultType.TABLE}:
            rows = result.data["rows"] if result.type is ResultType.TABLE else result.data
            found["result"]["rows"] = result.rows_total if result.rows_total is not None else len(rows)
        elif result.type is ResultType.GRAPH:
            found["result"] |= {"nodes": len(result.data["nodes"]), "links": len(result.data["links"])}
    if answer.changes is not None:
        found["changes"] = {name: len(value) for name, value in answer.changes.to_json().items()}
    return found


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def build_server(tools: Tools) -> Any:
    """The protocol around the tools.

    Raises
    ------
    UserError
        The extra is not installed.
    """
    try:
        from mcp.server.fastmcp import FastMCP
        from mcp.server.fastmcp.exceptions import ToolError
    except ImportError:
        raise UserError("the MCP server needs the extra `mcp`", hint="pip install 'nl2net[mcp]'") from None
    server = FastMCP(
        "nl2net",
        instructions=(
            "Questions about private networks. Programs run on the operator's machine; results are exposed to you at "
            f"level '{tools.results}'."
        ),
    )

    def guarded(call: Any) -> Any:
        @wraps(call)
        async def wrapper(*arguments: Any, **named: Any) -> Any:
            try:
                # A question takes seconds; the client may ping meanwhile.
                return await asyncio.to_thread(call, *arguments, **named)
            except Nl2netError as error:
                # Messages about data may name it; only their class is public below `full`.
                text = f"{error} {error.hint}" if tools.results == "full" or isinstance(error, UserError) else ""
                raise ToolError(clean(text.strip() or f"{type(error).__name__} on the operator's machine")) from None

        return wrapper

    for call in (
        tools.list_graphs, tools.describe_schema, tools.ask, tools.run_saved, tools.history, tools.golden_report,
    ):  # fmt: skip
        server.add_tool(guarded(call), name=call.__name__, description=call.__doc__)
    return server


def serve(settings: Settings, locations: Locations, results: Exposure) -> None:
    """Serve over stdio until the client hangs up."""
    tools = Tools(settings, locations, results)
    try:
        build_server(tools).run("stdio")
    finally:
        tools.close()


def run_folder(locations: Locations, name: str) -> Path:
    """The folder of a golden run below the data folder.

    Raises
    ------
    UserError
        There is none of that name.
    """
    folder = locations.data / "runs" / name
    if not name or Path(name).name != name or not folder.is_dir():
        raise UserError("no golden run of that name", hint="The operator makes one with `nl2net golden run`.")
    return folder
