"""Baselines that use a model, through the product's client and gate.

``direct``, ``step_by_step`` and ``few_shot`` send the schema and the question. ``react`` and ``data_in_prompt`` show
data to the model, and therefore work on generated networks only.
"""

from __future__ import annotations

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import networkx as nx
import yaml

from nl2net.assistant.entities import EntityIndex
from nl2net.assistant.extract import extract_program
from nl2net.assistant.gate import PrivacyGate
from nl2net.benchmark.agents import AgentAnswer, PublicCase
from nl2net.benchmark.programs import ProgramRunner, Ran
from nl2net.errors import PrivacyError, ReplyError
from nl2net.golden.graph_comparison import changes_from_json
from nl2net.graphs import LoadedGraph, describe_graph
from nl2net.llm.client import Reply
from nl2net.locations import Locations
from nl2net.model import Library, Status, Usage
from nl2net.prompts import fence, render_schema
from nl2net.prompts.baselines import program_system, render_baseline

PROGRAM_BASELINES = ("direct", "step_by_step", "few_shot")
DATA_BASELINES = ("react", "data_in_prompt")
_MAX_TOKENS = {"step_by_step": 1200, "data_in_prompt": 4000}
_TURNS = 4
_SHOWN = 1500
# About 30,000 tokens: larger graphs do not fit into a prompt, which is the point of this baseline.
_MOST_DATA = 100_000
_JSON = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
Message = dict[str, str]
MakeClient = Callable[[PrivacyGate], Any]


@dataclass(slots=True)
class Talk:
    """A conversation with a model about one case."""

    client: Any
    gate: PrivacyGate
    messages: list[Message]
    max_tokens: int = 800
    usage: Usage = field(default_factory=Usage)
    turns: int = 0

    def ask(self, purpose: str) -> str:
        """The next reply; it and its cost become part of the conversation."""
        reply: Reply = self.client.complete(self.messages, purpose=purpose, max_tokens=self.max_tokens)
        self.gate.allow(reply.text)
        self.usage, self.turns = self.usage + reply.usage, self.turns + 1
        self.messages.append({"role": "assistant", "content": reply.text})
        return reply.text


@cache
def worked_examples(application: str) -> tuple[tuple[str, str], ...]:
    """Questions and programs that ``few_shot`` shows for an application.

    Examples
    --------
    >>> len(worked_examples("traffic"))
    4
    """
    data = example_data()[application]
    return tuple((item["question"], item["program"]) for item in data["examples"])


