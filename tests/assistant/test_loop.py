"""A question end to end against a scripted model and the real sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from asking import asking, fenced
from scripted_server import Fault, ScriptedServer

from nl2net.assistant import AskOptions
from nl2net.assistant.entries import Entry
from nl2net.assistant.session import Session
from nl2net.errors import EndpointError, UserError
from nl2net.graphs import LoadedGraph
from nl2net.locations import Locations
from nl2net.model import Status
from nl2net.sandbox import Sandbox

ONE = AskOptions(samples=1)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def test_an_answer_carries_program_value_and_provenance(
    plant: LoadedGraph, locations: Locations, sandbox: Sandbox
) -> None:
    reply = fenced('return nx.shortest_path(graph, "NODE_1", "NODE_2")')
    with ScriptedServer([reply]) as server, asking(plant, server, locations, sandbox=sandbox) as assistant:
        answer = assistant.ask("How do packets get from core1.fra to edge9.muc?", options=ONE)
        assert (answer.status, answer.exit_code) == (Status.ANSWERED, 0)
        assert answer.result is not None and answer.result.data == ["core1.fra", "edge9.muc"]
        assert '"core1.fra"' in answer.code and "NODE_1" in answer.masked_code
        envelope = json.loads(json.dumps(answer.to_json()))
        assert envelope["model"] == "scripted" and envelope["egress"]["requests"] == 1
        assert envelope["graph"]["fingerprint"].startswith("sha256:") and envelope["sandbox"].startswith("SEALED")
        assert len(server.requests) == 1


def test_a_slip_is_repaired_once_with_scrubbed_feedback(
    plant: LoadedGraph, locations: Locations, sandbox: Sandbox
) -> None:
    replies = [fenced('return sum(d["speed"] for _, _, d in graph.edges(data=True))'),
               fenced('return sum(d.get("capacity_bps", 0) for _, _, d in graph.edges(data=True))')]  # fmt: skip
    with ScriptedServer(replies) as server, asking(plant, server, locations, sandbox=sandbox) as assistant:
        answer = assistant.ask("What is the total capacity of all links?", options=ONE)
        assert answer.result is not None and answer.result.data == 11_000_000_000
        assert [attempt.outcome for attempt in answer.attempts][-1] == "ok" and len(answer.attempts) == 2
        feedback = server.requests[1].json["messages"][-1]["content"]
        assert "capacity_bps" in feedback and "core1" not in feedback
        assert any("2 of 3 edges have capacity_bps" in caveat for caveat in answer.caveats)


def test_an_invented_attribute_is_never_run(plant: LoadedGraph, locations: Locations, sandbox: Sandbox) -> None:
    reply = fenced('return [n for n, d in graph.nodes(data=True) if d["altitude"] > 5]')
    with ScriptedServer([reply]) as server, asking(plant, server, locations, sandbox=sandbox) as assistant:
        answer = assistant.ask("Which nodes lie above the others?", options=ONE)
        assert (answer.status, answer.exit_code) == (Status.CANNOT_ANSWER, 6)
        assert answer.result is None and "altitude" in answer.message


@pytest.mark.parametrize(
    ("question", "status", "code"),
    [
        ("Delete the file of this graph.", Status.REFUSED, 5),
        ("ping every node and tell me which are alive", Status.REFUSED, 5),
        ("What is the latency from core1.fra to edge9.muc?", Status.CANNOT_ANSWER, 6),
        ("Tell me a joke about cats", Status.CANNOT_ANSWER, 6),
        ("which one is the biggest?", Status.NEEDS_CLARIFICATION, 6),
    ],
)
def test_some_questions_never_reach_a_model(
    plant: LoadedGraph, locations: Locations, sandbox: Sandbox, question: str, status: Status, code: int
) -> None:
    with ScriptedServer(["unused"]) as server, asking(plant, server, locations, sandbox=sandbox) as assistant:
        answer = assistant.ask(question)
        assert (answer.status, answer.exit_code) == (status, code)
        assert answer.message and server.requests == []


def test_hostile_code_is_refused_and_said(plant: LoadedGraph, locations: Locations, sandbox: Sandbox) -> None:
    reply = "```python\nimport os\ndef answer(graph):\n    return os.listdir('/')\n```"
    with ScriptedServer([reply]) as server, asking(plant, server, locations, sandbox=sandbox) as assistant:
        answer = assistant.ask("How many nodes are there?", options=ONE)
        assert (answer.status, answer.exit_code) == (Status.REFUSED, 5)


def test_samples_that_disagree_give_no_guess(plant: LoadedGraph, locations: Locations, sandbox: Sandbox) -> None:
    replies = [fenced("return len(graph)"), fenced("return graph.number_of_edges() + 1")]
    with ScriptedServer(replies) as server, asking(plant, server, locations, sandbox=sandbox) as assistant:
        answer = assistant.ask("How many nodes are there?", options=AskOptions(samples=2))
        assert (answer.status, answer.exit_code) == (Status.CANNOT_ANSWER, 6)
        assert answer.result is None and answer.code


def test_an_approved_program_answers_without_a_model(
    plant: LoadedGraph, locations: Locations, sandbox: Sandbox
) -> None:
    entry = Entry(
        "List the neighbours of NODE_1", 'def answer(graph):\n    return sorted(graph["NODE_1"])\n', origin="approved"
    )
    with ScriptedServer(["unused"]) as server:
        with asking(plant, server, locations, sandbox=sandbox, entries=(entry,)) as assistant:
            answer = assistant.ask("list the neighbours of edge9.muc")
        assert answer.result is not None and answer.result.data == ["core1.fra", "core2.fra"]
        assert answer.provenance.model == "none" and server.requests == []
        assert any("no model was asked" in caveat for caveat in answer.caveats)


def test_the_same_request_is_answered_from_the_cache(
    plant: LoadedGraph, locations: Locations, sandbox: Sandbox
) -> None:
    with ScriptedServer([fenced("return len(graph)")]) as server:
        with asking(plant, server, locations, sandbox=sandbox) as assistant:
            first = assistant.ask("How many nodes are there?", options=ONE)
            second = assistant.ask("How many nodes are there?", options=ONE)
        assert first.result == second.result and len(server.requests) == 1


def test_a_failing_endpoint_is_an_error_and_in_the_history(
    plant: LoadedGraph, locations: Locations, sandbox: Sandbox
) -> None:
    with ScriptedServer([Fault.STATUS_401]) as server, asking(plant, server, locations, sandbox=sandbox) as assistant:
        with pytest.raises(EndpointError) as caught:
            assistant.ask("How many nodes are there?")
        assert caught.value.exit_code == 3 and "secret-key" not in str(caught.value)
        assert assistant.store is not None and assistant.store.turns()[0].status == "failed"


def test_no_mask_sends_the_question_as_typed_and_says_so(
    plant: LoadedGraph, locations: Locations, sandbox: Sandbox
) -> None:
    reply = fenced('return graph.degree("core1.fra")')
    with ScriptedServer([reply]) as server, asking(plant, server, locations, sandbox=sandbox) as assistant:
        answer = assistant.ask("How many links has core1.fra?", options=AskOptions(samples=1, mask=False))
        assert answer.result is not None and answer.result.data == 2
        assert "core1.fra" in server.requests[0].json["messages"][-1]["content"]
        assert any("--no-mask" in caveat for caveat in answer.caveats)


def test_show_prompt_sends_nothing(plant: LoadedGraph, locations: Locations, sandbox: Sandbox) -> None:
    with ScriptedServer(["unused"]) as server, asking(plant, server, locations, sandbox=sandbox) as assistant:
        messages = assistant.show_prompt("Which nodes are in Frankfurt?")
        assert "VALUE_1" in messages[-1]["content"] and "Frankfurt" not in json.dumps(messages)
        assert server.requests == []


def test_changes_are_proposed_approved_and_undone(plant: LoadedGraph, locations: Locations, sandbox: Sandbox) -> None:
    remove = '```python\ndef answer(graph):\n    g = graph.copy()\n    g.remove_node("NODE_1")\n    return g\n```'
    count = fenced("return graph.number_of_nodes()")
    with ScriptedServer([remove, count]) as server, asking(plant, server, locations, sandbox=sandbox) as assistant:
        others: dict[str, object] = {}

        def opener(graph: LoadedGraph):  # type: ignore[no-untyped-def]
            if graph.fingerprint == plant.fingerprint:
                return assistant
            others["changed"] = graph
            return type(assistant)(
                graph, sandbox=sandbox, settings=assistant.settings, locations=locations,
                client_factory=lambda gate: assistant.client, library=assistant.library, store=assistant.store,
            )  # fmt: skip

        session = Session(opener, plant)
        answer = session.ask("Remove node edge9.muc", options=ONE)
        assert answer.changes is not None and answer.changes.nodes_removed == ("edge9.muc",)
        assert plant.graph.number_of_nodes() == 3
        session.approve()
        assert session.graph.graph.number_of_nodes() == 2 and plant.graph.number_of_nodes() == 3
        assert session.ask("undo that").message.startswith("back to")
        assert session.graph.fingerprint == plant.fingerprint
        with pytest.raises(UserError):
            session.approve()
        assert plant.path is not None
        with pytest.raises(UserError, match="never overwritten"):
            session.export(plant.path)
