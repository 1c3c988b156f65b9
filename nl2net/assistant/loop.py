"""The ask loop: mask, screen, retrieve, prompt, gate, model, check, bind, run, validate, agree, answer."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nl2net.assistant.adaptation import replay
from nl2net.assistant.agreement import Choice, choose
from nl2net.assistant.answer import Answer, Timing
from nl2net.assistant.attempts import Candidate, Problem, Trial
from nl2net.assistant.concluding import Concluder
from nl2net.assistant.entities import EntityIndex
from nl2net.assistant.entries import Found
from nl2net.assistant.extract import extract_program
from nl2net.assistant.gate import Egress, PrivacyGate
from nl2net.assistant.library import ProgramLibrary
from nl2net.assistant.masking import Masker
from nl2net.assistant.options import AskOptions, Conversation, Hooks
from nl2net.assistant.preparing import Preparer, choose_library, facts_of, fixed_text
from nl2net.assistant.ranking import LISTS
from nl2net.assistant.speaking import ModelSpeaker
from nl2net.assistant.state import AskState
from nl2net.assistant.store import Store
from nl2net.assistant.validators import wrong_shape
from nl2net.assistant.wording import without_courtesy
from nl2net.config import Settings
from nl2net.errors import Nl2netError
from nl2net.golden import equal
from nl2net.graphs import LoadedGraph
from nl2net.locations import Locations
from nl2net.model import Library, Status
from nl2net.prompts import Example, Message
from nl2net.sandbox import GraphPayload, Limits, Sandbox
from nl2net.sandbox.outcome import RunReport

# The built-in model reads about 100 prompt tokens a second: a short schema is worth more than a complete one.
_SMALL_SCHEMA_TOKENS, _SCHEMA_TOKENS = 600, 1200
_THRESHOLD = 0.5
# A value that no library program supports is believed of the built-in model only if all three samples agree, whether or
# not an unlikely library program says otherwise (0.875): on the development questions none of the others was right.
_UNSUPPORTED = 0.85
# Least probability of a library program that votes, and that answers alone; see docs/accuracy.md.
_BORROW, _SURE = 0.2, 0.78
_EXTRA_SAMPLES = 2
# The built-in model continues the head of its program, so that it writes no prose.
_LEADS = {
    Library.NETWORKX: "```python\ndef answer(graph):\n",
    Library.PANDAS: "```python\ndef answer(nodes, edges):\n",
    Library.SQL: "```sql\n",
}

ClientFactory = Callable[[PrivacyGate], Any]


class Assistant:
    """Answers questions about one graph.

    Parameters
    ----------
    graph : LoadedGraph
        From `nl2net.graphs.load_graph`.
    sandbox : Sandbox
        Shared between graphs; owned by the caller.
    settings, locations : Settings, Locations
    client_factory : callable
        Makes a chat client behind a gate; called at the first question that needs a model.
    library : ProgramLibrary
        Verified programs.
    store : Store, optional
        History; without one nothing is recorded.
    """

    def __init__(
        self,
        graph: LoadedGraph,
        *,
        sandbox: Sandbox,
        settings: Settings,
        locations: Locations,
        client_factory: ClientFactory,
        library: ProgramLibrary,
        store: Store | None = None,
    ) -> None:
        self.graph = graph
        self.sandbox = sandbox
        self.settings = settings
        self.library = library
        self.store = store
        self.index = EntityIndex.build(graph.graph, graph.schema)
        self.gate = PrivacyGate(self.index, locations.egress_log, fixed_text=fixed_text(library))
        self.gate.allow(" ".join(str(v) for a in graph.schema.attributes for v in a.values))
        self._prepare = Preparer(graph, library)
        self._conclude = Concluder(graph, self.gate)
        self._client_factory = client_factory
        self._client: Any = None
        self._holder: Any = None

    # ---- life ---------------------------------------------------------------------------------------------------

    @property
    def holder(self) -> Any:
        """The process that holds the graph; started at first use."""
        if self._holder is None:
            self._holder = self.sandbox.open(self._payload())
        return self._holder

    def _payload(self) -> GraphPayload:
        return GraphPayload(self.graph.graph, self.graph.schema, self.graph.fingerprint)

    @property
    def client(self) -> Any:
        """The chat client behind the gate."""
        if self._client is None:
            self._client = self._client_factory(self.gate)
        return self._client

    def close(self) -> None:
        """Let the holder of the graph go; the sandbox stays open."""
        if self._holder is not None:
            self._holder.stop()
            self._holder = None

    def conversation(self) -> Conversation:
        """A new conversation about this graph."""
        return Conversation(uuid.uuid4().hex[:12], Masker(self.index, self.graph.schema))

    # ---- ask ----------------------------------------------------------------------------------------------------

    def ask(
        self,
        question: str,
        *,
        options: AskOptions | None = None,
        conversation: Conversation | None = None,
        hooks: Hooks | None = None,
    ) -> Answer:
        """Answer one question.

        Raises
        ------
        ModelError
            The endpoint failed. The turn is in the history.
        PrivacyError
            The gate stopped a request.
        """
        options, hooks = options or AskOptions(), hooks or Hooks()
        conversation = conversation or self.conversation()
        self.gate.egress = Egress()
        state = self._begin(question, options, conversation)
        self._record(state, conversation)
        try:
            answer = self._answer(state, options, conversation, hooks)
        except Nl2netError as error:
            self._finish(state, self._conclude.failed(state, error), conversation)
            raise
        return self._finish(state, answer, conversation)

    def show_prompt(self, question: str, *, options: AskOptions | None = None) -> list[Message]:
        """The messages that would be sent for a question; nothing is sent."""
        options = options or AskOptions()
        state = self._begin(question, options, self.conversation())
        return self._prepare.prompt(state, options, budget_tokens=self._schema_budget())

    def _begin(self, question: str, options: AskOptions, conversation: Conversation) -> AskState:
        masker = conversation.masker or Masker(self.index, self.graph.schema)
        conversation.masker = masker
        masker.assume = options.assume
        masked = masker.mask(without_courtesy(question))
        state = AskState(question, masked, time.perf_counter(), choose_library(options.library, self.graph))
        state.caveats += masked.notes
        if not options.mask:
            self.gate.allow(question)
            state.masked = replace(masked, text=question, placeholders=())
            state.caveats.append("the question was sent as typed (--no-mask)")
        return state

    def _record(self, state: AskState, conversation: Conversation) -> None:
        if self.store is None:
            return
        graph = {
            "name": self.graph.name,
            "fingerprint": self.graph.fingerprint,
            "schema_hash": self.graph.schema_hash,
        }
        state.turn = self.store.begin(
            state.question, graph=graph, conversation=conversation.id, parent=conversation.parent
        )

    def _answer(self, state: AskState, options: AskOptions, conversation: Conversation, hooks: Hooks) -> Answer:
        hooks.stage("screen")
        assert conversation.masker is not None
        follow_up = bool(conversation.turns)
        verdict = self._prepare.stop(state, conversation.masker, options, follow_up=follow_up)
        if verdict is not None:
            return self._conclude.plain(state, verdict.status, verdict.message, choices=verdict.choices)
        # Loads the graph into its process while examples are looked up and the model is asked.
        self.sandbox.prestart(self._payload())
        known = None if follow_up else replay(self.library.entries, state.masked.text, self.graph.schema)
        if known is not None:
            return self._replayed(state, known, options, hooks)
        hooks.stage("retrieve")
        messages = self._prepare.prompt(
            state, options, budget_tokens=self._schema_budget(), history=conversation.history()
        )
        state.speaker = self._speaker(state.library, options, hooks)
        if options.dry_run:
            return self._dry(state, messages)
        choice = self._draw(state, messages, options, hooks)
        return self._conclude.conclude(state, choice, threshold=self._threshold(options, choice))

    # ---- the model and its programs ---------------------------------------------------------------------------------

    def _is_small(self) -> bool:
        endpoint = getattr(self.client, "endpoint", None)
        return getattr(endpoint, "kind", "") == "builtin"

    def _schema_budget(self) -> int:
        return self.settings.schema_tokens or (_SMALL_SCHEMA_TOKENS if self._is_small() else _SCHEMA_TOKENS)

    def _threshold(self, options: AskOptions, choice: Choice) -> float:
        alone = self._is_small() and choice.borrowed == 0.0
        given = (options.threshold, self.settings.threshold, _UNSUPPORTED if alone else _THRESHOLD)
        return next(value for value in given if value is not None)

    def _speaker(self, library: Library, options: AskOptions, hooks: Hooks) -> ModelSpeaker:
        lead = _LEADS[library]
        return ModelSpeaker(self.client, self.gate, self.store, hooks, use_cache=options.use_cache, lead=lead)

    def _trial(self, state: AskState, options: AskOptions, hooks: Hooks) -> Trial:
        seconds = self.settings.timeout_s
        return Trial(
            checker=self.sandbox,
            runner=self.holder,
            speaker=state.speaker or self._speaker(state.library, options, hooks),
            schema=self.graph.schema,
            library=state.library,
            facts=state.facts,
            bindings=state.masked.bindings,
            repairs=options.repairs,
            limits=Limits(wall_s=seconds, cpu_s=seconds, memory_mb=self.settings.memory_mb),
            cancel=hooks.cancel,
            validate=lambda report: _shape_problem(report, state.facts.expected),
        )

    def _draw(self, state: AskState, messages: Sequence[Message], options: AskOptions, hooks: Hooks) -> Choice:
        """Judge programs until they settle on a value.

        The nearest program of the library, carried over to this question, votes beside the model's. When it disagrees
        with the first one, or none of both gives a value, more samples decide.
        """
        assert state.speaker is not None
        trial = self._trial(state, options, hooks)
        candidates = self._borrowed(state, trial) if options.borrow else []
        if candidates and candidates[0].sure and options.samples is None:
            state.sandbox_s += trial.sandbox_s
            return Choice(candidates[0], 1, 1, borrowed=candidates[0].score)
        wanted = options.samples or self.settings.samples
        # Without a second opinion from the library, one program of a small model is a guess.
        drawn = wanted or (1 if candidates or not self._is_small() else 1 + _EXTRA_SAMPLES)
        most = wanted or 1 + _EXTRA_SAMPLES
        hooks.stage("model")
        for number, reply in enumerate(state.speaker.draw(messages, drawn, purpose="code"), 1):
            self._judge(state, trial, messages, reply, number, candidates)
        while not _is_settled(candidates) and drawn < most:
            hooks.stage("second opinion")
            replies = state.speaker.draw(messages, most, purpose="code")
            for number, reply in enumerate(replies[drawn:], drawn + 1):
                self._judge(state, trial, messages, reply, number, candidates)
            drawn = most
        state.sandbox_s += trial.sandbox_s
        return choose(candidates, _same)

    def _judge(
        self, state: AskState, trial: Trial, messages: Sequence[Message], reply: str, number: int, into: list[Candidate]
    ) -> None:
        candidate = trial.sample(messages, reply)
        self._log(state, "sample", _sample_record(number, candidate))
        into.append(candidate)

    def _borrowed(self, state: AskState, trial: Trial) -> list[Candidate]:
        """The nearest program of the library with this question's names and numbers, if each has a certain place."""
        for found in reversed(state.found[-2:]):
            if found.bound is None or found.probability < _BORROW:
                continue
            candidate, problem = trial.examine(found.bound)
            told = {"intent": found.entry.intent, "probability": found.probability, "program": found.bound}
            self._log(state, "borrowed", told)
            # It was verified on graphs of its kind: remarks of the lint are no reason against it, a wrong type is.
            if candidate.ok and (problem is None or not problem.key.startswith("shape:")):
                sure = found.probability >= _SURE and _same_type(state.facts.expected, found.entry.result_type)
                return [replace(candidate, findings=(), origin="library", score=found.probability, sure=sure)]
        return []

    def _dry(self, state: AskState, messages: Sequence[Message]) -> Answer:
        assert state.speaker is not None
        program = extract_program(state.speaker.reply(messages, purpose="code"), state.library)
        answer = self._conclude.plain(state, Status.ANSWERED, "not run (--dry-run)")
        return replace(answer, code=program, masked_code=program, library=state.library)

    def _replayed(self, state: AskState, found: Found, options: AskOptions, hooks: Hooks) -> Answer:
        hooks.stage("replay")
        state.facts = facts_of(state.masked.text, state.masked.bindings)
        state.library = Library(found.entry.library)
        trial = self._trial(state, options, hooks)
        candidate, _ = trial.examine(found.program)
        state.sandbox_s += trial.sandbox_s
        answer = self._conclude.conclude(state, Choice(candidate, 1, 1), threshold=0.0)
        return replace(
            answer,
            confidence=None,
            caveats=(*answer.caveats, "replayed an approved program; no model was asked"),
            provenance=replace(answer.provenance, model="none", origin="library"),
        )

    # ---- the end ------------------------------------------------------------------------------------------------

    def _finish(self, state: AskState, answer: Answer, conversation: Conversation) -> Answer:
        egress, speaker = self.gate.egress, state.speaker
        answer = replace(
            answer,
            timing=Timing(
                model_s=speaker.seconds if speaker else 0.0,
                sandbox_s=state.sandbox_s,
                total_s=time.perf_counter() - state.started,
            ),
            egress={"requests": egress.requests, "bytes": egress.bytes, "log": str(self.gate.log)},
            bodies=tuple(egress.bodies),
            usage=speaker.usage if speaker else answer.usage,
        )
        if self.store is not None:
            self.store.finish(
                state.turn, answer.to_json(), masked=answer.masked, program=answer.masked_code, bound=answer.code
            )
        if answer.status is Status.ANSWERED and answer.masked_code:
            conversation.turns.append(Example(answer.masked, answer.masked_code, state.masked.lines))
            conversation.parent = state.turn or None
        return answer

    def _log(self, state: AskState, stage: str, data: dict[str, Any]) -> None:
        if self.store is not None:
            self.store.event(state.turn, stage, data)


def _same_type(asked: str, given: str) -> bool:
    """Whether an entry gives what is asked; lists and tables pass for one another, and unknown types for any."""
    if asked in LISTS:
        return given in LISTS
    return asked not in {"number", "graph"} or given == asked


def _same(left: RunReport, right: RunReport) -> bool:
    return equal(left.result, right.result)


def _shape_problem(report: RunReport, expected: str) -> Problem | None:
    text = wrong_shape(report.result, expected)
    return Problem(f"shape:{text}", text, "Return the asked value itself.") if text else None


def _is_settled(candidates: Sequence[Candidate]) -> bool:
    """Whether one value has more than half of the votes and no candidate speaks against it alone."""
    choice = choose(candidates, _same)
    return choice.votes * 2 > len(candidates) and not choice.tied


def _sample_record(number: int, candidate: Candidate) -> dict[str, Any]:
    return {
        "sample": number,
        "program": candidate.program,
        "attempts": [attempt.to_json() for attempt in candidate.attempts],
        "findings": [f"{finding.rule}: {finding.message}" for finding in candidate.findings],
        "outcome": str(candidate.report.outcome) if candidate.report else "not run",
    }
