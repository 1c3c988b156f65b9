"""``%load_ext nl2net.notebook``, then ``%%nl2net GRAPH``: a question in a cell, value and program as its result."""

from __future__ import annotations

import atexit
import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from nl2net.assistant import Answer, Assistant, Conversation, open_assistant
from nl2net.config import Settings, load_settings
from nl2net.display import clean
from nl2net.errors import Nl2netError, UserError
from nl2net.locations import Locations, default_locations
from nl2net.model import ResultType
from nl2net.sandbox.render import html_text

_ROWS = 20


@dataclass(frozen=True, slots=True)
class CellAnswer:
    """What a cell gives: ``value`` and ``program``, and the whole ``answer``.

    ``frame()`` is a table or list as a pandas frame.
    """

    answer: Answer

    @property
    def value(self) -> Any:
        """The value that the program returned; ``None`` where there is none."""
        return None if self.answer.result is None else self.answer.result.data

    @property
    def program(self) -> str:
        """The program with real names, as it may be run again."""
        return self.answer.code

    def frame(self) -> Any:
        """A table or list as a pandas frame.

        Raises
        ------
        UserError
            The value is neither.
        """
        import pandas as pd

        result = self.answer.result
        if result is not None and result.type is ResultType.TABLE:
            return pd.DataFrame(result.data["rows"], columns=result.data["columns"])
        if result is not None and result.type is ResultType.LIST:
            return pd.DataFrame(result.data)
        raise UserError("the value is no table and no list")

    def __repr__(self) -> str:
        answer = self.answer
        lines = [f"{answer.status}: {clean(_brief(self))}", *(f"note: {clean(note)}" for note in answer.caveats)]
        return "\n".join([*lines, "", clean(answer.code.rstrip())]).rstrip()

    def _repr_html_(self) -> str:
        answer = self.answer
        notes = "".join(f"<li>{html_text(note)}</li>" for note in answer.caveats)
        return (
            f"<div><b>{html_text(answer.status)}</b>: {_value_html(self)}"
            f"{'<ul>' + notes + '</ul>' if notes else ''}<pre>{html_text(answer.code.rstrip())}</pre></div>"
        )


def _brief(cell: CellAnswer) -> str:
    if cell.answer.result is None:
        return cell.answer.message
    return str(cell.value)[:2000]


def _value_html(cell: CellAnswer) -> str:
    result = cell.answer.result
    if result is None or result.type is not ResultType.TABLE:
        return html_text(_brief(cell))
    head = "".join(f"<th>{html_text(name)}</th>" for name in result.data["columns"])
    rows = result.data["rows"]
    body = "".join("<tr>" + "".join(f"<td>{html_text(v)}</td>" for v in row) + "</tr>" for row in rows[:_ROWS])
    rest = f"<p>{len(rows) - _ROWS} more rows</p>" if len(rows) > _ROWS else ""
    return f"<table><tr>{head}</tr>{body}</table>{rest}"


@dataclass(slots=True)
class Cells:
    """Open graphs of a notebook: each keeps its conversation, so that cells are follow-ups.

    Parameters
    ----------
    settings, locations : Settings, Locations
    environ : dict, optional
        Environment for the model client.
    """

    settings: Settings
    locations: Locations
    environ: dict[str, str] | None = None
    _open: dict[str, tuple[Assistant, Conversation]] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    def ask(self, line: str, cell: str) -> CellAnswer:
        """The magic itself: the line names the graph, the cell is the question.

        Raises
        ------
        UserError
            No graph or no question is given.
        """
        words = shlex.split(line)
        if len(words) != 1 or not cell.strip():
            raise UserError("write %%nl2net GRAPH, and the question below it", hint="GRAPH is a file or a name.")
        assistant, conversation = self._assistant(words[0])
        return CellAnswer(assistant.ask(cell.strip(), conversation=conversation))

    def _assistant(self, graph: str) -> tuple[Assistant, Conversation]:
        if graph not in self._open:
            opened = self._stack.enter_context(
                open_assistant(graph, settings=self.settings, locations=self.locations, environ=self.environ)
            )
            self._open[graph] = (opened.assistant, opened.assistant.conversation())
        return self._open[graph]

    def close(self) -> None:
        """End all workers."""
        self._open.clear()
        self._stack.close()


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext``."""
    locations = default_locations()
    cells = Cells(load_settings(locations=locations), locations)
    shell.register_magic_function(_magic(cells), magic_kind="cell", magic_name="nl2net")
    atexit.register(cells.close)


def _magic(cells: Cells) -> Callable[[str, str], CellAnswer | None]:
    def nl2net(line: str, cell: str) -> CellAnswer | None:
        """Ask a question of a network: %%nl2net GRAPH."""
        try:
            return cells.ask(line, cell)
        except Nl2netError as error:
            sys.stderr.write(f"nl2net: {clean(str(error))}\n{error.hint}\n")
            return None

    return nl2net
