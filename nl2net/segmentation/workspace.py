"""A folder with roles: what `nl2net segment roles` writes and the other commands read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from nl2net.errors import DataError
from nl2net.locations import atomic_write
from nl2net.segmentation.aggregate import build_edges, direction_counts, endpoint_metadata, flows_table
from nl2net.segmentation.endpoints import Population, Scope, survey
from nl2net.segmentation.engines import Engine, make_engine
from nl2net.segmentation.explain import Explainer, RoleCard
from nl2net.segmentation.flows import ReadReport
from nl2net.segmentation.hints import Hints, ambiguous_addresses, soft_hints
from nl2net.segmentation.identity import QUARANTINE, identify
from nl2net.segmentation.readers import FlowOptions, read_flows
from nl2net.segmentation.roles import RoleModel, RoleSettings, infer_roles, model_with
from nl2net.segmentation.shared import shared_endpoints

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class RolesRun:
    """Everything that one run found.

    ``ids`` maps groups to role ids; ``soft`` are labels from the logs; ``shared`` are addresses that stand for many.
    """

    model: RoleModel
    ids: Mapping[int, str]
    parents: Mapping[str, tuple[str, ...]]
    soft: Mapping[str, str]
    shared: frozenset[str]
    metadata: pd.DataFrame
    report: ReadReport
    direction: Mapping[str, int]
    notes: tuple[str, ...] = ()

    def members(self) -> dict[str, list[str]]:
        """Endpoints by role id, scanners in a role of their own."""
        found: dict[str, list[str]] = {}
        for name, label in zip(self.model.names, self.model.labels.tolist(), strict=True):
            found.setdefault(self.ids[label], []).append(name)
        if self.model.population.scanners:
            found[QUARANTINE] = list(self.model.population.scanners)
        return found

    def external(self) -> frozenset[str]:
        """Roles whose members all lie outside."""
        inside = self.model.population.inside
        return frozenset(role for role, names in self.members().items() if not any(inside.get(n, True) for n in names))


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to infer roles from files."""

    flows: FlowOptions = field(default_factory=FlowOptions)
    settings: RoleSettings = field(default_factory=RoleSettings)
    hints: Hints = field(default_factory=Hints)
    scope: Scope = field(default_factory=Scope)
    previous: Path | None = None


def infer_from_files(
    paths: Sequence[Path], folder: Path, options: RunOptions | None = None, *, engine: Engine | None = None
) -> RolesRun:
    """Read flow logs, aggregate them and infer roles; write all results into a folder.

    Parameters
    ----------
    paths : sequence of Path
        Flow logs.
    folder : Path
        Target; gets ``roles.csv``, ``edges.parquet``, ``roles.json`` and the normal form under ``flows``.
    options : RunOptions, optional
        How to read and infer.
    engine : Engine, optional
        Where to aggregate; default DuckDB.
    """
    options = options or RunOptions()
    folder.mkdir(parents=True, exist_ok=True)
    engine = engine or make_engine("duckdb")
    store = read_flows(paths, folder / "flows", options.flows)
    sources = {"flows": store.files()}
    edges = build_edges(engine, store.files(), store.report).to_pandas()
    metadata = engine.run(endpoint_metadata(flows_table()), sources).to_pandas()
    counts = engine.run(direction_counts(flows_table(), undecided=store.report.undecided > 0), sources).to_pandas()
    direction = dict(zip(counts["rule"].tolist(), counts["records"].tolist(), strict=True))
    run = infer_from_edges(edges, metadata, store.report, options=options, direction=direction)
    write_run(run, folder)
    return run


def infer_from_edges(
    edges: pd.DataFrame,
    metadata: pd.DataFrame,
    report: ReadReport,
    *,
    options: RunOptions,
    direction: Mapping[str, int] | None = None,
) -> RolesRun:
    """The part after aggregation, for edges that are already at hand."""
    population = survey(edges, options.scope)
    return infer_from_population(population, metadata, report, options=options, direction=direction)


def infer_from_population(
    population: Population,
    metadata: pd.DataFrame,
    report: ReadReport,
    *,
    options: RunOptions,
    direction: Mapping[str, int] | None = None,
    check: Callable[[], None] = lambda: None,
) -> RolesRun:
    """The part after sorting out endpoints; ``check`` is called between the cuts and may raise to end the work."""
    labels = soft_hints(metadata)
    soft = {name: label for name, label in {**labels, **options.hints.soft}.items() if name in population.inside}
    hints = Hints(options.hints.together, options.hints.apart, soft, options.hints.names)
    model = infer_roles(population, options.settings, hints, check=check)
    previous = read_roles(options.previous / "roles.csv") if options.previous else None
    identity = identify(model, previous=previous, soft=soft)
    ids = {label: hints.names.get(role, role) for label, role in identity.ids.items()}
    ambiguous = ambiguous_addresses(metadata)
    notes = list(population.notes)
    if ambiguous:
        some = ", ".join(sorted(ambiguous)[:5])
        notes.append(f"{len(ambiguous)} address(es) stood for two workloads: no rule by address for {some}")
    shared = shared_endpoints(population, model) | ambiguous
    return RolesRun(model, ids, identity.parents, soft, shared, metadata, report, dict(direction or {}), tuple(notes))


