"""Parameter spaces: the unit cube on one side, named parameters with units on the other.

A space is a TOML file, so that a user can narrow a range without touching code::

    case = "abr"
    [axes.rtt_ms]
    low = 20
    high = 1000
    scale = "linear"     # linear, log or integer
    label = "link RTT"
    unit = "ms"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nl2net.curriculum.arrays import Floats
from nl2net.errors import DataError

Scale = Literal["linear", "log", "integer"]
_SCALES = ("linear", "log", "integer")


@dataclass(frozen=True, slots=True)
class Axis:
    """One parameter.

    Attributes
    ----------
    low, high : float
        Range, both ends included; on a log scale both are positive.
    below_is_zero : float
        Values under this count as zero, for losses on a log scale.
    default : float
        Value of the published test scenario.
    """

    name: str
    low: float
    high: float
    scale: Scale = "linear"
    label: str = ""
    unit: str = ""
    default: float = 0.0
    below_is_zero: float = 0.0

    def value(self, unit: Floats) -> Floats:
        """Value of positions in [0, 1]."""
        if self.scale == "log":
            raw = self.low * (self.high / self.low) ** unit
        else:
            raw = self.low + (self.high - self.low) * unit
        if self.scale == "integer":
            raw = np.round(raw)
        return np.where(raw < self.below_is_zero, 0.0, raw) if self.below_is_zero else np.asarray(raw)

    def position(self, value: Floats) -> Floats:
        """Position in [0, 1] of values, clipped to the range."""
        if self.high == self.low:
            return np.full(np.shape(value), 0.5)
        if self.scale == "log":
            inside = np.clip(value, self.low, self.high)
            return np.asarray(np.log(inside / self.low) / np.log(self.high / self.low))
        return np.asarray(np.clip((value - self.low) / (self.high - self.low), 0.0, 1.0))

    def words(self, value: float) -> str:
        """A value with its unit, to three digits.

        Examples
        --------
        >>> Axis("rtt_ms", 20, 1000, unit="ms").words(401.26)
        '401 ms'
        """
        text = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
        return f"{text} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Space:
    """A case's parameters in a fixed order."""

    case: str
    axes: tuple[Axis, ...]
    name: str = "full"

    @property
    def size(self) -> int:
        """Number of parameters."""
        return len(self.axes)

    def index(self, name: str) -> int:
        """Column of a parameter."""
        return [axis.name for axis in self.axes].index(name)

    def values(self, unit: Floats) -> Floats:
        """Parameter values of points of the unit cube, shape (n, size)."""
        unit = np.atleast_2d(unit)
        return np.column_stack([axis.value(unit[:, k]) for k, axis in enumerate(self.axes)])

    def positions(self, values: Floats) -> Floats:
        """Points of the unit cube of parameter values, clipped to the ranges."""
        values = np.atleast_2d(values)
        return np.column_stack([axis.position(values[:, k]) for k, axis in enumerate(self.axes)])

    def default(self) -> Floats:
        """Values of the published test scenario, shape (1, size)."""
        return np.array([[axis.default for axis in self.axes]])

    def to_json(self) -> dict[str, Any]:
        """For manifests and reports."""
        names = ("name", "low", "high", "scale", "unit", "label", "default", "below_is_zero")
        axes = [{name: getattr(axis, name) for name in names} for axis in self.axes]
        return {"case": self.case, "name": self.name, "axes": axes}


def space_from_json(data: Mapping[str, Any]) -> Space:
    """The space of a manifest."""
    return Space(data["case"], tuple(Axis(**axis) for axis in data["axes"]), data["name"])


def _number(table: Mapping[str, Any], key: str, *, where: str, path: str) -> float:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        hint = f"Write `{key} = NUMBER` in the table of {where}."
        raise DataError(f"expected a number, found {value!r}", path=path, field=f"axes.{where}.{key}", hint=hint)
    return float(value)


