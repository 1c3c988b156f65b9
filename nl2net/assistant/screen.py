"""Local decisions on a question before any model is called: out of reach, out of scope, impossible, ambiguous; and
what type of answer it asks for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nl2net.assistant.entities import trade_words
from nl2net.model import AttributeSchema, GraphSchema, Status


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


_UNSAFE: tuple[tuple[str, str], ...] = (
    (r"/(?:etc|proc|home|root|var|tmp|usr|dev|sys)/[\w./-]*|~/|\.ssh\b|passwd|id_rsa|\.env\b", "read a file of this machine"),
    (r"\b(?:read|open|cat|load|print|show|dump|delete|remove|overwrite|write to|append to)\b[^.?!]{0,30}\b"
     r"(?:files?|disk|folder|directory|environment variables?|env vars?|api keys?|passwords?|secrets?|credentials?)\b"
     r"(?! size)", "touch files or secrets of this machine"),
    (r"\boverwrite\b", "overwrite the source; changes are proposed and written to a new file after approval"),
    (r"\b(?:ping|traceroute|nmap|scan|telnet|snmpwalk|curl|wget|ssh (?:in)?to|log ?in to|log ?into)\b(?! (?:time|latency))",
     "probe or reach the network"),
    (r"\b(?:connect to|call|query|fetch|download|upload|send|post|e-?mail|push)\b[^.?!]{0,40}\b"
     r"(?:https?:|internet|web|url|api|server at|email|slack|webhook|device config|the devices?|the switch(?:es)?|the routers?)\b(?!s? (?:that|which|with))",
     "reach the network or a device"),
    (r"\b(?:reboot|restart|shut ?down|power[- ]cycle|reload|configure|commit|deploy|apply)\b[^.?!]{0,40}\b"
     r"(?:now|live|on the (?:device|switch|router)|production|immediately)\b", "act on a live device"),
    (r"\b(?:pip|npm|apt)(?:-get)? install\b|\binstall (?:the )?(?:package|library|module)\b", "install software"),
    (r"\b(?:os\.system|subprocess|__import__|eval\(|exec\(|import os|shell command|run (?:a |the )?(?:command|shell|script))\b",
     "run commands on this machine"),
    (r"\bignore (?:all |your |the |any )*(?:previous |prior )?(?:rules|instructions|restrictions|guard)", "drop the rules"),
)  # fmt: skip
_CHANGE = re.compile(
    r"^\W*(?:please |pls |can you |could you |kindly |now |let'?s |i want you to |we need to )*"
    r"(?:add|remove|delete|drop(?! off)|rename|set|label|tag|mark|colou?r|paint|assign|double|halve|increase|decrease|reduce|scale|update|"
    r"change|upgrade|drain|rebalance|insert|attach|detach|disconnect|connect|replace|move|merge|split|annotate|multiply|"
    r"decommission|take down|create|deploy|install)\b",
    re.IGNORECASE,
)
_WHAT_IF = re.compile(
    r"\b(?:what if|what happens|how many|which|what is|what would|who|tell me|show me|list|compute|count|return the (?:list|number|names?))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:how many|how much|number of|count (?:of|the|all|how)|count\b|total (?!bytes per|.*\b(?:per|for each|by)\b)|sum (?:of|up)|"
    r"average|mean|median|std|standard deviation|variance|percentage|percent|share of|ratio|fraction|density|diameter|what is the "
    r"(?:maximum|minimum|max|min|total|average|largest|smallest|length|size)|how long|how far|hop count)\b",
    re.IGNORECASE,
)
_TABLE = re.compile(
    r"\b(?:table|matrix|per (?!cent)\w+|for (?:each|every)|by (?:site|kind|type|role|country|prefix|stage|rack|vendor|region)|each (?:/\d+|\w+)(?:'s)?|"
    r"rank(?:ed|ing)?|histogram|distribution|breakdown|with (?:their|its|the) \w+|along with|and (?:its|their) \w+|compare|top \d+ pairs)\b",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"\b(?:list|which|what are|names? of|show|who|find|give me|identify|enumerate|top \w+|all)\b", re.IGNORECASE
)
_FIGURE = re.compile(
    r"\b(?:draw|plot|chart|visuali[sz]e|bar graph|graph of the distribution|picture|diagram)\b", re.IGNORECASE
)
_BOOLEAN = re.compile(r"^\W*(?:is|are|does|do|can|could|will|would|has|have|any)\b", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:best|worst|biggest|most important|greatest|most powerful|busiest|top)\b(?!\s*\d)", re.IGNORECASE
)
_CRITERION = re.compile(
    r"\b(?:by|in terms of|with respect to|measured|hops?|distance|bytes|packets|connections?|degree|neighbou?rs?|links|length|km|"
    r"capacity|bandwidth|centrality|pagerank|betweenness|weight\w*|traffic|number|count|ports?|size|to reach|place for|cost is|volume|"
    r"sum|total|average|component|prefix|subnet|cost|latency|delay|speed|hosts|nodes|devices|talks?|sends?|receives?)\b",
    re.IGNORECASE,
)
_CHAT = re.compile(
    r"\b(?:joke|poem|weather|recipe|who are you|how are you|hello|hi there|your name|capital of|president|write (?:me )?an? (?:essay|story|email|song)|"
    r"meaning of life|translate|football|movie|stock price|bitcoin)\b",
    re.IGNORECASE,
)


@cache
def _concepts() -> tuple[_Concept, ...]:
    data = tomllib.loads(files("nl2net.assistant").joinpath("data/concepts.toml").read_text("utf-8"))
    return tuple(
        _Concept(
            name,
            re.compile(r"\b(?:" + "|".join(entry["words"]) + r")(?!\w)", re.IGNORECASE),
            re.compile("|".join(entry["names"]), re.IGNORECASE),
            frozenset(entry["roles"]),
            re.compile("|".join(entry["excuses"]), re.IGNORECASE) if entry["excuses"] else None,
            entry["what"],
            entry["source"],
        )
        for name, entry in data["concept"].items()
    )


def is_change(question: str) -> bool:
    """Whether a question asks for a changed network rather than for a fact about a changed one.

    Examples
    --------
    >>> is_change("Remove all links below 1 Gbps")
    True
    >>> is_change("Remove node NODE_1. How many components are left?")
    False
    """
    return bool(_CHANGE.search(question)) and not _WHAT_IF.search(question)


def expected_type(question: str) -> str:
    """Guess the result type from the words of a question; ``""`` when nothing tells.

    Examples
    --------
    >>> expected_type("How many links does NODE_1 have?"), expected_type("Rank the blocks by capacity")
    ('number', 'table')
    """
    if is_change(question):
        return "graph"
    if _FIGURE.search(question):
        return "figure"
    if re.search(r"\b(?:path|route)\b", question, re.IGNORECASE) and re.search(
        r"\bshortest|path from|route from", question, re.I
    ):
        return "" if _NUMBER.search(question) else "path"
    if _TABLE.search(question):
        return "table"
    if _NUMBER.search(question):
        return "number"
    if _BOOLEAN.search(question):
        return "boolean"
    return "list" if _LIST.search(question) else ""


def unsafe(question: str) -> Verdict | None:
    """A request to reach outside the graph; the harmless clauses are kept in ``rest``."""
    clauses = re.split(r"(?<=[.;!?])\s+|,\s*(?:and )?then\s+|\band then\b|;\s*", question)
    reasons = []
    kept = []
    for clause in clauses:
        found = [reason for pattern, reason in _UNSAFE if re.search(pattern, clause, re.IGNORECASE)]
        reasons += found
        if not found:
            kept.append(clause.strip())
    if not reasons:
        return None
    what = "; ".join(dict.fromkeys(reasons))
    rest = ". ".join(clause for clause in kept if len(clause.split()) >= 3)
    return Verdict(Status.REFUSED, f"refused: a program here cannot {what}", rest=rest)


def missing_concept(question: str, schema: GraphSchema) -> Verdict | None:
    """A thing that the question asks for and no attribute of the graph holds."""
    for concept in _concepts():
        asked = concept.words.search(question)
        if asked is None or (concept.excuses and concept.excuses.search(question)):
            continue
        if any(_holds(concept, attribute) for attribute in schema.attributes):
            continue
        tables = (f"{table.name}.{column}" for table in schema.tables for column, _ in table.columns)
        if any(concept.names.search(name) for name in tables) or _in_kinds(concept, schema):
            continue
        return Verdict(
            Status.CANNOT_ANSWER,
            f"this graph has no {concept.what.removeprefix('a ').removeprefix('an ')} (asked: {asked.group().strip()!r}); "
            f"attributes: {_names(schema)}. It would come from {concept.source}.",
        )
    return None


def _holds(concept: _Concept, attribute: AttributeSchema) -> bool:
    return attribute.role in concept.roles or bool(concept.names.search(attribute.name))


def _in_kinds(concept: _Concept, schema: GraphSchema) -> bool:
    return any(concept.names.search(kind) for kind in (*schema.node_kinds, *schema.edge_kinds))


def _names(schema: GraphSchema) -> str:
    parts = []
    for owner in ("node", "edge"):
        names = [attribute.public_name for attribute in schema.attributes_of(owner)][:12]
        if names:
            parts.append(f"{owner}s have {', '.join(names)}")
    return "; ".join(parts) or "none"


def vague(question: str, schema: GraphSchema) -> Verdict | None:
    """ "Best", "biggest" and their kin without a criterion: one question with at most five choices."""
    found = _VAGUE.search(question)
    if found is None or _CRITERION.search(question[: found.start()] + question[found.end() :]):
        return None
    choices = tuple(_criteria(schema))[:5]
    if len(choices) < 2:
        return None
    return Verdict(
        Status.NEEDS_CLARIFICATION, f"{found.group()!r} by what? Choose one: {', '.join(choices)}", choices=choices
    )


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
    if _CHAT.search(question) and not mentioned:
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
