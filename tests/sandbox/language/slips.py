"""Slips of small models: each with the rule that must find it. The graph is the one of the benign set."""

from __future__ import annotations

from nl2net.model import AttributeSchema, GraphClass, GraphSchema


def attribute(
    name: str, owner: str, type_: str, total: int, *, role: str = "", count: int | None = None
) -> AttributeSchema:
    return AttributeSchema(name, name, owner, type_, total if count is None else count, total, "many", role=role)


ATTRIBUTES = (
    attribute("role", "node", "text", 8, role="kind"),
    attribute("site", "node", "text", 8, role="site"),
    attribute("weight", "node", "number", 8),
    attribute("ip", "node", "text", 8, role="address"),
    attribute("capacity", "edge", "number", 16, role="capacity"),
    attribute("latency", "edge", "number", 16, role="latency"),
)


def schema(*, directed: bool = False, multi: bool = False, components: int = 1, nodes: int = 8) -> GraphSchema:
    """Schema of the benign graph, or the same attributes on another class."""
    return GraphSchema(
        GraphClass(directed, multi),
        nodes,
        16,
        node_kinds={"core": 2, "edge": 6},
        attributes=ATTRIBUTES,
        id_shape="a0",
        components=components,
    )


def body(*lines: str) -> str:
    return "def answer(graph):\n" + "".join(f"    {line}\n" for line in lines)


