"""The arms of the benchmark.

Ours, closed book, one-shot retrieval, the HotNets loop, and a floor without slot logic.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from nl2net.errors import UserError
from nl2net.incident.claims import claims_of
from nl2net.incident.corpus import Corpus
from nl2net.incident.language import terms_of
from nl2net.incident.loop import Investigator, Options
from nl2net.incident.match import Weights, coverage
from nl2net.incident.model_use import Model
from nl2net.incident.records import Claim, Report, ReportStatus

ARMS = ("ours", "closed-book", "one-shot", "hotnets", "floor")
_THRESHOLD = 7
_REFUSAL = re.compile(
    r"\b(?:no|not|cannot|can't|unable|insufficient)\b.{0,40}\b(?:evidence|answer|information|know|found|say|data)",
    re.IGNORECASE,
)


def make_arm(name: str, corpus: Corpus, *, model: Model | None, options: Options) -> Callable[[str], Report]:
    """A function that answers questions the way of an arm.

    Parameters
    ----------
    name : str
        One of `ARMS`.
    corpus : Corpus
        The documents.
    model : Model, optional
        Needed by the three arms that are model loops.
    options : Options
        Of our arm.

    Raises
    ------
    UserError
        The arm is unknown or needs a model.
    """
    if name not in ARMS:
        raise UserError(f"no arm {name!r}", hint=f"One of {', '.join(ARMS)}.")
    if name == "ours":
        return Investigator(corpus, model=model, options=options).investigate
    if name == "floor":
        return lambda question: _floor(corpus, question)
    if model is None:
        raise UserError(f"the arm {name} needs a model", hint="Give --model, or take the arm ours or floor.")
    return lambda question: _timed(question, model, _text_arm(name, corpus, model))


def _text_arm(name: str, corpus: Corpus, model: Model) -> Callable[[str], tuple[str, float, int]]:
    if name == "closed-book":
        return lambda question: (_ask(model, f"Question: {question}\nAnswer shortly."), 0.5, 1)
    if name == "one-shot":
        return lambda question: (_ask(model, _rag_prompt(corpus, question)), 0.5, 1)
    return lambda question: _hotnets(corpus, model, question)


def _timed(question: str, model: Model, arm: Callable[[str], tuple[str, float, int]]) -> Report:
    begin = time.monotonic()
    answer, confidence, requests = arm(question)
    refused = not answer.strip() or _REFUSAL.search(answer[:160]) is not None
    status = ReportStatus.INSUFFICIENT_EVIDENCE if refused else ReportStatus.ANSWERED
    return Report(
        status,
        question,
        answer,
        confidence=confidence,
        egress={"requests": requests, "model": model.name},
        timing={"total_s": time.monotonic() - begin},
    )


def _ask(model: Model, prompt: str, *, max_tokens: int = 200) -> str:
    system = "You are an analyst of network incidents. If the material does not answer, say that there is no evidence."
    return model.complete(
        [{"role": "system", "content": system}, {"role": "user", "content": prompt}], max_tokens=max_tokens
    )


def _passages(corpus: Corpus, question: str, count: int) -> list[Claim]:
    claims = [c for hit in corpus.search(question, limit=5) for c in claims_of(corpus.document(hit.doc))]
    weights = Weights(claims)
    terms = tuple(terms_of(question))
    ranked = sorted(claims, key=lambda c: -coverage(terms, c.terms, frozenset(terms_of(c.heading)), weights))
    return ranked[:count]


def _rag_prompt(corpus: Corpus, question: str) -> str:
    listed = "\n".join(f"[{n}] {c.quote}" for n, c in enumerate(_passages(corpus, question, 8), start=1))
    return f"Passages:\n{listed}\n\nQuestion: {question}\nAnswer shortly and cite passages as [n]."


def _hotnets(corpus: Corpus, model: Model, question: str) -> tuple[str, float, int]:
    """Role, goals, a memory of prose loaded whole, self-rated confidence 0-10, threshold 7, at most three rounds.

    References
    ----------
    Zhou, Yu, Liu: Towards Interactive Research Agents for Internet Incident Investigation, HotNets 2023. The words
    of the prompts are ours.
    """
    memory = ""
    query = question
    answer, rating, requests = "", 0, 0
    for _ in range(3):
        found = "\n".join(c.quote for c in _passages(corpus, query, 6))
        memory = _ask(
            model,
            f"Knowledge so far:\n{memory}\n\nNew text:\n{found}\n\nRewrite the knowledge in prose, at most 150 words.",
        )
        answer = _ask(model, f"Knowledge:\n{memory}\n\nQuestion: {question}\nAnswer shortly.")
        rated = _ask(
            model,
            f"Question: {question}\nAnswer: {answer}\nHow confident are you, 0 to 10? Reply with a number.",
            max_tokens=6,
        )
        match = re.search(r"\d+", rated)
        rating = min(int(match.group()), 10) if match else 0
        requests += 3
        if rating >= _THRESHOLD:
            break
        query = _ask(
            model, f"Question: {question}\nWhat should be searched next? Reply with search words only.", max_tokens=24
        )
        requests += 1
    return answer, rating / 10, requests


def _floor(corpus: Corpus, question: str) -> Report:
    """The best four claims of the best document, without slots and without ever abstaining."""
    begin = time.monotonic()
    claims: Sequence[Claim] = _passages(corpus, question, 4)
    answer = "\n".join(claim.quote for claim in claims)
    return Report(ReportStatus.ANSWERED, question, answer, confidence=0.5, timing={"total_s": time.monotonic() - begin})
