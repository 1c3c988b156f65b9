"""Chains of changes: words that lead back to the steps, two ways to the answer, invariants after every step."""

from __future__ import annotations

import copy
from collections import Counter
from itertools import combinations, product
from typing import Any

import pytest

from nl2net.errors import UserError
from nl2net.golden.built import BuiltGraph
from nl2net.golden.case import GraphSource, Level, Split
from nl2net.golden.catalogue import fill, intents
from nl2net.golden.chain_programs import program_of
from nl2net.golden.chain_rows import Blocked, Rows, run_chain
from nl2net.golden.chain_steps import Chain, Question, Step, as_parsed, parse, render
from nl2net.golden.chains import ACTIONS, DEPTHS, all_matter, capacity_intents, chain_intents, draw_chain
from nl2net.golden.comparison import compare
from nl2net.golden.execute import run_networkx, run_template
from nl2net.golden.gate import Rejected, prove
from nl2net.golden.generate import Recipe, generate
from nl2net.golden.graph_comparison import difference, same_changes
from nl2net.golden.invariants import broken_invariants
from nl2net.golden.lending import borrowed
from nl2net.golden.recipes import build_graph
from nl2net.golden.slots import NoOperand, draw_slots
from nl2net.golden.slots_planning import SPEEDS, ports_below
from nl2net.golden.space import distinct_chains
from nl2net.golden.streams import Stream
from nl2net.model import Library, Status


def _built(size: str = "medium", flavour: str = "malt") -> BuiltGraph:
    return build_graph(GraphSource("planning", "chains", {"flavour": flavour, "size": size}))


def _drawn(built: BuiltGraph) -> list[Chain]:
    return [draw_chain(built, Stream("chain", d, ask), d, ask, ACTIONS[ask]) for d in DEPTHS for ask in ACTIONS]


@pytest.mark.parametrize("flavour", ["malt", "clos", "backbone"])
def test_the_words_alone_lead_back_to_the_chain(flavour: str) -> None:
    built = _built("medium", flavour)
    for chain in _drawn(built):
        for split, number in product(Split, range(3)):
            words = render(chain, built, split, Stream("words", number))
            assert parse(words, built, split) == as_parsed(chain), words


def test_other_words_are_another_chain_or_none() -> None:
    built = _built()
    port = ports_below(built, built.kind("GROUP")[0])[0]
    chain = Chain((Step("set_port", port, speed=SPEEDS[0]),), Question("capacity", built.kind("GROUP")[0]))
    words = render(chain, built, Split.DEV, Stream("one"))
    other = parse(words.replace("1 Gbit/s", "40 Gbit/s"), built, Split.DEV)
    assert other is not None and other.steps[0].speed == 40_000_000_000
    assert parse(words.replace("port", "prot"), built, Split.DEV) is None
    assert parse(words, built, Split.EVAL) is None


def test_every_step_of_a_reference_keeps_the_model_sound_and_changes_it() -> None:
    built, undone = _built(), 0
    for chain in _drawn(built):
        before: Any = None
        for length in range(1, len(chain.steps) + 1):
            part = Chain(chain.steps[:length], Question("model"))
            with borrowed(built) as graph:
                twin = run_networkx(program_of(part, built), graph)
                changes = twin.changes()
                assert not broken_invariants(built, twin, changes)
                # A full comparison must see the same as the journal.
                assert length < len(chain.steps) or changes == difference(built.graph, twin)
            assert not twin.changes() and not difference(built.graph, twin)
            undone += 1
            assert not same_changes(run_chain(part, built).changes(), changes, directed=True)
            assert before != changes
            before = changes
    assert undone == sum(len(ACTIONS) * depth for depth in DEPTHS)


def test_generated_chains_are_proven_deep_and_marked() -> None:
    made = generate(Recipe("planning", "deep", count=60, graphs=2, size="medium", kind="chain"))
    depths = Counter(tag for case in made.cases for tag in case.tags)
    assert depths == {f"depth {depth}": 12 for depth in DEPTHS}
    assert any("of step" in case.question for case in made.cases)
    for case in made.cases:
        assert case.level is (Level.MEDIUM if "depth 2" in case.tags else Level.HARD)
        original = build_graph(case.graph).graph
        plain = copy.deepcopy(original)
        result = run_networkx(case.program, plain)
        assert compare(case.expected, result, case.comparison, graph=original), case.id
        assert not difference(original, plain)
        for entity in case.entities:
            assert entity.text in case.question


def test_a_step_that_does_not_matter_is_seen() -> None:
    built = _built()
    one, two = built.kind("GROUP")[:2]
    ports = ports_below(built, one)[:2], ports_below(built, two)[:1]
    raised = tuple(Step("remove_port", port) for port in (*ports[0], *ports[1]))
    assert all_matter(Chain(raised[:2], Question("count", one)), built)
    assert not all_matter(Chain(raised, Question("count", one)), built)
    assert not all_matter(Chain(raised[:2], Question("count", two)), built)


