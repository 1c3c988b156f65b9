"""The value of an answer: a number, a text, rows in a grid, or where its picture is."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import ContentSwitcher, Static

from nl2net.display import clean
from nl2net.model import ResultType
from nl2net.tui.recall import Shown
from nl2net.tui.widgets.grid import Grid
from nl2net.tui.words import BADGES, change_counts, egress_words, result_line, status_words, usage_words, value_text

_CAVEATS = 3
_LONGEST = 200_000


class ResultView(Vertical):
    """Status, caveats, value, and one line on cost and on what left the machine."""

    DEFAULT_CSS = """
    ResultView > #result-head, ResultView > #result-caveats { height: auto; padding: 0 1; }
    ResultView > #result-caveats { max-height: 5; color: $text-warning; }
    ResultView > ContentSwitcher { height: 1fr; }
    ResultView #result-text { height: 1fr; padding: 0 1; }
    ResultView #result-text > Static { height: auto; }
    ResultView > #result-foot { height: auto; max-height: 2; padding: 0 1; color: $text-muted; }
    """

    def compose(self) -> ComposeResult:
        """Head, caveats, value, foot."""
        yield Static("", id="result-head", markup=False)
        yield Static("", id="result-caveats", markup=False)
        with ContentSwitcher(initial="result-text"):
            with VerticalScroll(id="result-text"):
                yield Static("", markup=False)
            yield Grid(id="result-grid")
        yield Static("", id="result-foot", markup=False)

    def show(self, shown: Shown | None) -> None:
        """Show an answer."""
        if shown is None:
            self._parts("", "", Content(""), "")
            return
        answer = shown.answer
        sign, colour = BADGES[answer.status]
        head: list[Any] = [(f"{sign} {status_words(answer)}", colour)]
        if answer.status is not answer.status.ANSWERED and answer.result is None and answer.code:
            head.append((" · program shown", "$text-muted"))
        if shown.approved:
            head.append((f" · {shown.approved}", "$text-muted"))
        caveats = [f"▲ {clean(caveat)}" for caveat in answer.caveats[:_CAVEATS]]
        if len(answer.caveats) > _CAVEATS:
            caveats.append(f"  {len(answer.caveats) - _CAVEATS} more under Why")
        foot = f"{egress_words(answer)} · {usage_words(answer)}"
        self._parts(Content.assemble(*head), "\n".join(caveats), self._value(shown), foot)

    def _parts(self, head: Content | str, caveats: str, value: Content | None, foot: str) -> None:
        self.query_one("#result-head", Static).update(head)
        line = self.query_one("#result-caveats", Static)
        line.update(caveats)
        line.display = bool(caveats)
        switcher = self.query_one(ContentSwitcher)
        switcher.current = "result-grid" if value is None else "result-text"
        if value is not None:
            self.query_one("#result-text > Static", Static).update(value)
            self.query_one("#result-text").scroll_home(animate=False)
        self.query_one("#result-foot", Static).update(foot)

    def _value(self, shown: Shown) -> Content | None:
        """The value as a text; ``None`` where the grid shows it."""
        answer = shown.answer
        if answer.result is None:
            return _message(shown)
        result, grid = answer.result, self.query_one(Grid)
        if result.type is ResultType.TABLE:
            grid.show_rows(result.data["columns"], result.data["rows"], answer.labels)
            return None
        if result.type is ResultType.LIST and result.data:
            grid.show_rows(*rows_of_list(result.data), answer.labels)
            return None
        parts: list[Any] = []
        if answer.changes:
            parts += [("proposed change: ", "bold"), change_counts(answer), "\nnothing is changed until you approve\n"]
        elif result.type in {ResultType.GRAPH, ResultType.FIGURE}:
            parts += [(result_line(result, answer.labels), "bold"), "\nsee Picture\n"]
        else:
            text = value_text(result.data, answer.labels)
            if isinstance(result.data, str):
                text = clean(result.data)[:_LONGEST] if result.data not in answer.labels else text
            parts += [(text, "bold $primary"), "\n"]
        if answer.printed:
            parts += ["\n", ("printed\n", "$text-muted"), clean(answer.printed[:_LONGEST])]
        return Content.assemble(*parts)


def rows_of_list(items: list[Any]) -> tuple[list[str], list[list[Any]]]:
    """A list as rows: pairs and records get their own columns.

    Examples
    --------
    >>> rows_of_list([["a", 1], ["b", 2]])
    (['1', '2'], [['a', 1], ['b', 2]])
    >>> rows_of_list(["a"])
    (['value'], [['a']])
    """
    width = len(items[0]) if isinstance(items[0], list | tuple) else 0
    if 1 < width <= 12 and all(isinstance(item, list | tuple) and len(item) == width for item in items):
        return [str(number + 1) for number in range(width)], [list(item) for item in items]
    if all(isinstance(item, dict) for item in items):
        names = list(dict.fromkeys(str(key) for item in items[:500] for key in item))
        return names, [[item.get(name) for name in names] for item in items]
    return ["value"], [[item] for item in items]


def _message(shown: Shown) -> Content:
    answer = shown.answer
    parts: list[Any] = [(clean(answer.message), "bold"), "\n"]
    if answer.choices:
        parts += [f"\n  {number}  {clean(choice)}" for number, choice in enumerate(answer.choices, 1)]
        parts += [("\n\nAnswer by asking again with the one you mean.", "$text-muted")]
    return Content.assemble(*parts)
