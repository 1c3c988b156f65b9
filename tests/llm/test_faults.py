"""What a user reads when an endpoint misbehaves: the right error, with a way out, in bounded time, without the key."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import pytest
from scripted_server import Fault, Scripted, ScriptedServer

from nl2net.errors import EndpointError, ModelError, ReplyError
from nl2net.llm import ChatClient, Endpoint, Message

PROMPT: list[Message] = [{"role": "user", "content": "How many nodes?"}]
KEY = "sk-very-secret"

FAULTS: list[tuple[Fault, type[ModelError], str]] = [
    (Fault.STATUS_401, EndpointError, "refused the key"),
    (Fault.STATUS_404, EndpointError, "has no model 'scripted'"),
    (Fault.STATUS_429, EndpointError, "rate limit"),
    (Fault.STATUS_500, EndpointError, "failed \\(HTTP 500\\)"),
    (Fault.TRUNCATED_JSON, ReplyError, "not valid JSON"),
    (Fault.NOT_JSON, ReplyError, "not valid JSON"),
    (Fault.EMPTY_CHOICES, ReplyError, "without choices"),
    (Fault.EMPTY_TEXT, ReplyError, "empty"),
    (Fault.HUGE, ReplyError, "larger than 4 MB"),
    (Fault.DISCONNECT, ModelError, "in the middle|before the reply was complete"),
    (Fault.SLOW_STREAM, EndpointError, "did not complete its reply in time"),
    (Fault.SILENT, EndpointError, "did not complete its reply in time"),
    (Fault.REDIRECT, EndpointError, "HTTP 307"),
]


@pytest.mark.parametrize(("fault", "kind", "words"), FAULTS, ids=[fault.name for fault, _, _ in FAULTS])
def test_every_fault_has_its_error(
    client_for: Callable[..., ChatClient], fault: Fault, kind: type[ModelError], words: str
) -> None:
    start = time.monotonic()
    timeout_s = 2.0 if fault in (Fault.SLOW_STREAM, Fault.SILENT) else 20.0
    with ScriptedServer([fault]) as server, pytest.raises(kind, match=words) as caught:
        client_for(server, key=KEY, timeout_s=timeout_s).complete(PROMPT, purpose="code")
    assert caught.value.exit_code == 3
    assert KEY not in str(caught.value) + caught.value.hint + repr(caught.value.__cause__)
    assert time.monotonic() - start < 20


def test_a_refused_connection_is_told_at_once(client_for: Callable[..., ChatClient], gate: object) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    client = ChatClient(Endpoint(f"http://127.0.0.1:{port}/v1", "m"), gate=gate)  # type: ignore[arg-type]
    start = time.monotonic()
    with pytest.raises(EndpointError, match="no connection to http://127") as caught:
        client.complete(PROMPT, purpose="code")
    assert caught.value.hint
    assert time.monotonic() - start < 3


def test_tries_are_bounded_and_waits_grow(client_for: Callable[..., ChatClient]) -> None:
    waits: list[float] = []
    with ScriptedServer([Fault.STATUS_500]) as server:
        with pytest.raises(EndpointError):
            client_for(server, sleep=waits.append, retries=3).complete(PROMPT, purpose="code")
        assert len(server.requests) == 4
    assert waits == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(("asked", "waits"), [("3", [3.0]), ("3600", [])])
def test_retry_after_is_honoured_up_to_a_limit(
    client_for: Callable[..., ChatClient], asked: str, waits: list[float]
) -> None:
    slept: list[float] = []
    busy = Scripted(status=429, error="busy", headers={"Retry-After": asked})
    with ScriptedServer([busy, "fine"]) as server:
        client = client_for(server, sleep=slept.append)
        if waits:
            assert client.complete(PROMPT, purpose="code").text == "fine"
        else:
            with pytest.raises(EndpointError, match="rate limit"):
                client.complete(PROMPT, purpose="code")
    assert slept == waits


def test_a_wrong_key_is_not_tried_again(client_for: Callable[..., ChatClient]) -> None:
    with ScriptedServer([Fault.STATUS_401]) as server:
        with pytest.raises(EndpointError):
            client_for(server).complete(PROMPT, purpose="code")
        assert len(server.requests) == 1


def test_a_failed_request_costs_no_budget(client_for: Callable[..., ChatClient]) -> None:
    with ScriptedServer([Fault.STATUS_401]) as server:
        client = client_for(server)
        with pytest.raises(EndpointError):
            client.complete(PROMPT, purpose="code")
    assert client.budget.spent.tokens == 0
