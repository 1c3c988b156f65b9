"""Lines of an intent, and complaints about them in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nl2net.golden.streams import Stream


class Flow(NamedTuple):
    """One line of the intent: whether ``source`` must reach ``target`` (port 0: by ping) or must not."""

    source: str
    target: str
    port: int
    allowed: bool


class Ticket(NamedTuple):
    """A complaint; ``style`` is ``precise``, ``vague`` or ``misleading``."""

    style: str
    text: str


# One entry per split: no wording is in both. Braces: source, target, and an innocent node that gets the blame.
_LOST = {
    "dev": (
        "{source} cannot reach {target}.",
        "No answer at {source} when it talks to {target}.",
        "Since the change window {target} is gone for {source}.",
        "Ticket: connection from {source} to {target} fails.",
    ),
    "eval": (
        "Users behind {source} say that {target} does not respond.",
        "Monitoring lost {target} as seen from {source} last night.",
        "{target} used to answer {source}; now it does not.",
        "We have complaints: from {source}, {target} is unreachable.",
    ),
}
_OPEN = {
    "dev": ("{source} can reach {target}, which it must not.", "An audit found {target} open to {source}."),
    "eval": (
        "Security asks why {source} gets through to {target}.",
        "A scan from {source} found {target} answering; that is against our rules.",
    ),
}
_VAGUE = {
    "dev": ("Something is broken in this network.", "Several users complain about lost or unwanted connections."),
    "eval": ("Not everything works as it should here.", "The nightly comparison with the intended flows has failed."),
}
_BLAME = {
    "dev": ("We suspect {innocent}.", "It is probably {innocent} again."),
    "eval": ("A colleague is sure that {innocent} is the cause.", "Somebody rebooted {innocent} yesterday."),
}
_ALARM = {
    "dev": (
        "Earlier today {source} reported trouble with {target}.",
        "Please check the network after last night's maintenance on {innocent}.",
    ),
    "eval": (
        "An alarm about {target} from {source} came and went.",
        "The supplier of {innocent} announced a fault; see whether we are hit.",
    ),
}
_ASK = {
    "dev": (
        "Find the cause and repair it without breaking anything else.",
        "Restore the intended flows; touch nothing that works.",
    ),
    "eval": (
        "Bring every flow back to what is intended, and break none on the way.",
        "Say what is wrong and put it right; what works must go on working.",
    ),
}


def write_ticket(wrong: Sequence[Flow], flows: Sequence[Flow], stream: Stream, *, split: str) -> Ticket:
    """Word a complaint about one of the wrong flows; without any, a false alarm.

    Examples
    --------
    >>> flow = Flow("a", "b", 0, True)
    >>> write_ticket([flow], [flow], Stream("demo", 4), split="dev").style
    'precise'
    """
    shown = stream.pick(wrong or flows)
    innocent = stream.pick([flow.target for flow in flows])
    names = {"source": shown.source, "target": shown.target, "innocent": innocent}
    ask = stream.pick(_ASK[split])
    draw = stream.below(100)
    if not wrong:
        return Ticket("misleading", f"{stream.pick(_ALARM[split])} {ask}".format(**names))
    if draw < 20:
        return Ticket("vague", f"{stream.pick(_VAGUE[split])} {ask}")
    complaint = stream.pick((_LOST if shown.allowed else _OPEN)[split])
    if draw < 40 and innocent not in (shown.source, shown.target):
        return Ticket("misleading", f"{complaint} {stream.pick(_BLAME[split])} {ask}".format(**names))
    return Ticket("precise", f"{complaint} {ask}".format(**names))
