"""A stand-in for wall one that stops nothing: plain Python, so that the operating system is all there is.

Loaded into sealed workers only, through ``WorkerOptions.language``.
"""

from __future__ import annotations

import collections
import contextlib
import io
import itertools
import math
import re
import statistics
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

FILENAME = "<program>"


class CannotAnswer(Exception):
    def __init__(self, reason: str) -> None:
        self.reason = reason


class AskUser(Exception):
    def __init__(self, question: str, choices: tuple[str, ...] = ()) -> None:
        self.question = question
        self.choices = choices


@dataclass
class Ran:
    value: Any
    printed: str
    notes: tuple[str, ...]
    program: str


def _cannot_answer(reason: str) -> None:
    raise CannotAnswer(reason)


def _ask_user(question: str, choices: tuple[str, ...] = ()) -> None:
    raise AskUser(question, tuple(choices))


def validate(source: str, *, library: Any = None) -> tuple[()]:
    return ()


def lint(source: str, *, library: Any, schema: Any, facts: Any) -> tuple[()]:
    return ()


def run_restricted(source: str, arguments: tuple[Any, ...], *, library: Any, bindings: Any, seed: int) -> Ran:
    bound = source
    for name, value in bindings.items():
        bound = bound.replace(name, value)
    names: dict[str, Any] = {
        "nx": nx, "np": np, "pd": pd, "math": math, "re": re, "statistics": statistics, "collections": collections,
        "itertools": itertools, "cannot_answer": _cannot_answer, "ask_user": _ask_user, "__name__": "program",
    }  # fmt: skip
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(bound, FILENAME, "exec"), names)
        entry = names["answer"]
        value = entry(*arguments[: entry.__code__.co_argcount])
    return Ran(value, said.getvalue(), (), bound)
