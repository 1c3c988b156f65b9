"""Transcripts in JSON: every reply, parsed command, output and matrix of an episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nl2net.benchmark.applications.base import Flow, Observed
from nl2net.benchmark.replies import BadReply, read_reply
from nl2net.benchmark.scoring import Cause, Ending, Trace
from nl2net.errors import DataError

FORMAT = 1


def pack_matrix(observed: Sequence[Observed]) -> dict[str, Any]:
    """A matrix as a text of digits, with reason and place of each loss by position."""
    losses = [[place, seen.reason, seen.place] for place, seen in enumerate(observed) if not seen.passed]
    return {"passed": "".join("01"[seen.passed] for seen in observed), "losses": losses}


def unpack_matrix(data: Mapping[str, Any]) -> tuple[Observed, ...]:
    """The matrix of a packed form."""
    losses = {place: (reason, where) for place, reason, where in data["losses"]}
    return tuple(
        Observed(True) if digit == "1" else Observed(False, *losses[place])
        for place, digit in enumerate(data["passed"])
    )


def read_flows(transcript: Mapping[str, Any]) -> tuple[Flow, ...]:
    """The intent in a transcript."""
    return tuple(Flow(*item) for item in transcript["flows"])


def trace_of(transcript: Mapping[str, Any]) -> Trace:
    """What the judge looks at, read from the transcript alone.

    Raises
    ------
    DataError
        The transcript is malformed, or a recorded step is not what its reply says.
    """
    try:
        return _trace(transcript)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(f"malformed transcript: {type(error).__name__}: {error}") from None


def _trace(transcript: Mapping[str, Any]) -> Trace:
    rows = [transcript["start"]] if transcript["start"] else []
    diagnosis: frozenset[Cause] | None = None
    blocked = forbidden = 0
    for step in transcript["steps"]:
        named = _check_step(step, transcript["places"])
        diagnosis = diagnosis if named is None else named
        blocked += step["blocked"]
        forbidden += step["forbidden"]
        rows.append(step["matrix"] or rows[-1])
    return Trace(
        allowed=[flow.allowed for flow in read_flows(transcript)],
        passed=[[digit == "1" for digit in row["passed"]] for row in rows],
        ending=Ending(transcript["ending"]),
        causes=frozenset((kind.lower(), place.lower()) for kind, place in transcript["causes"]),
        diagnosis=diagnosis,
        blocked=blocked,
        forbidden=forbidden,
    )


def _check_step(step: Mapping[str, Any], places: Sequence[str]) -> frozenset[Cause] | None:
    """The diagnosis of a step; the recorded command must be the one that its reply asks for."""
    try:
        reply = read_reply(step["reply"], places=places)
    except BadReply:
        if step["command"]:
            raise DataError(f"turn {step['turn']}: the reply holds no command, the record does") from None
        return None
    if (reply.node, reply.command) != (step["node"], step["command"]):
        raise DataError(f"turn {step['turn']}: the recorded command is not the one of the reply")
    return reply.diagnosis
