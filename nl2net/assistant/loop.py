"""The ask loop: mask, screen, retrieve, prompt, gate, model, check, bind, run, validate, agree, answer."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nl2net.assistant import screen
from nl2net.assistant.adaptation import replay
from nl2net.assistant.agreement import Choice, choose
from nl2net.assistant.answer import Answer, Provenance, Timing
from nl2net.assistant.attempts import Candidate, Problem, Trial
from nl2net.assistant.concluding import doubtful, labels_of, unusable
from nl2net.assistant.confidence import Signals, confidence
from nl2net.assistant.entities import EntityIndex
from nl2net.assistant.entries import Found
from nl2net.assistant.gate import PrivacyGate
from nl2net.assistant.library import ProgramLibrary
from nl2net.assistant.masking import MaskedQuestion, Masker
from nl2net.assistant.options import AskOptions, Conversation, Hooks
from nl2net.assistant.scripts import program_hash
from nl2net.assistant.speaking import ModelSpeaker
from nl2net.assistant.store import Store
from nl2net.assistant.validators import caveats, change_problems, wrong_shape
from nl2net.assistant.wording import expected_type, is_change
from nl2net.config import Settings
from nl2net.errors import Nl2netError
from nl2net.golden import equal_results
from nl2net.graphs import LoadedGraph
from nl2net.locations import Locations
from nl2net.model import Library, Severity, Status, Usage
from nl2net.prompts import Example, Message, build_messages, question_text, system_text, template_hash
from nl2net.sandbox import GraphPayload, Limits, Sandbox
from nl2net.sandbox.outcome import Facts, Outcome, RunReport

# The built-in model reads about 100 prompt tokens a second: a short schema is worth more than a complete one.
_SMALL_SCHEMA_TOKENS, _SCHEMA_TOKENS = 600, 1200
_SMALL_SAMPLES, _SAMPLES = 1, 1
_THRESHOLD = 0.5

_LEADS = {
    Library.NETWORKX: "```python\ndef answer(graph):\n",
    Library.PANDAS: "```python\ndef answer(nodes, edges):\n",
    Library.SQL: "```sql\n",
}

ClientFactory = Callable[[PrivacyGate], Any]


@dataclass(slots=True)
class _State:
    """What one question has gathered so far."""

    question: str
    started: float
    masked: MaskedQuestion
    library: Library = Library.NETWORKX
    caveats: list[str] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    speaker: ModelSpeaker | None = None
    sandbox_s: float = 0.0
    refusal: str = ""
    turn: int = 0


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
        self._locations = locations
        self._client_factory = client_factory
        self._client: Any = None
        self.index = EntityIndex.build(graph.graph, graph.schema)
        self.gate = PrivacyGate(self.index, locations.egress_log, fixed_text=_fixed_text(library))
        self.gate.allow(" ".join(str(v) for a in graph.schema.attributes for v in a.values))
        self._holder: Any = None

    # ---- life ---------------------------------------------------------------------------------------------------

    @property
    def holder(self) -> Any:
        """The process that holds the graph; started at first use."""
        if self._holder is None:
            payload = GraphPayload(self.graph.graph, self.graph.schema, self.graph.fingerprint)
            self._holder = self.sandbox.open(payload)
        return self._holder

    @property
    def client(self) -> Any:
        """The chat client behind the gate."""
        if self._client is None:
            self._client = self._client_factory(self.gate)
        return self._client

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
        options = options or AskOptions()
        hooks = hooks or Hooks()
        conversation = conversation or self.conversation()
        state = self._begin(question, options, conversation)
        try:
            answer = self._answer(state, options, conversation, hooks)
        except Nl2netError as error:
            self._finish(state, self._failed(state, error), conversation)
            raise
        return self._finish(state, answer, conversation)

    def _begin(self, question: str, options: AskOptions, conversation: Conversation) -> _State:
        self.gate.egress = type(self.gate.egress)()
        masker = conversation.masker or Masker(self.index, self.graph.schema)
        conversation.masker = masker
        masker.assume = options.assume
        masked = masker.mask(question)
        if not options.mask:
            # The names are still bound locally; only the text that is sent is the user's own.
            self.gate.allow(question)
            masked = replace(masked, text=question, placeholders=())
        state = _State(question, time.perf_counter(), masked, _library(options.library, question, self.graph))
        state.caveats += masked.notes
        if not options.mask:
            state.caveats.append("the question was sent as typed (--no-mask)")
        if self.store is not None:
            graph = {
                "name": self.graph.name,
                "fingerprint": self.graph.fingerprint,
                "schema_hash": self.graph.schema_hash,
            }
            state.turn = self.store.begin(
                question, graph=graph, conversation=conversation.id, parent=conversation.parent
            )
        return state

    def _answer(self, state: _State, options: AskOptions, conversation: Conversation, hooks: Hooks) -> Answer:
        hooks.stage("screen")
        stopped = self._screen(state, options, follow_up=bool(conversation.turns))
        if stopped is not None:
            return stopped
        again = replay(self.library.entries, state.masked.text, self.graph.schema) if not conversation.turns else None
        if again is not None:
            return self._replayed(state, again, options, hooks)
        messages, facts = self._prompt(state, options, conversation, hooks)
        if options.dry_run:
            return self._dry(state, messages, options, hooks)
        choice = self._draw(state, messages, facts, options, hooks)
        return self._conclude(state, choice, options)

    def show_prompt(self, question: str, *, options: AskOptions | None = None) -> list[Message]:
        """The messages that would be sent for a question; nothing is sent."""
        options = options or AskOptions()
        state = _State(
            question, time.perf_counter(), Masker(self.index, self.graph.schema).mask(question),
            _library(options.library, question, self.graph),
        )  # fmt: skip
        if not options.mask:
            state.masked = replace(state.masked, text=question, placeholders=())
        return self._prompt(state, options, Conversation("preview"), Hooks())[0]

    # ---- before the model -----------------------------------------------------------------------------------------

    def _screen(self, state: _State, options: AskOptions, *, follow_up: bool) -> Answer | None:
        schema, question = self.graph.schema, state.question
        refused = screen.unsafe(question)
        if refused is not None:
            if not refused.rest:
                return self._plain(state, Status.REFUSED, refused.message)
            state.refusal = refused.message
            masker = Masker(self.index, schema)
            state.masked = masker.mask(refused.rest)
        if state.masked.ambiguities and not options.assume:
            first = state.masked.ambiguities[0]
            choices = tuple(label for label, _ in first.choices)
            message = f"{first.word!r} is the name of several nodes. Which one? {'; '.join(choices)}"
            return replace(self._plain(state, Status.NEEDS_CLARIFICATION, message), choices=choices)
        if follow_up:
            return None
        state.caveats += screen.proxy_notes(state.masked.text, schema)
        has_entities = bool(state.masked.placeholders)
        for verdict in (
            screen.out_of_scope(question, schema, has_entities=has_entities),
            screen.missing_concept(state.masked.text, schema),
            screen.no_paths(state.masked.text, schema),
            None if options.assume else screen.vague(state.masked.text, schema),
        ):
            if verdict is not None:
                return replace(self._plain(state, verdict.status, verdict.message), choices=verdict.choices)
        return None

    def _prompt(
        self, state: _State, options: AskOptions, conversation: Conversation, hooks: Hooks
    ) -> tuple[list[Message], Facts]:
        hooks.stage("retrieve")
        expected = expected_type(state.masked.text)
        text = state.masked.text
        state.found = self.library.search(
            text, self.graph.schema, library=state.library, k=options.examples, expected=expected
        )
        budget = self.settings.schema_tokens or (_SMALL_SCHEMA_TOKENS if self._is_small() else _SCHEMA_TOKENS)
        system = system_text(self.graph.schema, library=state.library, question=text, budget_tokens=budget)
        examples = [Example(f.question, f.program) for f in state.found]
        asked = question_text(text, entities=state.masked.lines, expected=_ask_for(expected, state.found))
        messages = build_messages(
            system, examples, {"role": "user", "content": asked}, library=state.library, history=conversation.history()
        )
        facts = Facts(
            expected=expected,
            placeholders=tuple(state.masked.bindings),
            is_change=is_change(text),
            asks_direction=any(w in text.lower() for w in (" send", " sent", " receive", "outgoing", "incoming")),
            asks_order=any(w in text.lower() for w in ("rank", "sort", "order", "top ", "highest first")),
        )
        return messages, facts

    def _is_small(self) -> bool:
        return (self.settings.model or "").startswith("builtin") or getattr(
            getattr(self._client, "endpoint", None), "kind", ""
        ) == "builtin"

    # ---- the model and its programs ---------------------------------------------------------------------------------

    def _trial(self, state: _State, facts: Facts, options: AskOptions, hooks: Hooks, speaker: Any) -> Trial:
        limits = Limits(
            wall_s=self.settings.timeout_s, cpu_s=self.settings.timeout_s, memory_mb=self.settings.memory_mb
        )
        return Trial(
            checker=self.sandbox,
            runner=self.holder,
            speaker=speaker,
            schema=self.graph.schema,
            library=state.library,
            facts=facts,
            bindings=state.masked.bindings,
            repairs=options.repairs,
            limits=limits,
            cancel=hooks.cancel,
            validate=lambda report: _shape_problem(report, facts.expected),
        )

    def _draw(
        self, state: _State, messages: Sequence[Message], facts: Facts, options: AskOptions, hooks: Hooks
    ) -> Choice:
        hooks.stage("model")
        speaker = self._speaker(state.library, options, hooks)
        state.speaker = speaker
        trial = self._trial(state, facts, options, hooks, speaker)
        drawn = options.samples or self.settings.samples or (_SMALL_SAMPLES if self._is_small() else _SAMPLES)
        replies = speaker.draw(messages, drawn, purpose="code")
        candidates = []
        for number, reply in enumerate(replies):
            hooks.stage(f"program {number + 1} of {drawn}" if drawn > 1 else "program")
            candidates.append(trial.sample(messages, reply))
            self._log(state, "sample", _sample_record(number, candidates[-1]))
            if _is_settled(candidates, drawn):
                break
        state.sandbox_s += trial.sandbox_s
        return choose(candidates, lambda a, b: equal_results(a, b))

    def _speaker(self, library: Library, options: AskOptions, hooks: Hooks) -> ModelSpeaker:
        return ModelSpeaker(
            self.client, self.gate, self.store, hooks, use_cache=options.use_cache, lead=_LEADS[library]
        )

    def _dry(self, state: _State, messages: Sequence[Message], options: AskOptions, hooks: Hooks) -> Answer:
        from nl2net.assistant.extract import extract_program

        state.speaker = self._speaker(state.library, options, hooks)
        reply = state.speaker.reply(messages, purpose="code")
        program = extract_program(reply, state.library)
        answer = self._plain(state, Status.ANSWERED, "not run (--dry-run)")
        return replace(answer, code=program, masked_code=program, library=state.library)

    # ---- after the run ----------------------------------------------------------------------------------------------

    def _conclude(self, state: _State, choice: Choice, options: AskOptions) -> Answer:
        candidate = choice.candidate
        report = candidate.report
        answer = replace(
            self._plain(state, Status.FAILED, ""),
            library=state.library,
            code=(report.program if report and report.program else candidate.program),
            masked_code=candidate.program,
            attempts=candidate.attempts,
            findings=candidate.findings,
            printed=report.printed if report else "",
        )
        if report is None or report.outcome is not Outcome.OK:
            return unusable(answer, candidate)
        answer = self._with_result(answer, state, report)
        signals = self._signals(state, choice)
        sure = confidence(signals)
        answer = replace(answer, confidence=sure)
        threshold = options.threshold if options.threshold is not None else self.settings.threshold
        if sure < (_THRESHOLD if threshold is None else threshold) or choice.tied:
            return doubtful(answer, choice)
        return answer

    def _with_result(self, answer: Answer, state: _State, report: RunReport) -> Answer:
        assert report.result is not None
        notes = list(caveats(state.masked.text, answer.masked_code, report, self.graph.schema))
        notes += [f.message for f in answer.findings if f.severity is not Severity.REFUSE]
        changes = report.changes if report.changes else None
        if changes is not None:
            notes += change_problems(changes, self.graph.graph)
        notes = list(dict.fromkeys([*answer.caveats, *notes]))
        status, code = (Status.REFUSED, 5) if state.refusal else (Status.ANSWERED, 0)
        return replace(
            answer,
            status=status,
            exit_code=code,
            result=report.result,
            labels=labels_of(report.result.data, self.graph.graph),
            changes=changes,
            caveats=tuple(notes),
            message=state.refusal,
            provenance=replace(
                answer.provenance,
                program_hash=program_hash(answer.code),
                sandbox=f"{report.layers.level}" + (" (accepted unsealed)" if report.layers.accepted_unsealed else ""),
            ),
        )

    def _signals(self, state: _State, choice: Choice) -> Signals:
        candidate = choice.candidate
        result = candidate.report.result if candidate.report else None
        data = result.data if result else None
        rows = data.get("rows") if isinstance(data, dict) else data
        logprobs = state.speaker.logprobs if state.speaker else []
        return Signals(
            consistency=choice.consistency,
            samples=choice.drawn,
            repairs=candidate.repairs,
            findings=sum(f.severity is not Severity.CAVEAT for f in candidate.findings),
            similarity=max((found.score for found in state.found), default=0.0),
            unused=sum(token not in candidate.program for token in state.masked.bindings),
            logprob=logprobs[0] if logprobs else 0.0,
            empty=int(isinstance(rows, list) and not rows),
        )

    def _replayed(self, state: _State, found: Found, options: AskOptions, hooks: Hooks) -> Answer:
        hooks.stage("replay")
        facts = Facts(placeholders=tuple(state.masked.bindings), is_change=is_change(state.masked.text))
        state.library = Library(found.entry.library)
        trial = self._trial(state, facts, options, hooks, speaker=None)
        candidate, _ = trial.examine(found.program)
        state.sandbox_s += trial.sandbox_s
        answer = self._conclude(state, Choice(candidate, 1, 1), replace(options, threshold=0.0))
        note = "replayed an approved program; no model was asked"
        return replace(
            answer,
            confidence=None,
            caveats=(*answer.caveats, note),
            provenance=replace(answer.provenance, model="none", origin="library"),
        )

    # ---- assembling ---------------------------------------------------------------------------------------------

    def _plain(self, state: _State, status: Status, message: str) -> Answer:
        speaker = state.speaker
        egress = self.gate.egress
        codes = {Status.ANSWERED: 0, Status.FAILED: 1, Status.REFUSED: 5}
        return Answer(
            status=status,
            exit_code=codes.get(status, 6),
            question=state.question,
            masked=state.masked.text,
            graph={
                "name": self.graph.name,
                "fingerprint": self.graph.fingerprint,
                "nodes": self.graph.graph.number_of_nodes(),
                "edges": self.graph.graph.number_of_edges(),
                "class": self.graph.schema.graph_class.name,
            },
            message=message,
            caveats=tuple(state.caveats),
            usage=speaker.usage if speaker else Usage(),
            egress={"requests": egress.requests, "bytes": egress.bytes, "log": str(self._locations.egress_log)},
            provenance=Provenance(
                model=speaker.model if speaker else "",
                origin="model" if speaker else "",
                template=template_hash(),
                schema_hash=self.graph.schema_hash,
                fingerprint=self.graph.fingerprint,
            ),
            turn=state.turn,
        )

    def _failed(self, state: _State, error: Nl2netError) -> Answer:
        answer = self._plain(state, Status.FAILED, str(error))
        status = {5: Status.REFUSED, 6: Status.CANNOT_ANSWER}.get(error.exit_code, Status.FAILED)
        return replace(answer, exit_code=error.exit_code, status=status)

    def _finish(self, state: _State, answer: Answer, conversation: Conversation) -> Answer:
        egress = self.gate.egress
        answer = replace(
            answer,
            timing=Timing(
                model_s=state.speaker.seconds if state.speaker else 0.0,
                sandbox_s=state.sandbox_s,
                total_s=time.perf_counter() - state.started,
            ),
            egress={"requests": egress.requests, "bytes": egress.bytes, "log": str(self._locations.egress_log)},
            bodies=tuple(egress.bodies),
            usage=state.speaker.usage if state.speaker else answer.usage,
        )
        if self.store is not None:
            self.store.finish(
                state.turn, answer.to_json(), masked=answer.masked, program=answer.masked_code, bound=answer.code
            )
        if answer.status is Status.ANSWERED and answer.masked_code:
            conversation.turns.append(Example(answer.masked, answer.masked_code, state.masked.lines))
            conversation.parent = state.turn or None
        return answer

    def _log(self, state: _State, stage: str, data: dict[str, Any]) -> None:
        if self.store is not None:
            self.store.event(state.turn, stage, data)


def _fixed_text(library: ProgramLibrary) -> str:
    """Public text that requests may contain: every template, and every question and program of the library."""
    from importlib.resources import files

    folder = files("nl2net.prompts").joinpath("templates")
    parts = [item.read_text("utf-8") for item in folder.iterdir() if item.name.endswith(".j2")]
    parts += [text for entry in library.entries for text in (entry.question, entry.program)]
    return "\n".join(parts)


def _library(wanted: str, question: str, graph: LoadedGraph) -> Library:
    """The program library for ``auto``: networkx unless the question is about tables alone."""
    if wanted != "auto":
        return Library(wanted)
    return Library.NETWORKX


def _ask_for(expected: str, found: Sequence[Found]) -> str:
    """State the asked type only where words and the nearest example do not contradict each other."""
    nearest = found[-1].entry.result_type if found else ""
    return expected if expected in {"graph", "figure"} or not nearest or nearest == expected else ""


def _shape_problem(report: RunReport, expected: str) -> Problem | None:
    text = wrong_shape(report.result, expected)
    return Problem(f"shape:{text}", text, "Return the asked value itself.") if text else None


def _is_settled(candidates: Sequence[Candidate], drawn: int) -> bool:
    """Whether the samples still to be drawn cannot change the majority."""
    if len(candidates) * 2 <= drawn:
        return False
    choice = choose(candidates, lambda a, b: equal_results(a, b))
    return choice.votes * 2 > drawn and not choice.tied


def _sample_record(number: int, candidate: Candidate) -> dict[str, Any]:
    return {
        "sample": number,
        "program": candidate.program,
        "attempts": [attempt.to_json() for attempt in candidate.attempts],
        "findings": [f"{f.rule}: {f.message}" for f in candidate.findings],
        "outcome": str(candidate.report.outcome) if candidate.report else "not run",
    }
