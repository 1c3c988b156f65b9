"""SQL, as far as a tokenizer can tell: unknown columns and tables, and the silent traps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from nl2net.model import Finding, GraphSchema, Severity
from nl2net.sandbox.language.linting.names import nearest_attributes
from nl2net.sandbox.language.statements import Token, tokens

TYPES = frozenset(
    {"int", "integer", "bigint", "double", "float", "varchar", "text", "date", "timestamp", "boolean", "real"}
)
KEYWORDS = frozenset(
    [
        "select",
        "from",
        "where",
        "and",
        "or",
        "not",
        "in",
        "is",
        "null",
        "as",
        "on",
        "join",
        "left",
        "right",
        "inner",
        "outer",
        "full",
        "cross",
        "group",
        "by",
        "order",
        "having",
        "limit",
        "offset",
        "distinct",
        "union",
        "all",
        "case",
        "when",
        "then",
        "else",
        "end",
        "asc",
        "desc",
        "between",
        "like",
        "ilike",
        "exists",
        "with",
        "recursive",
        "using",
        "true",
        "false",
        "cast",
        "interval",
        "nulls",
        "first",
        "last",
        "over",
        "partition",
        "rows",
        "range",
        "preceding",
        "following",
        "current",
        "row",
        "unbounded",
        "values",
        "except",
        "intersect",
        "any",
        "some",
        "filter",
        "qualify",
        "natural",
        "lateral",
        "unnest",
        "escape",
        "similar",
        "to",
        "at",
        "time",
        "zone",
        "date",
        "timestamp",
        "integer",
        "int",
        "bigint",
        "double",
        "varchar",
        "text",
        "boolean",
        "float",
        "decimal",
        "real",
        "numeric",
        "sample",
        "materialized",
        "collate",
        "extract",
        "year",
        "month",
        "day",
        "hour",
        "minute",
        "second",
        "epoch",
        "exclude",
        "replace",
        "semi",
        "anti",
        "asof",
        "positional",
        "pivot",
        "unpivot",
        "glob",
        "regexp",
        "window",
        "ignore",
        "respect",
        "within",
        "ordinality",
        "tinyint",
        "smallint",
        "hugeint",
        "blob",
        "uuid",
        "list",
        "struct",
        "map",
        "array",
        "row",
    ]
)


def _finding(rule: str, token: Token, message: str, hint: str, severity: Severity = Severity.REPAIR) -> Finding:
    return Finding(rule, message, severity, token.line, token.column, hint)


def lint_sql(source: str, schema: GraphSchema) -> tuple[Finding, ...]:
    """Findings of one SELECT statement.

    Parameters
    ----------
    source : str
        A statement that passed ``validate``.
    schema : GraphSchema
        Columns of ``nodes`` (``id`` and node attributes) and ``edges`` (``source``, ``target``, edge attributes).
    """
    found = [t for t in tokens(source) if t.text != ";"]
    return (
        *_unknown_columns(found, schema),
        *_limit_without_order(found),
        *_not_in(found),
        *_counted_columns(found, schema),
        *_one_sided(found, schema),
    )


def _names(found: list[Token]) -> tuple[set[str], set[str]]:
    """(aliases and names made by the statement, tables that are read)."""
    made: set[str] = set()
    tables: set[str] = set()
    for place, token in enumerate(found):
        before = found[place - 1] if place else None
        after = found[place + 1] if place + 1 < len(found) else None
        if not token.word and token.kind != "quoted":
            continue
        name = token.text.strip('"').casefold()
        if before is not None and before.word in ("as", "with", "recursive"):
            made.add(name)
        elif before is not None and (before.word in ("from", "join") or _comma_table(found, place)):
            tables.add(name)
        elif before is not None and name not in KEYWORDS and _ends_value(before) and not (after and after.text == "."):
            made.add(name)  # alias without AS
        if after is not None and after.word == "as" and before is not None and before.text in (",", ")"):
            made.add(name)
        if after is not None and after.text == ":" and place + 2 < len(found) and found[place + 2].text == "=":
            made.add(name)  # a named argument
        if place > 1 and before is not None and before.word in TYPES and found[place - 2].text == "::":
            made.add(name)  # alias after a cast
    return made | _columns_of_tables(found), tables


def _columns_of_tables(found: list[Token]) -> set[str]:
    """Names in the brackets of ``WITH r(a, b) AS (``."""
    made: set[str] = set()
    for place, token in enumerate(found):
        before = found[place - 1] if place else None
        if token.text != "(" or before is None or not before.word or before.word in KEYWORDS:
            continue
        end = next((at for at in range(place + 1, len(found)) if found[at].text in ("(", ")")), len(found))
        closed = end + 2 < len(found) and found[end].text == ")"
        if closed and found[end + 1].word == "as" and found[end + 2].text == "(":
            made.update(one.text.strip('"').casefold() for one in found[place + 1 : end] if one.text != ",")
    return made


def _ends_value(token: Token) -> bool:
    return (
        token.kind in ("quoted", "text", "number")
        or token.text == ")"
        or (bool(token.word) and token.word not in KEYWORDS)
    )


def _comma_table(found: list[Token], place: int) -> bool:
    if found[place - 1].text != ",":
        return False
    depth = 0
    for token in reversed(found[: place - 1]):
        depth += (token.text == ")") - (token.text == "(")
        if depth < 0 or token.word in ("select", "where", "group", "order", "having", "on", "by"):
            return False
        if depth == 0 and token.word == "from":
            return True
    return False


def _unknown_columns(found: list[Token], schema: GraphSchema) -> Iterator[Finding]:
    made, tables = _names(found)
    attributes = schema.attributes
    known = {a.public_name.casefold() for a in attributes} | {"id", "source", "target", "key", "rowid"}
    known |= {"node", "neighbor", "direction"}  # of the view `ends`
    known_tables = {"nodes", "edges", "ends"} | {t.name.casefold() for t in schema.tables}
    for table in schema.tables:
        known |= {c.casefold() for c, _ in table.columns}
    unknown = {t for t in tables if t not in known_tables and t not in made and t not in KEYWORDS}
    for place, token in enumerate(found):
        name = token.text.strip('"').casefold()
        after = found[place + 1].text if place + 1 < len(found) else ""
        is_name = token.kind == "quoted" or (bool(token.word) and name not in KEYWORDS)
        if not is_name or after in ("(", ".") or name in made | known | known_tables:
            continue
        if name in unknown:
            yield _finding("unknown-table", token, f"there is no table {name!r}", "Tables are nodes, edges and ends.")
        elif name not in tables and attributes:
            yield _unknown(token, name, schema)


def _unknown(token: Token, name: str, schema: GraphSchema) -> Finding:
    near = nearest_attributes(name, schema.attributes)
    fix = f"Use {' or '.join(near)}." if near else "Use a column of the schema."
    if token.kind == "quoted":
        fix = f"Text stands in single quotes: '{token.text[1:-1]}'. " + (fix if near else "")
    return _finding("unknown-column", token, f"there is no column {name!r}", fix.strip())


def _limit_without_order(found: list[Token]) -> Iterator[Finding]:
    depth, ordered = 0, {0: False}
    for place, token in enumerate(found):
        depth += (token.text == "(") - (token.text == ")")
        if token.text == "(":
            ordered[depth] = False
        if token.word == "order":
            ordered[depth] = True
        number = found[place + 1].text if place + 1 < len(found) else ""
        if token.word == "limit" and not ordered.get(depth, False) and number != "0":
            yield _finding(
                "limit-without-order",
                token,
                "LIMIT without ORDER BY keeps arbitrary rows",
                "Add ORDER BY before LIMIT.",
            )


def _not_in(found: list[Token]) -> Iterator[Finding]:
    for first, second, third, fourth in zip(found, found[1:], found[2:], found[3:], strict=False):
        if first.word == "not" and second.word == "in" and third.text == "(" and fourth.word == "select":
            inner = found[found.index(fourth) :]
            guarded = any(a.word == "is" and b.word == "not" for a, b in pairwise(inner))
            if not guarded:
                fix = "Write NOT EXISTS (SELECT 1 FROM ... WHERE ...), or add WHERE column IS NOT NULL inside."
                yield _finding("not-in-null", first, "NOT IN gives nothing when the list holds a NULL", fix)


def _counted_columns(found: list[Token], schema: GraphSchema) -> Iterator[Finding]:
    partial = {a.public_name.casefold() for a in schema.attributes if a.count < a.total}
    for first, second, third in zip(found, found[1:], found[2:], strict=False):
        if first.word in ("count", "avg", "sum") and second.text == "(" and third.text.casefold() in partial:
            text = f"{third.text} is missing on some rows, which {first.word} leaves out"
            yield _finding("missing-keys", first, text, "", Severity.CAVEAT)


def _one_sided(found: list[Token], schema: GraphSchema) -> Iterator[Finding]:
    words = {t.text.strip('"').casefold() for t in found}
    if schema.graph_class.directed or "union" in words:
        return
    for place, token in enumerate(found):
        if token.word == "group" and place + 2 < len(found) and found[place + 1].word == "by":
            clause = []
            for later in found[place + 2 :]:
                if later.word in KEYWORDS:
                    break
                clause.append(later.text.casefold())
            if ("source" in clause) != ("target" in clause):
                fix = "Count both ends: SELECT source AS node FROM edges UNION ALL SELECT target FROM edges."
                yield _finding("one-sided", token, "links have no direction: one end counts about half of them", fix)
