"""What was paid for is kept and never paid again; caps hold however many calls are open."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from scripted_server import Fault, Recorded, Scripted, ScriptedServer

from nl2net.benchmark.bench_runs import BenchRun, open_bench, run_bench
from nl2net.benchmark.items import Order
from nl2net.benchmark.ledger import Ledger, LedgerClient, Throttle, working_on
from nl2net.benchmark.runs import Caps
from nl2net.errors import BudgetError, EndpointError
from nl2net.llm import ChatClient, Endpoint, Message, OutgoingRequest
from nl2net.llm.client import ReplyCut

ASKED: list[Message] = [{"role": "user", "content": "x" * 300}]
PROGRAM = "```python\ndef answer(graph):\n    return graph.number_of_nodes()\n```"
ORDER = Order(("traffic",), 6, seed="ledger")


class OpenGate:
    def inspect(self, request: OutgoingRequest) -> None:
        pass


def _client(server: ScriptedServer, ledger: Ledger, *, most: int = 16, url: str = "", model: str = "m") -> LedgerClient:
    endpoint = Endpoint(url or server.base_url, model, api_key="k")
    chat = ChatClient(endpoint, gate=OpenGate(), budget=ledger.budget, retries=0, timeout_s=20)
    return LedgerClient(chat, ledger, Throttle(most))


def test_sixteen_calls_at_once_cannot_pass_a_token_cap(tmp_path: Path) -> None:
    reply = Scripted("ok", usage={"prompt_tokens": 100, "completion_tokens": 50}, delay_s=0.05)
    with ScriptedServer([reply]) as server:
        ledger = Ledger(tmp_path / "calls.jsonl", max_tokens=2000)
        client = _client(server, ledger)

        def ask(number: int) -> bool:
            with working_on(f"case {number}"):
                try:
                    client.complete(ASKED, purpose="code", max_tokens=300)
                except BudgetError:
                    return False
                return True

        with ThreadPoolExecutor(16) as pool:
            answered = sum(pool.map(ask, range(48)))
    # The worst case of a call is 408 tokens, so four fit at first, and what they did not need is given back.
    assert 4 <= answered == len(server.chats) <= 2000 // 150
    assert ledger.budget.spent.tokens == 150 * answered <= 2000


def test_sixteen_calls_at_once_cannot_pass_a_cost_cap(tmp_path: Path) -> None:
    reply = Scripted("ok", usage={"prompt_tokens": 100, "completion_tokens": 100}, delay_s=0.05)
    with ScriptedServer([reply]) as server:
        # By this spelling of the address it counts as remote, so that the price of the table applies.
        url = server.base_url.replace("127.0.0.1", "127.1")
        ledger = Ledger(tmp_path / "calls.jsonl", max_cost_usd=0.01)
        client = _client(server, ledger, url=url, model="gpt-4o")

        def ask(number: int) -> None:
            with working_on(f"case {number}"):
                try:
                    client.complete(ASKED, purpose="code", max_tokens=200)
                except BudgetError:
                    return

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(ask, range(64)))
    assert server.chats
    spent = ledger.budget.spent.cost_usd
    assert spent is not None and 0.004 < spent <= 0.01


def test_a_reply_is_paid_once_and_read_from_the_file_ever_after(tmp_path: Path) -> None:
    with ScriptedServer(["first", Scripted("cut here", finish_reason="length")]) as server:
        for start in range(3):
            ledger = Ledger(tmp_path / "calls.jsonl")
            client = _client(server, ledger)
            with working_on("case|0"):
                assert client.complete(ASKED, purpose="code").text == "first"
                with pytest.raises(ReplyCut):  # the same words again are another call
                    client.complete(ASKED, purpose="code")
            assert ledger.usage_of("case|0").tokens == 30
            assert ledger.budget.spent.tokens == 30, start
            assert len(server.chats) == 2
    assert (tmp_path / "calls.jsonl").stat().st_mode & 0o077 == 0


def test_a_failed_call_is_asked_again_and_a_lost_one_counts_as_spent(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with ScriptedServer([Fault.STATUS_500, "ok"]) as server:
        ledger = Ledger(path)
        client = _client(server, ledger)
        with working_on("case|0"), pytest.raises(EndpointError):
            client.complete(ASKED, purpose="code", max_tokens=100)
        assert Ledger(path).lost == 0
        sent = next(line for line in path.read_text().splitlines() if '"sent"' in line)
        path.write_text(path.read_text() + sent + "\n" + '{"event": "se')  # killed while the next one was in flight
        again = Ledger(path, max_tokens=300)
        assert again.lost == 1 and again.budget.spent.tokens == 208
        with working_on("case|0"), pytest.raises(BudgetError):
            _client(server, again).complete(ASKED, purpose="code", max_tokens=100)


def test_a_rest_that_one_call_is_asked_for_holds_for_all() -> None:
    now, slept = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    throttle = Throttle(2, sleep=lambda seconds: slept.append(seconds), clock=lambda: now[0])
    throttle.back_off(5.0)
    with throttle.slot():
        pass
    assert slept == [5.0, 5.0]
    now[0] = 6.0
    with throttle.slot():
        pass
    assert len(slept) == 2


def test_no_more_calls_are_open_than_the_limit(tmp_path: Path) -> None:
    open_now, most, lock = [0], [0], threading.Lock()

    def reply(request: Recorded) -> str:
        with lock:
            open_now[0] += 1
            most[0] = max(most[0], open_now[0])
        time.sleep(0.03)
        with lock:
            open_now[0] -= 1
        return "ok"

    class Parallel(ScriptedServer):  # type: ignore[misc]
        def next_answer(self, request: Recorded) -> Any:
            return reply(request)

    with Parallel() as server:
        client = _client(server, Ledger(tmp_path / "calls.jsonl"), most=3)
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda n: client.complete([{"role": "user", "content": str(n)}], purpose="code"), range(12)))
    assert 1 <= most[0] <= 3


_RUN = """
import sys
from pathlib import Path
from nl2net.benchmark.bench_runs import BenchRun, run_bench
from nl2net.benchmark.items import Order
if __name__ == "__main__":
    run_bench(BenchRun("direct", Order(("traffic",), 6, seed="ledger"), model="scripted"), Path(sys.argv[1]))
