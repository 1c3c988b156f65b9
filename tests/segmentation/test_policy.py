"""Rules, review list, baselines, modes, compression, and compiled targets."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from nl2net.errors import UserError
from nl2net.segmentation.compilers import Inventory, Target, Workload, check_compiled, compile_policy
from nl2net.segmentation.compilers.selectors import ROLE_LABEL, find_selectors
from nl2net.segmentation.endpoints import Population, survey
from nl2net.segmentation.evaluation.protocol import FAMILIES, make_case, score_policy, score_roles
from nl2net.segmentation.pictures import role_figure
from nl2net.segmentation.policy.compress import compress, fold_baselines
from nl2net.segmentation.policy.measure import allows, measure, reach
from nl2net.segmentation.policy.modes import build_policy
from nl2net.segmentation.policy.output import policy_json, read_policy_json, rules_csv
from nl2net.segmentation.policy.rules import Mode, Policy, Rule
from nl2net.segmentation.policy.synthesis import Roles, synthesise

STAMP = pd.Timestamp("2026-09-21T14:00:00Z")
WEB, DB, DNS = ("10.0.0.1", "10.0.0.2"), ("10.0.1.1", "10.0.1.2"), ("10.0.9.53",)


def population(*rows: tuple[object, ...]) -> Population:
    """Edges from (client, server, proto, port, connections, buckets, yes, no, denied)."""
    columns = ["client", "server", "proto", "port", "connections", "buckets", "answered_yes", "answered_no", "denied"]
    frame = pd.DataFrame(list(rows), columns=columns)
    return survey(frame.assign(bytes=1000, first_seen=STAMP, last_seen=STAMP))


def good(client: str, server: str, port: int = 5432, proto: int = 6) -> tuple[object, ...]:
    return client, server, proto, port, 10, 3, 10, 0, 0


def shop(*more: tuple[object, ...]) -> tuple[Population, Roles]:
    edges = [good(w, d) for w in WEB for d in DB] + [good(x, DNS[0], 53, 17) for x in (*WEB, *DB)]
    return population(*edges, *more), Roles({"web": WEB, "db": DB, "dns": DNS})


def reasons(found: Policy) -> dict[int, str]:
    return {item.port: item.reason for item in found.review}


def test_rules_carry_their_evidence() -> None:
    found = synthesise(*shop())
    rule = next(rule for rule in found.rules if rule.port_low == 5432)
    assert (rule.client, rule.server, rule.evidence.clients, rule.evidence.servers) == ("web", "db", 2, 2)
    assert rule.evidence.connections == 40
    assert rule.evidence.answered == 1.0
    assert len(rule.evidence.samples) == 4


def test_what_is_not_clear_goes_to_review_with_one_reason() -> None:
    found = synthesise(
        *shop(
            (WEB[0], DB[0], 6, 22, 1, 1, 1, 0, 0),
            (WEB[0], DB[0], 6, 3389, 0, 0, 0, 0, 7),
            (WEB[0], DB[0], 6, 445, 4, 2, 1, 3, 0),
            (WEB[0], DB[0], 6, 40001, 3, 2, 3, 0, 0),
        )
    )
    assert reasons(found) == {22: "one-off", 3389: "denied", 445: "unanswered", 40001: "ephemeral port"}
    assert {rule.port_low for rule in found.rules} == {5432, 53}


def test_denied_traffic_never_becomes_a_rule_however_much_there_is() -> None:
    edges, roles = shop((WEB[0], DB[0], 6, 23, 0, 0, 0, 0, 10_000), (WEB[1], DB[1], 6, 23, 0, 0, 0, 0, 10_000))
    for mode in Mode:
        assert not any(rule.covers(6, 23) for rule in build_policy(edges, roles, mode).rules)


def test_lone_member_of_a_large_role_is_marked() -> None:
    members = tuple(f"10.0.2.{i}" for i in range(6))
    edges = population(*[good(m, DB[0]) for m in members], good(members[0], DB[0], 8080))
    found = synthesise(edges, Roles({"app": members, "db": DB}))
    notes = {rule.port_low: rule.note for rule in found.rules}
    assert "only one of 6" in notes[8080]
    assert notes[5432] == ""


def test_dynamic_ports_become_one_range_unless_they_are_answers_turned_round() -> None:
    ports = [(WEB[0], DB[0], 6, 40000 + 100 * i, 1, 1, 1, 0, 0) for i in range(12)]
    assert not any(
        rule.port_low >= 32768 for rule in synthesise(*shop(*[(b, a, *rest) for a, b, *rest in ports])).rules
    )
    base, roles = population(*[good(x, DNS[0], 53, 17) for x in (*WEB, *DB)], *ports), shop()[1]
    found = [rule for rule in synthesise(base, roles).rules if rule.port_low >= 32768]
    assert [(rule.port_low, rule.port_high) for rule in found] == [(40000, 41100)]
    assert "1101 ports" in found[0].note


def test_name_lookup_is_added_for_roles_that_did_not_ask() -> None:
    edges, _ = shop(good("10.0.3.1", DB[0]))
    roles = Roles({"web": WEB, "db": DB, "dns": DNS, "quiet": ("10.0.3.1",)})
    found = build_policy(edges, roles)
    lookup = {rule.client: rule for rule in found.rules if rule.covers(17, 53)}
    assert set(lookup) == {"web", "db", "quiet"}
    assert "always allowed" in lookup["quiet"].note
    assert found.rules[0].baseline


def test_modes_nest_and_strict_allows_what_was_seen() -> None:
    edges, roles = shop()
    policies = {mode: build_policy(edges, roles, mode) for mode in Mode}
    assert all(allows(policies[Mode.STRICT], edges.edges))
    role = {(r.client, r.server, r.proto, r.port_low) for r in policies[Mode.ROLE].rules}
    assert role <= {(r.client, r.server, r.proto, r.port_low) for r in policies[Mode.GENERALISED].rules}
    extra = edges.edges.iloc[[0]].assign(client=WEB[1], server=DB[1], port=5432)
    assert allows(policies[Mode.ROLE], extra).tolist() == [True]


def test_measure_gives_the_pair_that_was_built_in() -> None:
    edges, roles = shop()
    policy = build_policy(edges, roles)
    later = pd.concat([edges.edges, edges.edges.iloc[[0]].assign(port=9999)])
    truth = {name: role for role, names in roles.members.items() for name in names}
    intended = {("web", "db", 6, 5432)}
    trade = measure(policy, later, truth=truth, intended=intended)
    assert trade.violation == pytest.approx(1 / len(later))
    # 4 database pairs are intended, the 4 name lookups are not.
    assert trade.over_permission == pytest.approx(0.5)
    assert 0 < reach(policy) <= reach(policy, 3) < 1


def test_policy_on_the_later_window_meets_the_bars() -> None:
    results = []
    for seed in (1, 2, 3):
        case = make_case(FAMILIES["default"], seed)
        results.append(score_policy(case, score_roles(case)[1]))
    ours, true = [r.ours for r in results], [r.true for r in results]
    assert sum(t.violation for t in ours) / 3 <= sum(t.violation for t in true) / 3 + 0.01
    assert all(t.over_permission <= 0.10 for t in ours)
    assert sum(t.rules for t in ours) <= 1.1 * sum(t.rules for t in true)


def _many(count: int) -> Policy:
    rules = tuple(Rule("a", "b", 6, 1000 + 10 * i, 1000 + 10 * i) for i in range(count))
    return Policy(Mode.ROLE, rules, (), {"a": ("10.0.0.1",), "b": ("10.0.0.2",)})


def test_compression_names_what_it_opens() -> None:
    smaller, widened = compress(_many(12), per_role=10)
    assert len(smaller.rules) == 10
    assert sum(w.opened for w in widened) == 18
    before, after = _many(12).rules, smaller.rules
    for port in range(1000, 1120):
        opened = any(low <= port <= high for w in widened for low, high in w.ports)
        assert any(r.covers(6, port) for r in after) == (any(r.covers(6, port) for r in before) or opened)


def test_over_quota_fails_with_count_limit_and_advice() -> None:
    rules = tuple(Rule(f"c{i}", "b", 6, 80, 80) for i in range(7))
    policy = Policy(Mode.ROLE, rules, (), {"b": ("10.0.0.2",)} | {f"c{i}": (f"10.0.1.{i}",) for i in range(7)})
    with pytest.raises(UserError, match=r"b needs 7 ingress rules, the target allows 5") as caught:
        compress(policy, per_role=5)
    assert caught.value.hint.count(" with ") == 3


def test_folded_baselines_say_whom_they_newly_allow() -> None:
    edges, roles = shop()
    policy = build_policy(edges, roles)
    folded, notes = fold_baselines(policy, ["web", "db", "dns"])
    assert len(folded.rules) < len(policy.rules)
    assert notes and "newly allows 1 role(s): dns" in notes[0]


def test_policy_survives_its_files(tmp_path: Path) -> None:
    policy = build_policy(*shop((WEB[0], DB[0], 6, 22, 1, 1, 1, 0, 0)))
    (tmp_path / "policy.json").write_text(json.dumps(policy_json(policy)))
    again = read_policy_json(tmp_path / "policy.json")
    assert rules_csv(again.rules) == rules_csv(policy.rules)
    assert again.review == policy.review
    header = rules_csv(policy.rules).splitlines()[0].split(",")
    assert header[:5] == ["client_role", "server_role", "protocol", "port_low", "port_high"]


def _inventory() -> Inventory:
    return Inventory(
        {
            "10.0.0.1": Workload("10.0.0.1", "w1", "shop", {"app": "web", "pod-template-hash": "x1"}),
            "10.0.0.2": Workload("10.0.0.2", "w2", "shop", {"app": "web", "pod-template-hash": "x1"}),
            "10.0.1.1": Workload("10.0.1.1", "d1", "shop", {"app": "db", "tier": "back"}),
            "10.0.1.2": Workload("10.0.1.2", "d2", "shop", {"app": "db", "tier": "back"}),
            "10.0.7.7": Workload("10.0.7.7", "other", "shop", {"app": "web2", "tier": "back"}),
        },
        {"outside": ["203.0.113.0/24", "2001:db8::/32"]},
    )


def _with_outside() -> Policy:
    edges, roles = shop(
        good("203.0.113.9", WEB[0], 443), good("203.0.113.9", WEB[1], 443), (WEB[0], DB[0], 1, 0, 5, 3, 5, 0, 0)
    )
    members = {**roles.members, "outside": ("203.0.113.9",)}
    return build_policy(edges, Roles(members, external=frozenset({"outside"})))


@pytest.mark.parametrize("target", list(Target))
def test_every_target_passes_its_checker(target: Target, tmp_path: Path) -> None:
    compiled = compile_policy(_with_outside(), _inventory(), target)
    for name, text in compiled.files.items():
        (tmp_path / name).write_text(text)
    for check in check_compiled(compiled, tmp_path):
        if check.ok is None:
            pytest.skip(f"{check.checker} cannot run here: {check.detail}")
        assert check.ok, check.detail
    assert compiled.files == compile_policy(_with_outside(), _inventory(), target).files


def test_selectors_match_the_role_and_nobody_else() -> None:
    policy = _with_outside()
    found = find_selectors(policy, _inventory(), ["web", "db", "dns"])
    assert [selector.labels for selector in found["web"]] == [{"app": "web"}]
    # tier=back would also match a workload that is no member.
    assert [selector.labels for selector in found["db"]] == [{"app": "db"}]
    assert found["dns"][0].labels == {ROLE_LABEL: "dns"}
    assert found["dns"][0].missing == DNS


def test_volatile_labels_are_never_selected() -> None:
    loads = {a: Workload(a, a, "shop", {"pod-template-hash": a}) for a in (*WEB, *DB)}
    found = find_selectors(_with_outside(), Inventory(loads), ["web", "db"])
    assert all(ROLE_LABEL in selector.labels for selectors in found.values() for selector in selectors)


def test_kubernetes_ands_the_two_selectors_and_never_forgets_names() -> None:
    files = compile_policy(_with_outside(), _inventory(), Target.KUBERNETES).files
    database = yaml.safe_load(files["shop-seg-db.yaml"])["spec"]
    assert database["policyTypes"] == ["Ingress", "Egress"]
    assert set(database["ingress"][0]["from"][0]) == {"namespaceSelector", "podSelector"}
    assert any(port["port"] == 53 for entry in database["egress"] for port in entry["ports"])
    web = yaml.safe_load(files["shop-seg-web.yaml"])["spec"]
    blocks = [peer["ipBlock"]["cidr"] for entry in web["ingress"] for peer in entry["from"] if "ipBlock" in peer]
    assert blocks == ["2001:db8::/32", "203.0.113.0/24"]


def test_cilium_refuses_the_label_that_disables_it() -> None:
    loads = {a: Workload(a, a, "shop", {"host": "web" if a in WEB else "db"}) for a in (*WEB, *DB)}
    with pytest.raises(UserError, match="host"):
        compile_policy(_with_outside(), Inventory(loads), Target.CILIUM)


def test_quarantined_roles_get_nothing() -> None:
    policy = _with_outside()
    inventory = Inventory(quarantine=frozenset({"web"}), prefixes=_inventory().prefixes)
    text = compile_policy(policy, inventory, Target.NFTABLES).files["segment.nft"]
    assert "r_web" not in text and "r_db" in text


def test_bad_files_are_refused_by_the_checkers(tmp_path: Path) -> None:
    compiled = compile_policy(_with_outside(), _inventory(), Target.NFTABLES)
    (tmp_path / "segment.nft").write_text(compiled.files["segment.nft"].replace("dport 5432", "dport 99999"))
    check = check_compiled(compiled, tmp_path)[0]
    if check.ok is None:
        pytest.skip(f"{check.checker} cannot run here: {check.detail}")
    assert check.ok is False
    broken = compile_policy(_with_outside(), _inventory(), Target.AZURE)
    text = broken.files["segment.tf.json"].replace('"priority": 101', '"priority": 100')
    from dataclasses import replace

    assert check_compiled(replace(broken, files={"segment.tf.json": text}), tmp_path)[0].ok is False


def test_two_strays_between_large_roles_are_not_a_rule() -> None:
    many = [f"10.1.0.{at}" for at in range(1, 31)]
    others = [f"10.2.0.{at}" for at in range(1, 31)]
    stray = [(many[at], others[at + 5], 6, 22, 1, 1, 1, 0, 0) for at in (0, 7)]
    # The same port strays elsewhere, too; port 9000 does not, and two pairs there are a service.
    stray += [(others[at], many[at + 9], 6, 22, 1, 1, 1, 0, 0) for at in range(12)]
    service = [(many[at], others[at + 5], 6, 9000, 1, 1, 1, 0, 0) for at in (0, 7)]
    edges = population(*stray, *service, *[good(c, others[0], 443) for c in many])
    found = synthesise(edges, Roles({"many": many, "others": others}))
    assert {rule.port_low for rule in found.rules if rule.client == "many"} == {443, 9000}
    assert [(item.client, item.reason) for item in found.review if item.port == 22 and item.client == "many"] == [
        ("many", "one-off")
    ]


def test_no_name_in_the_picture_covers_another() -> None:
    names = [f"shop-recommendation-service-{at}" for at in range(40)]
    rules = tuple(Rule(names[at], names[(7 * at + 1) % 40], 6, 80, 80) for at in range(40))
    figure = role_figure(Policy(Mode.ROLE, rules, (), {name: [name] for name in names}))
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts if not text.get_text().isdigit()]
    assert not any(a.overlaps(b) for at, a in enumerate(boxes) for b in boxes[:at])
    legend = "\n".join(text.get_text() for text in figure.texts)
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert all(name in shown or name in legend for name in names)
