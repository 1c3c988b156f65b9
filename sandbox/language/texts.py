"""``str.format`` walks attributes and items by itself; fields that do are refused before it runs."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from typing import Any

from nl2net.errors import RefusedCode

HINT = 'Use an f-string: f"{value}".'


def check_format(template: str, depth: int = 0) -> None:
    """Refuse a format text with a field that reads an attribute or an item.

    Raises
    ------
    RefusedCode
        When a field holds ``.`` or ``[``, also in a nested width.

    Examples
    --------
    >>> check_format("{:>{width}} {name}")
    """
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ValueError(str(error)) from None
    for _, field, spec, _ in fields:
        if field is not None and ("." in field or "[" in field or field.startswith("_")):
            raise RefusedCode("fields of str.format may not read attributes or items", rule="format", hint=HINT)
        if spec and depth < 2:
            check_format(spec, depth + 1)


def bind_format(template: str) -> Callable[..., str]:
    """Wrapped ``template.format``."""

    def format_text(*args: Any, **kwargs: Any) -> str:
        check_format(template)
        return template.format(*args, **kwargs)

    return format_text


def bind_format_map(template: str) -> Callable[[Mapping[str, Any]], str]:
    """Wrapped ``template.format_map``; takes a plain dictionary."""

    def format_map(mapping: Mapping[str, Any]) -> str:
        check_format(template)
        return template.format(**dict(mapping))

    return format_map
