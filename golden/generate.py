"""Makes suites: a case is a pure function of version, seed, application, split and index."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache

from nl2net.errors import UserError
from nl2net.golden.built import BuiltGraph
from nl2net.golden.case import Case, Comparison, GraphSource, Split
from nl2net.golden.catalogue import APPLICATIONS, Intent, fill, intents
from nl2net.golden.chains import capacity_intents, chain_intents
from nl2net.golden.gate import Proof, Rejected, prove
from nl2net.golden.recipes import build_graph
from nl2net.golden.slots import Draw, NoOperand, draw_slots
from nl2net.golden.streams import Stream
from nl2net.golden.wording import decorate
from nl2net.model import Library, ResultType, Status

GENERATOR_VERSION = 1
_ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a suite is made from.

    Attributes
    ----------
    application : str
        ``"traffic"`` or ``"planning"``.
    seed : str
        Any text; another one gives other graphs, operands and cases.
    split : Split
        Whose wordings, intents and graphs may be used.
    count : int
        Number of cases.
    graphs : int
        Size of the pool of graphs.
    size : str
        ``"full"`` makes data centre models of about 5,500 nodes; empty leaves the size to the seed.
    kind : str
        Which planning questions: ``"capacity"`` for the ten classic types alone, ``"chain"`` for two to six changes
        and a question on what they leave; empty for the catalogue.
    flavour : str
        Family of planning graphs, such as ``"fattree"`` or ``"backbone"``; empty leaves it to the seed.
    """

    application: str
    seed: str
    split: Split = Split.EVAL
    count: int = 300
    graphs: int = 12
    size: str = ""
    kind: str = ""
    flavour: str = ""

    def source(self, number: int) -> GraphSource:
        """The recipe of one graph of the pool."""
        wanted = {"size": self.size, "flavour": self.flavour} if self.application == "planning" else {}
        options = {name: value for name, value in wanted.items() if value}
        return GraphSource(self.application, f"{self.seed}/{self.split}/{number}", options)


@dataclass(slots=True)
class Generated:
    """Cases, and why candidates were turned away."""

    recipe: Recipe
    cases: list[Case] = field(default_factory=list)
    rejects: Counter[str] = field(default_factory=Counter)


def generate(recipe: Recipe) -> Generated:
    """Make the cases of a recipe.

    Raises
    ------
    UserError
        The application is unknown, or the catalogue runs out of distinct cases before ``count`` is reached.

    Examples
    --------
    >>> made = generate(Recipe("traffic", "demo", Split.DEV, count=3, graphs=2))
    >>> len(made.cases), len({case.id for case in made.cases})
    (3, 3)
    """
    if recipe.application not in APPLICATIONS:
        raise UserError(f"unknown application {recipe.application!r}", hint=f"Known are {', '.join(APPLICATIONS)}.")
    if (recipe.application, recipe.kind) not in _KINDS:
        known = ", ".join(kind for application, kind in _KINDS if application == recipe.application and kind)
        raise UserError(f"unknown kind {recipe.kind!r}", hint=f"Known for {recipe.application}: {known or 'none'}.")
    made = Generated(recipe)
    seen: set[str] = set()
    idle = index = 0
    while len(made.cases) < recipe.count:
        case = make_case(recipe, index, made.rejects, seen)
        index += 1
        idle += 1
        if case is not None:
            seen.add(case.id)
            made.cases.append(case)
            idle = 0
        if idle > 8 * len(_order(recipe.application, recipe.split, recipe.kind)):
            raise UserError(
                f"only {len(made.cases)} distinct cases, {recipe.count} asked", hint="Raise the number of graphs."
            )
    return made


@cache
def _order(application: str, split: Split, kind: str) -> tuple[Intent, ...]:
    return tuple(intent for intent in _KINDS[application, kind]() if intent.forms(split))


def _catalogue(application: str) -> Callable[[], tuple[Intent, ...]]:
    return lambda: intents(application)


# Which intents a recipe draws from.
_KINDS: dict[tuple[str, str], Callable[[], tuple[Intent, ...]]] = {
    **{(application, ""): _catalogue(application) for application in APPLICATIONS},
    ("planning", "capacity"): capacity_intents,
    ("planning", "chain"): chain_intents,
}


