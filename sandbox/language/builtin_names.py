"""The builtins of a program: our own list, not RestrictedPython's (which lacks ``sorted``, ``zip`` and others)."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nl2net.errors import RefusedCode
from nl2net.sandbox.language.attributes import guarded_getattr_builtin, guarded_hasattr
from nl2net.sandbox.language.policy import class_table, type_table
from nl2net.sandbox.language.proxies import ModuleProxy
from nl2net.sandbox.language.state import current

FUNCTIONS = [
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytes",
    "callable",
    "chr",
    "complex",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "hash",
    "hex",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "next",
    "object",
    "oct",
    "ord",
    "pow",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "str",
    "sum",
    "tuple",
    "zip",
]

# What a program may not name, and what to write instead.
REFUSED = {
    "open": "the data is already loaded: use the arguments of answer()",
    "input": "call ask_user(question, choices)",
    "eval": "write the expression itself",
    "exec": "write the statements themselves",
    "compile": "write the code itself",
    "globals": "use a dictionary of your own",
    "locals": "use a dictionary of your own",
    "vars": "use a dictionary of your own",
    "dir": "name the attribute that you need",
    "id": "compare with ==",
    "setattr": "assign to a dictionary key",
    "delattr": "delete a dictionary key",
    "super": "write a function",
    "property": "write a function",
    "staticmethod": "write a function",
    "classmethod": "write a function",
    "memoryview": "use a list",
    "breakpoint": "leave it out",
    "help": "leave it out",
    "exit": "return a value",
    "quit": "return a value",
    "SystemExit": "raise ValueError or return a value",
    "KeyboardInterrupt": "use Exception",
    "GeneratorExit": "use Exception",
    "BaseException": "use Exception",
    "BaseExceptionGroup": "use Exception",
    "ExceptionGroup": "use Exception",
}
TIE_LIMIT = 200_000


def exceptions() -> dict[str, type[Exception]]:
    """Ordinary exceptions; those that end the interpreter are not offered."""
    return {
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, Exception) and name not in REFUSED
    }


def type_of(value: Any) -> Any:
    """``type(value)``: the class where programs may hold it, else its name."""
    cls = type(value)
    return cls if cls in _held_classes() else cls.__name__


_held: set[type] = set()


def _held_classes() -> set[type]:
    if not _held:
        for name in FUNCTIONS:
            value = getattr(builtins, name)
            if isinstance(value, type):
                _held.add(value)
        _held.update(exceptions().values())
        _held.update(c for c in (*class_table(), *type_table()) if c.__module__ in ("collections", "datetime"))
        _held.update(c for c in type_table() if c.__module__ in ("ipaddress", "fractions", "decimal"))
        _held.add(type(None))
        _held.discard(BaseException)
    return _held


def type_name(value: Any) -> str:
    """``type(value).__name__`` and ``value.__class__.__name__``."""
    return type(value).__name__


def remembered_sorted(iterable: Iterable[Any], /, *, key: Any = None, reverse: bool = False) -> list[Any]:
    """``sorted`` that remembers its last results, so that a cut of them can be checked for ties."""
    result = sorted(iterable, key=key, reverse=reverse)
    current().sorted.append((result, key))
    return result


def cut(values: Any, upper: Any) -> Any:
    """``values[:upper]``; notes when the first value left out is as large as the last one kept."""
    result = values[:upper]
    if type(values) is list and type(upper) is int and 0 < upper < len(values):
        for ranked, key in current().sorted:
            if ranked is values and _rank(values[upper], key) == _rank(values[upper - 1], key):
                current().note(
                    f"tie at the cut: item {upper + 1} of the order is equal to item {upper}, but was left out"
                )
    return result


def _rank(item: Any, key: Callable[[Any], Any] | None) -> Any:
    try:
        return key(item) if key is not None else (item[0] if isinstance(item, tuple) and item else object())
    except Exception:  # the program's own function; the order exists, so only the remark is lost
        return object()


def extreme(function: Callable[..., Any], word: str) -> Callable[..., Any]:
    """``max`` or ``min`` that notes when several items share the extreme key."""

    def call(*args: Any, **kwargs: Any) -> Any:
        key = kwargs.get("key")
        if len(args) != 1 or key is None or not hasattr(args[0], "__len__") or not 1 < len(args[0]) <= TIE_LIMIT:
            return function(*args, **kwargs)
        items = list(args[0])
        keys = [key(item) for item in items]
        best = function(keys)
        try:
            place = keys.index(best)
            shared = keys.count(best)
        except Exception:  # keys without a plain comparison, such as arrays
            return function(items, **kwargs)
        if shared > 1:
            current().note(f"tie: {shared} items share the {word} value; the first one was taken")
        return items[place]

    call.__name__ = call.__qualname__ = function.__name__
    return call


def print_text(*values: Any, sep: Any = " ", end: Any = "\n", flush: Any = False) -> None:
    """``print`` into the buffer of the run."""
    sep = " " if sep is None else sep
    end = "\n" if end is None else end
    if type(sep) is not str or type(end) is not str:
        raise TypeError("sep and end must be text")
    current().write(sep.join([str(v) for v in values]) + end)


def c_import(
    name: str, scope: Mapping[str, Any] | None = None, names: Any = None, fromlist: Any = None, level: int = 0
) -> Any:
    """``__import__`` as C code of numpy and datetime calls it from the frame of a program.

    The import statements of a program are rewritten and never come here; the C function passes an empty list.
    Modules that are not loaded yet are not served: the worker loads what is needed before it is sealed.
    """
    if type(fromlist) is list and not fromlist and level == 0 and name in sys.modules:
        return sys.modules[name]
    raise RefusedCode("this import is not available here", rule="import", hint="Use the names that are offered.")


def build_builtins() -> dict[str, Any]:
    """A fresh dictionary for the namespace of one run."""
    table: dict[str, Any] = {name: getattr(builtins, name) for name in FUNCTIONS}
    table.update(exceptions())
    table.update(
        {"True": True, "False": False, "None": None, "NotImplemented": NotImplemented, "Ellipsis": Ellipsis},
        type=type_of,
        getattr=guarded_getattr_builtin,
        hasattr=guarded_hasattr,
        sorted=remembered_sorted,
        max=extreme(max, "largest"),
        min=extreme(min, "smallest"),
        print=print_text,
        __import__=c_import,
    )
    return table


def is_module(value: Any) -> bool:
    """Whether a value stands for a module."""
    return isinstance(value, ModuleProxy)
