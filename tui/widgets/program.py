"""The program: highlighted, editable, with the validator's findings at their lines."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar

from pygments.token import Token
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import TextAreaTheme

from nl2net.display import clean
from nl2net.model import Finding, Severity

# Pygments token to the name that the themes of the editor style; first match wins.
_NAMES: tuple[tuple[Any, str], ...] = (
    (Token.Comment, "comment"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Keyword, "keyword"),
    (Token.Operator.Word, "keyword"),
    (Token.Name.Function, "function"),
    (Token.Name.Builtin, "builtin"),
    (Token.Name.Decorator, "builtin"),
)


def _theme(name: str, colours: dict[str, str]) -> TextAreaTheme:
    return TextAreaTheme(name, syntax_styles={key: Style.parse(value) for key, value in colours.items()})


THEMES = (
    _theme(
        "nl2net-dark",
        {
            "comment": "italic #6b7c8f", "string": "#9ece8a", "number": "#f4a259", "keyword": "bold #7aa2f7",
            "function": "#4fb3bf", "builtin": "#c3a6ff", "refuse": "underline #ef6f6c", "repair": "underline #e6c15a",
            "caveat": "underline #7a8fa3",
        },
    ),
    _theme(
        "nl2net-light",
        {
            "comment": "italic #7a7466", "string": "#2c7a36", "number": "#b4541a", "keyword": "bold #2f5bb7",
            "function": "#0b6e7a", "builtin": "#7a3ea8", "refuse": "underline #b3261e", "repair": "underline #8a6100",
            "caveat": "underline #7a7466",
        },
    ),
)  # fmt: skip


class ProgramEditor(TextArea):
    """A code editor without an extra parser package: Pygments comes with rich and colours what is shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "run_program", "Run", id="program.run", tooltip="Run this program here, without a model"),
        Binding("ctrl+j", "next_finding", "Finding", id="program.finding", tooltip="Go to the next finding"),
    ]

    class Run(Message):
        """The operator wants the program run as it stands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            "", soft_wrap=False, show_line_numbers=True, tab_behavior="indent", compact=True, **options
        )  # fmt: skip
        self.findings: tuple[Finding, ...] = ()
        self.language_name = "python"
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = "nl2net-dark"

    def on_mount(self) -> None:
        """Follow the theme of the application."""
        self.watch(self.app, "theme", self._follow_theme)

    def _follow_theme(self, _: str) -> None:
        self.theme = "nl2net-dark" if self.app.current_theme.dark else "nl2net-light"

    def show_program(self, program: str, *, sql: bool = False, findings: Iterable[Finding] = ()) -> None:
        """Put a program into the editor, with findings at their lines."""
        self.language_name = "sql" if sql else "python"
        self.findings = tuple(findings)
        text = clean(program)
        if text != self.text:
            self.load_text(text)
        else:
            self._build_highlight_map()
            self.refresh()

    def action_run_program(self) -> None:
        """Run the program as it stands."""
        self.post_message(self.Run())

    def action_next_finding(self) -> None:
        """Move the cursor to the next finding."""
        lines = sorted({finding.line for finding in self.findings if finding.line})
        if not lines:
            self.notify("no findings in this program")
            return
        row = self.cursor_location[0] + 1
        line = next((line for line in lines if line > row), lines[0])
        self.move_cursor((min(line, self.document.line_count) - 1, 0))
        texts = [f"{finding.rule}: {finding.message}" for finding in self.findings if finding.line == line]
        self.notify(clean("\n".join(texts)), title=f"line {line}", severity="warning")

    def _build_highlight_map(self) -> None:
        """Colours by Pygments; the base class would need a tree-sitter grammar."""
        self._line_cache.clear()
        self._highlights.clear()
        if not self.text:
            return
        row = column = 0
        for kind, text in _lexer(getattr(self, "language_name", "python")).get_tokens(self.text):
            name = next((name for token, name in _NAMES if kind in token), "")
            for number, part in enumerate(text.split("\n")):
                if number:
                    row, column = row + 1, 0
                if name and part:
                    # Columns of the editor are bytes, as tree-sitter counts.
                    self._highlights[row].append((column, column + len(part.encode()), name))
                column += len(part.encode())
        self._mark_findings()

    def _mark_findings(self) -> None:
        for finding in getattr(self, "findings", ()):
            if finding.line and finding.line <= self.document.line_count:
                line = self.document.get_line(finding.line - 1)
                start = len(line) - len(line.lstrip())
                self._highlights[finding.line - 1].append((start, len(line.encode()), _name_of(finding.severity)))


@cache
def _lexer(name: str) -> Any:
    """Imported with the first program, not with the application: the table of all lexers is large."""
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False)


def _name_of(severity: Severity) -> str:
    return str(severity)
