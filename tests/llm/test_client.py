"""The chat client against a scripted server: what it sends, what it makes of replies, and what it costs."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
from scripted_server import Fault, Scripted, ScriptedServer

from nl2net.errors import BudgetError, PrivacyError, ReplyError
from nl2net.llm import Budget, ChatClient, Endpoint, Message, OutgoingRequest
from nl2net.llm.client import ReplyCut
from nl2net.llm.faults import Cancelled

PROMPT: list[Message] = [
    {"role": "system", "content": "Write one function."},
    {"role": "user", "content": "How many nodes?"},
]
PROGRAM = "```python\ndef answer(graph):\n    return graph.number_of_nodes()\n```"


def test_the_reply_comes_with_its_usage_and_pieces(client_for: Callable[..., ChatClient]) -> None:
    pieces: list[str] = []
    with ScriptedServer([PROGRAM]) as server:
        reply = client_for(server).complete(PROMPT, purpose="code", on_text=pieces.append)
    assert reply.text == PROGRAM == "".join(pieces)
    assert len(pieces) > 2
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.requests) == (10, 5, 1)
    assert reply.usage.cost_usd == 0.0
    assert not reply.usage.estimated
    assert reply.finish_reason == "stop"
    assert 0 < reply.first_token_s <= reply.seconds


def test_the_gate_sees_exactly_what_arrives_but_no_key(client_for: Callable[..., ChatClient], gate: object) -> None:
    with ScriptedServer([PROGRAM]) as server:
        client_for(server).complete(PROMPT, purpose="code")
        arrived = server.requests[0]
    seen: list[OutgoingRequest] = gate.seen  # type: ignore[attr-defined]
    assert [request.body for request in seen] == [arrived.body]
    assert seen[0].purpose == "code"
    assert seen[0].url.endswith("/v1/chat/completions")
    assert arrived.headers["authorization"] == "Bearer sk-very-secret"
    assert "sk-very-secret" not in repr(seen[0])


def test_the_client_library_says_nothing_about_this_machine(client_for: Callable[..., ChatClient]) -> None:
    with ScriptedServer([PROGRAM]) as server:
        client_for(server).complete(PROMPT, purpose="code")
        headers = server.requests[0].headers
    assert headers["user-agent"] == "nl2net"
    assert not [name for name in headers if name.startswith("x-stainless")]


def test_a_gate_that_refuses_stops_the_request_before_it_leaves(client_for: Callable[..., ChatClient]) -> None:
    class Closed:
        def inspect(self, request: OutgoingRequest) -> None:
            raise PrivacyError("a node name is in the prompt")

    with ScriptedServer([PROGRAM]) as server:
        with pytest.raises(PrivacyError, match="node name"):
            client_for(server, gate=Closed()).complete(PROMPT, purpose="code")
        assert server.requests == []


def test_retries_pass_the_gate_too(client_for: Callable[..., ChatClient], gate: object) -> None:
    with ScriptedServer([Fault.STATUS_500, Fault.STATUS_429, PROGRAM]) as server:
        reply = client_for(server).complete(PROMPT, purpose="code")
    assert reply.text == PROGRAM
    assert reply.usage.requests == 3
    assert len(gate.seen) == 3  # type: ignore[attr-defined]


def test_usage_is_estimated_and_marked_if_the_server_does_not_say(client_for: Callable[..., ChatClient]) -> None:
    with ScriptedServer([Scripted(PROGRAM, usage=None)]) as server:
        usage = client_for(server).complete(PROMPT, purpose="code").usage
    assert usage.estimated
    assert usage.prompt_tokens > 5
    assert usage.completion_tokens > 10


def test_a_server_that_does_not_stream_is_understood(client_for: Callable[..., ChatClient]) -> None:
    with ScriptedServer([Scripted(PROGRAM, streaming=False)]) as server:
        reply = client_for(server).complete(PROMPT, purpose="code")
    assert reply.text == PROGRAM
    assert reply.usage.prompt_tokens == 10


def test_a_reply_cut_by_the_limit_is_named_and_kept(client_for: Callable[..., ChatClient]) -> None:
    with (
        ScriptedServer([Scripted("def answer(", finish_reason="length")]) as server,
        pytest.raises(ReplyCut, match="limit of 7 tokens") as caught,
    ):
        client_for(server).complete(PROMPT, purpose="code", max_tokens=7)
    assert caught.value.reply.text == "def answer("
    assert isinstance(caught.value, ReplyError)
    assert caught.value.exit_code == 3


def test_prose_is_a_reply(client_for: Callable[..., ChatClient]) -> None:
    with ScriptedServer(["I am sorry, I cannot help with networks."]) as server:
        assert "sorry" in client_for(server).complete(PROMPT, purpose="code").text


def test_samples_start_with_the_greedy_one(client_for: Callable[..., ChatClient]) -> None:
    with ScriptedServer([PROGRAM]) as server:
        replies = client_for(server).sample(PROMPT, count=4, purpose="code", temperature=0.7)
        asked = [(r.json["temperature"], r.json.get("n", 1)) for r in server.chats]
    assert len(replies) == 4
    assert asked == [(0.0, 1), (0.7, 3)]


def test_parameters_that_a_model_refuses_are_left_out(client_for: Callable[..., ChatClient]) -> None:
    refusals = [
        Scripted(status=400, error="Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        Scripted(status=400, error="Unsupported value: 'temperature' does not support 0.0"),
    ]
    with ScriptedServer([*refusals, PROGRAM]) as server:
        assert client_for(server).complete(PROMPT, purpose="code", max_tokens=99).text == PROGRAM
        last = server.chats[-1].json
    assert last["max_completion_tokens"] == 99
    assert "temperature" not in last
    assert "max_tokens" not in last


def test_cancelling_a_silent_server_takes_less_than_200_ms(client_for: Callable[..., ChatClient]) -> None:
    cancel = threading.Event()
    stamps: list[float] = []

    def stop() -> None:
        stamps.append(time.monotonic())
        cancel.set()

    with ScriptedServer([Fault.SILENT]) as server:
        threading.Timer(0.5, stop).start()
        with pytest.raises(Cancelled):
            client_for(server).complete(PROMPT, purpose="code", cancel=cancel)
        waited = time.monotonic() - stamps[0]
    assert waited < 0.2


def test_a_budget_is_checked_before_anything_is_sent(client_for: Callable[..., ChatClient]) -> None:
    with ScriptedServer([PROGRAM]) as server:
        client = client_for(server, budget=Budget(max_tokens=100))
        client.complete(PROMPT, purpose="code", max_tokens=40)
        assert client.budget.spent.tokens == 15
        with pytest.raises(BudgetError, match="85 of 100 are left"):
            client.complete(PROMPT, purpose="code", max_tokens=90)
        assert len(server.requests) == 1


def test_a_cost_cap_needs_a_known_price() -> None:
    class Closed:
        def inspect(self, request: OutgoingRequest) -> None:
            raise AssertionError("nothing may be sent")

    endpoint = Endpoint("https://models.invalid/v1", "some-model", api_key="k")
    with pytest.raises(BudgetError, match="price of this model is not known"):
        ChatClient(endpoint, gate=Closed(), budget=Budget(max_cost_usd=1.0)).complete(PROMPT, purpose="code")


def test_two_threads_cannot_pass_a_cap_together() -> None:
    budget = Budget(max_tokens=100)
    tickets: list[int] = []
    errors: list[BudgetError] = []

    def reserve() -> None:
        try:
            tickets.append(budget.reserve(20, 20, price=None))
        except BudgetError as error:
            errors.append(error)

    threads = [threading.Thread(target=reserve) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(tickets), len(errors)) == (2, 6)


def test_importing_the_package_does_not_import_the_client_library() -> None:
    code = (
        "import sys, nl2net.llm, nl2net.llm.client, nl2net.llm.resolve\n"
        "print('openai' in sys.modules, 'httpx' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