# (rule, program) over the undirected simple graph.
NETWORKX: tuple[tuple[str, str], ...] = (
    ("compares-names", body("return max(graph.degree())")),
    ("compares-names", body("return max(graph.degree)[0]")),
    ("compares-keys", body("d = dict(graph.degree())", "return max(d)")),
    ("compares-keys", body("return max(nx.pagerank(graph))")),
    ("compares-names", body("d = dict(graph.degree())", "return sorted(d.items(), reverse=True)[:3]")),
    ("compares-names", body("bc = nx.betweenness_centrality(graph)", "return max(bc.items())[0]")),
    ("compares-names", body("return max(graph.edges(data=True))")),
    ("unpack", body("return [u for u, v in graph.edges(data=True)]")),
    ("unpack", body("t = 0", "for u, v, d in graph.edges:", "    t += d['capacity']", "return t")),
    ("unpack", body("return [n for n, d in graph.nodes if d['site'] == 'ams']")),
    ("unpack", body("return [n for n, d in graph.nodes() if d['site'] == 'ams']")),
    ("unpack", body("return [n for n, a, b in graph.nodes(data=True)]")),
    ("unpack", body("d = dict(graph.degree())", "return [k for k, v in d if v > 1]")),
    ("wrong-owner", body("return [n for n in graph if graph.nodes[n]['capacity'] > 3]")),
    ("wrong-owner", body("return [u for u, v, d in graph.edges(data=True) if d['site'] == 'ams']")),
    ("wrong-owner", body("return nx.get_node_attributes(graph, 'latency')")),
    ("unknown-attribute", body("return sum(d['bandwidth'] for u, v, d in graph.edges(data=True))")),
    ("unknown-attribute", body("return [n for n, d in graph.nodes(data=True) if d.get('location') == 'ams']")),
    ("unknown-attribute", body("return nx.shortest_path(graph, 'n0', 'n3', weight='delay')")),
    ("unknown-attribute", body("return nx.shortest_path_length(graph, 'n0', 'n3', weight='weigth')")),
    ("unknown-attribute", body("return sum(graph.nodes[n]['cpu'] for n in graph.nodes)")),
    ("unknown-attribute", body("return list(graph.edges(data='bandwith'))")),
    ("default-weight", body("return nx.dijkstra_path(graph, 'n0', 'n7')")),
    ("unknown-kind", body("return [n for n, d in graph.nodes(data=True) if d['role'] == 'router']")),
    ("unknown-name", body("return nx.info(graph)")),
    ("unknown-name", body("return nx.louvain_communities(graph)")),
    ("unknown-name", body("return list(nx.connected_component_subgraphs(graph))")),
    ("unknown-name", body("return nx.page_rank(graph)")),
    ("unknown-name", body("return list(nx.k_shortest_paths(graph, 'n0', 'n7', 3))")),
    ("unknown-name", body("return nx.to_numpy_matrix(graph)")),
    ("keyword-argument", body("return nx.pagerank(graph, damping=0.9)")),
    ("keyword-argument", body("return nx.shortest_path(graph, start='n0', target='n7')")),
    ("keyword-argument", body("return nx.betweenness_centrality(graph, normalised=True)")),
    ("arguments", body("return nx.has_path(graph, 'n0')")),
    ("graph-method", body("return graph.node['n0']")),
    ("graph-method", body("return graph.connected_components()")),
    ("graph-method", body("return graph.shortest_path('n0', 'n7')")),
    ("graph-method", body("return graph.in_degree('n0')")),
    ("graph-method", body("return len(graph.vertices)")),
    ("attribute-access", body("return [n for n, d in graph.nodes(data=True) if d.site == 'ams']")),
    ("node-is-a-name", body("return [n for n in graph.nodes if n['site'] == 'ams']")),
    ("node-is-a-name", body("return [n for n in graph.nodes if n.site == 'ams']")),
    ("node-is-a-name", body("return max(graph.nodes, key=lambda n: n.degree)")),
    ("pair-as-node", body("best = max(graph.degree(), key=lambda x: x[1])", "return graph.nodes[best]['site']")),
    ("pair-as-node", body("return [graph.degree(n) for n in graph.nodes(data=True)]")),
    ("attribute-as-node", body("return graph.nodes['site']")),
    ("tuple-by-text", body("return [e['capacity'] for e in graph.edges]")),
    ("tuple-by-text", body("return sum(e['capacity'] for e in graph.edges(data=True))")),
    ("generator-length", body("return len(nx.connected_components(graph))")),
    ("generator-length", body("return len(graph.neighbors('n0'))")),
    ("generator-index", body("return nx.connected_components(graph)[0]")),
    ("view-index", body("return graph.nodes[0]")),
    ("view-index", body("return graph.edges[:3]")),
    ("view-method", body("return max(graph.degree().values())")),
    ("sum-of-pairs", body("return sum(graph.degree())")),
    ("compare-shape", body("return [n for n in graph.nodes if n > 3]")),
    ("compare-shape", body("return graph.degree() > 3")),
    ("length-of-number", body("return len(graph.number_of_nodes())")),
    ("missing-call", body("return graph.number_of_nodes")),
    ("no-return", body("print(graph.number_of_nodes())")),
    ("missing-return", body("for n in graph:", "    if graph.degree(n) > 100:", "        return n")),
    ("missing-return", body("if graph.has_node('n0'):", "    return 1")),
    ("constant-return", body("return 5")),
    ("return-generator", body("return nx.connected_components(graph)")),
    ("input-replaced", body("graph = nx.Graph()", "graph.add_edge('a', 'b')", "return len(graph)")),
    ("needs-directed", body("return list(nx.strongly_connected_components(graph))")),
    ("address-as-text", body("return [n for n, d in graph.nodes(data=True) if d['ip'].startswith('10.5')]")),
    ("missing-call", body("if graph.is_directed:", "    return 1", "return 2")),
    ("call-of-property", body("return graph.name()")),
)
MULTI: tuple[tuple[str, str], ...] = (
    ("parallel-links", body("return graph['n0']['n1']['capacity']")),
    ("parallel-links", body("return graph.get_edge_data('n0', 'n1')['capacity']")),
    ("not-for-multigraphs", body("return nx.core_number(graph)")),
    ("parallel-dropped", body("return list(nx.bridges(nx.Graph(graph)))")),
    ("unpack", body("return [u for u, v in graph.edges]")),
    ("unpack", body("return [u for u, v, d in graph.edges(keys=True, data=True)]")),
)
DIRECTED: tuple[tuple[str, str], ...] = (
    ("not-for-directed", body("return nx.number_connected_components(graph)")),
    ("not-for-directed", body("return list(nx.bridges(graph))")),
)
APART: tuple[tuple[str, str], ...] = (("disconnected", body("return nx.diameter(graph)")),)
LARGE: tuple[tuple[str, str], ...] = (
    ("all-pairs", body("t = 0", "for a in graph.nodes:", "    for b in graph.nodes:", "        t += 1", "return t")),
    ("all-pairs", body("return sum(1 for a, b in itertools.combinations(graph.nodes, 2))")),
)
PANDAS: tuple[tuple[str, str], ...] = (
    ("unknown-column", "def answer(nodes, edges):\n    return nodes['location'].unique().tolist()\n"),
    ("unknown-column", "def answer(nodes, edges):\n    return nodes['id'].tolist()\n"),
    ("unknown-column", "def answer(nodes, edges):\n    return edges.sort_values('bandwidth').head(3)\n"),
    ("wrong-owner", "def answer(nodes, edges):\n    return nodes['capacity'].sum()\n"),
    ("one-sided", "def answer(nodes, edges):\n    return edges.groupby('source')['capacity'].sum().to_dict()\n"),
    ("one-sided", "def answer(nodes, edges):\n    return edges['source'].value_counts().to_dict()\n"),
    ("removed-method", "def answer(nodes, edges):\n    return nodes.append({'site': 'x'})\n"),
    ("removed-method", "def answer(nodes, edges):\n    return nodes.applymap(str)\n"),
    ("chained-assignment", "def answer(nodes, edges):\n    nodes['site'][0] = 'x'\n    return nodes\n"),
    (
        "boolean-columns",
        "def answer(nodes, edges):\n    return edges[edges['capacity'] > 5 and edges['latency'] < 2]\n",
    ),
    ("unpack", "def answer(nodes, edges):\n    return [row['site'] for row in nodes.iterrows()]\n"),
    ("call-of-property", "def answer(nodes, edges):\n    return nodes.shape()\n"),
)
SQL: tuple[tuple[str, str], ...] = (
    ("unknown-column", "SELECT location FROM nodes"),
    ("unknown-table", "SELECT count(*) FROM routers"),
    ("limit-without-order", "SELECT id FROM nodes LIMIT 3"),
    ("not-in-null", "SELECT id FROM nodes WHERE id NOT IN (SELECT source FROM edges)"),
    ("one-sided", "SELECT source, sum(capacity) FROM edges GROUP BY source"),
    ("unknown-column", 'SELECT id FROM nodes WHERE site = "ams"'),
)
