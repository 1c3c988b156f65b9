"""Composed planning questions: any number of typed changes that build on each other, then a question on the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from nl2net.golden.built import BuiltGraph
from nl2net.golden.case import Level, Mode, Split
from nl2net.golden.catalogue import Intent, intent_named
from nl2net.golden.chain_programs import program_of
from nl2net.golden.chain_rows import Blocked, Rows, run_chain, solve_chain
from nl2net.golden.chain_steps import Chain, Question, Step, as_parsed, parse, render
from nl2net.golden.slots import Draw, NoOperand, slot
from nl2net.golden.slots_planning import SPEEDS
from nl2net.golden.solvers import solver
from nl2net.golden.streams import Stream
from nl2net.model import Changes, Library, ResultType

DEPTHS = (2, 3, 4, 5, 6)
# Which changes can move the answer to which question.
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "count": ("add_port", "remove_port", "remove_switch", "move_switch"),
    "capacity": ("add_port", "remove_port", "remove_switch", "set_port", "set_switch", "move_switch"),
    "switches": ("remove_switch", "move_switch"),
    "ports": ("add_port", "remove_port"),
    "rank": ("add_port", "remove_port", "remove_switch", "set_port", "set_switch", "move_switch"),
    "model": ("add_port", "remove_port", "remove_switch", "set_port", "set_switch", "move_switch"),
}
_TYPES = {
    "count": (ResultType.NUMBER, Mode.VALUE),
    "capacity": (ResultType.NUMBER, Mode.VALUE),
    "switches": (ResultType.LIST, Mode.VALUE),
    "ports": (ResultType.LIST, Mode.VALUE),
    "rank": (ResultType.TABLE, Mode.TOP_K),
    "model": (ResultType.GRAPH, Mode.CHANGE),
}
_TRIES = 12


@cache
def chain_intents() -> tuple[Intent, ...]:
    """Every question after two to six changes; the depth is in the name, the level and a tag.

    Examples
    --------
    >>> [(intent.name, intent.level.value) for intent in chain_intents()[:2]]
    [('chain2_count', 'medium'), ('chain2_capacity', 'medium')]
    """
    return tuple(_intent(f"chain{depth}_{ask}", depth, ask) for depth in DEPTHS for ask in ACTIONS)


@cache
def capacity_intents() -> tuple[Intent, ...]:
    """The ten classic types: add, remove, list, rank, and add or remove before list, rank and count."""
    plain = tuple(
        intent_named("planning", name) for name in ("add_port", "remove_switch", "children_of_group", "rank_children")
    )
    return plain + tuple(
        _intent(f"{verb}_then_{what}", 1, ask, action)
        for verb, action in (("add", "add_port"), ("remove", "remove_switch"))
        for what, ask in (("list", "ports" if verb == "add" else "switches"), ("rank", "rank"), ("count", "count"))
    )


def _intent(name: str, depth: int, ask: str, *actions: str) -> Intent:
    type_, mode = _TYPES[ask]
    return Intent(
        name=name,
        application="planning",
        level=Level.MEDIUM if depth <= 2 else Level.HARD,
        type=type_,
        mode=mode,
        split=Split.DEV,
        slots={"chain": " ".join(("chain", str(depth), ask, *actions))},
        needs=(),
        programs={Library.NETWORKX: "$chain_program"},
        dev=("$words_dev",),
        eval=("$words_eval",),
        options={"extra": type_ is ResultType.LIST, "steps": depth},
    )


@slot("chain")
def _chain(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    depth, ask, *actions = arguments
    built = draw.built
    chain = draw_chain(built, draw.stream, int(depth), ask, tuple(actions) or ACTIONS[ask])
    draw.put("chain_program", program_of(chain, built))
    for split in Split:
        words = render(chain, built, split, draw.stream)
        if parse(words, built, split) != as_parsed(chain):
            raise NoOperand("words")
        draw.put(f"words_{split}", words)
    for number, node in enumerate(dict.fromkeys(_named(chain)), start=1):
        row = built.nodes.get(node)
        if row is None:
            draw.put_private(f"operand{number}", node.split(":", 1)[1], "text")
        else:
            draw.put_private(f"operand{number}", node, "node", text=row["name"], kind=row["kind"])


def _named(chain: Chain) -> list[str]:
    found = [node for step in chain.steps for node in ("" if step.via else step.node, step.other)]
    return [node for node in (*found, chain.question.node) if node]


def draw_chain(built: BuiltGraph, stream: Stream, depth: int, ask: str, actions: Sequence[str]) -> Chain:
    """A chain whose every step can be done and matters to the answer.

    Raises
    ------
    NoOperand
        The graph holds none, as far as a few draws show.
    """
    for _ in range(_TRIES):
        try:
            chain = _Draft(built, stream, ask).draw(depth, actions)
        except Blocked:
            continue
        if all_matter(chain, built):
            return chain
    raise NoOperand


def all_matter(chain: Chain, built: BuiltGraph) -> bool:
    """Whether the answer differs if nothing is done, and if any one step is left out."""
    wanted = _key(run_chain(chain, built), chain.question)
    if _key(Rows(built), chain.question) == wanted:
        return False
    for number in range(len(chain.steps)):
        try:
            left_out = run_chain(chain, built, without=number)
        except Blocked:
            continue  # a later step builds on it
        if _key(left_out, chain.question) == wanted:
            return False
    return True


def _key(rows: Rows, question: Question) -> str:
    answer: Any = rows.answer(question)
    if isinstance(answer, Changes):
        parts = answer.to_json()
        return json.dumps([sorted(v, key=str) if isinstance(v, list) else sorted(v.items()) for v in parts.values()])
    return json.dumps(answer[: question.first] if question.ask == "rank" else answer)


class _Draft:
    """Draws one chain around one group of switches, step by step on the rows as they are by then."""

    def __init__(self, built: BuiltGraph, stream: Stream, ask: str) -> None:
        self._built, self._stream, self._ask = built, stream, ask
        self._rows = Rows(built)
        self._groups = built.kind("GROUP")
        self._group = stream.pick(self._groups)
        self._focus = stream.pick(list(self._rows.members(self._group))) if ask == "ports" else ""
        self._touched: set[str] = set()

    def draw(self, depth: int, actions: Sequence[str]) -> Chain:
        steps: list[Step] = []
        tries = 0
        while len(steps) < depth:
            try:
                step = self._step(self._stream.pick(actions), steps)
                self._rows.apply(step)
            except Blocked:
                tries += 1
                if tries > depth:
                    raise
            else:
                steps.append(step)
        return Chain(tuple(steps), self._question(steps))

    def _step(self, action: str, steps: Sequence[Step]) -> Step:
        stream = self._stream
        if action == "move_switch" and stream.chance(40):
            source = stream.pick([g for g in self._groups if g != self._group])
            return Step(action, self._pick(self._rows.members(source)), self._group)
        if action in ("remove_port", "set_port"):
            port = self._pick(p for p in self._rows.ports(self._switch()) if p not in self._touched)
            self._touched.add(port)
            return Step(action, port, speed=stream.pick(SPEEDS) if action == "set_port" else 0)
        switch, via = self._switch(), 0
        # The switch may be meant by what was done before; then the step depends on that one.
        earlier = [n for n, s in enumerate(self._rows.switches, 1) if s in self._rows.members(self._group)]
        if earlier and not self._focus and stream.chance(45):
            via = stream.pick(earlier)
            switch = self._rows.switches[via - 1]
        if action == "move_switch":
            return Step(action, switch, stream.pick([g for g in self._groups if g != self._group]), via=via)
        if action == "add_port":
            port = self._new_port(switch)
            self._touched.add(port)
            return Step(action, switch, port, stream.pick(SPEEDS), via)
        return Step(action, switch, speed=stream.pick(SPEEDS) if action == "set_switch" else 0, via=via)

    def _switch(self) -> str:
        return self._focus or self._pick(self._rows.members(self._group))

    def _pick(self, items: Any) -> str:
        found = list(items)
        if not found:
            raise Blocked("nothing left")
        return str(self._stream.pick(found))

    def _new_port(self, switch: str) -> str:
        ports = list(self._rows.ports(switch))
        stem = ports[0].rstrip("0123456789")
        highest = max(int(port[len(stem) :]) for port in ports)
        return f"{stem}{highest + self._stream.between(1, 4)}"

    def _question(self, steps: Sequence[Step]) -> Question:
        stream, ask = self._stream, self._ask
        if ask == "model":
            return Question(ask)
        if ask == "ports":
            return Question(ask, self._focus)
        members = self._rows.members(self._group)
        if not members:
            raise Blocked("no switch left")
        # A long chain rarely leaves its marks on the first two or three alone.
        first = stream.between(min(len(members), len(steps) + 1), len(members)) if ask == "rank" else 0
        moved = [s for step, s in zip(steps, self._rows.switches, strict=True) if step.action == "move_switch"]
        inside = [s for s in moved if s in members]
        if inside and stream.chance(50):
            return Question(ask, stream.pick(inside), via_switch=True, first=first)
        return Question(ask, self._group, first=first)


solver("planning", *(intent.name for intent in chain_intents()))(solve_chain)
solver("planning", *(intent.name for intent in capacity_intents() if "chain" in intent.slots))(solve_chain)