def write_run(run: RolesRun, folder: Path) -> None:
    """Write ``roles.csv``, ``edges.parquet`` and ``roles.json``, each of them at once."""
    explainer = Explainer(run.model, run.ids, run.soft)
    cards = explainer.cards()
    _write(folder / "roles.csv", roles_csv(run, explainer, cards))
    run.model.population.edges.to_parquet(folder / "edges.parquet", index=False)
    run.metadata.to_parquet(folder / "metadata.parquet", index=False)
    body: dict[str, Any] = {
        "version": FORMAT_VERSION,
        "roles": [card.to_json() for card in cards],
        "questions": explainer.questions(cards),
        "parents": {role: list(names) for role, names in run.parents.items()},
        "scanners": list(run.model.population.scanners),
        "shared": sorted(run.shared),
        "external": sorted(run.external()),
        "folded": {bucket: list(found) for bucket, found in run.model.population.folded.items()},
        "inside": sorted(name for name, inside in run.model.population.inside.items() if inside),
        "direction": dict(run.direction),
        "read": run.report.to_json(),
        "notes": list(run.notes),
        "settings": _settings_json(run.model.settings),
    }
    _write(folder / "roles.json", json.dumps(body, indent=1, default=str))


def _settings_json(settings: RoleSettings) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(settings)


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as stream:
        stream.write(text.encode())


def roles_csv(run: RolesRun, explainer: Explainer, cards: Sequence[RoleCard]) -> str:
    """Text of ``roles.csv``: ``ip``, ``role``, ``reason``, ``confidence``."""
    by_id = {card.id: card for card in cards}
    confidence = explainer.confidence()
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["ip", "role", "reason", "confidence"])
    for role, members in sorted(run.members().items()):
        for name in sorted(members):
            ip = name.removeprefix("external:")
            writer.writerow([ip, role, _reason(run, by_id.get(role), name), f"{confidence.get(name, 1.0):.3f}"])
    return buffer.getvalue()


def _reason(run: RolesRun, card: RoleCard | None, name: str) -> str:
    if card is None:
        return "probed many services and few answered: quarantined"
    if name in run.model.silent:
        return "no clean flow seen: not enough to say"
    if name in run.shared:
        return "shared address: stands for several endpoints"
    parts = []
    if card.serves:
        parts.append(f"serves {', '.join(card.serves[:3])}")
    if card.consumes:
        parts.append(f"calls {', '.join(card.consumes[:2])}")
    odd = next((odd.why for odd in card.odd if odd.member == name), "")
    return "; ".join([*parts, *([f"odd one out: {odd}"] if odd else [])]) or "one of its kind"


def read_roles(path: Path) -> dict[str, list[str]]:
    """Members by role from a ``roles.csv``.

    Raises
    ------
    DataError
        The file cannot be read or lacks ``ip`` or ``role``.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            if not {"ip", "role"} <= set(reader.fieldnames or ()):
                raise DataError("needs the columns ip and role", path=path, line=1)
            found: dict[str, list[str]] = {}
            for row in reader:
                name = f"external:{row['ip']}" if "/" in row["ip"] else row["ip"]
                found.setdefault(row["role"], []).append(name)
    except OSError as error:
        raise DataError(
            f"cannot be read: {error.strerror}", path=path, hint="Run nl2net segment roles first."
        ) from None
    return found


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder of a former run, read again; the roles are those of ``roles.csv``, edited or not."""

    folder: Path
    model: RoleModel
    ids: Mapping[int, str]
    facts: Mapping[str, Any]
    metadata: pd.DataFrame

    def members(self) -> dict[str, list[str]]:
        """Endpoints by role id, scanners in a role of their own."""
        found: dict[str, list[str]] = {}
        for name, label in zip(self.model.names, self.model.labels.tolist(), strict=True):
            found.setdefault(self.ids[label], []).append(name)
        if self.model.population.scanners:
            found[QUARANTINE] = list(self.model.population.scanners)
        return found


def open_workspace(folder: Path) -> Workspace:
    """Read a folder that `infer_from_files` wrote.

    Raises
    ------
    DataError
        A file is missing or of another version.
    """
    try:
        facts = json.loads((folder / "roles.json").read_text(encoding="utf-8"))
        edges = pq.read_table(folder / "edges.parquet").to_pandas()
        metadata = pq.read_table(folder / "metadata.parquet").to_pandas()
    except FileNotFoundError as error:
        raise DataError("missing", path=error.filename, hint="Run nl2net segment roles first.") from None
    if facts.get("version") != FORMAT_VERSION:
        raise DataError(
            "written by another version", path=folder / "roles.json", hint="Run nl2net segment roles again."
        )
    population = _population(edges, facts)
    roles = read_roles(folder / "roles.csv")
    role_of = {name: role for role, names in roles.items() for name in names}
    order = {role: at for at, role in enumerate(sorted(roles))}
    names = [name for name in population.inside if name not in population.scanners]
    missing = [name for name in names if name not in role_of]
    if missing:
        raise DataError(f"has no role for {missing[0]}", path=folder / "roles.csv")
    labels = np.unique(np.array([order[role_of[name]] for name in names]), return_inverse=True)[1]
    ids = {int(label): role_of[name] for name, label in zip(names, labels, strict=True)}
    return Workspace(folder, model_with(population, labels.astype(np.int64)), ids, facts, metadata)


def _population(edges: pd.DataFrame, facts: Mapping[str, Any]) -> Population:
    from nl2net.segmentation.endpoints import clean_edges, dynamic_edges

    inside_names = set(facts["inside"])
    names = sorted(set(edges["client"]) | set(edges["server"]))
    dynamic = dynamic_edges(edges)
    scanners = tuple(facts["scanners"])
    learn = clean_edges(edges, scanners) & ~dynamic
    folded = {bucket: (found[0], int(found[1])) for bucket, found in facts["folded"].items()}
    inside = {name: name in inside_names for name in names}
    return Population(edges, learn, inside, scanners, dynamic, folded, list(facts["notes"]))
