"""No name, value or path of the data is in any request, whatever happens to the question."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import networkx as nx
import pytest
from asking import asking, fenced, locations_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_server import ScriptedServer

from nl2net.assistant import AskOptions
from nl2net.assistant.entries import Entry
from nl2net.errors import Nl2netError
from nl2net.graphs import load_graph
from nl2net.sandbox import Sandbox

MARKERS = st.lists(st.from_regex(r"\A[a-z]{3}[xqz][a-z0-9]{4,8}\Z"), min_size=6, max_size=6, unique=True)
# Success, failure with a data value in its text, a bad name, a wrong shape, and a refusal.
BODIES = (
    "return graph.number_of_nodes()",
    "return {n: graph.nodes[n]['site'] for n in graph}",
    "return int(list(graph)[0])",
    "return graph.nodes['missing-node']",
    "raise ValueError(list(graph.nodes(data=True)))",
    "return [d['nosuch'] for _, d in graph.nodes(data=True)]",
    "return graph.nodes['NODE_1']['load'] / 0",
    "return ask_user(str(list(graph)), list(graph)[:3])",
    "return cannot_answer(str(list(graph)))",
)
ENTRY = Entry("How many links has NODE_1?", 'def answer(graph):\n    return graph.degree("NODE_1")\n')


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def encodings(marker: str) -> tuple[str, ...]:
    raw = marker.encode()
    return (
        marker,
        marker[::-1],
        marker.upper(),
        raw.hex(),
        base64.b64encode(raw).decode()[:-2],
        base64.b32encode(raw).decode()[:8],
    )


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(markers=MARKERS, body=st.sampled_from(BODIES), follow=st.sampled_from(BODIES))
def test_no_canary_leaves(sandbox: Sandbox, markers: list[str], body: str, follow: str) -> None:
    with tempfile.TemporaryDirectory(prefix="canary-") as folder:
        home = Path(folder) / markers[5]
        home.mkdir()
        graph: nx.Graph[str] = nx.Graph()
        for marker, site in zip(markers[:3], markers[2:5], strict=True):
            graph.add_node(marker, name=marker, site=site, load=3)
        graph.add_edge(markers[0], markers[1], via=markers[4])
        path = home / "data.json"
        path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))
        loaded = load_graph(path)
        questions = [f"What is known of {markers[0]} at {markers[4]}?", f"and of {markers[1].upper()} then?"]
        with (
            ScriptedServer([fenced(body), fenced(follow), fenced(body)]) as server,
            asking(loaded, server, locations_in(home), sandbox=sandbox, entries=(ENTRY,)) as assistant,
        ):
            conversation = assistant.conversation()
            for question in questions:
                with suppress(Nl2netError):
                    assistant.ask(question, options=AskOptions(samples=1), conversation=conversation)
        assert server.requests
        for request in server.requests:
            sent = (request.path + json.dumps(dict(request.headers)) + request.body.decode()).lower()
            for marker in markers:
                assert not [code for code in encodings(marker) if code.lower() in sent]