def _axis(name: str, table: Mapping[str, Any], base: Axis, *, path: str) -> Axis:
    unknown = set(table) - {"low", "high", "scale", "label", "unit", "default", "below_is_zero"}
    if unknown:
        raise DataError(f"unknown key {sorted(unknown)[0]!r}", path=path, field=f"axes.{name}", hint="Remove it.")
    merged = {"low": base.low, "high": base.high, "default": base.default, "below_is_zero": base.below_is_zero, **table}
    low, high = (_number(merged, key, where=name, path=path) for key in ("low", "high"))
    scale = str(merged.get("scale", base.scale))
    if scale not in _SCALES:
        raise DataError(f"unknown scale {scale!r}", path=path, field=f"axes.{name}.scale", hint="linear, log, integer.")
    if not low <= high or (scale == "log" and low <= 0):
        hint = "low must not exceed high, and a log scale needs a positive low."
        raise DataError(f"no range: {low} to {high}", path=path, field=f"axes.{name}", hint=hint)
    return Axis(
        name,
        low,
        high,
        scale,  # type: ignore[arg-type]  # checked above
        label=str(table.get("label", base.label)),
        unit=str(table.get("unit", base.unit)),
        default=_number(merged, "default", where=name, path=path),
        below_is_zero=_number(merged, "below_is_zero", where=name, path=path),
    )


def _parse(text: str, path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"not TOML: {error}", path=path, hint="See the shipped spaces in docs/curriculum.md.") from None
    axes = data.get("axes")
    if not isinstance(axes, dict) or not all(isinstance(table, dict) for table in axes.values()):
        raise DataError("no tables [axes.NAME]", path=path, field="axes", hint="Add one table per parameter.")
    return data, axes


def shipped_space(case: str, name: str = "full") -> Space:
    """A space that comes with nl2net.

    Parameters
    ----------
    case : {"abr", "cc", "lb"}
    name : str
        ``full`` or another table ``[spaces.NAME]`` of the case's file that narrows it.

    Examples
    --------
    >>> [axis.name for axis in shipped_space("lb").axes][:2]
    ['rate', 'size']
    """
    path = f"{case}.toml"
    text = files("nl2net.curriculum").joinpath("data", path).read_text(encoding="utf-8")
    data, axes = _parse(text, path)
    blank = Axis("", 0.0, 1.0)
    full = Space(case, tuple(_axis(key, table, blank, path=path) for key, table in axes.items()))
    if name == "full":
        return full
    narrower = data.get("spaces", {})
    if name not in narrower:
        known = ", ".join(["full", *narrower])
        raise DataError(f"no space {name!r} for {case}", path=path, hint=f"One of {known}, or a TOML file.")
    return narrow(full, narrower[name], name=name, path=path)


def narrow(full: Space, tables: Mapping[str, Any], *, name: str, path: str) -> Space:
    """A space with some axes replaced; an unknown name is refused."""
    known = {axis.name: axis for axis in full.axes}
    for key in tables:
        if key not in known:
            hint = f"{full.case} has {', '.join(known)}."
            raise DataError(f"no parameter {key!r}", path=path, field=f"axes.{key}", hint=hint)
    return Space(
        full.case, tuple(_axis(key, tables.get(key, {}), base, path=path) for key, base in known.items()), name
    )


def load_space(case: str, source: str | Path | None) -> Space:
    """A shipped space by name, or one read from a TOML file.

    Raises
    ------
    DataError
        Unknown parameter, wrong case or impossible range; the message names the key.
    """
    if source is None:
        return shipped_space(case)
    path = Path(source)
    if not path.suffix and not path.exists():
        return shipped_space(case, str(source))
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path=path, hint="Give a TOML file or a shipped name.") from None
    data, axes = _parse(text, str(path))
    if data.get("case", case) != case:
        raise DataError(f"this space is for {data['case']!r}, not {case!r}", path=path, field="case")
    return narrow(shipped_space(case), axes, name=str(data.get("name", path.stem)), path=str(path))
