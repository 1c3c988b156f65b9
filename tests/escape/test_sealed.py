"""The proof of wall two: the corpus through the operating system alone and through both walls; raw hostile Python."""

from __future__ import annotations

import errno
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nl2net.errors import Unavailable
from nl2net.sandbox import Level
from nl2net.sandbox.process.worker import WorkerOptions
from tests.escape import arena as place
from tests.escape.arena import Arena
from tests.escape.harness import Snippet, corpus, expected_leaks, judge, with_values
from tests.escape.preload import NAMES
from tests.escape.raw_attempts import ATTEMPTS, program
from tests.escape.sealed import HONEST, ROOT, ask, holder, to_reply, wall

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

RESIDUES = {109: "leak", 190: "leak"}
# With plain Python in place of wall one, these goals must still not be reached.
OS_FAMILIES = {"fileread", "filewrite", "network", "spawn", "env", "poison", "mutate", "memory", "cpu"}

# Absent in every worker, with what cannot be imported without them.
ABSENT = {"jinja2", "matplotlib", "pandas.io.formats.style"}
LANGUAGE_FAMILIES = {"reach", "leakstr"}

# What stands in the memory of the forking parent must not be in the child: it starts by exec.
planted: dict[str, str] = {}


def _run_corpus(options: Callable[[], Any], arena: Arena, snippets: Sequence[Snippet] | None = None) -> dict[str, str]:
    planted["planted_other_secret"] = arena.planted
    outcomes = {}
    with holder(options()) as graph:
        before = ask(graph, HONEST)
        assert before.value is not None, before.error
        for snippet in snippets or corpus():
            arena.clean()
            report = ask(graph, with_values(snippet.source, arena.names()))
            after = ask(graph, HONEST).value
            reply = to_reply(report, before=before.value, after=after)
            outcomes[str(snippet.number)] = judge(snippet, reply, arena, trivial_mb=before.peak_mb, supervised=True)
    return outcomes


def _leaks(outcomes: dict[str, str]) -> set[int]:
    return {int(number) for number, outcome in outcomes.items() if outcome == "leak"}


def test_both_walls_leave_the_two_residues() -> None:
    outcomes = place.enter(lambda arena: _run_corpus(lambda: None, arena))
    assert _leaks(outcomes) == set(RESIDUES) == expected_leaks("both")
    assert {s.number for s in corpus() if s.expected["both"] == "leak"} == set(RESIDUES)


def test_operating_system_alone_leaks_what_the_table_says() -> None:
    """Both ways: a snippet that no longer reaches its goal under the weak language proves nothing any more."""
    outcomes = place.enter(lambda arena: _run_corpus(lambda: wall("naive_wall"), arena))
    assert _leaks(outcomes) == expected_leaks("os_only")
    index = {s.number for s in corpus() if s.expected["os_only"] == "leak"}
    # Our weak language offers `operator` and `functools`, which the set-up of the index does not.
    assert expected_leaks("os_only") - index == {76, 103}


def test_noted_snippets_with_the_modules_they_stumbled_over() -> None:
    """A stop at a missing module proves nothing: once more with everything loaded before the seal."""
    loaded = tuple(name for name in NAMES if name not in ABSENT)
    noted = [s for s in corpus() if s.note]
    assert len(noted) >= 15

    def both(arena: Arena) -> dict[str, str]:
        return _run_corpus(lambda: WorkerOptions(modules=loaded, paths=(ROOT,)), arena, noted)

    def os_only(arena: Arena) -> dict[str, str]:
        return _run_corpus(lambda: replace(wall("naive_wall"), modules=loaded), arena, noted)

    assert _leaks(place.enter(both)) <= set(RESIDUES)
    families = {s.number: s.family for s in noted}
    reached = _leaks(place.enter(os_only))
    assert {n for n in reached if families[n] in OS_FAMILIES} == set()
    # Inside the interpreter the operating system is no wall; nothing but that may be added by the modules.
    assert {families[n] for n in reached - expected_leaks("os_only")} <= LANGUAGE_FAMILIES | {"memscan"}


def test_plain_python_in_the_sealed_child_reaches_no_goal_of_the_operating_system() -> None:
    outcomes = place.enter(lambda arena: _run_corpus(lambda: wall("plain_wall"), arena))
    families = {s.number: s.family for s in corpus()}
    assert {n for n in _leaks(outcomes) if families[n] in OS_FAMILIES} == set()