def _stream(recipe: Recipe, *purpose: object) -> Stream:
    kind = (recipe.kind,) if recipe.kind else ()
    return Stream(GENERATOR_VERSION, recipe.seed, recipe.application, recipe.split, *kind, *purpose)


@cache
def _round(recipe: Recipe, number: int) -> tuple[Intent, ...]:
    """All intents once, in random order."""
    order = list(_order(recipe.application, recipe.split, recipe.kind))
    _stream(recipe, "round", number).shuffle(order)
    return tuple(order)


def make_case(
    recipe: Recipe, index: int, rejects: Counter[str] | None = None, seen: AbstractSet[str] = frozenset()
) -> Case | None:
    """The case of one index, or ``None`` if no attempt passed the gate, or the first to pass is one of ``seen``."""
    rejects = Counter() if rejects is None else rejects
    total = len(_order(recipe.application, recipe.split, recipe.kind))
    intent = _round(recipe, index // total)[index % total]
    for attempt in range(_ATTEMPTS):
        stream = _stream(recipe, index, attempt, "operands")
        source = recipe.source(stream.below(recipe.graphs))
        built = build_graph(source)
        if not set(intent.needs) <= built.facts:
            rejects["unsuited graph"] += 1
            continue
        try:
            draw = draw_slots(built, intent.slots, stream)
            wording = _stream(recipe, index, "wording")
            number = wording.below(len(intent.forms(recipe.split)))
            name = _case_id(recipe, intent, built, draw, number)
            if name in seen:
                # It passed the gate when it was made; running it once more would prove nothing new.
                rejects["duplicate"] += 1
                return None
            proof = prove(intent, built, draw.values) if intent.outcome is Status.ANSWERED else None
        except NoOperand as reason:
            rejects[str(reason) or "no operand"] += 1
        except Rejected as reason:
            rejects[str(reason)] += 1
        else:
            return _assemble(name, recipe, intent, draw, proof, number, wording)
    return None


def _case_id(recipe: Recipe, intent: Intent, built: BuiltGraph, draw: Draw, number: int) -> str:
    # Without a program the question itself is the case: the words say what cannot be answered.
    text = (
        intent.programs[Library.NETWORKX] if intent.outcome is Status.ANSWERED else intent.forms(recipe.split)[number]
    )
    return f"{recipe.application}-{intent.name}-{_digest(intent.name, built.source, fill(text, draw.values))}"


def _assemble(
    name: str, recipe: Recipe, intent: Intent, draw: Draw, proof: Proof | None, number: int, wording: Stream
) -> Case:
    built = draw.built
    form = intent.forms(recipe.split)[number]
    kept = frozenset(word for text in intent.programs.values() for word in text.replace('"', " ").split())
    form, marks = decorate(form, recipe.split, wording, kept=kept)
    question = fill(form, draw.values)
    program = proof.program if proof else ""
    return Case(
        id=name,
        application=recipe.application,
        intent=intent.name,
        level=intent.level,
        split=recipe.split,
        question=question,
        form=f"{recipe.split}{number + 1}{marks}",
        graph=built.source,
        library=Library.NETWORKX,
        program=program,
        type=intent.type if proof else ResultType.TEXT,
        comparison=proof.comparison if proof else Comparison(),
        expected=proof.expected if proof else None,
        outcome=intent.outcome,
        missing=intent.missing,
        entities=tuple(entity for entity in draw.entities if entity.text in question),
        roles={name: role for name, role in built.roles.items() if f'"{name}"' in program},
        tags=_tags(intent),
    )


def _tags(intent: Intent) -> tuple[str, ...]:
    depth = intent.options.get("steps", 0)
    return (("held-out intent",) if intent.split is Split.EVAL else ()) + ((f"depth {depth}",) if depth else ())


def _digest(name: str, source: GraphSource, core: str) -> str:
    text = json.dumps([GENERATOR_VERSION, name, source.recipe, source.seed, dict(source.options), core], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def cases_of(recipes: Iterator[Recipe]) -> Iterator[Case]:
    """The cases of several recipes, one after the other."""
    for recipe in recipes:
        yield from generate(recipe).cases
