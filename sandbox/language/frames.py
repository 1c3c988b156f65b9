"""pandas methods that take more than data: method names as strings, query text, buffers. All are wrapped."""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from nl2net.errors import RefusedCode
from nl2net.sandbox.language.queries import check_query
from nl2net.sandbox.language.remarks import SKIPPING, bind_merge, skipping
from nl2net.sandbox.language.state import current

# pandas calls the method of that name, dunders included, unseen by the guards: only these may be text.
METHOD_NAMES = frozenset(
    [
        "sum",
        "mean",
        "median",
        "min",
        "max",
        "std",
        "var",
        "sem",
        "skew",
        "count",
        "size",
        "nunique",
        "unique",
        "first",
        "last",
        "nth",
        "head",
        "tail",
        "any",
        "all",
        "prod",
        "mode",
        "idxmin",
        "idxmax",
        "quantile",
        "rank",
        "describe",
        "cumsum",
        "cumprod",
        "cummin",
        "cummax",
        "cumcount",
        "ngroup",
        "ffill",
        "bfill",
        "shift",
        "diff",
        "pct_change",
        "abs",
        "round",
        "list",
        "len",
    ]
)
DEPTH = 4
NESTED = frozenset({dict, defaultdict, OrderedDict, list, tuple, set, frozenset})
NESTED_HINT = 'Write ["sum", "mean"] or {"column": "sum"}.'
NAME_TAKERS = ("agg", "aggregate", "apply", "transform", "pipe", "map", "applymap", "filter")
TIE_CUTS = ("nlargest", "nsmallest")


def check_method_names(value: Any, depth: int = 0) -> None:
    """Refuse text that pandas would take for a method name, unless it is in the closed list.

    Raises
    ------
    RefusedCode
        For any other text, at any of four nested levels, and for deeper nesting.
    """
    if isinstance(value, str):
        if type(value) is not str or value not in METHOD_NAMES:
            raise RefusedCode(
                "a method name given as text is not in the list of this sandbox",
                rule="method-name",
                hint='Use "sum", "mean", "max" and the like, or a function: lambda column: ...',
            )
        return
    if isinstance(value, pd.NamedAgg):
        check_method_names(value.aggfunc, depth + 1)
        return
    if type(value) in NESTED:
        if depth >= DEPTH:
            raise RefusedCode("method names are nested too deeply", rule="method-name", hint="Use a flat list.")
        for item in value.values() if isinstance(value, Mapping) else value:
            check_method_names(item, depth + 1)
    elif not (callable(value) or isinstance(value, int | float | None)):
        # A Series, an array, a deque or a view may hold text that pandas would take for method names.
        raise RefusedCode("functions must be given in a plain list or dictionary", rule="method-name", hint=NESTED_HINT)


def _check_named(value: Any) -> None:
    """A named aggregation is ``("column", function)``: only the second part is a method name."""
    if type(value) is tuple and len(value) == 2:
        check_method_names(value[1])
    else:
        check_method_names(value)


def name_taker(method: str) -> Callable[[Any], Callable[..., Any]]:
    """Factory of the wrapped form of ``agg``, ``apply`` and their kin."""

    def bind(obj: Any) -> Callable[..., Any]:
        original = getattr(obj, method)

        def call(func: Any = None, *args: Any, **kwargs: Any) -> Any:
            _refuse_engine(kwargs)
            if method == "map" and not callable(func):
                return original(func, *args, **kwargs)  # a mapping of values, never a method name
            if method == "pipe" and isinstance(func, tuple):
                raise RefusedCode("pipe takes a function here", rule="method-name", hint="Use pipe(lambda df: ...).")
            check_method_names(func)
            if method in ("agg", "aggregate"):
                for key, value in kwargs.items():
                    if key not in ("axis", "args"):
                        _check_named(value)
            return original(*(() if func is None else (func,)), *args, **kwargs)

        return call

    return bind


def _refuse_engine(kwargs: Mapping[str, Any]) -> None:
    for key in ("engine", "engine_kwargs"):
        if kwargs.get(key) is not None:
            raise RefusedCode(f"{key}= is not available here", rule="keyword", hint=f"Leave out {key}=.")


