"""Reference programs of chains: one block of lines per step, then the question."""

from __future__ import annotations

from nl2net.golden.built import BuiltGraph
from nl2net.golden.chain_steps import Chain, Question, Step

_STEPS = {
    "add_port": """\
changed.add_node("{other}", kind="{PORT}", name="{name}", **{{"{cap}": {speed}}})
changed.add_edge({switch}, "{other}", kind="{CONTAINS}")""",
    "remove_port": 'changed.remove_node("{node}")',
    "remove_switch": """\
ports = [n for n in changed.successors({switch}) if changed.nodes[n]["kind"] == "{PORT}"]
changed.remove_nodes_from([*ports, {switch}])""",
    "set_port": 'changed.nodes["{node}"]["{cap}"] = {speed}',
    "set_switch": """\
for n in changed.successors({switch}):
    if changed.nodes[n]["kind"] == "{PORT}":
        changed.nodes[n]["{cap}"] = {speed}""",
    "move_switch": """\
home = next(n for n in changed.predecessors({switch}) if changed.nodes[n]["kind"] == "{GROUP}")
changed.remove_edge(home, {switch})
changed.add_edge("{other}", {switch}, kind="{CONTAINS}")""",
}
_QUESTIONS = {
    "count": 'return sum(1 for n in nx.descendants(changed, {group}) if changed.nodes[n]["kind"] == "{PORT}")',
    "capacity": """\
ports = [n for n in nx.descendants(changed, {group}) if changed.nodes[n]["kind"] == "{PORT}"]
return sum(changed.nodes[n]["{cap}"] for n in ports)""",
    "switches": 'return [n for n in changed.successors({group}) if changed.nodes[n]["kind"] == "{SWITCH}"]',
    "ports": 'return [n for n in changed.successors({group}) if changed.nodes[n]["kind"] == "{PORT}"]',
    "rank": """\
totals = {{}}
for s in changed.successors({group}):
    if changed.nodes[s]["kind"] == "{SWITCH}":
        ports = [n for n in changed.successors(s) if changed.nodes[n]["kind"] == "{PORT}"]
        totals[s] = sum(changed.nodes[n]["{cap}"] for n in ports)
return sorted(totals.items(), key=lambda item: item[1], reverse=True)[:{first}]""",
    "model": "return changed",
}
_HOLDER = 'next(n for n in changed.predecessors("{node}") if changed.nodes[n]["kind"] == "{kind}")'


def program_of(chain: Chain, built: BuiltGraph) -> str:
    """The program that carries out the steps on a copy of the graph and answers the question on what they leave."""
    lines = ["changed = graph.copy()"]
    wanted = {step.via for step in chain.steps}
    for number, step in enumerate(chain.steps, start=1):
        lines += _step_lines(step, number, built, remember=number in wanted)
    lines += _question_lines(chain.question, built)
    return "def answer(graph):\n" + "".join(f"    {line}\n" for line in lines)


def _step_lines(step: Step, number: int, built: BuiltGraph, *, remember: bool) -> list[str]:
    on_port = step.action in ("remove_port", "set_port")
    switch = f"switch_{step.via}" if step.via else f'"{step.node}"'
    before = []
    if remember:
        held = _HOLDER.format(node=step.node, kind=built.words["SWITCH"]) if on_port else switch
        before.append(f"switch_{number} = {held}")
    name = step.other.split(":", 1)[-1]
    values = {"node": step.node, "other": step.other, "speed": step.speed, "switch": switch, "name": name}
    return [*before, *_STEPS[step.action].format_map({**built.words, **values}).splitlines()]


def _question_lines(question: Question, built: BuiltGraph) -> list[str]:
    group, before = f'"{question.node}"', []
    if question.via_switch:
        before = [f"group = {_HOLDER.format(node=question.node, kind=built.words['GROUP'])}"]
        group = "group"
    text = _QUESTIONS[question.ask].format_map({**built.words, "group": group, "first": question.first})
    return [*before, *text.splitlines()]
