"""The corpus, the oracles outside the sandbox, and the two control runs: no wall, and the language wall alone."""

from __future__ import annotations

import base64
import csv
import faulthandler
import functools
import io
import json
import os
import re
import resource
import select
import signal
import sys
import time
import tokenize
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from nl2net.sandbox.render import markdown_text, visible
from tests.conftest import SHARED
from tests.escape.arena import Arena

FOLDER = SHARED / "escapes"
TABLE = Path(__file__).with_name("expected.tsv")
DEADLINE_S = 4.0
FRAME = 4 << 20
MEMORY = 2200 << 20
PEAK_OVER_TRIVIAL_MB = 700
PRELUDE = "import networkx as nx\n"
COLUMNS = ("policy_only", "os_only", "both", "naive")


@dataclass(frozen=True)
class Snippet:
    """One attack of the corpus."""

    number: int
    family: str
    goal: str
    source: str
    expected: Mapping[str, str]
    note: str


@dataclass(frozen=True)
class Reply:
    """What came out of one run, in the terms of the oracles.

    ``status`` is ``value``, ``refused``, ``unsendable``, ``error``, ``deadline``, ``cap``, ``died`` or ``limit``
    (a limit of the shipped supervisor).
    """

    status: str
    text: str = ""  # the value, as text
    feedback: str = ""  # what would go to the model
    before: str = ""  # honest question before and after
    after: str = ""
    peak_mb: float = 0.0
    stdout: str = ""


@cache
def expected_leaks(column: str) -> frozenset[int]:
    """Numbers of the snippets that reach their goal in a column of the checked-in table (``expected.tsv``)."""
    with TABLE.open(newline="") as file:
        return frozenset(int(r["number"]) for r in csv.DictReader(file, delimiter="\t") if r[column] == "leak")


def load_graph() -> nx.Graph[str]:
    """A fresh graph of the corpus."""
    return nx.node_link_graph(json.loads((FOLDER / "graph.json").read_text()), edges="links")


@cache
def corpus() -> tuple[Snippet, ...]:
    """All snippets of the checked-in part, in order."""
    with (FOLDER / "index.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return tuple(
        Snippet(
            int(row["number"]),
            row["family"],
            row["goal"],
            (FOLDER / row["file"]).read_text(),
            {c: row[c] for c in COLUMNS},
            row["note"] or "",
        )
        for row in rows
    )


def with_values(source: str, values: Mapping[str, Any]) -> str:
    """Replace bare names of the harness by literals in the token stream."""
    lines = source.splitlines(keepends=True)
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.string in values]
    for token in reversed([t for t in tokens if t.type == tokenize.NAME]):
        row = token.start[0] - 1
        lines[row] = lines[row][: token.start[1]] + repr(values[token.string]) + lines[row][token.end[1] :]
    return "".join(lines)


def honest_answer(graph: nx.Graph[str], *, through: Callable[[str], Any] | None = None) -> str:
    """The fixed honest question: whatever a hostile program may have changed shows here."""
    import random

    random_first = random.random()
    with np.errstate(all="ignore"):
        pass
    facts = [
        graph.number_of_nodes(),
        graph.number_of_edges(),
        repr(nx.density(graph)),
        repr(round(sum(nx.pagerank(graph).values()), 6)) if len(graph) else "",
        repr(pd.DataFrame({"a": [1, 2]}).sum().to_dict()),
        repr(np.geterr()),
        repr(sum(d.get("capacity", 0) for _, _, d in graph.edges(data=True))),
        sys.getrecursionlimit(),
        repr(dict(next(iter(graph.nodes(data=True)), ("", {}))[1])),
        nx.is_frozen(graph),
        repr(nx.config.warnings_to_ignore),
        sorted(sys.modules["networkx.utils.backends"].backends),
    ]
    random.seed(12345)
    first = 0.13436424411240122  # the first value after seed 1
    return json.dumps([*facts, random_first == first], default=str)


