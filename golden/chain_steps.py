"""Chains of typed changes with a question at the end: what they are, and their words in both directions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nl2net.golden.built import BuiltGraph
from nl2net.golden.case import Split
from nl2net.golden.slots_planning import SPEEDS, speakable
from nl2net.golden.streams import Stream


@dataclass(frozen=True, slots=True)
class Step:
    """One change.

    Attributes
    ----------
    action : str
        ``add_port``, ``remove_port``, ``remove_switch``, ``set_port``, ``set_switch`` or ``move_switch``.
    node : str
        Id of the switch, or of the port for ``remove_port`` and ``set_port``.
    other : str
        Id of the new port, or of the group that a switch moves to.
    speed : int
        Bits per second.
    via : int
        Number of the earlier step whose switch is meant; 0 if the switch is named.
    """

    action: str
    node: str
    other: str = ""
    speed: int = 0
    via: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked after the last step: ``count``, ``capacity``, ``switches``, ``ports``, ``rank`` or ``model``.

    ``node`` is the group asked about, or for ``ports`` the switch; with ``via_switch`` it is a switch and the group
    around that one is meant.
    """

    ask: str
    node: str = ""
    via_switch: bool = False
    first: int = 0


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps in order, and the question."""

    steps: tuple[Step, ...]
    question: Question


# {S} and {G} are a switch and a group, by name or by what came before, {T} is a switch by name; the other marks are
# words, names and speeds.
_STEPS: Mapping[Split, Mapping[str, tuple[str, ...]]] = {
    Split.DEV: {
        "add_port": ("add {port_word} {np} (id {id}) with {v} to {S}", "create {port_word} {np} (id {id}, {v}) in {S}"),
        "remove_port": ("remove {port_word} {p}", "delete {port_word} {p}"),
        "remove_switch": ("remove {S} with all its {port_words}", "delete {S} and its {port_words}"),
        "set_port": ("set {port_word} {p} to {v}", "make the capacity of {port_word} {p} {v}"),
        "set_switch": ("set every {port_word} of {S} to {v}", "give all {port_words} of {S} a capacity of {v}"),
        "move_switch": ("move {S} to {group_word} {g}", "make {group_word} {g} the new container of {S}"),
    },
    Split.EVAL: {
        "add_port": (
            "install a {v} {port_word} called {np} with id {id} in {S}",
            "{S} gets {port_word} {np} of {v}, id {id}",
        ),
        "remove_port": ("take {port_word} {p} out", "get rid of {port_word} {p}"),
        "remove_switch": ("scrap {S} together with the {port_words} on it", "{S} goes, and so do its {port_words}"),
        "set_port": ("change the capacity of {port_word} {p} to {v}", "{port_word} {p} becomes {v}"),
        "set_switch": ("bring all {port_words} on {S} to {v}", "each {port_word} of {S} becomes {v}"),
        "move_switch": ("rehome {S} into {group_word} {g}", "let {group_word} {g} hold {S} from now on"),
    },
}
_QUESTIONS: Mapping[Split, Mapping[str, tuple[str, ...]]] = {
    Split.DEV: {
        "count": ("How many {port_words} are under {G} then?", "Then count the {port_words} under {G}."),
        "capacity": (
            "What is the total {port_word} capacity of {G} then, in bit/s?",
            "Then sum the capacity of the {port_words} under {G} in bit/s.",
        ),
        "switches": ("Which {switch_words} are in {G} then?", "Then list the {switch_words} of {G}."),
        "ports": ("Which {port_words} are on {T} then?", "Then list the {port_words} of {T}."),
        "rank": (
            "Which {k} {switch_words} of {G} have the most {port_word} capacity then? With bit/s, highest first.",
            "Then rank the {switch_words} of {G} by summed {port_word} capacity and show the first {k} with bit/s.",
        ),
        "model": ("Return the changed model.", "Give me the model after that."),
    },
    Split.EVAL: {
        "count": (
            "Number of {port_words} below {G} after all this?",
            "What {port_word} count does {G} end up with?",
        ),
        "capacity": (
            "How many bit/s of {port_words} does {G} end up with?",
            "Tell me the bit/s over all {port_words} of {G} after all this.",
        ),
        "switches": (
            "What {switch_words} does {G} end up with?",
            "Name the {switch_words} left in {G} after all this.",
        ),
        "ports": ("What {port_words} does {T} end up with?", "Name the {port_words} left on {T} after all this."),
        "rank": (
            "After all this, the {k} leading {switch_words} of {G} by bit/s of their {port_words}, from the top?",
            "Top {k} {switch_words} of {G} at the end, with {port_word} bit/s, descending?",
        ),
        "model": ("I need the resulting model.", "What does the model look like in the end?"),
    },
}
_BY_STEP = "the {switch_word} of step {n}"
_AROUND = {
    Split.DEV: "the {group_word} that holds {switch_word} {s}",
    Split.EVAL: "the {group_word} around {switch_word} {s}",
}
_JOINS = {Split.DEV: ("First ", ", then "), Split.EVAL: ("In this order: ", "; ")}
_SLOT = re.compile(r"\{(\w+)\}")
_NAME, _SPEED = r"\S+?", r"[\d.]+ [GT]bit/s"


def render(chain: Chain, built: BuiltGraph, split: Split, stream: Stream) -> str:
    """The words of a chain: its steps as one sentence, its question as the next."""
    words = built.words
    steps = []
    for step in chain.steps:
        node = words_of_switch(step, built)
        values = {**words, "S": node, "v": speakable(step.speed)}
        if step.action in ("remove_port", "set_port"):
            values["p"] = built.nodes[step.node]["name"]
        if step.action == "add_port":
            values |= {"id": step.other, "np": step.other.split(":", 1)[1]}
        if step.action == "move_switch":
            values["g"] = built.nodes[step.other]["name"]
        steps.append(stream.pick(_STEPS[split][step.action]).format_map(values))
    asked = chain.question
    place = ""
    if asked.node:
        name = built.nodes[asked.node]["name"]
        place = _AROUND[split].format_map({**words, "s": name}) if asked.via_switch else f"{words['group_word']} {name}"
    if asked.ask == "ports":
        place = f"{words['switch_word']} {built.nodes[asked.node]['name']}"
    values = {**words, "G": place, "T": place, "k": str(asked.first)}
    ask = stream.pick(_QUESTIONS[split][asked.ask]).format_map(values)
    start, join = _JOINS[split]
    return f"{start if len(steps) > 1 else ''}{join.join(steps)}. {ask}"


def words_of_switch(step: Step, built: BuiltGraph) -> str:
    """How the switch of a step is named; empty for a step on a port."""
    if step.via:
        return _BY_STEP.format_map({**built.words, "n": step.via})
    if step.action in ("remove_port", "set_port"):
        return ""
    return f"{built.words['switch_word']} {built.nodes[step.node]['name']}"


def parse(text: str, built: BuiltGraph, split: Split) -> Chain | None:
    """The chain that the words state, from the grammar of their templates alone; ``None`` if they are not clear.

    A switch that is named by an earlier step has an empty ``node``: whoever runs the chain knows which it is.
    """
    body, _, ask = text.partition(". ")
    start, join = _JOINS[split]
    steps = []
    for part in body.removeprefix(start).split(join):
        found = list(_readings(part, built, split, "steps"))
        if len(found) != 1:
            return None
        steps.append(_step(found[0][0], found[0][1], built))
    asked = list(_readings(ask, built, split, "questions"))
    return Chain(tuple(steps), _question(asked[0][0], asked[0][1], built)) if len(asked) == 1 else None


def _readings(text: str, built: BuiltGraph, split: Split, part: str) -> Iterator[tuple[str, Mapping[str, str | None]]]:
    for name, pattern in _patterns(built, split, part):
        if found := pattern.fullmatch(text):
            yield name, found.groupdict()


def _patterns(built: BuiltGraph, split: Split, part: str) -> list[tuple[str, re.Pattern[str]]]:
    key = f"chain {part} {split}"
    if key not in built.cache:
        templates = (_STEPS if part == "steps" else _QUESTIONS)[split]
        built.cache[key] = [
            (name, _pattern(template, built, split)) for name, forms in templates.items() for template in forms
        ]
    found: list[tuple[str, re.Pattern[str]]] = built.cache[key]
    return found


def _pattern(template: str, built: BuiltGraph, split: Split) -> re.Pattern[str]:
    words = {name: re.escape(word) for name, word in built.words.items()}
    around = re.escape(_AROUND[split]).replace(r"\{", "{").replace(r"\}", "}")
    marks = {
        "S": f"(?:{words['switch_word']} (?P<s>{_NAME})|the {words['switch_word']} of step (?P<n>\\d+))",
        "G": f"(?:{words['group_word']} (?P<g>{_NAME})|{around.format_map({**words, 's': f'(?P<s>{_NAME})'})})",
        "T": f"{words['switch_word']} (?P<t>{_NAME})",
        "v": f"(?P<v>{_SPEED})",
        "k": r"(?P<k>\d+)",
        **{name: f"(?P<{name}>{_NAME})" for name in ("p", "np", "id", "g")},
    }
    pieces = _SLOT.split(template)
    return re.compile("".join((words.get(p) or marks[p]) if i % 2 else re.escape(p) for i, p in enumerate(pieces)))


def _id(kind: str, name: str | None, built: BuiltGraph) -> str:
    return f"{built.words[kind]}:{name}" if name else ""


def _step(action: str, found: Mapping[str, str | None], built: BuiltGraph) -> Step:
    on_port = action in ("remove_port", "set_port")
    node = _id("PORT", found["p"], built) if on_port else _id("SWITCH", found["s"], built)
    other = {"add_port": found.get("id"), "move_switch": _id("GROUP", found.get("g"), built)}.get(action)
    speeds: dict[str | None, int] = {speakable(speed): speed for speed in SPEEDS}
    return Step(action, node, other or "", speeds.get(found.get("v"), 0), int(found.get("n") or 0))


def _question(ask: str, found: Mapping[str, str | None], built: BuiltGraph) -> Question:
    if ask == "model":
        return Question(ask)
    if ask == "ports":
        return Question(ask, _id("SWITCH", found["t"], built))
    by_switch = found["g"] is None
    node = _id("SWITCH", found["s"], built) if by_switch else _id("GROUP", found["g"], built)
    return Question(ask, node, by_switch, int(found.get("k") or 0))


def as_parsed(chain: Chain) -> Chain:
    """A chain in the form in which `parse` gives it back."""
    steps = tuple(Step(s.action, "" if s.via else s.node, s.other, s.speed, s.via) for s in chain.steps)
    return Chain(steps, chain.question)
