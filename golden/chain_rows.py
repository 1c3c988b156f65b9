"""Chains on plain rows: what is true after each step, without a graph and apart from the reference programs."""

from __future__ import annotations

from typing import Any

from nl2net.golden.built import BuiltGraph
from nl2net.golden.chain_steps import Chain, Question, Step
from nl2net.golden.solvers import Solved, Values
from nl2net.model import Changes


class Blocked(Exception):
    """A precondition of a step does not hold; the message says which."""


class Rows:
    """Ports by switch and switches by group; only what the steps touch is copied from the original."""

    def __init__(self, built: BuiltGraph) -> None:
        self._built = built
        self._ports: dict[str, dict[str, int]] = {}
        self._members: dict[str, dict[str, None]] = {}
        self._switch_of: dict[str, str] = {}
        self.gone: set[str] = set()
        self.switches: list[str] = []  # the switch of each step so far

    def ports(self, switch: str) -> dict[str, int]:
        """Capacity by port of a switch."""
        if switch not in self._ports:
            self._ports[switch] = dict(_ports_of(self._built, switch))
        return self._ports[switch]

    def members(self, group: str) -> dict[str, None]:
        """Switches of a group, in order."""
        if group not in self._members:
            self._members[group] = dict(_members_of(self._built, group))
        return self._members[group]

    def group_of(self, switch: str) -> str:
        """The group that holds a switch now; empty if none does."""
        homes = [g for g, members in self._members.items() if switch in members]
        b = self._built
        homes += [g for g in b.parents[switch] if g not in self._members and b.nodes[g]["kind"] == b.words["GROUP"]]
        return homes[0] if homes else ""

    def apply(self, step: Step) -> None:
        """Do one step.

        Raises
        ------
        Blocked
            Something that it needs is not there, it would leave a switch without ports, or it would change nothing.
        """
        switch = self._switch_meant(step)
        if not switch or switch in self.gone:
            raise Blocked("no such switch")
        ports = self.ports(switch)
        match step.action:
            case "add_port":
                if step.other in ports or step.other in self._built.nodes:
                    raise Blocked("the port is there already")
                ports[step.other] = step.speed
                self._switch_of[step.other] = switch
            case "remove_port":
                if len(ports) < 2:
                    raise Blocked("the last port")
                del ports[step.node]
            case "set_port":
                self._set(switch, [step.node], step.speed)
            case "set_switch":
                self._set(switch, list(ports), step.speed)
            case "remove_switch" | "move_switch":
                self._leave(switch, step)
            case _:
                raise Blocked("unknown action")
        self.switches.append(switch)

    def _switch_meant(self, step: Step) -> str:
        if step.action in ("remove_port", "set_port"):
            above = self._switch_of.get(step.node) or next(iter(self._built.parents.get(step.node, ())), "")
            return above if above and above not in self.gone and step.node in self.ports(above) else ""
        if step.via:
            return self.switches[step.via - 1] if step.via <= len(self.switches) else ""
        return step.node

    def _set(self, switch: str, ports: list[str], speed: int) -> None:
        now = self.ports(switch)
        if all(now[p] == speed for p in ports):
            raise Blocked("nothing would change")
        now.update(dict.fromkeys(ports, speed))

    def _leave(self, switch: str, step: Step) -> None:
        group = self.group_of(switch)
        if not group:
            raise Blocked("in no group")
        if step.action == "move_switch":
            if step.other == group:
                raise Blocked("nothing would change")
            self.members(step.other)[switch] = None
        else:
            self.gone.add(switch)
        del self.members(group)[switch]

    def answer(self, question: Question) -> Any:
        """The answer after the steps so far; for ``rank`` the whole ranking, for ``model`` the difference."""
        if question.ask == "model":
            return self.changes()
        if question.ask == "ports":
            return list(self.ports(question.node))
        group = self.group_of(question.node) if question.via_switch else question.node
        totals = {s: sum(self.ports(s).values()) for s in self.members(group)}
        match question.ask:
            case "count":
                return sum(len(self.ports(s)) for s in totals)
            case "capacity":
                return sum(totals.values())
            case "switches":
                return list(totals)
        return sorted(totals.items(), key=lambda item: (-item[1], item[0]))

    def changes(self) -> Changes:
        """The difference to the original, worked out from the rows that were touched."""
        b = self._built
        old = Rows(b)
        added, removed, changed, lost, moved = [], [], {}, set[tuple[str, str]](), []
        edges_added: list[dict[str, Any]] = []
        for switch, ports in self._ports.items():
            now = {} if switch in self.gone else ports
            before = old.ports(switch)
            removed += [p for p in before if p not in now]
            for p, speed in now.items():
                if p not in before:
                    name = p.split(":", 1)[1]
                    added.append({"id": p, "kind": b.words["PORT"], "name": name, b.words["cap"]: speed})
                    edges_added.append({"source": switch, "target": p, "kind": b.words["CONTAINS"]})
                elif before[p] != speed:
                    changed[p] = {b.words["cap"]: [before[p], speed]}
        removed += self.gone
        for n in removed:
            lost |= {(parent, n) for parent in (*b.parents[n], *_controllers(b).get(n, ()))}
            lost |= {(n, child) for child in (*b.children[n], *b.controls[n])}
        for group, members in self._members.items():
            moved += [(group, s) for s in members if s not in old.members(group)]
            lost |= {(group, s) for s in old.members(group) if s not in members}
        edges_added += [{"source": g, "target": s, "kind": b.words["CONTAINS"]} for g, s in moved]
        gone_edges = tuple({"source": u, "target": v} for u, v in sorted(lost))
        return Changes(tuple(added), tuple(removed), changed, tuple(edges_added), gone_edges)