def _attempt_all(options: Any, names: dict[str, Any], *, accept_unsealed: bool = False) -> list[str]:
    """Attempts that reached their goal."""
    reached = []
    with holder(options, accept_unsealed=accept_unsealed) as graph:
        for name, body in ATTEMPTS.items():
            report = ask(graph, with_values(program(body), names))
            if isinstance(report.value, str) and report.value.startswith("REACHED"):
                reached.append(name)
    return sorted(reached)


def test_raw_attempts_as_the_present_user_reach_nothing(tmp_path: Path) -> None:
    """The full seal, also as root where the tests run as root: it is the shipped path, not a control."""
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    names: dict[str, Any] = {"SECRET_PATH": str(secret), "PORT": 9}
    absent = f"/dev/shm/never-{secrets.token_hex(8)}"
    names |= {"WRITE_PATH": absent, "MARK_PATH": absent}
    assert _attempt_all(wall("plain_wall"), names) == []


ABLATIONS: dict[str, dict[str, int]] = {
    "all layers": {},
    "no namespaces": {"namespaces": errno.EPERM},
    "no landlock": {"landlock": errno.ENOSYS},
    "landlock switched off": {"landlock": errno.EOPNOTSUPP},
    "no mdwe": {"mdwe": errno.EINVAL},
    "seccomp alone": {"namespaces": errno.EPERM, "landlock": errno.ENOSYS, "mdwe": errno.EINVAL},
    "no seccomp": {"seccomp": errno.ENOSYS},
    "no rlimits": {"rlimits": errno.EPERM},
    "nothing": dict.fromkeys(
        ("namespaces", "landlock", "mdwe", "seccomp", "rlimits", "user", "no_new_privs"), errno.EPERM
    ),
}
HARMLESS = {"all layers", "no namespaces", "no landlock", "landlock switched off", "no mdwe", "seccomp alone"}


def test_each_layer_in_turn() -> None:
    def work(arena: Arena) -> Any:
        found = {}
        for name, emulate in ABLATIONS.items():
            found[name] = _attempt_all(wall("plain_wall", emulate=emulate), arena.names(), accept_unsealed=True)
            arena.clean()
        return found

    reached = place.enter(work)
    assert {name: reached[name] for name in HARMLESS} == {name: [] for name in HARMLESS}
    assert reached["no rlimits"] == ["take memory"]
    # Without seccomp something must get through, or the attempts have no teeth; Landlock still keeps files.
    assert {"host name", "stat a file"} <= set(reached["no seccomp"])
    assert "read a file" not in reached["no seccomp"]
    # The fresh user namespace of an ordinary user grants capabilities, and they are given up.
    assert not {"chroot", "mount", "become root"} & set(reached["no seccomp"])
    assert len(reached["nothing"]) >= 30
    assert {"read a file", "write a file", "tcp socket", "start a program"} <= set(reached["nothing"])


@pytest.mark.parametrize(
    ("emulate", "level"),
    [
        ({"namespaces": errno.EPERM}, Level.SEALED),
        ({"landlock": errno.ENOSYS}, Level.SEALED),
        ({"landlock": errno.EOPNOTSUPP, "namespaces": errno.EPERM}, Level.SEALED),
        ({"seccomp": errno.ENOSYS}, Level.PARTIAL),
        ({"seccomp": errno.ENOSYS, "landlock": errno.ENOSYS}, Level.UNSEALED),
        ({"no_new_privs": errno.EPERM, "namespaces": errno.EPERM}, Level.UNSEALED),
    ],
)
def test_degraded_kernels(emulate: dict[str, int], level: Level) -> None:
    """Below SEALED nothing runs, unless the operator accepted it; the report names what is missing."""
    options = wall("plain_wall", emulate=emulate)
    honest = "def answer(graph):\n    return 1"
    if level is Level.SEALED:
        with holder(options) as graph:
            report = ask(graph, honest)
        assert (report.value, report.layers.level, report.layers.accepted_unsealed) == (1, level, False)
        assert all(report.layers.layers[name] != "held" for name in emulate)
        return
    with holder(options) as graph, pytest.raises(Unavailable) as caught:
        ask(graph, honest)
    assert caught.value.exit_code == 5 and "--i-accept-unsealed-execution" in caught.value.hint

    def accepted(arena: Arena) -> Any:
        with holder(options, accept_unsealed=True) as graph:
            report = ask(graph, honest)
        return [report.value, report.layers.level.value, report.layers.accepted_unsealed]

    assert place.enter(accepted) == [1, level.value, True]
