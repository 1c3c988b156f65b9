"""The shipped program library holds the operations, and finds them for other graphs and other names."""

from __future__ import annotations

import pytest

from nl2net.assistant.library import ProgramLibrary
from nl2net.assistant.opening import shipped_entries, shipped_vectors
from nl2net.assistant.seeding import operation_entries
from nl2net.golden.operations import operations
from nl2net.golden.sources import graph_file
from nl2net.graphs import load_graph
from nl2net.model import Library


@pytest.fixture(scope="module")
def library() -> ProgramLibrary:
    return ProgramLibrary(shipped_entries())


def test_every_wording_is_shipped_with_a_vector() -> None:
    shipped = shipped_entries()
    made = {entry.key for one in operations() for entry in operation_entries(one)}
    assert made <= {entry.key for entry in shipped}
    assert len(shipped_vectors(shipped)) == len({entry.key for entry in shipped})


@pytest.mark.parametrize(
    ("question", "graph", "intent", "part"),
    [
        ("links longer than 120 km", "topohub_sndlib_germany50", "links_longer_than", "> 120"),
        ("circuits of provider NODE_4", "netbox_demo_dcim_excerpt", "circuits_of_provider", '"NODE_4"'),
        ("next free /26 of NODE_2, please", "netbox_demo_dcim_excerpt", "next_free_subnet", "new_prefix=26"),
        ("total cost at 7.25 per km", "topohub_sndlib_germany50", "total_cost_per_km", "* 7.25"),
        ("links slower than 10 Gbit/s", "zoo_geant2012", "links_below_capacity", "< 10000000000"),
        ("straight distance from NODE_3 to NODE_1", "zoo_abilene", "great_circle_between", '"NODE_3"'),
    ],
)
def test_names_and_numbers_are_carried_over(
    library: ProgramLibrary, question: str, graph: str, intent: str, part: str
) -> None:
    schema = load_graph(graph_file(graph)).schema
    best = library.search(question, schema, library=Library.NETWORKX)[-1]
    assert best.entry.intent == f"operations/{intent}"
    assert best.bound is not None and part in best.bound