def _ports_of(b: BuiltGraph, switch: str) -> dict[str, int]:
    known: dict[str, dict[str, int]] = b.cache.setdefault("ports of", {})
    if switch not in known:
        rows = ((p, b.nodes[p]) for p in b.children[switch])
        known[switch] = {p: row[b.words["cap"]] for p, row in rows if row["kind"] == b.words["PORT"]}
    return known[switch]


def _members_of(b: BuiltGraph, group: str) -> dict[str, None]:
    known: dict[str, dict[str, None]] = b.cache.setdefault("members of", {})
    if group not in known:
        known[group] = dict.fromkeys(s for s in b.children[group] if b.nodes[s]["kind"] == b.words["SWITCH"])
    return known[group]


def _controllers(built: BuiltGraph) -> dict[str, list[str]]:
    if "controllers of" not in built.cache:
        found: dict[str, list[str]] = {}
        for c, switches in built.controls.items():
            for s in switches:
                found.setdefault(s, []).append(c)
        built.cache["controllers of"] = found
    table: dict[str, list[str]] = built.cache["controllers of"]
    return table


def run_chain(chain: Chain, built: BuiltGraph, *, without: int = -1) -> Rows:
    """The rows after all steps, or after all but one.

    Raises
    ------
    Blocked
        A precondition does not hold.
    """
    rows = Rows(built)
    for number, step in enumerate(chain.steps):
        if number != without:
            rows.apply(step)
        else:
            rows.switches.append("")
    return rows


def solve_chain(built: BuiltGraph, values: Values) -> Solved:
    """The second solver: reads the chain back from its words, and nothing else."""
    from nl2net.golden.case import Split
    from nl2net.golden.chain_steps import parse

    chain = parse(values["words_eval"], built, Split.EVAL)
    if chain is None or chain != parse(values["words_dev"], built, Split.DEV):
        raise Blocked("the words do not state the chain")
    rows = run_chain(chain, built)
    idle = () if chain.question.ask == "model" else (_plain(Rows(built).answer(chain.question), chain.question),)
    return Solved(values, value=rows.answer(chain.question), changes=rows.changes(), idle=idle)


def _plain(answer: Any, question: Question) -> Any:
    return answer[: question.first] if question.ask == "rank" else answer
