"""What other parts use: the sealed parser, the arguments of bubblewrap, and doctor."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from nl2net.errors import ProgramFailed, TimeLimit
from nl2net.sandbox.doctor import examine
from nl2net.sandbox.outcome import Level, Limits
from nl2net.sandbox.process.bubblewrap import bubblewrap_arguments
from nl2net.sandbox.process.parser import ParserWorker

pytestmark = pytest.mark.kernel


def test_a_document_is_parsed_in_a_sealed_child() -> None:
    with ParserWorker(["json", "time", "os"]) as worker:
        assert worker.parse_sealed("json:loads", b'{"a": [1, 2.5, "x"]}') == {"a": [1, 2.5, "x"]}
        with pytest.raises(ProgramFailed):
            worker.parse_sealed("json:loads", b"{")
        with pytest.raises(ProgramFailed, match="PermissionError"):
            worker.parse_sealed("os:listdir", b"/")
        with pytest.raises(ProgramFailed, match="not one of the parsers"):
            worker.parse_sealed("subprocess:run", b"true")
    with ParserWorker(["re"]) as worker, pytest.raises(TimeLimit):
        worker.parse_sealed("re:compile", b"(" * 90 + b"a{1,900}" + b"){1,900}" * 90, limits=Limits(wall_s=0.001))


def test_bubblewrap_arguments_name_everything_that_is_shared() -> None:
    arguments = bubblewrap_arguments(["ip", "addr"], read_only=["/usr"], writable=["/tmp/x"])
    assert "--unshare-net" in arguments and "--clearenv" in arguments and arguments[-3:] == ["--", "ip", "addr"]
    assert "--unshare-net" not in bubblewrap_arguments(["ip"], share_network=True)
    with pytest.raises(ValueError):
        bubblewrap_arguments([])


@pytest.mark.slow
def test_doctor_attacks_every_layer_and_all_hold() -> None:
    report = examine()
    assert report.layers.level is Level.SEALED, report.problem
    missed = [trial for trial in report.trials if not trial.held]
    absent = {name for name, value in report.layers.layers.items() if value != "held"}
    assert [trial for trial in missed if trial.layer not in absent] == []
    aimed = {trial.layer for trial in report.trials}
    assert {
        "policy",
        "descriptors",
        "rlimits",
        "namespaces",
        "landlock",
        "seccomp",
        "mdwe",
        "channel",
        "deadline",
        "parent death",
    } <= aimed
    assert "versions" in json.loads(json.dumps(report.to_json()))


def test_nothing_of_the_worker_is_imported_by_the_command_line() -> None:
    code = "import nl2net.cli.doctor, sys; sys.exit('pandas' in sys.modules or 'networkx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
