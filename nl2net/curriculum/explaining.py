"""A report on weak spots as a graph, so that ``nl2net ask --graph FILE`` answers questions on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nl2net.curriculum.diagnose import Described, Diagnosis
from nl2net.curriculum.mixture import Region
from nl2net.curriculum.spaces import Axis, Space
from nl2net.locations import atomic_write

Record = dict[str, Any]


def report_graph(found: Diagnosis, space: Space) -> Record:
    """The report as node-link JSON.

    Nodes have an attribute ``kind``: ``policy``, ``baseline``, ``region`` (a box of the space, ``verdict`` loses or
    wins), ``parameter``, ``term`` (of the score) and ``session`` (an example to replay). Links have an attribute
    ``relation``: ``examined_in``, ``compared_with``, ``bounded_by`` (with ``from`` and ``to``), ``differs_by`` (with
    ``amount``) and ``shown_by``.

    Parameters
    ----------
    found : Diagnosis
    space : Space
        The space that was searched.
    """
    name = Path(found.policy).name
    policy, baseline = f"policy {name}", f"baseline {found.baseline}"
    nodes: list[Record] = [
        {"id": policy, "kind": "policy", "name": name, "mean_gap": found.mean_gap, "unit": found.unit},
        {"id": baseline, "kind": "baseline", "name": found.baseline},
        *(_parameter(axis) for axis in space.axes),
    ]
    links: list[Record] = []
    spots = [("loses", *pair) for pair in zip(found.weak, found.findings.weak, strict=True)]
    spots += [("wins", *pair) for pair in zip(found.strong, found.findings.strong, strict=True)]
    for number, (verdict, spot, box) in enumerate(spots, start=1):
        region = f"region {number}"
        nodes.append({"id": region, "kind": "region", "verdict": verdict} | _measures(spot))
        links += [
            {"source": policy, "target": region, "relation": "examined_in"},
            {"source": region, "target": baseline, "relation": "compared_with"},
        ]
        links += _bounds(region, box.region, space)
        links += [
            {"source": region, "target": f"term {term}", "relation": "differs_by", "amount": amount}
            for term, amount in spot.terms.items()
        ]
        for place, example in enumerate(spot.examples, start=1):
            session = f"session {number}.{place}"
            scores = {"policy_score": example.policy_score, "baseline_score": example.baseline_score}
            seed = {"seed": str(example.seed)}  # 64 bits: a reader's number could round it
            nodes.append({"id": session, "kind": "session", **seed, **scores, **example.parameters})
            links.append({"source": region, "target": session, "relation": "shown_by"})
    terms = {link["target"] for link in links if link["relation"] == "differs_by"}
    nodes += [{"id": term, "kind": "term", "name": term.removeprefix("term ")} for term in sorted(terms)]
    about = {"case": found.case, "unit": found.unit, "seed": found.seed, "detectable_effect": found.detectable}
    return {"directed": True, "multigraph": False, "graph": about, "nodes": nodes, "links": links}


def _parameter(axis: Axis) -> Record:
    named = {"id": f"parameter {axis.name}", "kind": "parameter", "name": axis.label or axis.name}
    return {**named, "low": axis.low, "high": axis.high, "unit": axis.unit}


def _measures(spot: Described) -> Record:
    main = max(spot.terms.items(), key=lambda item: item[1] * np.sign(spot.effect))[0]
    return {
        "where": spot.words,
        "share_of_space": spot.share,
        # In favour of the baseline; with its 95 % interval.
        "effect": spot.effect,
        "effect_low": spot.low,
        "effect_high": spot.high,
        "p_value": spot.p,
        "main_term": main,
    }


def _bounds(node: str, box: Region, space: Space) -> Iterator[Record]:
    for axis, low, high in zip(space.axes, box.low, box.high, strict=True):
        if low > 0 or high < 1:
            ends = {"from": float(axis.value(np.array(low))), "to": float(axis.value(np.array(high)))}
            yield {"source": node, "target": f"parameter {axis.name}", "relation": "bounded_by", **ends}


def write_report_graph(found: Diagnosis, space: Space, path: Path) -> None:
    """Write `report_graph` to a file, whole or not at all."""
    with atomic_write(path) as stream:
        stream.write((json.dumps(report_graph(found, space), indent=1) + "\n").encode())