def after_it(graph: nx.Graph[str]) -> str:
    """The honest question again; one that fails now has been poisoned."""
    try:
        return honest_answer(graph)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def fork_run(work: Callable[[Callable[[Mapping[str, Any]], None]], None], *, limit: int = MEMORY) -> Reply:
    """Run ``work(send)`` in a forked child with a deadline, a memory limit and a capped reply; kill its group."""
    read_end, write_end = os.pipe()
    out_read, out_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            os.dup2(out_write, 1)
            sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)  # not what pytest put in its place
            warnings.simplefilter("ignore")  # errors in a test, and not what is looked at here
            faulthandler.disable()  # a fork bomb that runs out of processes would print a page for each
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.close(read_end)
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))
            work(functools.partial(_send, write_end))
        except BaseException as error:
            _send(write_end, {"status": "error", "feedback": f"{type(error).__name__}: {str(error)[:2000]}"})
        finally:
            os._exit(0)
    os.close(write_end)
    os.close(out_write)
    data, status = _read(read_end, DEADLINE_S)
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    usage = os.wait4(pid, 0)[2]
    stdout = os.read(out_read, 65536).decode(errors="replace") if select.select([out_read], [], [], 0)[0] else ""
    os.close(read_end)
    os.close(out_read)
    peak = usage.ru_maxrss / 1024
    if status:
        return Reply(status, peak_mb=peak, stdout=stdout)
    try:
        return Reply(**json.loads(data.decode("utf-8", "replace")), peak_mb=peak, stdout=stdout)
    except (ValueError, TypeError):
        return Reply("died", peak_mb=peak, stdout=stdout, text=data.decode(errors="replace"))


def _send(descriptor: int, reply: Mapping[str, Any]) -> None:
    data = json.dumps(dict(reply)).encode()
    while data:
        data = data[os.write(descriptor, data) :]


def _read(descriptor: int, seconds: float) -> tuple[bytes, str]:
    data, end = b"", time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return data, "deadline"
        part = os.read(descriptor, 1 << 20)
        if not part:
            return data, ""
        data += part
        if len(data) > FRAME:
            return data, "cap"


class Unsendable(Exception):
    """The value is not of a plain type, or too large."""


def encode_plain(value: Any, depth: int = 0, room: list[int] | None = None) -> Any:
    """A stand-in of the result encoder for the run of the language wall alone: exact plain types, with caps."""
    room = [20_000] if room is None else room
    room[0] -= 1
    if depth > 12 or room[0] < 0:
        raise Unsendable("too large")
    if value is None or type(value) in (bool, float):
        return repr(value)
    if type(value) is int:
        if value.bit_length() > 4096:
            raise Unsendable("long integer")
        return value
    if type(value) is str:
        if len(value) > 20_000:
            raise Unsendable("long text")
        return value
    if isinstance(value, np.generic):
        return encode_plain(value.item(), depth + 1, room)
    if type(value) in (list, tuple, set, frozenset):
        return [encode_plain(v, depth + 1, room) for v in value]
    if type(value) is dict:
        return [[encode_plain(k, depth + 1, room), encode_plain(v, depth + 1, room)] for k, v in value.items()]
    if isinstance(value, pd.DataFrame | pd.Series):
        return encode_plain(value.to_dict(), depth + 1, room)
    raise Unsendable(type(value).__name__)


def judge(
    snippet: Snippet, reply: Reply, arena: Arena, *, trivial_mb: float, supervised: bool = False, control: bool = False
) -> str:
    """One word for a run: ``leak`` when the oracle of the family found that the goal was reached.

    ``supervised`` is true where the shipped supervisor with its limits ran the program; its stops count as contained.
    ``control`` is the run without any wall: there is no renderer either.
    """
    if _reached(snippet, reply, arena, trivial_mb=trivial_mb, supervised=supervised, control=control):
        return "leak"
    if reply.status in ("refused", "unsendable"):
        return reply.status
    if reply.status == "error":
        return "refused"
    return "contained" if reply.status in ("deadline", "cap", "died", "limit") else "harmless"


