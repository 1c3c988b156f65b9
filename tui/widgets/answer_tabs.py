"""One answer in tabs: result, why, tries, changes, picture, and what left this machine."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static, TabbedContent, TabPane

from nl2net.display import clean, clean_line
from nl2net.tui.recall import Shown
from nl2net.tui.widgets.changes_view import ChangesView
from nl2net.tui.widgets.picture import Picture
from nl2net.tui.widgets.result_view import ResultView
from nl2net.tui.widgets.sent_view import SentView
from nl2net.tui.words import provenance_words, status_words, usage_words

TABS = ("result", "why", "tries", "changes", "picture", "sent")


class AnswerTabs(Vertical):
    """Everything about the answer in view."""

    def compose(self) -> ComposeResult:
        """One pane each."""
        with TabbedContent(initial="result"):
            with TabPane("Result", id="result"):
                yield ResultView()
            with TabPane("Why", id="why"):
                yield Scrolled(id="why-text")
            with TabPane("Tries", id="tries"):
                yield Scrolled(id="tries-text")
            with TabPane("Changes", id="changes"):
                yield ChangesView()
            with TabPane("Picture", id="picture"):
                yield Picture()
            with TabPane("Sent", id="sent"):
                yield SentView()

    @property
    def active(self) -> str:
        """Name of the tab in view."""
        return self.query_one(TabbedContent).active

    def open_tab(self, name: str) -> None:
        """Bring a tab into view."""
        self.query_one(TabbedContent).active = name

    def show(self, shown: Shown | None) -> None:
        """Show an answer, or nothing."""
        self.query_one(ResultView).show(shown)
        self.query_one("#why-text", Scrolled).update(_why(shown) if shown else Content(""))
        self.query_one("#tries-text", Scrolled).update(_tries(shown) if shown else Content(""))
        self.query_one(ChangesView).show(shown.answer.changes if shown else None)
        self.query_one(SentView).show(shown.answer if shown else None)
        count = len(shown.tries) if shown else 0
        tabs = self.query_one(TabbedContent)
        tabs.get_tab("tries").label = Content(f"Tries {count}" if count > 1 else "Tries")
        tabs.get_tab("changes").label = Content("Changes ●" if shown and shown.answer.changes else "Changes")


class Scrolled(VerticalScroll):
    """A text that scrolls and can be focused."""

    DEFAULT_CSS = "Scrolled > Static { height: auto; }"

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static("", markup=False)

    def update(self, content: Content) -> None:
        """Show another text from its beginning."""
        self.query_one(Static).update(content)
        self.scroll_home(animate=False)


def _why(shown: Shown) -> Content:
    answer = shown.answer
    parts: list[Content | str | tuple[str, str]] = [(status_words(answer), "bold"), "\n"]
    parts += [f"sent as: {clean_line(answer.masked)}\n"] if answer.masked and answer.masked != answer.question else []
    for caveat in answer.caveats:
        parts += [("▲ ", "$text-warning"), clean(caveat), "\n"]
    for finding in answer.findings:
        place = f"line {finding.line}: " if finding.line else ""
        parts += [(f"{finding.severity} ", "$text-warning"), f"{place}{clean(finding.message)} ({finding.rule})\n"]
    parts += ["\n", usage_words(answer), "\n\n"]
    for name, value in provenance_words(answer):
        parts += [(f"{name:<9}", "$text-muted"), value, "\n"]
    return Content.assemble(*parts)


def _tries(shown: Shown) -> Content:
    if not shown.tries:
        return Content("no program was tried")
    parts: list[Content | str | tuple[str, str]] = []
    for number, attempt in enumerate(shown.tries, 1):
        colour = "$text-success" if attempt.outcome == "ok" else "$text-error"
        parts += [(f"{number}  ", "bold"), (attempt.outcome, colour), "\n"]
        if attempt.error:
            parts += [clean(attempt.error.strip()), "\n"]
        for finding in attempt.findings:
            place = f"line {finding.line}: " if finding.line else ""
            parts += [(f"  {finding.severity} ", "$text-warning"), f"{place}{clean(finding.message)}\n"]
        if attempt.feedback:
            parts += [("  sent back: ", "$text-muted"), (clean(attempt.feedback), "$text-muted"), "\n"]
        parts += [(clean(attempt.code.rstrip()), "$text-muted"), "\n\n"]
    return Content.assemble(*parts)