"""


def test_kill_9_loses_no_paid_call_and_repeats_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: Recorded) -> Scripted:
        return Scripted(PROGRAM, delay_s=0.0 if len(server.chats) < 4 else 60.0)

    run = home / "run"
    with ScriptedServer([answer]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        process = subprocess.Popen([sys.executable, "-c", _RUN, str(run)], env=dict(os.environ))
        deadline = time.monotonic() + 120
        while len(server.chats) < 4 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    done = len((run / "records.jsonl").read_text().splitlines())
    assert len(server.chats) == 4 and 2 <= done <= 3
    with ScriptedServer([PROGRAM]) as second:
        monkeypatch.setenv("OPENAI_BASE_URL", second.base_url)
        finished = run_bench(BenchRun("direct", ORDER, model="scripted"), run)
        assert len(second.chats) == 6 - 3  # the call that was in flight, and the two that were never made
    assert finished.lost_calls == 1
    assert len(finished.records) == 6 and len({record.case for record in finished.records}) == 6
    assert all(record.usage["requests"] == 1 for record in finished.records)
    entries = [json.loads(line) for line in (run / "calls.jsonl").read_text().splitlines()]
    assert sum(entry["event"] == "reply" for entry in entries) == 6


def test_a_cap_leaves_the_rest_open_and_a_higher_one_goes_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reply = Scripted(PROGRAM, usage={"prompt_tokens": 400, "completion_tokens": 100})
    with ScriptedServer([reply]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        options = BenchRun("direct", ORDER, model="scripted")
        first = run_bench(options, home / "run", caps=Caps(tokens=3000), workers=4)
        used = 500 * len(first.records)
        assert 0 < len(first.records) < 6 and used <= 3000
        assert "tokens" in first.cut
        second = run_bench(options, home / "run", caps=Caps(tokens=100_000), workers=4)
        assert second.cut == "" and len(second.records) == 6 == len(server.chats)
    assert len(open_bench(home / "run").records) == 6