def _reached(
    snippet: Snippet, reply: Reply, arena: Arena, *, trivial_mb: float, supervised: bool, control: bool
) -> bool:
    everything = reply.text + reply.feedback + reply.stdout
    family = snippet.family
    if family in ("fileread", "env"):
        return arena.secret_token in everything or arena.canary in everything
    if family in ("filewrite", "spawn"):
        time.sleep(0.1)
        return (arena.folder / "written").exists() or (arena.folder / "mark").exists()
    if family == "network":
        return arena.was_touched()
    if family == "reach":
        return "REACHED" in reply.text
    if family == "leakstr":
        return len(reply.text) > 80 and ("function" in reply.text or "__" in reply.text)
    if family in ("poison", "mutate"):
        return reply.before != reply.after and reply.status != "died"
    if family == "memory":
        # A MemoryError at the limit of the harness is no merit of the wall under test.
        stopped = reply.status in ("deadline", "died", "cap") or reply.feedback.startswith("MemoryError")
        stopped = stopped and not supervised
        return reply.peak_mb > trivial_mb + PEAK_OVER_TRIVIAL_MB or stopped
    if family in ("cpu", "output"):
        return reply.status in ("deadline", "cap") and not supervised
    if family == "channel":
        return bool(reply.stdout) or "FORGE" in reply.text or (reply.status == "died" and bool(reply.text))
    if family == "render":
        return _shows(reply, raw=control)
    if family in ("exfil", "covert"):
        return _carries(reply, covert=family == "covert")
    if family == "memscan":
        return arena.planted in everything
    return False


def _shows(reply: Reply, *, raw: bool) -> bool:
    """Whether an escape is left on a screen, or a Markdown viewer would fetch an address."""
    try:
        text = str(json.loads(reply.text)[0]) if reply.text else ""
    except ValueError:
        text = reply.text
    screen, page = (text, text) if raw else (visible(text), markdown_text(text))
    return any(ord(c) < 32 and c not in "\n\t" for c in screen) or re.search(r"(?<!\\)!\[[^\]]*\]\(", page) is not None


def _carries(reply: Reply, *, covert: bool) -> bool:
    """Whether the feedback holds a node name in any of the known disguises; the kind itself carries one bit."""
    if reply.status != "error":
        return False
    if covert:
        return True
    feedback = reply.feedback.casefold()
    for node in load_graph():
        forms = {node, node[::-1], node.encode().hex(), base64.b64encode(node.encode()).decode()}
        forms.add("".join(c for c in node if c.isalnum()))
        if any(form.casefold() in feedback for form in forms):
            return True
    return False


def run_naive(source: str, graph: nx.Graph[str]) -> Reply:
    """The usual set-up without a wall: RestrictedPython with its own guards and raw modules."""

    def work(send: Callable[[Mapping[str, Any]], None]) -> None:
        from tests.escape.naive import run_naively

        before = honest_answer(graph)
        reply: dict[str, Any] = {"status": "value"}
        try:
            value, printed = run_naively(source, graph)
            reply["text"] = json.dumps([value, printed], default=_own_form)
        except BaseException as error:
            reply = {"status": "error", "feedback": f"{type(error).__name__}: {error}"}
        send({**reply, "before": before, "after": after_it(graph)})

    return fork_run(work)


def _own_form(value: Any) -> str:
    """What the usual set-up sends for an object: its own text. A class of the program then decides what arrives."""
    mark = "FORGED " if type(value).__module__ == "program" else ""
    return mark + str(value)


def run_policy(source: str, graph: nx.Graph[str]) -> Reply:
    """The language wall alone, over a graph that questions share."""

    def work(send: Callable[[Mapping[str, Any]], None]) -> None:
        from nl2net.errors import RefusedCode
        from nl2net.model import Library
        from nl2net.sandbox.language import locate, run_restricted

        before = honest_answer(graph)
        try:
            ran = run_restricted(source, (graph,), library=Library.NETWORKX)
            reply = {"status": "value", "text": json.dumps([encode_plain(ran.value), ran.printed])}
        except RefusedCode as error:
            reply = {"status": "refused", "feedback": f"{error.rule} {error.line}"}
        except Unsendable as error:
            reply = {"status": "unsendable", "feedback": str(error)}
        except Exception as error:
            reply = {"status": "error", "feedback": f"{type(error).__name__} {locate(error, source)}"}
        send({**reply, "before": before, "after": after_it(graph)})

    return fork_run(work)