@cache
def example_data() -> dict[str, Any]:
    """The file of the worked examples: graph and examples by application."""
    text = (files("nl2net.benchmark") / "data" / "few_shot.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


class _ModelAgent(ABC):
    """What the baselines share."""

    name: str

    def __init__(self, name: str, make_client: MakeClient, runner: ProgramRunner, locations: Locations) -> None:
        self.name = name
        self._make_client = make_client
        self._runner = runner
        self._log = locations.egress_log

    def start(self, case: PublicCase) -> None:  # noqa: B027  (there is nothing to forget)
        """Every case is a conversation of its own."""

    @abstractmethod
    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        """Answer one question on a graph that is the agent's to change."""

    def _talk(self, gate: PrivacyGate, system: str, turns: Sequence[Message]) -> Talk:
        messages: list[Message] = [{"role": "system", "content": system}, *turns]
        return Talk(self._make_client(gate), gate, messages, _MAX_TOKENS.get(self.name, 800))


class ProgramAgent(_ModelAgent):
    """One reply, one program, no repair: ``direct``, ``step_by_step`` or ``few_shot``."""

    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        """Ask once and run what comes back."""
        started = time.perf_counter()
        described = describe_graph(graph, name="bench")
        examples = worked_examples(case.application) if self.name == "few_shot" else ()
        fixed = "\n".join(text for pair in examples for text in pair)
        gate = PrivacyGate(EntityIndex.build(graph, described.schema), self._log, fixed_text=fixed)
        gate.allow(case.question)  # baselines send the question as typed
        system = _system("step_by_step" if self.name == "step_by_step" else "direct", described)
        talk = self._talk(gate, system, [*_as_turns(examples), {"role": "user", "content": case.question}])
        program = extract_program(talk.ask(self.name), Library.NETWORKX)
        ran = self._runner.run(program, graph, described)
        return ran.answer(**_facts(talk, started, [ran]))


class ReactAgent(_ModelAgent):
    """Thought, program, observation, until the model says FINAL or its turns are used up."""

    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        """Let the model look at results before it delivers one."""
        started = time.perf_counter()
        described = _generated_only(self.name, case, graph)
        system = _system("react", described, turns=_TURNS)
        talk = self._talk(PrivacyGate(None, self._log), system, [{"role": "user", "content": case.question}])
        ran: list[Ran] = []
        for turn in range(_TURNS):
            reply = talk.ask(self.name)
            if ran and _is_final(reply):
                break
            ran.append(self._runner.run(extract_program(reply, Library.NETWORKX), graph, described))
            talk.messages.append({"role": "user", "content": _observation(ran[-1], _TURNS - 1 - turn)})
        return ran[-1].answer(**_facts(talk, started, ran))


class DataAgent(_ModelAgent):
    """The whole graph in the prompt, and the answer as JSON."""

    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        """Ask once, without any program."""
        started = time.perf_counter()
        described = _generated_only(self.name, case, graph)
        data = json.dumps(nx.node_link_data(graph, edges="links"), ensure_ascii=False, separators=(",", ":"))
        if len(data) > _MOST_DATA:
            return AgentAnswer(Status.FAILED, message=f"a graph of {len(data)} characters does not fit into a prompt")
        system = render_baseline("data_in_prompt", graph_class=described.schema.graph_class.name, data=data)
        talk = self._talk(PrivacyGate(None, self._log), system, [{"role": "user", "content": case.question}])
        return read_json_answer(talk.ask(self.name), **_facts(talk, started, []))


def read_json_answer(reply: str, **facts: Any) -> AgentAnswer:
    """The answer in the last JSON object of a reply.

    Raises
    ------
    ReplyError
        There is none, or it has another form.
    """
    blocks = _JSON.findall(reply) or [reply]
    try:
        data = json.loads(blocks[-1])
        kind, value = data["type"], data["value"]
        if kind in ("cannot_answer", "ask_user"):
            status = Status.CANNOT_ANSWER if kind == "cannot_answer" else Status.NEEDS_CLARIFICATION
            return AgentAnswer(status, message=str(value), **facts)
        if kind == "graph":
            changes = changes_from_json(value)
            changes.to_json()
            return AgentAnswer(Status.ANSWERED, changes=changes, **facts)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ReplyError("the reply holds no answer of the agreed form") from None
    return AgentAnswer(Status.ANSWERED, result=value, **facts)


def _system(name: str, described: LoadedGraph, **values: Any) -> str:
    graph_class = described.schema.graph_class.name
    return program_system(name, schema=render_schema(described.schema), graph_class=graph_class, **values)


def _as_turns(examples: Sequence[tuple[str, str]]) -> list[Message]:
    turns = []
    for question, program in examples:
        turns.append({"role": "user", "content": question})
        turns.append({"role": "assistant", "content": fence(program, Library.NETWORKX)})
    return turns


def _generated_only(name: str, case: PublicCase, graph: Any) -> LoadedGraph:
    if not case.generated:
        raise PrivacyError(
            f"{name} shows data to a model and works on generated networks only", hint="Use the agent assistant."
        )
    return describe_graph(graph, name="bench")


def _is_final(reply: str) -> bool:
    return "```" not in reply and any(line.strip().strip("*.`") == "FINAL" for line in reply.splitlines())


def _observation(ran: Ran, left: int) -> str:
    result = ran.report.result
    value = ran.report.message if result is None else json.dumps(result.data, default=str, ensure_ascii=False)
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + " ... (cut)"
    kind = str(result.type) if result is not None else str(ran.report.outcome)
    return render_baseline("observation", error=ran.fault[:_SHOWN], type=kind, value=shown, left=left)


def _facts(talk: Talk, started: float, ran: Sequence[Ran]) -> Mapping[str, Any]:
    return {
        "usage": talk.usage,
        "seconds": time.perf_counter() - started,
        "tool_s": sum(one.report.wall_s for one in ran),
        "turns": talk.turns,
        "programs": len(ran),
        "messages": tuple(talk.messages),
    }


def make_model_agent(name: str, make_client: MakeClient, runner: ProgramRunner, locations: Locations) -> _ModelAgent:
    """The baseline of that name."""
    kinds: Mapping[str, type[_ModelAgent]] = {"react": ReactAgent, "data_in_prompt": DataAgent}
    return kinds.get(name, ProgramAgent)(name, make_client, runner, locations)
