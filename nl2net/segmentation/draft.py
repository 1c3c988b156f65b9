"""From a folder of roles to a folder with a policy: rules, review list, trade-offs, compiled targets, checks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from nl2net.errors import DataError, UserError
from nl2net.locations import atomic_write
from nl2net.segmentation.aggregate import build_edges
from nl2net.segmentation.compilers import Check, Inventory, Target, Workload, check_compiled, compile_policy
from nl2net.segmentation.compilers.target import inner_roles
from nl2net.segmentation.endpoints import clean_edges, survey
from nl2net.segmentation.engines import make_engine
from nl2net.segmentation.frames import rows_of
from nl2net.segmentation.identity import QUARANTINE
from nl2net.segmentation.place import place_endpoints
from nl2net.segmentation.policy.measure import Trade, allows, measure, reach
from nl2net.segmentation.policy.modes import build_policy
from nl2net.segmentation.policy.output import policy_json, review_csv, rules_csv
from nl2net.segmentation.policy.rules import Mode, Policy
from nl2net.segmentation.policy.synthesis import Roles
from nl2net.segmentation.readers import FlowOptions, read_flows
from nl2net.segmentation.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Broken:
    """A later edge that the draft denies."""

    client: str
    server: str
    proto: int
    port: int
    client_role: str
    server_role: str
    connections: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A policy and what is known about it; ``trades`` by mode, on the hold-out window when there is one."""

    policy: Policy
    inventory: Inventory
    trades: Mapping[Mode, Trade]
    broken: tuple[Broken, ...] = ()
    checks: tuple[Check, ...] = ()
    labels_needed: Mapping[Target, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def roles_of(workspace: Workspace) -> Roles:
    """Roles with what must not be allowed by itself."""
    return Roles(
        workspace.members(),
        quarantine=frozenset({QUARANTINE}),
        external=frozenset(workspace.facts["external"]),
        shared=frozenset(workspace.facts["shared"]),
    )


def build_inventory(workspace: Workspace, labels: Path | None = None) -> Inventory:
    """Labels from the logs, or from a file with live ones, which then win.

    Parameters
    ----------
    workspace : Workspace
        Roles and metadata.
    labels : Path, optional
        YAML or JSON list of ``{address, name, namespace, labels}``.
    """
    workloads: dict[str, Workload] = {}
    for row in rows_of(workspace.metadata.sort_values("records")):
        meta = json.loads(str(row.meta))
        found = dict(_label(text) for text in meta.get("labels") or () if "=" in text)
        found = {key: value for key, value in found.items() if not key.startswith("io.")}
        name, space = str(meta.get("pod") or row.address), str(meta.get("namespace") or "default")
        workloads[str(row.address)] = Workload(str(row.address), name, space, found)
    if labels is not None:
        workloads.update(_read_labels(labels))
    prefixes: dict[str, list[str]] = {}
    members = workspace.members()
    for role in workspace.facts["external"]:
        prefixes[role] = sorted(
            name.removeprefix("external:") if "/" in name else f"{name}/{128 if ':' in name else 32}"
            for name in members.get(role, ())
        )
    return Inventory(workloads, prefixes, frozenset({QUARANTINE}))


def _label(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key.removeprefix("k8s:"), value


def _read_labels(path: Path) -> dict[str, Workload]:
    try:
        items = yaml.safe_load(path.read_text(encoding="utf-8"))
        return {
            str(item["address"]): Workload(
                str(item["address"]),
                str(item.get("name", item["address"])),
                str(item.get("namespace", "default")),
                {str(key): str(value) for key, value in (item.get("labels") or {}).items()},
            )
            for item in items
        }
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"not a list of workloads: {error}", path=path, hint="Each needs address and labels.") from None


def later_edges(paths: Sequence[Path], folder: Path, options: FlowOptions | None = None) -> pd.DataFrame:
    """Typed edges of a later window."""
    store = read_flows(paths, folder, options)
    edges: pd.DataFrame = build_edges(make_engine("duckdb"), store.files(), store.report).to_pandas()
    return edges


def build_draft(
    workspace: Workspace,
    *,
    mode: Mode = Mode.ROLE,
    holdout: pd.DataFrame | None = None,
    labels: Path | None = None,
) -> Draft:
    """A policy with the trade-off of all three modes.

    Parameters
    ----------
    workspace : Workspace
        Roles.
    mode : Mode
        Which policy to keep.
    holdout : DataFrame, optional
        Typed edges of a later window; without it the learning window itself is measured, and the note says so.
    labels : Path, optional
        Live labels.
    """
    roles = roles_of(workspace)
    population = workspace.model.population
    notes: list[str] = []
    if holdout is None:
        notes.append("no hold-out window: violation is measured on the learning window itself, which flatters it")
        later, placed = population.edges[population.learn], None
    else:
        window = survey(holdout)
        legitimate = clean_edges(window.edges, window.scanners) & ~window.dynamic
        later, placed = window.edges[legitimate], place_endpoints(workspace.model, workspace.ids, window)
    policies = {each: build_policy(population, roles, each) for each in Mode}
    trades = {}
    for each, policy in policies.items():
        own = None if each is Mode.STRICT else placed
        trades[each] = measure(policy, later, role_of=own)
    chosen = policies[mode]
    broken = _broken(chosen, later, None if mode is Mode.STRICT else placed)
    return Draft(chosen, build_inventory(workspace, labels), trades, broken, notes=tuple(notes))


def _broken(policy: Policy, later: pd.DataFrame, placed: Mapping[str, str] | None) -> tuple[Broken, ...]:
    role_of = placed or policy.role_of()
    denied = later[~allows(policy, later, role_of)].sort_values("connections", ascending=False)
    return tuple(
        Broken(
            row.client,
            row.server,
            int(row.proto),
            int(row.port),
            role_of.get(row.client, "unassigned"),
            role_of.get(row.server, "unassigned"),
            int(row.connections),
        )
        for row in rows_of(denied)
    )


def write_draft(draft: Draft, folder: Path, targets: Sequence[Target]) -> Draft:
    """Write the rollback first, then rules, review list and compiled targets, and check every target.

    Returns
    -------
    Draft
        With the checks and the labels that pods still need.
    """
    from dataclasses import replace

    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "ROLLBACK.txt", _rollback(draft, targets))
    _write(folder / "rules.csv", rules_csv(draft.policy.rules))
    _write(folder / "review.csv", review_csv(draft.policy.review))
    _write(folder / "policy.json", json.dumps(policy_json(draft.policy), indent=1))
    checks: list[Check] = []
    needed: dict[Target, Mapping[str, Sequence[str]]] = {}
    notes = list(draft.notes)
    for target in targets:
        place = folder / target.value
        for old in place.glob("*") if place.is_dir() else ():
            old.unlink()
        try:
            compiled = compile_policy(draft.policy, draft.inventory, target)
        except UserError as error:  # over a quota: the other targets are still of use
            checks.append(Check(target, "quota", False, f"{error} {error.hint}"))
            continue
        for name, text in compiled.files.items():
            _write(place / name, text)
        checks += check_compiled(compiled, place)
        needed[target] = compiled.labels_needed
        notes += [f"{target.value}: {note}" for note in compiled.notes]
    done = replace(draft, checks=tuple(checks), labels_needed=needed, notes=tuple(dict.fromkeys(notes)))
    _write(folder / "draft.json", json.dumps(draft_json(done), indent=1))
    return done


