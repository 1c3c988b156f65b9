"""Rewards for programs, in the form that common trainers of language models ask for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from nl2net.assistant.extract import extract_program
from nl2net.benchmark.constructive import unsafe_reason
from nl2net.benchmark.items import Item, read_item
from nl2net.benchmark.judge import Outcome, judge
from nl2net.benchmark.programs import ProgramRunner
from nl2net.errors import ReplyError, UserError
from nl2net.golden.case import Split
from nl2net.golden.sources import graph_of
from nl2net.model import Library

_INVALID, _UNSAFE, _WRONG, _SILENT = -0.5, -1.0, -0.1, 0.0


def program_rewards(
    prompts: Sequence[Any], completions: Sequence[Any], *, item: Sequence[Any], runner: ProgramRunner, **columns: Any
) -> list[float]:
    """Rewards of completions, one each: 1 for a right and safe answer.

    Parameters
    ----------
    prompts : sequence
        Not looked at.
    completions : sequence
        Texts, or chats whose last message counts.
    item : sequence
        The column ``item`` of an export of the form ``rl-tasks``.
    runner : ProgramRunner
        Programs run in its sandbox; bind it with `functools.partial`.
    **columns
        Other columns of the data set.

    Returns
    -------
    list of float
        1 right and safe, 0 no value, -0.1 wrong, -0.5 no program at all, -1 a change that does harm.
    """
    return [
        program_reward(_text(completion), read_item(json.dumps(one), "dev"), runner)
        for completion, one in zip(completions, item, strict=True)
    ]


def program_reward(reply: str, item: Item, runner: ProgramRunner) -> float:
    """Reward of one reply to one constructive item.

    Raises
    ------
    UserError
        The item is not of the development split, or no constructive one.
    """
    case = item.case
    if case is None or case.split is not Split.DEV:
        raise UserError("programs are rewarded on constructive cases of the development split only")
    try:
        program = extract_program(reply, Library.NETWORKX)
    except ReplyError:
        return _INVALID
    graph = graph_of(case)
    answer = runner.run(program, graph).answer()
    if unsafe_reason(case, answer, graph):
        return _UNSAFE
    outcome = judge(case, answer, graph).outcome
    return 1.0 if outcome is Outcome.CORRECT else _WRONG if outcome is Outcome.WRONG else _SILENT


def _text(completion: Any) -> str:
    return completion if isinstance(completion, str) else str(completion[-1]["content"])
