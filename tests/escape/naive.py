"""What projects usually build: the control that proves that a snippet has teeth. Runs in an arena only."""

from __future__ import annotations

import collections
import itertools
import math
import operator
import re
import statistics
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import pandas as pd
from RestrictedPython.compile import compile_restricted
from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter
from RestrictedPython.Guards import guarded_iter_unpack_sequence, guarded_unpack_sequence, safe_builtins, safer_getattr
from RestrictedPython.Utilities import utility_builtins

OPERATORS: dict[str, Any] = {"+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv}
MODULES: tuple[str, ...] = (
    "json",
    "math",
    "re",
    "random",
    "collections",
    "itertools",
    "statistics",
    "datetime",
    "typing",
)
MODULES += ("networkx", "pandas", "numpy", "operator", "functools", "ipaddress")


def _import(name: str, *args: Any, **kwargs: Any) -> Any:
    if name.split(".")[0] not in MODULES:
        raise ImportError(name)
    return __import__(name, *args, **kwargs)


def _apply(function: Any, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


class Collector:
    """RestrictedPython's print collector, but readable from outside: one text for the whole run."""

    said: ClassVar[list[str]] = []

    def __init__(self, getattr_: Any = None) -> None:
        self.said.clear()

    def write(self, text: str) -> None:
        self.said.append(text)

    def _call_print(self, *objects: Any, **kwargs: Any) -> None:
        if kwargs.get("file") is None:
            kwargs["file"] = self
        print(*objects, **kwargs)


def run_naively(source: str, graph: Any) -> tuple[Any, str]:
    """Compile and run with the library's own guards, raw modules and a write guard that does nothing."""
    compiler: Any = compile_restricted
    code = compiler(source, "<naive>", "exec")
    builtins = {**safe_builtins, **utility_builtins}
    builtins.update(
        __import__=_import, list=list, dict=dict, set=set, max=max, min=min, sum=sum, map=map, filter=filter,
        enumerate=enumerate, range=range, iter=iter, next=next, any=any, all=all, getattr=safer_getattr,
        setattr=setattr, type=type, sorted=sorted, tuple=tuple, zip=zip, str=str, len=len,
        __metaclass__=type, __name__="program", BaseException=BaseException, SystemExit=SystemExit,
        Exception=Exception, ImportError=ImportError, KeyError=KeyError, hasattr=hasattr,
    )  # fmt: skip
    space: dict[str, Any] = {
        "__builtins__": builtins, "_getattr_": safer_getattr, "_getitem_": default_guarded_getitem,
        "_getiter_": default_guarded_getiter, "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
        "_unpack_sequence_": guarded_unpack_sequence, "_write_": lambda x: x, "_print_": Collector,
        "_inplacevar_": lambda op, x, y: OPERATORS[op](x, y), "_apply_": _apply,
        "__metaclass__": type, "__name__": "program",
        "nx": nx, "pd": pd, "np": np, "math": math, "re": re, "statistics": statistics,
        "collections": collections, "itertools": itertools,
    }  # fmt: skip
    exec(code, space)
    return space["answer"](graph), "".join(Collector.said)
