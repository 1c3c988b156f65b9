"""Intents: what can be asked, in which words, and the reference program, read from ``data/*.yaml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

import yaml

from nl2net.errors import DataError
from nl2net.golden.case import Level, Mode, Split
from nl2net.model import Library, ResultType, Status

APPLICATIONS = ("traffic", "planning")
_KEYS = frozenset(
    [
        "intent",
        "level",
        "type",
        "mode",
        "slots",
        "needs",
        "split",
        "program",
        "pandas",
        "sql",
        "dev",
        "eval",
        "outcome",
        "missing",
        "ordered",
        "key_column",
        "absolute",
        "extra",
        "predicate",
        "parameters",
        "ends",
    ]
)


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that can be asked of one application.

    ``split`` is ``eval`` for intents that development never sees. Forms and programs hold ``$slot`` marks; ``needs``
    names facts that the graph must have.
    """

    name: str
    application: str
    level: Level
    type: ResultType
    mode: Mode
    split: Split
    slots: Mapping[str, str]
    needs: tuple[str, ...]
    programs: Mapping[Library, str]
    dev: tuple[str, ...]
    eval: tuple[str, ...]
    outcome: Status = Status.ANSWERED
    missing: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def forms(self, split: Split) -> tuple[str, ...]:
        """Surface forms that the split may use."""
        return self.dev if split is Split.DEV else self.eval


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put slot values into a form or a program.

    Examples
    --------
    >>> fill("How many hosts in $prefix?", {"prefix": "10.1.0.0/16"})
    'How many hosts in 10.1.0.0/16?'
    """
    return Template(text).substitute(values)


def slots_used(text: str) -> frozenset[str]:
    """Names of the slots in a text."""
    return frozenset(re.findall(r"\$\{?([a-z_][a-z_0-9]*)", text, re.IGNORECASE))


@cache
def intents(application: str) -> tuple[Intent, ...]:
    """All intents of an application, in the order of its files.

    Raises
    ------
    DataError
        A file has an unknown key, a doubled name or too few forms.
    """
    folder = files("nl2net.golden") / "data"
    found: dict[str, Intent] = {}
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if not entry.name.startswith(application + "_") or not entry.name.endswith(".yaml"):
            continue
        for record in yaml.load(entry.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
            intent = _parse(record, application, entry.name)
            if intent.name in found:
                raise DataError(f"intent {intent.name!r} occurs twice", path=entry.name)
            found[intent.name] = intent
    return tuple(found.values())


def intent_named(application: str, name: str) -> Intent:
    """The intent of that name."""
    return next(intent for intent in intents(application) if intent.name == name)


def _parse(record: dict[str, Any], application: str, path: str) -> Intent:
    name = record.get("intent", "?")
    unknown = record.keys() - _KEYS
    if unknown:
        raise DataError(f"unknown key {sorted(unknown)[0]!r}", path=path, field=name)
    split = Split(record.get("split", "dev"))
    forms_dev, forms_eval = tuple(record.get("dev", ())), tuple(record.get("eval", ()))
    if len(forms_dev) + len(forms_eval) < 8 or not forms_eval or (split is Split.DEV) != bool(forms_dev):
        raise DataError("too few surface forms, or forms of the wrong split", path=path, field=name)
    programs = {
        library: record[key]
        for library, key in ((Library.NETWORKX, "program"), (Library.PANDAS, "pandas"), (Library.SQL, "sql"))
        if key in record
    }
    options: dict[str, Any] = {
        key: record[key]
        for key in ("ordered", "key_column", "absolute", "extra", "predicate", "parameters", "ends")
        if key in record
    }
    return Intent(
        name=name,
        application=application,
        level=Level(record["level"]),
        type=ResultType(record.get("type", "text")),
        mode=Mode(record.get("mode", "value")),
        split=split,
        slots=record.get("slots", {}),
        needs=tuple(record.get("needs", ())),
        programs=programs,
        dev=forms_dev,
        eval=forms_eval,
        outcome=Status(record.get("outcome", "answered")),
        missing=tuple(record.get("missing", ())),
        options=options,
    )
