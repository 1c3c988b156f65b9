"""The product itself as an agent: schema only, on generated graphs, with the settings that a user has."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from nl2net.assistant import AskOptions
from nl2net.assistant.gate import PrivacyGate
from nl2net.assistant.loop import Assistant, ClientFactory
from nl2net.assistant.opening import open_client, open_library
from nl2net.benchmark.agents import AgentAnswer, PublicCase
from nl2net.config import Settings, load_settings
from nl2net.errors import ModelError, Nl2netError
from nl2net.golden.case import Case, Split
from nl2net.graphs import describe_graph
from nl2net.locations import Locations, default_locations
from nl2net.model import Status
from nl2net.sandbox import Limits, Sandbox

_OPEN_GRAPHS = 4
_STATUS_BY_EXIT = {5: Status.REFUSED, 6: Status.CANNOT_ANSWER}


class AssistantAgent:
    """Asks the assistant; assistants of the last few graphs are kept open.

    Parameters
    ----------
    settings, locations : Settings, Locations
    options : AskOptions
        Samples, library, what to leave out of retrieval.
    client_factory : callable, optional
        Makes the chat client behind a gate; by default that of the settings.
    """

    name = "assistant"

    def __init__(
        self,
        settings: Settings,
        locations: Locations,
        options: AskOptions,
        *,
        client_factory: ClientFactory | None = None,
    ) -> None:
        import os

        self._settings = settings
        self._locations = locations
        self._options = options
        self._environ = dict(os.environ)
        self._library = open_library(locations)
        limits = Limits(wall_s=settings.timeout_s, cpu_s=settings.timeout_s, memory_mb=settings.memory_mb)
        self._sandbox = Sandbox(limits=limits)
        self._open: OrderedDict[str, Assistant] = OrderedDict()
        self._client_factory = client_factory or self._own_client
        self._lock = threading.Lock()

    def _own_client(self, gate: PrivacyGate) -> Any:
        return open_client(gate, self._settings, self._locations, self._environ)

    def start(self, case: PublicCase) -> None:
        """Every question is a conversation of its own."""

    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        """Ask one question of one graph."""
        started = time.perf_counter()
        try:
            answer = self._assistant(graph).ask(case.question, options=self._options)
        except ModelError:
            raise  # the runner tells apart who failed
        except Nl2netError as error:
            status = _STATUS_BY_EXIT.get(error.exit_code, Status.FAILED)
            return AgentAnswer(status, message=str(error), seconds=time.perf_counter() - started)
        return AgentAnswer(
            answer.status,
            result=answer.result,
            program=answer.code,
            message=answer.message,
            changes=answer.changes,
            usage=answer.usage,
            seconds=time.perf_counter() - started,
            confidence=answer.confidence,
            signals=asdict(answer.signals) if answer.signals is not None else {},
            tool_s=answer.timing.sandbox_s,
            turns=answer.usage.requests,
            programs=len(answer.attempts),
        )

    def _assistant(self, graph: Any) -> Assistant:
        described = describe_graph(graph, name="golden")
        with self._lock:
            known = self._open.pop(described.fingerprint, None)
            if known is None:
                known = Assistant(
                    described,
                    sandbox=self._sandbox,
                    settings=self._settings,
                    locations=self._locations,
                    client_factory=self._client_factory,
                    library=self._library,
                )
            self._open[described.fingerprint] = known
            while len(self._open) > _OPEN_GRAPHS:
                _, oldest = self._open.popitem(last=False)
                oldest.close()
            return known

    def close(self) -> None:
        """End the sandbox processes."""
        self._open.clear()
        self._sandbox.close()


def make_agent(
    *,
    model: str | None,
    samples: int | None,
    library: str | None,
    seed: int,
    cases: Sequence[Case],
    client_factory: ClientFactory | None = None,
) -> AssistantAgent:
    """The assistant with the settings of this user.

    Parameters
    ----------
    model, samples, library : optional
        As on the command line of ``nl2net ask``.
    seed : int
        Unused: the assistant draws nothing but the samples of the model, which have fixed seeds.
    cases : sequence of Case
        Only their splits are looked at: the library was made from the development questions, so on those the entries of
        the same wording are left out.
    client_factory : callable, optional
        Makes the chat client behind a gate.
    """
    locations = default_locations()
    settings = load_settings({"model": model, "samples": samples, "library": library}, locations=locations)
    options = AskOptions(
        library=settings.library,
        samples=settings.samples,
        repairs=settings.repairs,
        unseen_wording=any(case.split is Split.DEV for case in cases),
    )
    return AssistantAgent(settings, locations, options, client_factory=client_factory)
