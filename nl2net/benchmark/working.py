"""How one item is worked on: by agents without a model in any process, by agents with one beside a shared budget."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from nl2net.assistant.gate import PrivacyGate
from nl2net.benchmark.agents import Agent, NoopAgent, OracleAgent
from nl2net.benchmark.bench_records import BenchRecord, record_of_episode
from nl2net.benchmark.constructive import solve_case
from nl2net.benchmark.episode import run_episode
from nl2net.benchmark.interactive_agents import make_interactive_agent
from nl2net.benchmark.items import Item
from nl2net.benchmark.ledger import Ledger, LedgerClient, Throttle, working_on
from nl2net.benchmark.model_agents import DATA_BASELINES, make_model_agent
from nl2net.benchmark.plain_agents import RandomAgent, TemplateAgent
from nl2net.benchmark.programs import ProgramRunner
from nl2net.benchmark.runs import Caps
from nl2net.config import Settings, load_settings
from nl2net.errors import BudgetError, PrivacyError
from nl2net.llm import ChatClient, Endpoint, Message, resolve_endpoint
from nl2net.locations import Locations, default_locations
from nl2net.model import Usage
from nl2net.sandbox import Limits

CALLS = "calls.jsonl"
_EPISODE_TOKENS = 800


@dataclass(frozen=True, slots=True)
class Job:
    """One item for one agent; all that another process needs."""

    item: Item
    agent: str
    trial: int = 0
    backend: str = "simulated"


@cache
def _runner() -> ProgramRunner:
    return ProgramRunner()


def close_plain() -> None:
    """End the sandbox of this process, if an agent used one."""
    if _runner.cache_info().currsize:
        _runner().close()
        _runner.cache_clear()


def solve_plain(job: Job) -> BenchRecord:
    """Work on one item with an agent that needs no model; the same in every process."""
    item = job.item
    if item.task is not None:
        agent = make_interactive_agent(job.agent, [item.task])
        return record_of_episode(item, run_episode(item.task, agent, backend=job.backend), job.trial, Usage())
    return solve_case(item, _plain_agent(item, job.agent), trial=job.trial)


def _plain_agent(item: Item, name: str) -> Agent:
    assert item.case is not None
    if name == "oracle":
        return OracleAgent([item.case])
    if name == "random":
        return RandomAgent()
    return TemplateAgent(_runner()) if name == "template" else NoopAgent()


class ModelSession:
    """What all items of a run with a model share: endpoint, ledger, budget, throttle and sandbox.

    Parameters
    ----------
    agent : str
        Name of the agent.
    model : str, optional
        As ``--model`` of ``nl2net ask``.
    folder : Path
        Run folder; the ledger lies in it.
    caps : Caps
        Cost and tokens of the whole run.
    workers : int
        Calls that may be open at once.
    """

    def __init__(
        self,
        agent: str,
        model: str | None,
        folder: Path,
        caps: Caps,
        workers: int,
        *,
        accept_unsealed: bool = False,
        locations: Locations | None = None,
        endpoint: Endpoint | None = None,
    ) -> None:
        self._agent, self._model, self._folder, self._caps = agent, model, folder, caps
        self._accept_unsealed = accept_unsealed
        self._locations = locations or default_locations()
        self._throttle = Throttle(workers)
        self._endpoint = endpoint
        self._ledger: Ledger | None = None
        self._made: dict[str, Any] = {}

    @property
    def lost(self) -> int:
        """Calls of earlier starts that were sent and never answered."""
        return self._ledger.lost if self._ledger is not None else 0

    def check(self, items: Sequence[Item]) -> None:
        """Open what all items share, so that nothing of it can fail in the middle.

        Raises
        ------
        PrivacyError
            The agent shows data to a model, and a graph is not a generated one.
        ModelError, UserError
            There is no endpoint.
        """
        named = {item.case.graph.seed for item in items if item.case is not None and item.case.graph.recipe == "file"}
        if named and self._agent in DATA_BASELINES:
            raise PrivacyError(
                f"{self._agent} shows data to a model and works on generated networks only: {sorted(named)[0]}"
            )
        self._ledger = Ledger(self._folder / CALLS, max_cost_usd=self._caps.cost_usd, max_tokens=self._caps.tokens)
        self._settings = load_settings({"model": self._model}, locations=self._locations)
        if self._endpoint is None:
            self._endpoint = resolve_endpoint(
                self._settings, model=self._settings.model, environ=os.environ, locations=self._locations
            )
        if any(item.case is not None for item in items):
            self._made["constructive"] = self._constructive(self._settings, items)

    def client(self, gate: PrivacyGate) -> LedgerClient:
        """A chat client behind a gate, with the budget and the ledger of the run."""
        assert self._ledger is not None and self._endpoint is not None
        client = ChatClient(
            self._endpoint,
            gate=gate,
            budget=self._ledger.budget,
            timeout_s=self._settings.request_timeout_s,
            sleep=self._throttle.back_off,
        )
        return LedgerClient(client, self._ledger, self._throttle)

    def solve(self, job: Job) -> BenchRecord:
        """Work on one item; called from several threads.

        Raises
        ------
        BudgetError
            A cap was reached: the item stays open.
        """
        assert self._ledger is not None
        work = f"{job.item.id}|{job.trial}"
        with working_on(work):
            if job.item.task is None:
                record = solve_case(job.item, self._made["constructive"], trial=job.trial)
            else:
                record = self._episode(job, work)
        return replace(record, usage=self._ledger.usage_of(work).to_json())

    def _episode(self, job: Job, work: str) -> BenchRecord:
        task = job.item.task
        assert task is not None
        client = self.client(PrivacyGate(None, self._locations.egress_log))  # a generated network: nothing to protect
        stopped: list[BudgetError] = []

        def complete(messages: list[dict[str, str]]) -> str:
            try:
                with working_on(work):  # agents of episodes are called on threads of their own
                    asked = [Message(role=one["role"], content=one["content"]) for one in messages]
                    reply = client.complete(asked, purpose=self._agent, max_tokens=_EPISODE_TOKENS)
            except BudgetError as error:
                stopped.append(error)
                raise
            return reply.text

        agent = make_interactive_agent(self._agent, complete=complete)
        episode = run_episode(task, agent, backend=job.backend)
        if stopped:
            raise stopped[0]
        return record_of_episode(job.item, episode, job.trial, Usage())

    def _constructive(self, settings: Settings, items: Sequence[Item]) -> Any:
        if self._agent == "assistant":
            module = import_module("nl2net.benchmark.assistant_agent")
            cases = [item.case for item in items if item.case is not None]
            return module.make_agent(
                model=self._model, samples=None, library=None, seed=1, cases=cases, client_factory=self.client
            )
        limits = Limits(wall_s=settings.timeout_s, cpu_s=settings.timeout_s, memory_mb=settings.memory_mb)
        runner = self._made["runner"] = ProgramRunner(limits, accept_unsealed=self._accept_unsealed)
        return make_model_agent(self._agent, self.client, runner, self._locations)

    def close(self) -> None:
        """End the sandbox."""
        for name in ("runner", "constructive"):
            close = getattr(self._made.get(name), "close", None)
            if close is not None:
                close()