def pivot_taker(original: Callable[..., Any], offset: int) -> Callable[..., Any]:
    """Wrapped ``pivot_table`` or ``crosstab``: ``aggfunc`` by keyword only."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > offset:
            raise RefusedCode("aggfunc must be given by keyword", rule="method-name", hint='Write aggfunc="sum".')
        if "aggfunc" in kwargs and kwargs["aggfunc"] is not None:
            check_method_names(kwargs["aggfunc"])
        return original(*args, **kwargs)

    return call


def _bind_query(frame: pd.DataFrame) -> Callable[..., pd.DataFrame]:
    def query(expr: str, *, inplace: bool = False, local_dict: Any = None) -> Any:
        scope = sys._getframe(1)  # the program: pandas itself would look for @names there
        names = check_query(expr, {**scope.f_globals, **scope.f_locals, **(local_dict or {})})
        if inplace:
            raise RefusedCode("query(inplace=True) is not available here", rule="keyword", hint="df = df.query(...)")
        return frame.query(expr, local_dict=names, global_dict={}, engine="python")

    return query


def _bind_to_string(obj: Any) -> Callable[..., str]:
    def to_string(*, index: bool = True, header: bool = True, max_rows: int | None = None) -> str:
        return str(obj.to_string(index=index, header=header, max_rows=max_rows))

    return to_string


def _bind_rolling(obj: Any) -> Callable[..., Any]:
    def rolling(*args: Any, **kwargs: Any) -> Any:
        # pandas looks the window type up in a scipy module by its name.
        if kwargs.get("win_type") is not None or len(args) > 3:
            raise RefusedCode("win_type= is not available here", rule="keyword", hint="Use rolling(n).mean().")
        return obj.rolling(*args, **kwargs)

    return rolling


def _bind_interpolate(obj: Any) -> Callable[..., Any]:
    def interpolate(method: str = "linear", **kwargs: Any) -> Any:
        if method not in ("linear", "index", "values", "pad", "nearest", "zero", "time"):
            raise RefusedCode("this interpolation method is not available", rule="keyword", hint='Use "linear".')
        return obj.interpolate(method, **kwargs)

    return interpolate


def _bind_sample(obj: Any) -> Callable[..., Any]:
    def sample(*args: Any, **kwargs: Any) -> Any:
        if len(args) < 5:
            kwargs.setdefault("random_state", current().seed)
        return obj.sample(*args, **kwargs)

    return sample


def cut_taker(method: str) -> Callable[[Any], Callable[..., Any]]:
    """Factory of ``nlargest`` and ``nsmallest`` that notice equal values at the cut."""

    def bind(obj: Any) -> Callable[..., Any]:
        original = getattr(obj, method)

        def call(n: int = 5, *args: Any, **kwargs: Any) -> Any:
            result = original(n, *args, **kwargs)
            if kwargs.get("keep", "first") == "first" and len(args) < 2 and 0 < len(result) < len(obj):
                longer = original(n + 1, *args, **kwargs)
                columns = args[0] if args else kwargs.get("columns")
                column = longer if isinstance(longer, pd.Series) else longer[columns]
                if len(longer) > len(result) and _same(column.iloc[-1], column.iloc[-2]):
                    current().note(f"tie at the cut: the next value is equal to the last one of {method}({n})")
            return result

        return call

    return bind


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, pd.Series):
        return bool(left.equals(right))
    return bool(left == right)


def wrapped_methods() -> dict[tuple[type, str], Callable[[Any], Any]]:
    """Wrapped methods by (class, name); subclasses inherit them."""
    import pandas.core.resample as resample
    import pandas.core.window as window
    from pandas.core.groupby.groupby import BaseGroupBy

    takers: tuple[type, ...] = (pd.DataFrame, pd.Series, BaseGroupBy, window.Rolling, window.Expanding)
    takers += (window.ExponentialMovingWindow, resample.Resampler)
    table: dict[tuple[type, str], Callable[[Any], Any]] = {}
    for cls in takers:
        for method in NAME_TAKERS:
            if method == "filter" and cls in (pd.DataFrame, pd.Series):
                continue  # takes labels there, never a method name
            if any(hasattr(sub, method) for sub in (cls, *cls.__subclasses__())):
                table[cls, method] = name_taker(method)
    for cls in (pd.DataFrame, pd.Series, BaseGroupBy):
        table[cls, "rolling"] = _bind_rolling
        table[cls, "sample"] = _bind_sample
    for cls in (pd.DataFrame, pd.Series):
        table[cls, "to_string"] = _bind_to_string
        table[cls, "interpolate"] = _bind_interpolate
        for method in TIE_CUTS:
            table[cls, method] = cut_taker(method)
    table[resample.Resampler, "interpolate"] = _bind_interpolate
    table[pd.DataFrame, "merge"] = bind_merge
    for method in SKIPPING:
        table[pd.Series, method] = skipping(method)
    table[pd.DataFrame, "query"] = _bind_query
    table[pd.DataFrame, "pivot_table"] = lambda frame: pivot_taker(frame.pivot_table, 3)
    return table
