"""Who called whom: the direction of a record from its format, its flags, or the shape of the traffic."""

from __future__ import annotations

from typing import Any

import ibis

RULES = ("format", "icmp", "no source port", "known service", "peers", "lower port", "source first")


def with_direction(flows: Any, *, undecided: bool) -> Any:
    """Add ``client``, ``server``, ``cport``, ``port``, ``forward`` and the ``rule`` that decided.

    Parameters
    ----------
    flows : ibis table
        Records in normal form.
    undecided : bool
        Some records lack an initiator, so services must be counted. Leaving this out when nothing is undecided saves
        two joins.

    Notes
    -----
    Rules in order: what format or flags say; ICMP type; a record without source port names its service as
    destination; exactly one end is a service seen on decided records; the end with more distinct (peer, peer port)
    pairs serves; the lower port serves; else the source started.
    """
    icmp = flows.proto.isin([1, 58])
    reply = flows.icmp_type.isin([0, 129])
    if not undecided:
        rule = ibis.cases((icmp, "icmp"), else_="format")
        return _oriented(flows, ibis.ifelse(icmp, ~reply.fill_null(False), flows.initiator == "src"), rule)
    known, peers = _known_services(flows), _peer_counts(flows)
    joined = flows
    for end, address, port in (("s", "src", "sport"), ("d", "dst", "dport")):
        for name, table in (("known", known), ("peers", peers)):
            renamed = table.rename({f"{end}_{name}_{column}": column for column in table.columns})
            keys = [
                joined[address] == renamed[f"{end}_{name}_addr"],
                joined["proto"] == renamed[f"{end}_{name}_q"],
                joined[port] == renamed[f"{end}_{name}_p"],
            ]
            joined = joined.left_join(renamed, keys)
    s_known, d_known = joined.s_known_n.notnull(), joined.d_known_n.notnull()
    s_peers, d_peers = joined.s_peers_n.fill_null(0), joined.d_peers_n.fill_null(0)
    icmp, reply = joined.proto.isin([1, 58]), joined.icmp_type.isin([0, 129]).fill_null(False)
    forward = ibis.cases(
        (icmp, ~reply),
        (joined.initiator == "src", True),
        (joined.initiator == "dst", False),
        (joined.sport.isnull(), True),
        (d_known & ~s_known, True),
        (s_known & ~d_known, False),
        (d_peers > s_peers, True),
        (s_peers > d_peers, False),
        (joined.dport < joined.sport, True),
        (joined.sport < joined.dport, False),
        else_=True,
    )
    rule = ibis.cases(
        (icmp, "icmp"),
        (joined.initiator.notnull(), "format"),
        (joined.sport.isnull(), "no source port"),
        (d_known != s_known, "known service"),
        (d_peers != s_peers, "peers"),
        (joined.dport != joined.sport, "lower port"),
        else_="source first",
    )
    return _oriented(joined, forward, rule)


def _oriented(table: Any, forward: Any, rule: Any) -> Any:
    port = ibis.ifelse(forward, table.dport, table.sport).fill_null(0).cast("int32")
    return table.mutate(
        forward=forward,
        rule=rule,
        client=ibis.ifelse(forward, table.src, table.dst),
        server=ibis.ifelse(forward, table.dst, table.src),
        port=port,
    )


def _known_services(flows: Any) -> Any:
    """Services of decided records: (addr, q, p, n)."""
    decided = flows.filter(flows.initiator.notnull() & flows.sport.notnull())
    started = decided.initiator == "src"
    return (
        decided.select(
            addr=ibis.ifelse(started, decided.dst, decided.src),
            q=decided.proto,
            p=ibis.ifelse(started, decided.dport, decided.sport),
        )
        .group_by(["addr", "q", "p"])
        .agg(n=lambda table: table.count())
    )


def _peer_counts(flows: Any) -> Any:
    """Distinct (peer, peer port) per (address, protocol, port), over records nobody decided."""
    open_ = flows.filter(flows.initiator.isnull() & flows.sport.notnull() & flows.dport.notnull())
    there = open_.select(addr=open_.src, q=open_.proto, p=open_.sport, peer=open_.dst, peer_port=open_.dport)
    back = open_.select(addr=open_.dst, q=open_.proto, p=open_.dport, peer=open_.src, peer_port=open_.sport)
    pairs = there.union(back, distinct=True)
    return pairs.group_by(["addr", "q", "p"]).agg(n=lambda table: table.count())
