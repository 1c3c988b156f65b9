"""The chat client behind the narrow door: what leaves is logged, and private passages stay on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nl2net.errors import PrivacyError
from nl2net.incident.client import ChatModel, PassageGate
from nl2net.incident.corpus import Corpus
from nl2net.incident.loop import Investigator
from nl2net.llm import ChatClient, Endpoint, OutgoingRequest
from tests.scripted_server import ScriptedServer

NOTE = "# Vega exchange outage\n- The Vega exchange failed at 10:00 UTC on 3 May 2031.\n- Staff of Vega drank tea.\n"


def test_requests_are_logged_byte_for_byte(make_corpus: Callable[..., Corpus], tmp_path: Path) -> None:
    corpus = make_corpus(a__md=NOTE)
    log = tmp_path / "egress.log"
    with ScriptedServer(["2", "yes", "staff of Vega drank tea"]) as server:
        endpoint = Endpoint(server.base_url, "scripted", api_key="k")
        model = ChatModel(ChatClient(endpoint, gate=PassageGate(log, public=False)))
        report = Investigator(corpus, model=model).investigate("What beverage was consumed by staff of Vega?")
        sent = [request.body.decode() for request in server.chats]
    assert report.answer.startswith("staff of Vega drank tea")
    assert [json.loads(line)["body"] for line in log.read_text().splitlines()] == sent
    assert report.egress["requests"] == len(sent) == 3


def test_the_gate_keeps_private_passages_here(tmp_path: Path) -> None:
    gate = PassageGate(tmp_path / "log", public=False)
    with pytest.raises(PrivacyError, match="private corpus"):
        gate.inspect(OutgoingRequest("POST", "https://api.example.org/v1/chat/completions", body=b"passage"))
    assert not (tmp_path / "log").exists()
    PassageGate(tmp_path / "log", public=True).inspect(
        OutgoingRequest("POST", "https://api.example.org/v1", body=b"passage")
    )
    assert "passage" in (tmp_path / "log").read_text()
