"""Verified question-program pairs of the development split: the seed of the program library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

from nl2net.golden.case import GraphSource, Pair, Split
from nl2net.golden.catalogue import APPLICATIONS, Intent, fill, intents
from nl2net.golden.planning_graphs import FLAVOURS
from nl2net.golden.recipes import build_graph
from nl2net.golden.slots import Draw, NoOperand, draw_slots
from nl2net.golden.streams import Stream
from nl2net.model import Status

PAIRS_SEED = "library-1"
_GRAPHS = 12
# Kinds of entities differ between families of data centre models, so each family gets its own pairs.
_FLAVOURS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "traffic": {"": {}},
    "planning": {name: {"flavour": name} for name in FLAVOURS},
}


@cache
def development_pairs() -> tuple[Pair, ...]:
    """Question and program of every development intent, in every development wording and every library it has.

    Nothing of the evaluation split is in it: neither its wordings nor its intents nor its graphs. Questions hold real
    names of generated graphs; ``entities`` says which, so that they can be masked.

    Examples
    --------
    >>> pair = next(pair for pair in development_pairs() if pair.intent == "mean_weight")
    >>> pair.application, pair.library.value, pair.result_type.value
    ('traffic', 'networkx', 'number')
    """
    return tuple(pair for application in APPLICATIONS for pair in _pairs_of(application))


def _pairs_of(application: str) -> Iterator[Pair]:
    for intent in intents(application):
        if intent.split is Split.EVAL or intent.outcome is not Status.ANSWERED:
            continue
        for (number, form), (flavour, options) in product(enumerate(intent.dev), _FLAVOURS[application].items()):
            sources = [GraphSource(application, f"{PAIRS_SEED}/{n}", options) for n in range(_GRAPHS)]
            stream = Stream("pairs", PAIRS_SEED, application, intent.name, number, flavour)
            source, draw = _first_draw(intent, sources, stream)
            roles = build_graph(source).roles
            for library, template in intent.programs.items():
                program = fill(template, draw.values).strip("\n") + "\n"
                yield Pair(
                    question=fill(form, draw.values),
                    program=program,
                    result_type=intent.type,
                    library=library,
                    application=application,
                    intent=intent.name,
                    roles={name: role for name, role in roles.items() if f'"{name}"' in program},
                    entities=tuple(entity for entity in draw.entities if entity.text in fill(form, draw.values)),
                    graph=source,
                )


def _first_draw(intent: Intent, sources: list[GraphSource], stream: Stream) -> tuple[GraphSource, Draw]:
    """A draw on the first graph, in random order, that the intent fits."""
    order = list(sources)
    stream.shuffle(order)
    for source in order:
        built = build_graph(source)
        if not set(intent.needs) <= built.facts:
            continue
        try:
            return source, draw_slots(built, intent.slots, stream)
        except NoOperand:
            continue
    raise AssertionError(f"no graph of the library fits the intent {intent.name!r}")
