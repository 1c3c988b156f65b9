"""What the command ``nl2net investigate`` does, apart from reading its options."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nl2net.errors import UserError
from nl2net.incident.asking import ask_and_keep, keep_report
from nl2net.incident.client import connect_model
from nl2net.incident.corpus import Corpus
from nl2net.incident.envelope import dump_envelope, to_envelope
from nl2net.incident.evaluation import evaluate, load_questions, table_lines
from nl2net.incident.impact.programs import Programs
from nl2net.incident.learning import learn, load_profile
from nl2net.incident.loop import Budget, Investigator, Options
from nl2net.incident.model_use import Model
from nl2net.incident.recording import Recorded, Recorder, load_run, save_run
from nl2net.incident.records import Report
from nl2net.incident.render import render_html, render_markdown, render_text
from nl2net.incident.store import Knowledge
from nl2net.locations import atomic_write

Write = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """The options of one call of the command."""

    question: str | None = None
    corpus: Path | None = None
    model: str = "none"
    as_of: str = ""
    offline: bool = False
    any_domain: bool = False
    web: bool = False
    as_json: bool = False
    learn: str | None = None
    quiz: Path | None = None
    evaluate: Path | None = None
    replay: Path | None = None
    arm: str = "ours"
    out: Path | None = None
    markdown: Path | None = None
    html: Path | None = None
    pinned: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()
    revoke: str | None = None
    rounds: int = 3
    max_tokens: int = 20_000
    max_time: float = 120.0
    accept_unsealed: bool = False

    def options(self) -> Options:
        """Options of an investigation."""
        budget = Budget(rounds=self.rounds, tokens=self.max_tokens, seconds=self.max_time)
        return Options(_day(self.as_of), self.pinned, self.banned, budget=budget)


def _day(text: str) -> str:
    if not text:
        return ""
    try:
        return datetime.strptime(text, "%Y-%m-%d").date().isoformat()
    except ValueError:
        raise UserError(f"--as-of {text}: no date", hint="Write YYYY-MM-DD.") from None


def run_request(request: Request, *, write: Write, note: Write) -> int:
    """Do what the options ask for.

    Parameters
    ----------
    request : Request
        The options.
    write, note : callable
        Standard output and standard error.

    Returns
    -------
    int
        The exit code.
    """
    wanted = [request.question, request.learn, request.quiz, request.evaluate, request.replay, request.revoke]
    if sum(item is not None for item in wanted) != 1:
        raise UserError(
            "give exactly one of QUESTION, --learn, --quiz, --evaluate, --replay and --revoke",
            hint='For example: nl2net investigate "When did it fail?" --corpus notes/',
        )
    if request.replay is not None:
        return _replay(request.replay, request, write=write)
    if request.corpus is None:
        raise UserError("no corpus", hint="Give --corpus a folder of documents.")
    with Corpus(request.corpus) as corpus:
        done = corpus.refresh(progress=lambda count: note(f"indexed {count:,} files"))
        for problem in done.damaged:
            note(f"skipped: {problem}")
        if request.web:
            from nl2net.incident.web_source import extend_corpus

            extend_corpus(corpus, offline=request.offline, any_domain=request.any_domain, note=note)
        return _dispatch(request, corpus, write=write, note=note)


def _dispatch(request: Request, corpus: Corpus, *, write: Write, note: Write) -> int:
    if request.revoke is not None:
        return _revoke(request.revoke, corpus, write=write)
    model = connect_model(request.model, visibility=corpus.settings.visibility)
    if request.evaluate is not None:
        return _evaluate(request, corpus, model, write=write)
    if request.learn is not None:
        return _learn(request, corpus, model, write=write)
    if request.quiz is not None:
        return _quiz(request, corpus, model, write=write)
    question = request.question or ""
    recorder = Recorder(corpus)
    replies: dict[str, str] = {}
    listener = None if request.as_json else _progress(note)
    with Programs(accept_unsealed=request.accept_unsealed) as programs:
        investigator = Investigator(
            recorder, model=model, options=request.options(), recorded=replies, listener=listener, programs=programs
        )
        _, report = ask_and_keep(investigator, corpus, question)
    if request.out is not None:
        save_run(request.out, _run_file(request, report, recorder, replies))
    return _deliver(report, request, write=write)


def _progress(note: Write) -> Callable[[Mapping[str, Any]], None]:
    def tell(event: Mapping[str, Any]) -> None:
        if event["step"] == "round":
            states = ", ".join(f"{name} {state}" for name, state in event["slots"].items())
            note(
                f"round {event['number']}: {len(event['documents'])} documents, {event['gained']} new claims; {states}"
            )

    return tell


def _run_file(request: Request, report: Report, recorder: Recorder, replies: Mapping[str, str]) -> dict[str, Any]:
    return {
        "question": request.question,
        "model": request.model,
        "options": {
            "as_of": request.as_of,
            "pinned": list(request.pinned),
            "banned": list(request.banned),
            "rounds": request.rounds,
            "max_tokens": request.max_tokens,
            "max_time": request.max_time,
        },
        "shelf": recorder.to_json(),
        "replies": dict(replies),
        "envelope": to_envelope(report),
    }


class _Replayed:
    """Stands for the model of a recorded run: every reply comes from the record."""

    is_local = True

    def __init__(self, name: str) -> None:
        self.name = name

    def complete(self, messages: object, *, max_tokens: int = 64) -> str:
        raise UserError("not in the recording: a model call", hint="Run the question again on the corpus.")


def _replay(path: Path, request: Request, *, write: Write) -> int:
    run = load_run(path)
    options = run["options"]
    again = replace(
        request,
        question=str(run["question"]),
        as_of=options["as_of"],
        pinned=tuple(options["pinned"]),
        banned=tuple(options["banned"]),
        rounds=options["rounds"],
        max_tokens=options["max_tokens"],
        max_time=options["max_time"],
    )
    sent = run["envelope"]["egress"].get("model", "none")
    model = _Replayed(sent) if sent != "none" else None
    total = float(run["envelope"]["timing"].get("total_s", 0.0))
    ticks = iter([0.0])
    # The first reading is the start, every later one the recorded end: the same timing comes out.
    with Programs(accept_unsealed=request.accept_unsealed) as programs:
        investigator = Investigator(
            Recorded(run["shelf"]),
            model=model,
            options=again.options(),
            clock=lambda: next(ticks, total),
            recorded=dict(run["replies"]),
            mark=lambda: "0" * 12,
            programs=programs,
        )
        report = investigator.investigate(str(run["question"]))
    return _deliver(report, again, write=write)


def _deliver(report: Report, request: Request, *, write: Write) -> int:
    for path, render in ((request.markdown, render_markdown), (request.html, render_html)):
        if path is not None:
            with atomic_write(path) as stream:
                stream.write(render(report).encode())
    write(dump_envelope(to_envelope(report)) if request.as_json else render_text(report))
    return report.status.exit_code


def _revoke(doc: str, corpus: Corpus, *, write: Write) -> int:
    if doc not in corpus.index.ids():
        raise UserError(f"no document {doc!r} in the corpus", hint="Name it by its path below the corpus folder.")
    corpus.index.set_revoked(doc, True)
    gone = Knowledge(corpus.index.connection).revoke(doc)
    write(f"{doc} is banned; {gone.claims} claims and {gone.answers} answers that rest on it are revoked")
    return 0


def _evaluate(request: Request, corpus: Corpus, model: Model | None, *, write: Write) -> int:
    from nl2net.incident.baselines import make_arm

    assert request.evaluate is not None
    ask = make_arm(request.arm, corpus, model=model, options=request.options())
    verdicts, summary = evaluate(load_questions(request.evaluate), corpus, ask=ask)
    if request.out is not None:
        with atomic_write(request.out) as stream:
            stream.write(json.dumps({"summary": summary, "questions": [v.row() for v in verdicts]}, indent=1).encode())
    if request.as_json:
        write(json.dumps({"version": 1, "arm": request.arm, "model": request.model, "summary": summary}))
        return 0
    for verdict in verdicts:
        if not verdict.correct:
            write(
                f"wrong  {verdict.question.id}: {verdict.status}; unmatched {list(verdict.unmatched)}; forbidden "
                f"{list(verdict.forbidden)}"
            )
    for line in table_lines(summary):
        write(line)
    return 0


def _learn(request: Request, corpus: Corpus, model: Model | None, *, write: Write) -> int:
    assert request.learn is not None
    profile = load_profile(request.learn)
    options = replace(request.options(), budget=profile.budget)

    def ask(goal: str, doc: str) -> Report:
        # A standing question is asked of one incident: its document is pinned and the others are out of play.
        others = tuple(other for other in corpus.index.ids() if other != doc)
        only = replace(options, pinned=(doc,), banned=others)
        report = Investigator(corpus, model=model, options=only).investigate(goal)
        keep_report(report, corpus)
        return report

    lessons = learn(profile, corpus, corpus.index.ids(), ask=ask)
    rows = [lesson.row() for lesson in lessons]
    if request.as_json:
        write(json.dumps({"version": 1, "profile": profile.name, "lessons": rows}, ensure_ascii=False))
        return 0
    known = sum(row["status"] in ("answered", "answered_with_conflict", "partly") for row in rows)
    write(f"{profile.name}: {known} of {len(rows)} standing questions have evidence")
    for row in rows:
        if row["missing"]:
            write(f"  missing for {row['incident']}: {row['question']} -> {'; '.join(row['missing'])}")
    return 0


def _quiz(request: Request, corpus: Corpus, model: Model | None, *, write: Write) -> int:
    """What the corpus knows of each question, slot by slot; keys in the file are not read."""
    assert request.quiz is not None
    investigator = Investigator(corpus, model=model, options=request.options())
    rows: list[dict[str, Any]] = []
    for question in load_questions(request.quiz):
        report = investigator.investigate(question.text)
        origins = {e.origin for e in report.evidence if e.kind == "quote"}
        rows.append(
            {
                "id": question.id,
                "status": report.status.value,
                "slots": {r.slot.name: r.state for r in report.slots},
                "independent_origins": len(origins),
                "confidence": report.confidence,
                "missing": [m.would_help for m in report.missing],
            }
        )
    if request.as_json:
        write(json.dumps({"version": 1, "quiz": rows}, ensure_ascii=False))
        return 0
    for row in rows:
        states = ", ".join(f"{name}: {state}" for name, state in row["slots"].items())
        write(f"{row['id']:<10} {row['status']:<24} origins {row['independent_origins']}  {states}")
    return 0
