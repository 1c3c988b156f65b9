"""Draws what fills the slots of an intent, and says which of it is private."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nl2net.golden.built import BuiltGraph
from nl2net.golden.case import Entity
from nl2net.golden.streams import Stream


class NoOperand(Exception):
    """The graph has nothing that could fill the slot."""


@dataclass(slots=True)
class Draw:
    """What has been drawn so far for one case."""

    built: BuiltGraph
    stream: Stream
    values: dict[str, str]
    entities: list[Entity] = field(default_factory=list)

    def put(self, name: str, value: object) -> None:
        """Fill a slot with something that is not private."""
        self.values[name] = str(value)

    def put_private(self, name: str, value: str, type: str, *, text: str | None = None, kind: str = "") -> None:
        """Fill a slot with something private; ``text`` is what the question says for it."""
        self.values[name] = value
        if text is not None:
            self.values[f"{name}_name"] = text
        self.entities.append(Entity(text or value, value, type, kind))

    def pick(self, items: Sequence[str]) -> str:
        """One item that no other slot of this case holds.

        Raises
        ------
        NoOperand
            There is none.
        """
        taken = set(self.values.values())
        free = [item for item in items if item not in taken]
        if not free:
            raise NoOperand
        return self.stream.pick(free)


Slot = Callable[[Draw, str, Sequence[str]], None]
SLOTS: dict[str, Slot] = {}


def slot(name: str) -> Callable[[Slot], Slot]:
    """Register a slot type."""

    def register(function: Slot) -> Slot:
        SLOTS[name] = function
        return function

    return register


def draw_slots(built: BuiltGraph, slots: Mapping[str, str], stream: Stream) -> Draw:
    """Fill all slots of an intent.

    Raises
    ------
    NoOperand
        The graph has nothing for one of them.
    """
    from nl2net.golden import chains, slots_planning, slots_traffic  # noqa: F401  (they register their types)

    draw = Draw(built, stream, dict(built.words))
    for name, text in slots.items():
        type_name, *arguments = text.split()
        SLOTS[type_name](draw, name, arguments)
    return draw


@slot("int")
def _integer(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put(name, draw.stream.between(int(arguments[0]), int(arguments[1])))


@slot("percent")
def _percent(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put(name, 5 * draw.stream.between(5, 17))


@slot("text")
def _text(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    words = ("app", "team", "env", "cost", "plan"), ("prod", "blue", "alpha", "review", "q3", "edge")
    draw.put_private(name, f"{draw.stream.pick(words[0])}-{draw.stream.pick(words[1])}", "text")
