"""Question-program pairs of everyday network operation: topology, cost, addressing, inventory, lifecycle.

The files in ``data/operations`` hold masked questions (``NODE_1``, ``PREFIX_1``) with one verified NetworkX program per
intent. They need no generated graph: placeholders stand in questions and programs alike. ``nl2net.assistant.seeding``
puts them into the program library, and a test runs every program on every graph that its entry names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from nl2net.errors import DataError

# Graphs that operations are verified on, by the short name that their files use.
GRAPH_FILES: Mapping[str, str] = {
    "geant": "zoo_geant2012",
    "germany": "topohub_sndlib_germany50",
    "abilene": "zoo_abilene",
    "ntt": "zoo_ntt_multigraph_disconnected",
    "comm50": "nemoeval_comm_node50",
    "comm10": "nemoeval_comm_node10",
    "malt": "malt_ju1_a1_s1_excerpt",
    "netbox": "netbox_demo_dcim_excerpt",
    "clos": "containerlab_clos02",
    "suzieq": "suzieq_lldp_dual-bgp",
    "netlab": "netlab_addressing_lan",
}
# What `type` may be: the types of a result.
_TYPES = frozenset({"number", "text", "list", "table", "graph"})
_KEYS = frozenset({"name", "type", "questions", "program", "graphs", "where", "multi", "directed"})
_HEAD = frozenset({"attributes", "kinds", "graphs", "multi", "directed", "intents"})
_LEAST_WORDINGS = 4
_PLACEHOLDER = re.compile(r"\b(?:NODE|NAME|VALUE|PREFIX|ADDRESS|OCTETS|TEXT)_\d+\b")


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that operators ask for.

    Attributes
    ----------
    name, topic : str
        Unique name, and the file it stands in.
    type : str
        Result type.
    questions : tuple of str
        Masked wordings, all with the same placeholders.
    program : str
        NetworkX program with those placeholders.
    roles : mapping of str to (str, str)
        Attribute of the program to its owner (``node`` or ``edge``) and role, ``""`` for one without a role.
    kinds : tuple of str
        Kinds that the program names.
    graphs : tuple of str
        Short names of the graphs on which the program is verified.
    where : mapping of str to str
        What a placeholder is bound to in the verification, where the default is not enough.
    multi, directed : bool
        Class of the graph that the program is written for.
    """

    name: str
    topic: str
    type: str
    questions: tuple[str, ...]
    program: str
    roles: Mapping[str, tuple[str, str]]
    kinds: tuple[str, ...]
    graphs: tuple[str, ...]
    where: Mapping[str, str]
    multi: bool = False
    directed: bool = False

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Placeholders of the program, in order.

        Examples
        --------
        >>> next(o for o in operations() if o.name == "shortest_path_hops").placeholders
        ('NODE_1', 'NODE_2')
        """
        return tuple(dict.fromkeys(_PLACEHOLDER.findall(self.program)))


@cache
def operations() -> tuple[Operation, ...]:
    """All operations, in the order of their files.

    Raises
    ------
    DataError
        A file has an unknown key, a doubled name, too few wordings or placeholders that differ.
    """
    found: dict[str, Operation] = {}
    folder = files("nl2net.golden") / "data" / "operations"
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if not entry.name.endswith(".yaml"):
            continue
        data = yaml.load(entry.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        if data.keys() - _HEAD:
            raise DataError(f"unknown key {sorted(data.keys() - _HEAD)[0]!r}", path=entry.name)
        for record in data["intents"]:
            one = _parse(record, data, entry.name)
            if one.name in found:
                raise DataError(f"operation {one.name!r} occurs twice", path=entry.name)
            found[one.name] = one
    return tuple(found.values())


def _parse(record: Mapping[str, Any], head: Mapping[str, Any], path: str) -> Operation:
    name = record.get("name", "?")
    unknown = record.keys() - _KEYS
    if unknown:
        raise DataError(f"unknown key {sorted(unknown)[0]!r}", path=path, field=name)
    program = record["program"].strip("\n") + "\n"
    literals = set(re.findall(r"[\"']([^\"'\n]{1,60})[\"']", program))
    one = Operation(
        name=name,
        topic=path.removesuffix(".yaml"),
        type=record["type"],
        questions=tuple(record["questions"]),
        program=program,
        roles={key: (owner, role) for key, (owner, role) in head.get("attributes", {}).items() if key in literals},
        kinds=tuple(sorted(literals & set(head.get("kinds", ())))),
        graphs=tuple(record.get("graphs", head["graphs"])),
        where=record.get("where", {}),
        multi=bool(record.get("multi", head.get("multi", False))),
        directed=bool(record.get("directed", head.get("directed", False))),
    )
    _check(one, path)
    return one


def _check(one: Operation, path: str) -> None:
    if one.type not in _TYPES:
        raise DataError(f"unknown type {one.type!r}", path=path, field=one.name)
    if len(set(one.questions)) < _LEAST_WORDINGS:
        raise DataError(f"fewer than {_LEAST_WORDINGS} wordings", path=path, field=one.name)
    wanted = set(one.placeholders)
    for question in one.questions:
        if not isinstance(question, str) or set(_PLACEHOLDER.findall(question)) != wanted:
            raise DataError(f"placeholders differ from the program's: {question!r}", path=path, field=one.name)
