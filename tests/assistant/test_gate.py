"""Nothing of the data passes the gate, and everything that passes is in the log."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from nl2net.assistant.entities import EntityIndex
from nl2net.assistant.gate import PrivacyGate
from nl2net.errors import PrivacyError
from nl2net.graphs import LoadedGraph
from nl2net.llm import OutgoingRequest


def request_of(text: str) -> OutgoingRequest:
    body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    return OutgoingRequest("POST", "http://127.0.0.1/v1/chat/completions", {}, body, "code")


@pytest.fixture
def gate(plant: LoadedGraph, tmp_path: Path) -> PrivacyGate:
    return PrivacyGate(EntityIndex.build(plant.graph, plant.schema), tmp_path / "log" / "egress.log", fixed_text="x")


@pytest.mark.parametrize("text", ["see core1.fra", "CORE1.FRA", "in Frankfurt", "in Muenchen", "an 'outpost' here"])
def test_names_and_values_are_stopped(gate: PrivacyGate, text: str) -> None:
    with pytest.raises(PrivacyError) as caught:
        gate.inspect(request_of(text))
    assert text not in str(caught.value)
    line = json.loads(gate.log.read_text())
    assert line["blocked"] and line["body"] is None


@pytest.mark.parametrize("text", ["how many nodes have site?", "capacity_bps of NODE_1", "the role of nodes"])
def test_schema_words_and_placeholders_pass_and_are_logged(gate: PrivacyGate, text: str) -> None:
    gate.inspect(request_of(text))
    line = json.loads(gate.log.read_text())
    assert text in line["body"] and not line["blocked"]
    assert gate.egress.bytes == len(request_of(text).body)
    assert stat.S_IMODE(gate.log.stat().st_mode) == 0o600


def test_words_of_the_model_itself_may_go_back(gate: PrivacyGate) -> None:
    gate.allow("def answer(graph): return 'Frankfurt'")
    gate.inspect(request_of("you wrote 'Frankfurt'"))
    assert gate.egress.requests == 1 and not json.loads(gate.log.read_text())["blocked"]


def test_an_url_is_scanned_too(gate: PrivacyGate) -> None:
    with pytest.raises(PrivacyError):
        gate.inspect(OutgoingRequest("GET", "http://127.0.0.1/core1.fra", {}, b"", "models"))