def test_preconditions_hold_before_each_step() -> None:
    built = _built()
    group = built.kind("GROUP")[0]
    switch = next(iter(Rows(built).members(group)))
    port, *rest = Rows(built).ports(switch)
    taken = f"{port.rstrip('0123456789')}{len(rest) + 1}"
    for steps in (
        [Step("remove_port", port), Step("remove_port", port)],
        [Step("remove_port", p) for p in (port, *rest)],
        [Step("remove_switch", switch), Step("set_switch", switch, speed=1)],
        [Step("move_switch", switch, group)],
        [Step("add_port", switch, taken, 1)],
        [Step("set_switch", "", speed=1, via=1)],
    ):
        with pytest.raises(Blocked):
            run_chain(Chain(tuple(steps), Question("model")), built)


def test_a_reference_that_skips_a_step_or_answers_another_question_fails_the_gate() -> None:
    built = _built()
    intent = next(intent for intent in chain_intents() if intent.name == "chain3_capacity")
    values = draw_slots(built, intent.slots, Stream("gate")).values
    assert prove(intent, built, values).expected > 0
    lines = values["chain_program"].splitlines(keepends=True)
    wrong = "".join(lines[:-1]) + lines[-1].replace("sum(", "2 * sum(")
    with pytest.raises(Rejected, match="disagreement"):
        prove(intent, built, {**values, "chain_program": wrong})
    idle = "".join([*lines[:2], *lines[-2:]])
    with pytest.raises(Rejected):
        prove(intent, built, {**values, "chain_program": idle})


def test_the_classic_types_are_ten() -> None:
    assert len(capacity_intents()) == 10
    made = generate(Recipe("planning", "ten", count=40, graphs=3, size="medium", kind="capacity"))
    assert {case.intent for case in made.cases} == {intent.name for intent in capacity_intents()}
    with pytest.raises(UserError, match="unknown kind"):
        generate(Recipe("traffic", "ten", kind="capacity"))


def test_the_number_of_chains_is_exact_for_its_family() -> None:
    built = _built("small")
    pairs = 0
    for group in built.kind("GROUP"):
        ports = ports_below(built, group)
        higher = {p: sum(s > built.nodes[p][built.words["cap"]] for s in SPEEDS) for p in ports}
        pairs += sum(higher[p] * higher[q] for p, q in combinations(ports, 2))
    assert distinct_chains(built)[2] == pairs
    assert sum(distinct_chains(_built("full")).values()) > 10**9


def test_bound_operands_give_what_the_written_program_gives() -> None:
    """The gate binds operands to a compiled template; the text of the case must mean the same."""
    for application in ("traffic", "planning"):
        for intent in intents(application):
            if intent.outcome is not Status.ANSWERED:
                continue
            template = intent.programs[Library.NETWORKX]
            for number in range(12):
                built = build_graph(GraphSource(application, f"bound/{number}"))
                if not set(intent.needs) <= built.facts:
                    continue
                try:
                    values = draw_slots(built, intent.slots, Stream("bound", intent.name)).values
                    text = run_networkx(fill(template, values), copy.deepcopy(built.graph))
                except NoOperand:
                    continue
                bound = run_template(template, values, copy.deepcopy(built.graph))
                same = difference(text, bound) if hasattr(text, "adj") else repr(text) != repr(bound)
                assert not same, intent.name
                break


def test_a_fat_tree_is_regular_and_a_backbone_is_not() -> None:
    tree = _built("medium", "fattree")
    counts = Counter(len(tree.children[s]) for s in tree.kind("SWITCH"))
    assert counts == {8: 80} and len(tree.kind("GROUP")) == 8
    stages = Counter(tree.nodes[s][tree.words["stage"]] for s in tree.kind("SWITCH"))
    assert stages == {2: 32, 3: 32, 4: 16}
    backbone = _built("medium", "backbone")
    assert len({len(backbone.children[s]) for s in backbone.kind("SWITCH")}) > 5
    assert 4500 < len(_built("full", "fattree").nodes) < 6500
    drawn = {build_graph(GraphSource("planning", f"any/{i}")).words["SWITCH"] for i in range(8)}
    assert drawn <= {"EK_PACKET_SWITCH", "switch", "router"}
    with pytest.raises(UserError, match="unknown flavour"):
        _built("small", "torus")
    for flavour in ("fattree", "backbone"):
        made = generate(Recipe("planning", "shapes", count=30, graphs=2, size="medium", flavour=flavour))
        assert {case.graph.options["flavour"] for case in made.cases} == {flavour}
