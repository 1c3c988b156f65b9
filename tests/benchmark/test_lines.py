"""Replies and command lines: read, taken apart, judged on the parsed words."""

from __future__ import annotations

import pytest

from nl2net.benchmark.applications import application
from nl2net.benchmark.applications.lines import BadLine, split_line
from nl2net.benchmark.applications.making import make_tasks
from nl2net.benchmark.applications.tasks import Task
from nl2net.benchmark.replies import MAX_REPLY, BadReply, read_reply
from nl2net.golden.case import Split


@pytest.fixture(scope="module")
def routing() -> Task:
    return make_tasks("routing", "lines", Split.DEV, 1).tasks[0]


@pytest.fixture(scope="module")
def policy() -> Task:
    return make_tasks("policy", "lines", Split.DEV, 1).tasks[0]


def verdict(task: Task, line: str, place: str = "") -> str:
    """``read``, ``change``, ``refused`` or ``forbidden`` for the worst command of a line."""
    where = place or task.plan["repair_at"][0]
    found = [application(task.application).judge(task.state, where, item.words) for item in split_line(line)]
    if any(item.forbidden for item in found):
        return "forbidden"
    if not all(item.allowed for item in found):
        return "refused"
    return "change" if any(item.changes for item in found) else "read"


@pytest.mark.parametrize("line", [
    "ip a", "ip -br addr show dev lan1", "ip route", "ip rule list", "ip neigh", "ip -4 route show", "iptables -S",
    "iptables -L -n -v", "iptables -t filter -L INPUT", "sysctl net.ipv4.ip_forward", "ping -c 2 10.0.0.1",
])  # fmt: skip
def test_reading_is_offered(routing: Task, line: str) -> None:
    assert verdict(routing, line) == "read"


@pytest.mark.parametrize("line", [
    "ip link set dev lan1 up mtu 1500", "ip addr add 10.0.0.1/24 dev lan1", "ip addr flush dev lan1",
    "ip route replace 10.0.0.0/24 via 10.1.0.1", "ip rule del pref 0 prohibit", "iptables -D FORWARD 1",
    "iptables -P FORWARD ACCEPT", "iptables -F", "sysctl -w net.ipv4.ip_forward=1", "ip addr; ip link set lan1 down",
])  # fmt: skip
def test_changes_are_offered_on_routers_and_forbidden_on_hosts(routing: Task, line: str) -> None:
    assert verdict(routing, line) == "change"
    host = next(place for place in routing.plan["places"] if place not in routing.plan["repair_at"])
    assert verdict(routing, line, host) == "forbidden"


@pytest.mark.parametrize("line", [
    "sudo ip link set lan1 up", "/usr/bin/sudo ip a", "bash -c 'ip a'", "reboot", "ip netns exec x ip a",
    "ip link add dummy0 type dummy", "ip link set lan1 netns 1", "ip link set lan1 name lan9", "ip -n other addr",
    "ip -batch file", "ping -f -c 1 10.0.0.1", "sysctl -w kernel.panic=1", "ip a && rm -rf /", "ip a; kill 1",
])  # fmt: skip
def test_forbidden_is_matched_on_the_parsed_command(routing: Task, line: str) -> None:
    assert verdict(routing, line) == "forbidden"


@pytest.mark.parametrize("line", [
    "tcpdump -i any", "traceroute 10.0.0.1", "ping 10.0.0.1", "ping -c 1000 10.0.0.1", "iptables -t nat -F",
    "nft list ruleset", "ip tuntap", "iptables -N X", "sysctl -a", "cat /proc/version", "./ip addr",
])  # fmt: skip
def test_what_is_not_offered_is_only_refused(routing: Task, line: str) -> None:
    expected = "forbidden" if line == "ip tuntap" else "refused"
    assert verdict(routing, line) == expected


def test_a_forbidden_word_as_an_operand_is_no_offence(routing: Task) -> None:
    assert verdict(routing, "ip addr show dev sudo") == "read"


@pytest.mark.parametrize(("line", "expected"), [
    ("kubectl get networkpolicy -A", "read"),
    ("kubectl describe netpol x -n y", "read"),
    ("kubectl get pods -nshop -oyaml", "read"),
    ("kubectl patch networkpolicy x -n y --type merge -p '{\"spec\": {}}'", "change"),
    ("kubectl -n y delete networkpolicies.networking.k8s.io/x", "change"),
    ("kubectl delete namespace y", "forbidden"),
    ("kubectl patch service x -p '{}'", "forbidden"),
    ("kubectl exec pod -- sh", "forbidden"),
    ("kubectl apply -f x.yaml", "forbidden"),
    ("kubectl get pods --kubeconfig=/other", "forbidden"),
    ("kubectl get pods --as admin", "forbidden"),
    ("kubectl top pods", "refused"),
    ("kubectl get pods --watch", "refused"),
    ("ip addr", "refused"),
    ("sudo kubectl get pods", "forbidden"),
])  # fmt: skip
def test_kubectl(policy: Task, line: str, expected: str) -> None:
    assert verdict(policy, line) == expected


@pytest.mark.parametrize("line", [
    "", "   ", ";", "ip a | tee x", "ip a > /tmp/x", "ip a &", "(ip a)", "ip a\nrm x", "ip 'a", "ip a < x", "x" * 9000,
])  # fmt: skip
def test_only_lists_of_simple_commands_are_taken(line: str) -> None:
    with pytest.raises(BadLine):
        split_line(line)


def test_substitutions_are_plain_text() -> None:
    assert split_line("ip addr `x` $HOME")[0].words == ("ip", "addr", "`x`", "$HOME")
    with pytest.raises(BadLine):
        split_line("ip addr $(reboot)")


@pytest.mark.parametrize(("text", "node", "command"), [
    ('{"node": "r1", "command": "ip a"}', "r1", "ip a"),
    ('thinking {"x": 1} ... ```json\n{"node": "r1", "command": "ip a"}\n```', "r1", "ip a"),
    ('{"node": "r1", "command": "first"} no: {"node": "r2", "command": "second"}', "r2", "second"),
    ("Node: r1\nCommand: ip a", "r1", "ip a"),
    ('{"command": "ip a", "outcome": "solved", "safe": true}', "only", "ip a"),
])  # fmt: skip
def test_the_last_object_of_a_reply_counts(text: str, node: str, command: str) -> None:
    found = read_reply(text, places=["only"])
    assert (found.node, found.command, found.done) == (node, command, False)


@pytest.mark.parametrize("text", [
    "", "done", '{"outcome": "solved", "correct": true}', '{"done": "yes"}', '{"command": 1, "node": "r1"}', "{" * 5000,
    '{"command": "ip a"}', "x" * (MAX_REPLY + 1), "[1, 2]",
])  # fmt: skip
def test_a_reply_without_a_step_is_invalid(text: str) -> None:
    with pytest.raises(BadReply):
        read_reply(text, places=["r1", "r2"])


def test_a_diagnosis_is_read_without_regard_to_case() -> None:
    found = read_reply('{"done": true, "diagnosis": [{"kind": "Wrong_Route", "place": " R1 "}, 5]}')
    assert found.diagnosis == {("wrong_route", "r1")}
    assert read_reply('{"done": true}').diagnosis is None
