"""Suite files: JSON lines, a header first, then one case per line; byte-identical for the same recipe."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from nl2net.errors import DataError
from nl2net.golden.case import Case, Split
from nl2net.golden.generate import GENERATOR_VERSION, Recipe, generate
from nl2net.locations import atomic_write

SUITE_FORMAT = 1
# Public files carry this line, so that a model which was trained on them can be found out.
CANARY = "nl2net golden suite, not for training: 6f0d6a52-2c0b-4d4b-9a53-0a3c8a1f7be1"
_CASE = TypeAdapter(Case)


@dataclass(frozen=True, slots=True)
class Header:
    """Manifest of a suite.

    Attributes
    ----------
    digest : str
        ``sha256:`` over the case lines; every report states it.
    counts : mapping
        Number of cases by application, level, result type, outcome and split.
    rejects : mapping of str to int
        Candidates that the gate turned away, by reason.
    """

    name: str
    seed: str
    splits: tuple[Split, ...]
    digest: str
    counts: Mapping[str, Mapping[str, int]]
    rejects: Mapping[str, int] = field(default_factory=dict)
    format: int = SUITE_FORMAT
    generator: int = GENERATOR_VERSION
    canary: str = CANARY


_HEADER = TypeAdapter(Header)


@dataclass(frozen=True, slots=True)
class Suite:
    """A header and its cases."""

    header: Header
    cases: tuple[Case, ...]


def case_line(case: Case) -> str:
    """One case as a line of JSON, defaults left out."""
    data = asdict(case)
    for spec in fields(Case):
        if data[spec.name] in ([], (), {}, "", False, None) and spec.name not in ("expected", "program"):
            del data[spec.name]
    return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _counts(cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    keys = ("application", "level", "type", "outcome", "split")
    return {key: dict(sorted(Counter(str(getattr(case, key)) for case in cases).items())) for key in keys}


def make_suite(name: str, seed: str, cases: Iterable[Case], *, rejects: Mapping[str, int] | None = None) -> Suite:
    """Put cases together and compute their digest."""
    kept = tuple(cases)
    digest = hashlib.sha256("".join(case_line(case) + "\n" for case in kept).encode()).hexdigest()
    splits = tuple(sorted({case.split for case in kept}))
    header = Header(name, seed, splits, f"sha256:{digest}", _counts(kept), dict(sorted((rejects or {}).items())))
    return Suite(header, kept)


def generate_suite(recipes: Sequence[Recipe], *, name: str) -> Suite:
    """Generate the cases of one or more recipes as a suite.

    Examples
    --------
    >>> suite = generate_suite([Recipe("traffic", "demo", count=2, graphs=2)], name="demo")
    >>> suite.header.counts["application"]
    {'traffic': 2}
    """
    made = [generate(recipe) for recipe in recipes]
    rejects: Counter[str] = Counter()
    for one in made:
        rejects.update(one.rejects)
    seed = ", ".join(dict.fromkeys(recipe.seed for recipe in recipes))
    return make_suite(name, seed, (case for one in made for case in one.cases), rejects=rejects)


def render_suite(suite: Suite) -> bytes:
    """The bytes of a suite file."""
    header = json.dumps(asdict(suite.header), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return "".join(line + "\n" for line in (header, *map(case_line, suite.cases))).encode()


def write_suite(suite: Suite, path: Path) -> None:
    """Write a suite file, all or nothing."""
    with atomic_write(path) as stream:
        stream.write(render_suite(suite))


def shipped_suites() -> dict[str, Path]:
    """Suites that come with the package, by name."""
    folder = files("nl2net.golden") / "suites"
    return {
        entry.name.removesuffix(".jsonl"): Path(str(entry)) for entry in sorted(folder.iterdir(), key=lambda e: e.name)
    }


def load_suite(path: Path | str) -> Suite:
    """Read a suite by path, or by the name of a shipped one.

    Raises
    ------
    DataError
        The file is missing, a line is no case, or the cases do not match the digest of the header.
    """
    place = Path(path)
    if not place.exists():
        place = shipped_suites().get(str(path), place)
    try:
        lines = place.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(shipped_suites())
        raise DataError(f"not a readable suite: {error}", path=place, hint=f"Shipped suites: {known}.") from None
    if not lines:
        raise DataError("the suite is empty", path=place)
    header: Header = _parse(_HEADER, lines[0], place, 1)
    if header.format != SUITE_FORMAT:
        raise DataError(f"suite format {header.format}, this version reads {SUITE_FORMAT}", path=place)
    cases = tuple(_parse(_CASE, line, place, number) for number, line in enumerate(lines[1:], start=2))
    digest = hashlib.sha256("".join(line + "\n" for line in lines[1:]).encode()).hexdigest()
    if header.digest != f"sha256:{digest}":
        raise DataError(
            "the cases do not match the digest of the header",
            path=place,
            hint="Generate the suite again from its seed.",
        )
    return Suite(header, cases)


def _parse(adapter: TypeAdapter[Any], line: str, path: Path, number: int) -> Any:
    try:
        return adapter.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or None
        raise DataError(first["msg"], path=path, line=number, field=place) from None
