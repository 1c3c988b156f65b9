"""Local decisions on a question before any model is called: out of reach, out of scope, impossible, ambiguous."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nl2net.assistant.entities import trade_words
from nl2net.assistant.wording import pattern, wordings
from nl2net.assistant.words import MEASURES, measures_of, words_of
from nl2net.model import AttributeSchema, GraphSchema, Status
from nl2net.prompts import render


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the screen found. ``rest`` is the harmless half of a question that also asks for something refused."""

    status: Status
    message: str
    choices: tuple[str, ...] = ()
    rest: str = ""


@dataclass(frozen=True, slots=True)
class _Concept:
    name: str
    words: re.Pattern[str]
    names: re.Pattern[str]
    roles: frozenset[str]
    excuses: re.Pattern[str] | None
    what: str
    source: str
    proxy_words: re.Pattern[str] | None
    proxies: frozenset[str]


_STRUCTURAL = re.compile(r"contain|control|member|part_of|parent|child|support|own", re.IGNORECASE)


def _any_of(alternatives: Sequence[str], *, words: bool = False) -> re.Pattern[str] | None:
    text = "|".join(alternatives)
    return re.compile(rf"\b(?:{text})(?!\w)" if words else text, re.IGNORECASE) if text else None


@cache
def _concepts() -> tuple[_Concept, ...]:
    data = tomllib.loads(files("nl2net.assistant").joinpath("data/concepts.toml").read_text("utf-8"))
    return tuple(
        _Concept(
            name,
            _any_of(entry["words"], words=True) or re.compile("(?!)"),
            _any_of(entry["names"]) or re.compile("(?!)"),
            frozenset(entry["roles"]),
            _any_of(entry["excuses"]),
            entry["what"],
            entry["source"],
            _any_of(entry.get("proxy_words", ()), words=True),
            frozenset(entry.get("proxies", ())),
        )
        for name, entry in data["concept"].items()
    )


def unsafe(question: str) -> Verdict | None:
    """A request to reach outside the graph; the harmless clauses are kept in ``rest``."""
    clauses = re.split(r"(?<=[.;!?])\s+|,\s*(?:and )?then\s+|\band then\b|;\s*", question)
    reasons = []
    kept = []
    for clause in clauses:
        found = [
            reason
            for reason, patterns in wordings()["unsafe"].items()
            if any(re.search(pattern, clause, re.IGNORECASE) for pattern in patterns)
        ]
        reasons += found
        if not found:
            kept.append(clause.strip())
    if not reasons:
        return None
    what = "; ".join(dict.fromkeys(reasons))
    rest = ". ".join(clause for clause in kept if _asks_something(clause))
    return Verdict(Status.REFUSED, f"refused: a program here cannot {what}", rest=rest)


def _asks_something(clause: str) -> bool:
    """Whether a clause asks about the network; "could you help?" beside a refused request does not."""
    words = set(re.findall(r"[a-z]+", clause.lower()))
    return len(clause.split()) >= 3 and bool(words & _network_words())


def missing_concept(question: str, schema: GraphSchema) -> Verdict | None:
    """Things that the question asks for and no attribute of the graph holds."""
    missing = [(concept, asked) for concept in _concepts() if (asked := _asked_in_vain(concept, question, schema))]
    if not missing:
        return None
    wants = " and ".join(f"{concept.what} (asked: {asked!r})" for concept, asked in missing)
    sources = "; ".join(dict.fromkeys(concept.source for concept, _ in missing))
    return Verdict(
        Status.CANNOT_ANSWER,
        f"this graph has no attribute for {wants}; {_names(schema)}. It would come from {sources}.",
    )


def _asked_in_vain(concept: _Concept, question: str, schema: GraphSchema) -> str:
    """The words that ask for a concept which the graph does not hold, ``""`` if there are none."""
    asked = concept.words.search(question)
    if asked is None or (concept.excuses and concept.excuses.search(question)):
        return ""
    if any(_holds(concept, attribute) for attribute in schema.attributes):
        return ""
    if _proxy(concept, question, schema) is not None:
        return ""
    tables = (f"{table.name}.{column}" for table in schema.tables for column, _ in table.columns)
    if any(concept.names.search(name) for name in tables) or _in_kinds(concept, schema):
        return ""
    return asked.group().strip()


def _proxy(concept: _Concept, question: str, schema: GraphSchema) -> AttributeSchema | None:
    if concept.proxy_words is None or not concept.proxy_words.search(question):
        return None
    return next((a for a in schema.attributes if a.role in concept.proxies), None)


def proxy_notes(question: str, schema: GraphSchema) -> Iterator[str]:
    """What stands in for something that the graph does not hold, said openly."""
    for concept in _concepts():
        missing = not any(_holds(concept, attribute) for attribute in schema.attributes)
        excused = concept.excuses is not None and concept.excuses.search(question)
        stand_in = _proxy(concept, question, schema) if missing and not excused else None
        if stand_in is not None:
            yield f"this graph has no attribute for {concept.what}; {stand_in.public_name} stands in for it"


def _holds(concept: _Concept, attribute: AttributeSchema) -> bool:
    return attribute.role in concept.roles or bool(concept.names.search(attribute.name))


