"""YAML without surprises: safe types only, bounded depth, and aliases that cannot blow up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from nl2net.graphs.source import Source

_MAX_BYTES = 32 * 2**20
_MAX_EXPANSION = 1_000_000
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _check_events(source: Source, text: str) -> None:
    """One pass over the parser's events, which does not recurse: depth, and size once every alias is expanded."""
    sizes: dict[str, int] = {}
    stack: list[tuple[str | None, int]] = []
    total = 0
    events: Iterator[Any] = yaml.parse(text, Loader=_Loader)
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            total += sizes.get(str(event.anchor), 1)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            stack.append((event.anchor, total))
            if len(stack) > source.limits.depth:
                mark: Any = event.start_mark
                raise source.error(f"nested more than {source.limits.depth} levels deep", line=mark.line + 1)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            anchor, before = stack.pop()
            if anchor:
                sizes[anchor] = total - before + 1
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
        if total > _MAX_EXPANSION:
            raise source.error("aliases expand to more than a million values", hint="The file looks like an attack.")


def parse_yaml(source: Source) -> Any:
    """The file as plain Python values.

    Raises
    ------
    DataError
        Not YAML, unsupported tags or templates, too deep, too large, or aliases that expand without bound.
    """
    text = source.text
    if len(text) > _MAX_BYTES:
        raise source.error(f"a YAML file of {len(text)} characters; at most {_MAX_BYTES} are read")
    try:
        _check_events(source, text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - one of the two safe loaders
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "not valid YAML"
        hint = "Tags such as !env are not executed." if "tag" in str(problem) else "The file may be truncated."
        raise source.error(str(problem), line=None if mark is None else mark.line + 1, hint=hint) from None
    except (RecursionError, ValueError, TypeError) as error:
        raise source.error(f"not readable YAML: {error}") from None
