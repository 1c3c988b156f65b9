"""Reading an attribute: decided by the exact type of the object, from the lists of the policy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NoReturn

import networkx as nx
import pandas as pd
from pandas.core.groupby.groupby import BaseGroupBy

from nl2net.errors import RefusedCode
from nl2net.sandbox.language.frames import wrapped_methods
from nl2net.sandbox.language.policy import class_table, type_table
from nl2net.sandbox.language.proxies import ModuleProxy, near_names, proxy_get
from nl2net.sandbox.language.strictness import strict_methods
from nl2net.sandbox.language.texts import bind_format, bind_format_map

Reader = Callable[[Any], Any]

HINTS = {
    "to_csv": "return the DataFrame itself; it is exported outside the program",
    "to_json": "return the DataFrame itself, or use to_dict()",
    "to_excel": "return the DataFrame itself; it is exported outside the program",
    "to_html": "return the DataFrame itself",
    "to_markdown": "return the DataFrame itself",
    "to_clipboard": "return the DataFrame itself",
    "to_sql": "return the DataFrame itself",
    "eval": "compute the column: df['a'] + df['b']",
    "plot": "return the table; figures are drawn outside the program",
    "hist": "return the table; figures are drawn outside the program",
    "style": "return the DataFrame itself",
    "info": "use df.dtypes or df.describe()",
    "array": "use .tolist() or .to_numpy()",
    "view": "use .astype(...) or .copy()",
    "data": "use .tolist()",
    "tobytes": "use .tolist()",
    "flat": "use .flatten()",
    "obj": "keep a variable for the DataFrame",
}
PLAIN: Reader = object  # type: ignore[assignment]  # marker: read the attribute as it is

NOTHING: frozenset[str] = frozenset()

_plain: dict[type, set[str]] = {}  # names that were decided to be read as they are
_decisions: dict[tuple[type, str], Reader] = {}
_wrapped: dict[tuple[type, str], Reader] = {}


def guarded_getattr(obj: Any, name: str) -> Any:
    """The value of ``obj.name`` for a program.

    Raises
    ------
    RefusedCode
        When the attribute exists but is not in the lists.
    AttributeError
        When it does not exist, with near names; so a slip fails as it does in plain Python.

    Examples
    --------
    >>> guarded_getattr("abc", "upper")()
    'ABC'
    """
    if name in _plain.get(type(obj), NOTHING):
        return getattr(obj, name)
    how = _decisions.get((type(obj), name))
    if how is None:
        how = _decide(obj, name)
    if how is PLAIN:
        return getattr(obj, name)
    return how(obj)


def _decide(obj: Any, name: str) -> Reader:
    if type(name) is not str or name[:1] == "_":
        raise RefusedCode("names that begin with an underscore are not available", rule="underscore")
    cls = type(obj)
    if cls is ModuleProxy:
        return _keep(cls, name, lambda proxy: proxy_get(proxy, name))
    if isinstance(obj, type):
        # Never cached: the key would be the metaclass, shared by all classes.
        if name in class_table().get(obj, ()) and name not in ("format", "format_map"):
            return PLAIN
        return _refuse_class(obj, name)
    wrapped = _wrapped_for(cls, name)
    if wrapped is not None:
        return _keep(cls, name, wrapped)
    if name in allowed_names(cls):
        return _keep(cls, name, PLAIN)
    if _is_field(obj, name):
        return PLAIN
    return _refuse(obj, name)


def _keep(cls: type, name: str, how: Reader) -> Reader:
    if how is PLAIN:
        _plain.setdefault(cls, set()).add(name)
    else:
        _decisions[cls, name] = how
    return how


def allowed_names(cls: type) -> frozenset[str]:
    """Allowed attribute names of instances of ``cls``: the first match along its base classes."""
    table = type_table()
    return next((table[base] for base in cls.__mro__ if base in table), frozenset())


def _wrapped_for(cls: type, name: str) -> Reader | None:
    if not _wrapped:
        _wrapped.update(wrapped_methods())
        _wrapped.update(strict_methods())
        _wrapped[str, "format"] = bind_format
        _wrapped[str, "format_map"] = bind_format_map
    if name not in allowed_names(cls) and not (name.startswith("format") and issubclass(cls, str)):
        return None
    return next((_wrapped[base, name] for base in cls.__mro__ if (base, name) in _wrapped), None)


def _is_field(obj: Any, name: str) -> bool:
    """Columns, index labels and fields of named tuples are data, unless the class has an attribute of that name."""
    cls = type(obj)
    if isinstance(obj, tuple) and name in getattr(cls, "_fields", ()):
        return type(inspect.getattr_static(cls, name)).__name__ == "_tuplegetter"
    if hasattr(cls, name):
        return False
    if isinstance(obj, nx.Graph):
        return name == "graph"  # a plain dictionary of the private copy; the schema names its extra tables
    if isinstance(obj, pd.DataFrame):
        return name in obj.columns
    if isinstance(obj, pd.Series):
        return name in obj.index
    if isinstance(obj, BaseGroupBy):
        frame = getattr(obj, "obj", None)
        return isinstance(frame, pd.DataFrame) and name in frame.columns
    return False


def _refuse(obj: Any, name: str) -> NoReturn:
    cls = type(obj)
    if _exists(obj, name):
        hint = HINTS.get(name, "")
        near = near_names(name, allowed_names(cls))
        if near and not hint:
            hint = "Use ." + " or .".join(near) + "."
        raise RefusedCode(f"attribute {name} of {cls.__name__} is not available here", rule="attribute", hint=hint)
    known = set(allowed_names(cls))
    if isinstance(obj, pd.DataFrame):
        known |= {c for c in obj.columns if isinstance(c, str)}
    near = near_names(name, known)
    tail = f". Did you mean: {', '.join(near)}?" if near else ""
    raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}{tail}")


def _exists(obj: Any, name: str) -> bool:
    if name.startswith("to_") and isinstance(obj, pd.DataFrame | pd.Series | pd.Index):
        return True
    try:
        inspect.getattr_static(obj, name)
    except AttributeError:
        return False
    return True


def _refuse_class(cls: type, name: str) -> NoReturn:
    near = near_names(name, class_table().get(cls, frozenset()))
    hint = "Call the method on an object: value." + name + "(...)."
    if near:
        hint = f"Use {cls.__name__}." + " or ".join(near) + "."
    if not hasattr(cls, name):
        raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
    raise RefusedCode(f"{cls.__name__}.{name} cannot be taken from the class", rule="class-attribute", hint=hint)


_MISSING = object()


def guarded_getattr_builtin(obj: Any, name: Any, default: Any = _MISSING) -> Any:
    """``getattr`` of a program: the same decision, with a default for what does not exist."""
    if type(name) is not str:
        raise RefusedCode("getattr takes a plain text", rule="getattr", hint="Write object.name.")
    if default is _MISSING:
        return guarded_getattr(obj, name)
    try:
        return guarded_getattr(obj, name)
    except AttributeError:
        return default


def guarded_hasattr(obj: Any, name: Any) -> bool:
    """``hasattr`` of a program."""
    if type(name) is str and isinstance(obj, ModuleProxy):
        return name in obj.proxy_table
    return guarded_getattr_builtin(obj, name, _MISSING_VALUE) is not _MISSING_VALUE


_MISSING_VALUE = object()