def _in_kinds(concept: _Concept, schema: GraphSchema) -> bool:
    # The shape of the ids counts too: nodes that are called by their address have one.
    return any(concept.names.search(kind) for kind in (*schema.node_kinds, *schema.edge_kinds, schema.id_shape))


def no_paths(question: str, schema: GraphSchema) -> Verdict | None:
    """A path through a model whose edges only contain or control: it would not be a path of packets."""
    if not schema.edge_kinds or not re.search(
        r"\b(?:path|route|hops?|cabl(?:es?|ed|ing)|wired|patched|plugged)\b", question, re.IGNORECASE
    ):
        return None
    if not all(_STRUCTURAL.search(kind) for kind in schema.edge_kinds):
        return None
    return Verdict(
        Status.CANNOT_ANSWER,
        f"this model holds only {', '.join(sorted(schema.edge_kinds))} relations and no links between ports, so a "
        "physical path cannot be computed; it would come from a link inventory or LLDP tables.",
    )


def _names(schema: GraphSchema) -> str:
    parts = []
    for owner in ("node", "edge"):
        names = [attribute.public_name for attribute in schema.attributes_of(owner)][:12]
        if names:
            parts.append(f"{owner}s have {', '.join(names)}")
    return "; ".join(parts) or "none"


_MATTERS_OF_TASTE = frozenset({"worst", "most important", "most powerful"})


def vague(question: str, schema: GraphSchema) -> Verdict | None:
    """ "Best", "biggest" and their kin without a criterion: one question with at most five choices."""
    found = pattern("vague", "words").search(question)
    if found is None or re.match(r"\s*\d", question[found.end() :]):
        return None
    rest = question[found.end() :]
    if found.group().lower() in _MATTERS_OF_TASTE:
        rest = re.sub(r"^\s*\w+", "", rest)  # "the worst port": the noun itself is no criterion
    if pattern("vague", "criterion").search(question[: found.start()] + rest):
        return None
    if MEASURES & set(words_of(question, measures_of(schema))):
        return None  # a measure of traffic is named
    choices = tuple(_criteria(schema))[:5]
    if len(choices) < 2:
        return None
    message = render(
        "clarify.j2", word=repr(found.group()), reason="has several measures", ask="By which one?", choices=choices
    )
    return Verdict(Status.NEEDS_CLARIFICATION, message, choices=choices)


def unfinished(question: str) -> Verdict | None:
    """A change that lacks what it needs: the other end of a link, the text of a label, a threshold."""
    for ask in wordings()["unfinished"]:
        if pattern("unfinished", ask, anchored=True, whole=False).search(question):
            return Verdict(Status.NEEDS_CLARIFICATION, f"{ask}? Say so in the question.")
    return None


def incomplete(question: str, schema: GraphSchema) -> Verdict | None:
    """A free subnet without its parent prefix or its size: ask for what is missing."""
    wanted = _any_part("wanted", question)
    if wanted is None or not any(a.role in {"prefix", "address"} for a in schema.attributes):
        return None
    missing = []
    if _any_part("parent", question) is None:
        missing.append("inside which prefix")
    if _any_part("size", question) is None:
        missing.append("of which size (such as /28)")
    if not missing:
        return None
    message = f"{wanted.group().strip()!r}: {' and '.join(missing)}? Say so in the question."
    return Verdict(Status.NEEDS_CLARIFICATION, message)


def _any_part(key: str, question: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w)(?:{'|'.join(wordings()['subnet'][key])})(?!\w)", question, re.IGNORECASE)


def _criteria(schema: GraphSchema) -> Iterable[str]:
    for attribute in schema.attributes:
        measured = {"capacity", "traffic", "distance", "latency", "cost"}
        if attribute.role in measured and attribute.type in {"integer", "number"}:
            yield attribute.public_name
    yield "number of links"
    if schema.graph_class.directed:
        yield "number of incoming links"
    yield "betweenness centrality"


def out_of_scope(question: str, schema: GraphSchema, *, has_entities: bool) -> Verdict | None:
    """General chat: nothing of the trade, of the schema or of the graph is mentioned."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    mentioned = has_entities or words & _network_words() or words & _schema_parts(schema)
    if pattern("chat", "words").search(question) and not mentioned:
        return Verdict(
            Status.CANNOT_ANSWER, "this is not a question about the network; ask about its nodes, links and attributes"
        )
    if not words or (len(words) <= 1 and not mentioned):
        return Verdict(Status.CANNOT_ANSWER, "no question was asked")
    return None


@cache
def _network_words() -> frozenset[str]:
    everyday = {
        "and",
        "all",
        "any",
        "name",
        "named",
        "names",
        "time",
        "which",
        "with",
        "without",
        "model",
        "type",
        "share",
        "sum",
    }
    return trade_words() - everyday


def _schema_parts(schema: GraphSchema) -> set[str]:
    text = " ".join([*(a.public_name for a in schema.attributes), *schema.node_kinds, *schema.edge_kinds])
    return {part for part in re.split(r"[^a-z]+", text.lower()) if len(part) > 2}
