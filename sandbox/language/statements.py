"""SQL: one statement that reads. This is the textual check; DuckDB's own parser decides in the child."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nl2net.model import Finding
from nl2net.sandbox.language.belt import LONGEST, refuse

TOKEN = re.compile(
    r"(?P<space>\s+|--[^\n]*|/\*.*?\*/)"
    r"|(?P<text>'(?:[^']|'')*')"
    r'|(?P<quoted>"(?:[^"]|"")*")'
    r"|(?P<dollar>\$[A-Za-z_]*\$)"
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<sign><>|!=|<=|>=|::|\|\||->>|->|.)",
    re.DOTALL,
)
# Words that begin or carry a statement that does more than read.
REFUSED_WORDS = frozenset(
    [
        "attach",
        "detach",
        "copy",
        "install",
        "load",
        "export",
        "import",
        "pragma",
        "set",
        "reset",
        "call",
        "create",
        "insert",
        "update",
        "delete",
        "drop",
        "alter",
        "vacuum",
        "checkpoint",
        "begin",
        "commit",
        "rollback",
        "prepare",
        "execute",
        "deallocate",
        "use",
        "force",
        "truncate",
        "grant",
    ]
)
REFUSED_FUNCTIONS = re.compile(
    r"^(read_\w+|\w+_scan|\w+_scan_pushdown|scan_\w+|glob|getenv|current_setting|duckdb_\w+|pragma_\w+|sniff_csv"
    r"|query|query_table|getvariable|which_secret|parquet_\w+|sql_auto_complete|write_log|checkpoint|force_checkpoint)$",
    re.IGNORECASE,
)
HINT = "Write one SELECT over the tables nodes and edges."


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an SQL text with its place, from line 1 and column 0."""

    kind: str
    text: str
    start: int
    line: int
    column: int

    @property
    def word(self) -> str:
        """The word in lower case; empty for other tokens."""
        return self.text.casefold() if self.kind == "word" else ""


def tokens(source: str) -> Iterator[Token]:
    """Tokens of an SQL text without spaces and comments.

    Examples
    --------
    >>> [t.text for t in tokens("select 'a;b' -- c")]
    ['select', "'a;b'"]
    """
    for match in TOKEN.finditer(source):
        kind = match.lastgroup or "sign"
        if kind != "space":
            start = match.start()
            line_start = source.rfind("\n", 0, start) + 1
            yield Token(kind, match.group(), start, source.count("\n", 0, start) + 1, start - line_start)


def check_statement(source: str) -> tuple[Finding, ...]:
    """Exactly one SELECT or WITH statement.

    Examples
    --------
    >>> check_statement("SELECT count(*) FROM nodes;")
    ()
    >>> [f.rule for f in check_statement("SELECT 1; DROP TABLE nodes")]
    ['sql-statement']
    """
    if not isinstance(source, str) or len(source.encode("utf-8", "replace")) > LONGEST or "\0" in source:
        return (refuse("size", None, "the statement is longer than 20 kB or holds a NUL character", HINT),)
    found = list(tokens(source))
    while found and found[-1].text == ";":
        found.pop()
    if not found or (found[0].word not in ("select", "with", "from") and found[0].text != "("):
        return (refuse("sql-statement", 1, "the program is not a SELECT statement", HINT),)
    return tuple(_check_tokens(found))


def _check_tokens(found: list[Token]) -> Iterator[Finding]:
    depth = 0
    for token, following in zip(found, [*found[1:], None], strict=True):
        depth += (token.text == "(") - (token.text == ")")
        after = following.text if following else ""
        if depth > 80:
            yield refuse("size", token.line, "brackets are nested too deeply", HINT)
            return
        if token.text == ";":
            yield refuse("sql-statement", token.line, "there is more than one statement", HINT)
            return
        if token.kind == "dollar":
            yield refuse("sql-statement", token.line, "dollar quotes are not available", "Write 'text'.")
        yield from _check_word(token, after, found)


def _check_word(token: Token, after: str, found: list[Token]) -> Iterator[Finding]:
    before = found[found.index(token) - 1] if found.index(token) else None
    if token.word and after == "(" and REFUSED_FUNCTIONS.match(token.text):
        yield refuse("sql-function", token.line, f"the function {token.word} is not available here", HINT)
    elif token.kind in ("text", "quoted") and before is not None and before.word in ("from", "join"):
        name = token.text[1:-1]
        if token.kind == "text" or re.search(r"[./\\:*]", name):
            yield refuse("sql-file", token.line, "a file cannot be read", HINT)
    elif token.word in REFUSED_WORDS and _opens_statement(before):
        yield refuse("sql-statement", token.line, f"{token.word.upper()} is not available here", HINT)


def _opens_statement(before: Token | None) -> bool:
    return before is None or before.text in (";", "(") or before.word == "as"