def draft_json(draft: Draft) -> dict[str, Any]:
    """JSON form of what is known about a policy."""
    workloads = [asdict(w) | {"labels": dict(w.labels)} for w in draft.inventory.workloads.values()]
    return {
        "version": 1,
        "mode": draft.policy.mode.value,
        "rules": draft.policy.logical,
        "review": len(draft.policy.review),
        "trades": {mode.value: trade.to_json() for mode, trade in draft.trades.items()},
        "reach": {"hops_1": reach(draft.policy, 1), "hops_3": reach(draft.policy, 3), "flat": 1.0},
        "broken": [asdict(item) for item in draft.broken[:500]],
        "broken_total": len(draft.broken),
        "checks": [asdict(check) for check in draft.checks],
        "labels_needed": {t.value: {r: list(m) for r, m in found.items()} for t, found in draft.labels_needed.items()},
        "inventory": {"workloads": workloads, "prefixes": {k: list(v) for k, v in draft.inventory.prefixes.items()}},
        "notes": list(draft.notes),
    }


def inventory_from_json(body: Mapping[str, Any]) -> Inventory:
    """The inventory of a written draft."""
    workloads = {item["address"]: Workload(**item) for item in body["inventory"]["workloads"]}
    return Inventory(workloads, body["inventory"]["prefixes"], frozenset({QUARANTINE}))


def _rollback(draft: Draft, targets: Sequence[Target]) -> str:
    lines = ["How to take everything back, written before any policy file.", ""]
    steps = {
        Target.KUBERNETES: "kubectl delete networkpolicy -A -l app.kubernetes.io/managed-by=nl2net-segment",
        Target.CILIUM: "kubectl delete -f cilium/",
        Target.CALICO: "kubectl delete -f calico/  (staged policies never enforced anything)",
        Target.AWS: "terraform destroy -target of the resources in aws/segment.tf.json, after moving machines back",
        Target.AZURE: "detach the network security group seg, then remove azure/segment.tf.json",
        Target.NFTABLES: "nft delete table inet nl2net_segment",
    }
    lines += [f"{target.value}: {steps[target]}" for target in targets]
    lines += ["", "Roll out one role at a time: monitor, audit, enforce. Smallest reach first:"]
    roles = inner_roles(draft.policy, draft.inventory)
    load = {role: sum(role in (rule.client, rule.server) for rule in draft.policy.rules) for role in roles}
    lines += [f"  {role} ({load[role]} rules)" for role in sorted(roles, key=lambda name: (load[name], name))]
    return "\n".join(lines) + "\n"


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as stream:
        stream.write(text.encode())
