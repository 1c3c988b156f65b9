"""What may be said to a model about a failure over data: a kind of a closed list and text of its own program.

The child that failed held data, so what it says is not believed: its kind must be in the list, and its place must be
one of those that a process without data found in the program. The text is cut out of the program here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from nl2net.model import GraphSchema
from nl2net.sandbox.outcome import Feedback

OPERAND_TYPES: Final = frozenset(
    {
        "int", "float", "str", "bool", "NoneType", "list", "tuple", "set", "dict", "DataFrame", "Series", "Index",
        "ndarray", "Graph", "DiGraph", "MultiGraph", "MultiDiGraph", "function", "datetime",
    }
)  # fmt: skip

HINTS: Final[Mapping[str, str]] = {
    "key": "A key is missing. Use .get() for attributes that not every node or edge has, and check column names.",
    "index": "An index is out of range. Check that the list is not empty before you index it.",
    "attribute": "The object has no such attribute or method. Use one that its type has.",
    "name": "A name is not defined. Define it first or use one of the preloaded names.",
    "arguments": "The call has wrong arguments. Check the signature of the function.",
    "type": "The operand types do not fit together. Convert one of them or skip values of the wrong type.",
    "none": "A value is None here. Skip missing values before you use them.",
    "call": "The object is not callable. Remove the parentheses or call the right function.",
    "iterate": "The object cannot be iterated. Iterate over its items or wrap it in a list.",
    "value": "The value is not valid for this function. Check its range and its form.",
    "convert": "A text cannot be converted to a number. Skip or clean such values first.",
    "unpack": "The number of values to unpack is wrong. Check what the loop yields.",
    "empty": "The sequence is empty. Give a default or return early when nothing matches.",
    "zero": "Division by zero. Treat a zero denominator apart.",
    "node": "A node is not in the graph. Check `in graph` first.",
    "path": "There is no path between the nodes. Catch nx.NetworkXNoPath or check nx.has_path first.",
    "graph_kind": "The function is not made for this class of graph. Convert the graph or use another function.",
    "graph": "The graph does not meet what the function needs (connected, acyclic, not empty). Check it first.",
    "policy": "The program used something that the sandbox does not offer. Use the listed libraries only.",
    "assertion": "An assertion failed. Handle the case instead of asserting it.",
    "sql": "The query failed. Check column names, types and casts.",
    "result": "The value cannot be returned. Return a number, text, list, table or graph.",
    "time": "The program took too long. Use an algorithm that scales to this graph.",
    "memory": "The program used too much memory. Do not build all pairs or all paths.",
    "output": "The answer is too large. Return a summary or the top rows.",
    "recursion": "The program recursed too deeply. Use a loop.",
    "other": "The program failed. Write it in a simpler way.",
}

KINDS: Final = frozenset(HINTS)


def build_feedback(
    kind: str,
    program: str,
    *,
    place: Sequence[int] = (),
    places: Collection[Sequence[int]] = (),
    operands: Sequence[str] = (),
) -> Feedback:
    """Feedback of the closed set.

    Parameters
    ----------
    kind : str
        What the child said; anything unknown becomes ``other``.
    program : str
        The masked program.
    place : sequence of int
        Line, column, end line, end column as the child said; columns count bytes.
    places : collection
        Places of the program's own expressions; a place outside is dropped.
    operands : sequence of str
        Operand type names; unknown ones are dropped.

    Examples
    --------
    >>> build_feedback("key", "d['x']", place=[1, 0, 1, 6], places=[[1, 0, 1, 6]]).expression
    "d['x']"
    >>> build_feedback("db-17 is missing", "d['x']", place=[1, 1, 1, 2]).kind
    'other'
    """
    kind = kind if kind in KINDS else "other"
    known = {tuple(one) for one in places}
    found = tuple(place) if tuple(place) in known else ()
    names = tuple(name for name in operands[:2] if name in OPERAND_TYPES) if found else ()
    line = found[0] if found else None
    return Feedback(kind, line, _cut(program, found) if found else "", HINTS[kind], names)


_MISSING_KEY = re.compile(r"KeyError: '([^'\\\n]{1,100})'\Z")


def advice(error: str, schema: GraphSchema) -> str:
    """What to write instead, where the twin failed on an attribute that not every node or edge has; else empty.

    Examples
    --------
    >>> from nl2net.model import AttributeSchema, GraphClass
    >>> speed = AttributeSchema("speed", "speed", "edge", "number", 3, 9, "many")
    >>> schema = GraphSchema(GraphClass(directed=False, multi=False), nodes=5, edges=9, attributes=(speed,))
    >>> advice("line 2: KeyError: 'speed'", schema)
    ' (not every edge has speed: use d.get("speed") and skip None, or test "speed" in d first)'
    """
    found = _MISSING_KEY.search(error)
    partial = [a for a in schema.attributes if found and a.public_name == found[1] and a.count < a.total]
    if not partial:
        return ""
    name, owner = partial[0].public_name, partial[0].owner
    return f' (not every {owner} has {name}: use d.get("{name}") and skip None, or test "{name}" in d first)'


def _cut(program: str, place: tuple[int, ...]) -> str:
    line, column, end_line, end_column = place
    lines = [text.encode() for text in program.split("\n")[line - 1 : end_line]]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return b"\n".join(lines).decode("utf-8", "replace")
