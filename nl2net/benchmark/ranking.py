"""Fits how likely a program of the library is the right one, on questions of the development split.

Run ``python -m nl2net.benchmark.ranking``: it generates development questions on fresh graphs, searches the library for
each without the entries of its own wording (once more without its whole intent, as for a question that no program
answers), fits boosted trees, prints precision against coverage of held-out intents, and writes
``assistant/data/ranking.json``. Needs scikit-learn (extra ``flows``).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nl2net import assistant
from nl2net.assistant.entities import EntityIndex
from nl2net.assistant.library import ProgramLibrary
from nl2net.assistant.masking import Masker
from nl2net.assistant.opening import open_library
from nl2net.assistant.ranking import GROUPS, NAMES, features, leader
from nl2net.assistant.wording import without_courtesy
from nl2net.golden.case import Case, Split
from nl2net.golden.generate import Recipe, generate
from nl2net.golden.sources import graph_of
from nl2net.graphs import describe_graph
from nl2net.locations import atomic_write, default_locations
from nl2net.model import Library, Status
from nl2net.sandbox.language.binding import bind_text

TARGET = Path(assistant.__file__).parent / "data" / "ranking.json"
SEED = "ranking"
_COUNT, _GRAPHS = 600, 8
# A fifth of the intents of an evaluation suite has no program in the library.
_NOVEL_WEIGHT = 0.25
_TREES = {"n_estimators": 160, "max_depth": 4, "learning_rate": 0.07, "subsample": 0.7, "min_samples_leaf": 20}

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Samples:
    """Rows of features with what they are of; ``query`` numbers the searches, ``novel`` those without the intent."""

    rows: Floats
    right: npt.NDArray[np.bool_]
    intent: npt.NDArray[np.str_]
    query: npt.NDArray[np.int64]
    novel: npt.NDArray[np.bool_]

    @property
    def weights(self) -> Floats:
        """Of the rows in the fit."""
        return np.where(self.novel, _NOVEL_WEIGHT, 1.0)


def development_cases() -> Iterator[Case]:
    """Answerable development questions of both applications on graphs that the library was not made from."""
    for application in ("traffic", "planning"):
        made = generate(Recipe(application, SEED, Split.DEV, count=_COUNT, graphs=_GRAPHS))
        yield from (case for case in made.cases if case.outcome is Status.ANSWERED)


def collect(cases: Iterator[Case], library: ProgramLibrary) -> Samples:
    """Search for every question twice and tell the right programs."""
    rows: list[list[float]] = []
    facts: list[tuple[bool, str, int, bool]] = []
    graphs: dict[Any, Any] = {}
    query = 0
    for case in cases:
        key = (case.graph.recipe, case.graph.seed)
        if key not in graphs:
            loaded = describe_graph(graph_of(case), name=case.graph.seed)
            graphs[key] = loaded.schema, EntityIndex.build(loaded.graph, loaded.schema)
        schema, index = graphs[key]
        masked = Masker(index, schema, assume=True).mask(without_courtesy(case.question))
        intent = f"{case.application}/{case.intent}"
        for novel in (False, True):
            groups, words, kind = library.grouped(
                masked.text,
                schema,
                library=Library.NETWORKX,
                expected="",
                unseen_wording=True,
                without_intent=intent if novel else "",
            )
            ordered = sorted((sorted(g, key=lambda h: -h.score) for g in groups), key=lambda g: -g[0].score)[:GROUPS]
            for group, row in zip(ordered, features(ordered, words, kind), strict=True):
                bound = leader(group).bound
                right = bound is not None and _text(bind_text(bound, masked.bindings)) == _text(case.program)
                rows.append(row)
                facts.append((right, intent, query, novel))
            query += 1
    columns = [np.array(column) for column in zip(*facts, strict=True)]
    return Samples(np.array(rows), *columns)


def _text(program: str) -> str:
    return re.sub(r"\s+", " ", program).strip()


def _trees(samples: Samples, chosen: npt.NDArray[np.bool_]) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(random_state=1, **_TREES)
    return model.fit(samples.rows[chosen], samples.right[chosen], sample_weight=samples.weights[chosen])


def cross_validated(samples: Samples, folds: int = 5) -> Floats:
    """Probability of every row by trees that saw no question of its intent."""
    names = sorted(set(samples.intent.tolist()))
    np.random.default_rng(1).shuffle(names)
    fold = {name: number % folds for number, name in enumerate(names)}
    of = np.array([fold[name] for name in samples.intent.tolist()])
    found = np.zeros(len(of))
    for number in range(folds):
        held = of == number
        found[held] = _trees(samples, ~held).predict_proba(samples.rows[held])[:, 1]
    return found


def reliability(samples: Samples, probability: Floats) -> list[str]:
    """Lines of coverage and precision of the best program of every question, by threshold."""
    lines = []
    bound = samples.rows[:, NAMES.index("bound")] > 0
    for novel in (False, True):
        chosen = np.flatnonzero(samples.novel == novel)
        order = chosen[np.lexsort((-(probability * bound)[chosen], samples.query[chosen]))]
        first = order[np.r_[True, np.diff(samples.query[order]) > 0]]
        for threshold in (0.3, 0.5, 0.7, 0.8, 0.9, 0.95):
            taken = first[(probability * bound)[first] >= threshold]
            precision = samples.right[taken].mean() if len(taken) else float("nan")
            kind = "no program fits" if novel else "other wording known"
            lines.append(f"{kind}\t{threshold}\t{len(taken)} of {len(first)}\t{precision:.3f}")
    return lines


def exported(model: Any) -> dict[str, Any]:
    """The trees as data: ``[feature, threshold, left, right]`` per node, ``[value]`` per leaf."""
    trees = []
    for (tree,) in model.estimators_:
        inner = tree.tree_
        nodes: list[list[float]] = []
        for n in range(inner.node_count):
            if inner.children_left[n] < 0:
                nodes.append([round(model.learning_rate * float(inner.value[n, 0, 0]), 5)])
            else:
                threshold = round(float(inner.threshold[n]), 6)
                branches = int(inner.children_left[n]), int(inner.children_right[n])
                nodes.append([int(inner.feature[n]), threshold, *branches])
        trees.append(nodes)
    prior = float(model.init_.class_prior_[1])
    return {"features": list(NAMES), "bias": round(float(np.log(prior / (1 - prior))), 6), "trees": trees}


def main() -> None:
    """Fit and write."""
    library = open_library(default_locations())
    samples = collect(development_cases(), library)
    sys.stderr.write(f"{len(samples.rows)} programs beside {samples.query.max() + 1} searches\n")
    sys.stdout.write("\n".join(reliability(samples, cross_validated(samples))) + "\n")
    data = exported(_trees(samples, np.ones(len(samples.rows), dtype=bool)))
    with atomic_write(TARGET) as stream:
        stream.write(json.dumps(data, separators=(",", ":")).encode())


if __name__ == "__main__":
    main()
