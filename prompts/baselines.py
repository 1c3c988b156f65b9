"""Prompts of the benchmark's baselines; apart from the product's own, whose version they must not change."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined


@cache
def _sources() -> dict[str, str]:
    folder = files("nl2net.prompts").joinpath("templates", "baselines")
    return {item.name: item.read_text("utf-8") for item in folder.iterdir() if item.name.endswith(".j2")}


@cache
def baseline_hash() -> str:
    """First 12 hex digits of the SHA-256 over the templates of all baselines, by name."""
    text = "\0".join(f"{name}\0{source}" for name, source in sorted(_sources().items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def _environment() -> Environment:
    # Prompts are plain text for a model, not HTML: escaping would corrupt programs.
    return Environment(loader=DictLoader(_sources()), undefined=StrictUndefined, autoescape=False)  # noqa: S701


def render_baseline(name: str, **values: Any) -> str:
    """Render one template of a baseline.

    Examples
    --------
    >>> render_baseline("observation", error="", type="number", value="3", left=2).splitlines()[0]
    'The program returned (number): 3'
    """
    return _environment().get_template(f"{name}.j2").render(**values).strip()


def program_system(name: str, *, schema: str, graph_class: str, **values: Any) -> str:
    """The system prompt of a baseline that writes programs: its own words, the contract, the schema."""
    contract = render_baseline("contract", graph_class=graph_class)
    return render_baseline(name, contract=contract, schema=schema, **values)
