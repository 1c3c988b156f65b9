"""What can be computed from BGP data: a registry that says which questions each computation answers, not how."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from nl2net.incident.impact import asgraph, routes
from nl2net.incident.impact.material import Capability, Material, Result
from nl2net.incident.impact.programs import as_graph, check_value, removal_program
from nl2net.incident.impact.routes import Held, spoken_moment
from nl2net.incident.typed import typed_values


def _asns(items: Sequence[int], limit: int = 40) -> str:
    listed = ", ".join(f"AS{asn}" for asn in items[:limit])
    return f"{listed} and {len(items) - limit} more" if len(items) > limit else listed or "none"


def _during(held: Held) -> str:
    return f"from {spoken_moment(held.start)} to {spoken_moment(held.end)}"


def _counts(material: Material) -> list[Result]:
    stream = material.stream
    assert stream is not None
    told = [c for c in stream.changes if c.kind == "A"]
    gone = len(stream.changes) - len(told)
    prefixes = len({c.prefix for c in told})
    peers = sorted({c.peer_as for c in stream.changes})
    begin, end = min((c.time for c in stream.changes), default=0), max((c.time for c in stream.changes), default=0)
    text = (
        f"{stream.messages:,} BGP messages with {len(told):,} prefix announcements of {prefixes:,} distinct prefixes "
        f"and {gone:,} withdrawals, from "
        f"{len(peers)} peer ASes ({_asns(peers)}), {spoken_moment(begin)} to {spoken_moment(end)}"
    )
    value = {
        "messages": stream.messages,
        "announcements": len(told),
        "prefixes": prefixes,
        "withdrawals": gone,
        "peers": peers,
    }
    return [
        Result(
            "counts",
            text,
            value,
            "count changes of load_updates by kind",
            "IPv4 and IPv6 are counted together, one per prefix and peer",
        )
    ]


def _graph_size(material: Material) -> list[Result]:
    graph = material.graph
    parts = graph.components()
    plural = "s" if len(parts) != 1 else ""
    size = f"{len(graph.neighbours):,} ASes and {graph.links:,} links"
    text = f"the AS graph has {size} in {len(parts)} connected part{plural}"
    return [
        Result(
            "size of the AS graph",
            text,
            {"ases": len(graph.neighbours), "links": graph.links},
            "graph_of_paths",
            material.graph_rule,
        )
    ]


def _busiest(material: Material) -> list[Result]:
    asn, count = material.graph.busiest()
    return [
        Result(
            "most neighbours",
            f"AS{asn} has the most neighbours: {count}",
            {"as": asn, "neighbours": count},
            "AsGraph.busiest",
            material.graph_rule,
        )
    ]


def _removal(material: Material) -> list[Result]:
    graph = material.graph
    if _LINK.search(material.question):
        return _link_removal(material)
    asked = [v.value for v in typed_values(material.question) if v.kind == "asn" and v.value in graph.neighbours]
    if not asked and re.search(
        r"\bmost neighbou?rs\b|\bhighest degree\b|\bits removal\b", material.question, re.IGNORECASE
    ):
        asked = [graph.busiest()[0]]
    if not asked:
        asn, cut = graph.largest_cut()
        text = f"the removal of AS{asn} cuts off the most other ASes: {len(cut)} ({_asns(cut)})"
        value: dict[str, Any] = {"as": asn, "cut_off": list(cut)}
    else:
        cut = graph.cut_off_by(asked)
        before = len(graph.neighbours) - len(graph.components()[0])
        outside = len(cut) + before
        text = f"without {_asns(asked)} {outside} ASes are outside the largest component"
        text += f": {len(cut)} that the removal cuts off and {before} that were apart before" if before else ""
        text += f" ({_asns(cut, 12)})"
        value = {"as": asked, "outside": outside, "cut_off": list(cut)}
    gone = tuple(asked or [value["as"]])
    checked = check_value(
        material.programs, removal_program(gone), as_graph(graph) if material.programs else None, list(cut)
    )
    rule = f"{material.graph_rule}; {checked.note}" if checked.note else material.graph_rule
    results = [Result("removal", text, value, "AsGraph.cut_off_by", rule, checked.source)]
    return results + _valley_free(material, gone)


_LINK = re.compile(r"\blinks?\b.{0,20}?\bAS\s?(\d+)\s*(?:and|to|with|-|–|—)\s*AS\s?(\d+)", re.IGNORECASE)


def _link_removal(material: Material) -> list[Result]:
    """What the loss of links cuts off from the largest component."""
    graph = material.graph
    links = tuple((int(a), int(b)) for a, b in _LINK.findall(material.question))
    known = tuple(link for link in links if link[1] in graph.neighbours.get(link[0], frozenset()))
    if not known:
        return []
    cut = graph.cut_off_without(known)
    named = ", ".join(f"AS{a}-AS{b}" for a, b in known)
    text = f"without the link {named} {len(cut)} ASes are cut off from the largest component ({_asns(cut, 12)})"
    checked = check_value(
        material.programs, removal_program((), known), as_graph(graph) if material.programs else None, list(cut)
    )
    rule = f"{material.graph_rule}; {checked.note}" if checked.note else material.graph_rule
    value = {"links": [list(link) for link in known], "cut_off": list(cut)}
    return [Result("removal of a link", text, value, "AsGraph.cut_off_without", rule, checked.source)]


def _valley_free(material: Material, gone: Sequence[int]) -> list[Result]:
    """With relationships, a link may be there and carry no route."""
    relations = material.relations
    if relations is None or not re.search(r"valley|reachab|relationship|polic", material.question, re.IGNORECASE):
        return []
    ases = sorted(material.graph.neighbours)
    lost = 0
    for start in ases:
        if start not in gone:
            before = asgraph.reachable_valley_free(start, relations)
            lost += len(before - set(gone) - asgraph.reachable_valley_free(start, relations, without=frozenset(gone)))
    text = f"by the valley-free rule {lost} ordered pairs of ASes lose all routes"
    return [
        Result(
            "lost pairs",
            text,
            {"pairs": lost},
            "reachable_valley_free",
            "every AS exports customer routes to all, others to customers only",
        )
    ]


def _more_specifics(material: Material) -> list[Result]:
    assert material.stream is not None
    found = routes.more_specifics(material.stream)
    return [
        Result(
            "more specific",
            f"{m.prefix} was announced by AS{m.origin} as a more specific of {m.covering} of AS{m.owner}, "
            f"{_during(m.held)}, seen by peers {_asns(m.held.peers)}",
            {
                "prefix": m.prefix,
                "as": m.origin,
                "covering": m.covering,
                "owner": m.owner,
                "start": m.held.start,
                "end": m.held.end,
            },
            "more_specifics",
            "a more specific of another origin is a suspect, not yet a hijack: customers announce parts of their "
            "provider's space too",
        )
        for m in found
    ]


def _second_origins(material: Material) -> list[Result]:
    assert material.stream is not None
    question = material.question
    version = (
        4
        if re.search(r"\bIPv4\b", question, re.IGNORECASE)
        else 6
        if re.search(r"\bIPv6\b", question, re.IGNORECASE)
        else None
    )
    found = routes.second_origins(material.stream, version=version)
    if re.search(
        r"\b(?:whole|entire|all (?:the )?time|throughout|legitimate|anycast|during the whole)\b",
        question,
        re.IGNORECASE,
    ):
        found = [s for s in found if s.since_start] or found
    elif re.search(
        r"\b(?:limited time|for a (?:while|time)|temporar\w+|short time|switched|hijack\w*|took over|from when)\b",
        question,
        re.IGNORECASE,
    ):
        found = [s for s in found if s.timed] or found
    results = []
    for second in found:
        text = f"{second.prefix} was announced with more than one origin: {_asns(second.origins)}"
        for origin, held in second.timed:
            owner = [o for o in second.origins if o != origin]
            text += f"; AS{origin} beside {_asns(owner)} {_during(held)}, seen by peers {_asns(held.peers)}"
        text += "; both from the start of the file" if second.since_start else ""
        value = {"prefix": second.prefix, "origins": list(second.origins)}
        results.append(
            Result(
                "second origin", text, value, "second_origins", "more than one origin is a finding, not yet a hijack"
            )
        )
    return results


def _leaks(material: Material) -> list[Result]:
    assert material.stream is not None and material.relations is not None
    return [
        Result(
            "route leak",
            f"AS{leak.leaker} leaked routes learned from its provider or peer AS{leak.learned_from} to its provider "
            f"or peer AS{leak.leaked_to}: "
            f"{len(leak.prefixes)} prefixes, seen by collector peers {_asns(leak.peers)}, first at "
            f"{spoken_moment(leak.first)}, "
            + (
                f"clean again by {spoken_moment(leak.back_by)}"
                if leak.back_by
                else "still there at the end of the file"
            ),
            {
                "leaker": leak.leaker,
                "from": leak.learned_from,
                "to": leak.leaked_to,
                "prefixes": list(leak.prefixes),
                "peers": list(leak.peers),
            },
            "find_leaks",
            "valley-free rule with the relationship file; links of unknown relation break nothing",
        )
        for leak in routes.find_leaks(material.stream, material.relations)
    ]


def _flaps(material: Material) -> list[Result]:
    assert material.stream is not None
    return [
        Result(
            "flapping",
            f"{flap.prefix} of AS{flap.origin} flapped: {flap.withdrawals} withdrawals per peer at {flap.peers} peers",
            {"prefix": flap.prefix, "withdrawals": flap.withdrawals, "peers": flap.peers},
            "find_flaps",
            "three or more withdrawals by one peer count as flapping",
        )
        for flap in routes.find_flaps(material.stream)[:10]
    ]


def _withdrawn(material: Material) -> list[Result]:
    assert material.stream is not None
    rows = routes.withdrawn(material.stream)
    listed = ", ".join(f"{prefix} ({count})" for prefix, count in rows)
    return [Result("most withdrawn", f"prefixes by number of withdrawals: {listed}", rows, "withdrawn")] if rows else []


def _origins(material: Material) -> list[Result]:
    assert material.stream is not None
    prefixes: dict[int, set[str]] = {}
    for change in material.stream.changes:
        if change.origin is not None:
            prefixes.setdefault(change.origin, set()).add(change.prefix)
    ranked = sorted(prefixes.items(), key=lambda item: (-len(item[1]), item[0]))[:5]
    listed = ", ".join(f"AS{asn} ({len(held)})" for asn, held in ranked)
    return [
        Result(
            "largest origins",
            f"ASes by number of prefixes they originate: {listed}",
            [[a, len(p)] for a, p in ranked],
            "count origins",
        )
    ]


def _peers(material: Material) -> list[Result]:
    assert material.stream is not None
    counts = Counter(c.peer_as for c in material.stream.changes).most_common()
    listed = ", ".join(f"AS{asn} ({count})" for asn, count in counts[:10])
    return [Result("peers", f"peer ASes by number of changes they told: {listed}", counts, "count peers")]


def _history(material: Material) -> list[Result]:
    """What happened to the prefixes that the question names."""
    assert material.stream is not None
    results = []
    for prefix in dict.fromkeys(v.value for v in typed_values(material.question) if v.kind == "prefix"):
        changes = [c for c in material.stream.changes if c.prefix == prefix]
        if not changes:
            continue
        origins = sorted({c.origin for c in changes if c.origin is not None})
        told = [c for c in changes if c.kind == "A"]
        gone = [c for c in changes if c.kind == "W"]
        spans = "; ".join(f"AS{o} {_during(routes.holding(changes, prefix, o))}" for o in origins)
        text = f"{prefix}: {len(told)} announcements and {len(gone)} withdrawals; origins {_asns(origins)}; {spans}"
        results.append(Result("history of a prefix", text, {"prefix": prefix, "origins": origins}, "holding"))
    return results


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


CAPABILITIES: tuple[Capability, ...] = (
    Capability(
        "counts",
        _pattern(
            r"how many (?:\w+ ){0,3}(?:messages|updates|announcements|withdrawals|(?:distinct|different|unique) "
            r"prefixes|peers)\b|summari[sz]e|timeline"
        ),
        "stream",
        _counts,
    ),
    Capability(
        "graph size",
        _pattern(r"how many (?:ases|as numbers|autonomous systems|links)\b(?!.*\bremov\w+ (?:of )?as\d)"),
        "graph",
        _graph_size,
    ),
    Capability(
        "most neighbours", _pattern(r"most neighbou?rs|highest degree|most links|best connected"), "graph", _busiest
    ),
    Capability(
        "removal",
        _pattern(r"\bremov\w*|\bcuts? off\b|\bif as\s?\d+ (?:fail|goes|went|were|is)|\bsingle point\b|\bwithout as"),
        "graph",
        _removal,
    ),
    Capability("more specific", _pattern(r"more specifics?\b|sub-?prefix|hijack"), "stream", _more_specifics),
    Capability(
        "second origin",
        _pattern(
            r"(?:more than one|two|second|several|multiple|other|another|different|legitimate) origins?|origin "
            r"(?:change|conflict)|\bmoas\b|same prefix|anycast|hijack"
        ),
        "stream",
        _second_origins,
    ),
    Capability("route leak", _pattern(r"\bleak(?:s|ed|ing|er)?\b|valley"), "leak", _leaks),
    Capability(
        "flapping",
        _pattern(r"\bflap\w*|again and again|unstable|repeatedly withdr\w+|withdrawn (?:most|several|many)"),
        "stream",
        _flaps,
    ),
    Capability(
        "most withdrawn", _pattern(r"most (?:often )?withdraw\w*|most withdrawals|withdrawn most"), "stream", _withdrawn
    ),
    Capability("largest origins", _pattern(r"\borigin\w* (?:the )?most prefixes|most prefixes"), "stream", _origins),
    Capability(
        "peers",
        _pattern(r"which (?:collector )?peers?\b.*\b(?:most|sent)\b|most (?:changes|updates)"),
        "stream",
        _peers,
    ),
    Capability("history of a prefix", _pattern(r"/\d{1,3}\b"), "stream", _history),
)
