"""Further ordinary programs of our own, over the graph of the benign set."""

from __future__ import annotations

from tests.sandbox.language.slips import body

GOOD: tuple[str, ...] = (
    body("return max(dict(graph.degree()).items(), key=lambda kv: kv[1])[0]"),
    body("return sorted(graph.degree, key=lambda x: x[1], reverse=True)[:3]"),
    body("return sorted(dict(graph.degree()).items(), key=lambda kv: (-kv[1], kv[0]))[:2]"),
    body("return [c for c in sorted(nx.connected_components(graph), key=len, reverse=True)][0]"),
    body("return nx.degree_histogram(graph)"),
    body(
        "from collections import defaultdict",
        "by = defaultdict(list)",
        "for n, d in graph.nodes(data=True):",
        "    by[d['site']].append(n)",
        "return dict(by)",
    ),
    body(
        "return {s: sum(1 for n in graph if graph.nodes[n]['site'] == s) for s in sorted({d['site'] for _, d in graph.nodes(data=True)})}"
    ),
    body("import math", "return math.sqrt(sum(d['capacity'] ** 2 for _, _, d in graph.edges(data=True)))"),
    body("import statistics", "return statistics.median(nx.get_edge_attributes(graph, 'latency').values())"),
    body("import re", "return [n for n in graph if re.fullmatch(r'n[0-3]', n)]"),
    body("import json", "return json.loads(json.dumps({'a': [1, 2, {'b': None}]}))"),
    body("from functools import reduce", "return reduce(lambda a, b: a + b, [d for n, d in graph.degree()])"),
    body("from operator import itemgetter", "return sorted(graph.degree(), key=itemgetter(1, 0))[0]"),
    body("import copy", "h = copy.deepcopy(graph)", "h.remove_node('n0')", "return len(graph), len(h)"),
    body(
        "from typing import Dict, List, Optional",
        "def pick(x: Optional[int]) -> List[int]:",
        "    return [x or 0]",
        "out: Dict[str, List[int]] = {'a': pick(3)}",
        "return out",
    ),
    body(
        "from datetime import datetime, timedelta",
        "t = datetime(2024, 1, 31) + timedelta(days=1)",
        "return t.strftime('%Y-%m-%d'), t.weekday(), (t - datetime(2024, 1, 1)).days",
    ),
    body(
        "import random",
        "random.seed(3)",
        "xs = [random.random() for _ in range(3)]",
        "return xs == sorted(xs) or len(xs)",
    ),
    body("rng = np.random.default_rng(7)", "return rng.integers(0, 100, 3).tolist()"),
    body(
        "a = np.arange(12).reshape(3, 4)",
        "a[0, 1] += 5",
        "return a.sum(axis=0).tolist(), a.T.shape, a[:, 1].mean(), str(a[0])",
    ),
    body(
        "with np.errstate(divide='ignore'):",
        "    x = np.array([1.0, 2.0]) / np.array([0.0, 1.0])",
        "return float(x[1])",
    ),
    body(
        "df = pd.DataFrame({'a': [3, 1, 2], 'b': ['x', 'y', 'x']})",
        "df['c'] = df['a'] * 2",
        "df.loc[df.a > 1, 'd'] = 1",
        "df['d'] = df['d'].fillna(0).astype(int)",
        "return df.sort_values('a').to_dict('records')",
    ),
    body(
        "df = pd.DataFrame([(n, d['site'], d['weight']) for n, d in graph.nodes(data=True)], columns=['n', 'site', 'w'])",
        "g = df.groupby('site').agg(total=('w', 'sum'), count=('n', 'count')).reset_index()",
        "g.columns = ['site', 't', 'c']",
        "return g.values.tolist()",
    ),
    body(
        "s = pd.Series({'a': 1, 'b': 2})",
        "return s.apply(lambda v: v + 1).to_dict(), s.map(str).tolist(), s.agg(['sum', 'mean']).tolist()",
    ),
    body(
        "df = nx.to_pandas_edgelist(graph)",
        "p = pd.pivot_table(df, values='capacity', index='source', aggfunc='sum')",
        "return int(p['capacity'].max())",
    ),
    body(
        "df = pd.DataFrame({'t': ['2024-01-01', '2024-02-01'], 'v': [1, 2]})",
        "df['t'] = pd.to_datetime(df['t'])",
        "return df.t.dt.month.tolist(), df.set_index('t').resample('MS').v.sum().tolist()",
    ),
    body(
        "df = pd.DataFrame({'a': [1, 2], 'k': ['x', 'y']})",
        "e = pd.DataFrame({'k': ['x', 'y'], 'b': [3, 4]})",
        "m = df.merge(e, on='k', how='left')",
        "return m[['a', 'b']].sum().to_dict(), [r.b for r in m.itertuples()]",
    ),
    body(
        "df = pd.DataFrame({'name': ['ams-1', 'fra-2']})",
        "return df[df['name'].str.startswith('ams')]['name'].tolist(), df.name.str.split('-').str[0].tolist()",
    ),
    body("pos = dict(nx.all_pairs_shortest_path_length(graph))", "return pos['n0']['n7']"),
    body("t = nx.bfs_tree(graph, 'n0')", "return sorted(t.edges)[:3], list(nx.topological_sort(t))[0]"),
    body(
        "h = nx.DiGraph()",
        "h.add_edge('a', 'b', capacity=3.0)",
        "h.add_edge('b', 'c', capacity=2.0)",
        "return nx.maximum_flow_value(h, 'a', 'c')",
    ),
    body(
        "h = graph.copy()",
        "h.remove_edges_from([(u, v) for u, v, d in graph.edges(data=True) if d['capacity'] < 50])",
        "return nx.number_connected_components(h)",
    ),
    body(
        "h = graph.subgraph([n for n, d in graph.nodes(data=True) if d['site'] == 'ams'])",
        "return sorted(h.nodes), h.number_of_edges()",
    ),
    body(
        "from networkx.algorithms.community import greedy_modularity_communities",
        "return len(greedy_modularity_communities(graph))",
    ),
    body("from networkx.algorithms import approximation as approx", "return approx.node_connectivity(graph)"),
    body("return '{:>6.2f}|{}|{name}'.format(1.5, 'x', name='y'), '%s-%d' % ('a', 3), f'{len(graph):03d}'"),
    body("return sorted(graph.nodes, key=str.lower)[:2], list(map(str.upper, ['a', 'b'])), 'a,b'.split(',')"),
    body(
        "try:",
        "    return nx.shortest_path(graph, 'n0', 'zz')",
        "except (nx.NetworkXNoPath, nx.NodeNotFound) as e:",
        "    return type(e).__name__",
    ),
    body("try:", "    x = {}['a']", "except:", "    x = 'none'", "finally:", "    y = 1", "return x, y"),
    body(
        "seen = set()",
        "stack = ['n0']",
        "while stack:",
        "    n = stack.pop()",
        "    if n in seen:",
        "        continue",
        "    seen.add(n)",
        "    stack.extend(m for m in graph.neighbors(n) if m not in seen)",
        "return len(seen)",
    ),
    body(
        "def walk(n, depth):",
        "    if depth == 0:",
        "        return 1",
        "    return sum(walk(m, depth - 1) for m in graph[n])",
        "return walk('n0', 3)",
    ),
    body(
        "return [{'u': u, 'v': v, **d} for u, v, d in sorted(graph.edges(data=True), key=lambda e: (-e[2]['capacity'], e[0]))[:2]]"
    ),
    body(
        "from collections import deque",
        "q = deque(['n0'])",
        "q.append('n1')",
        "q[0] = 'n5'",
        "return q.popleft(), len(q)",
    ),
    body(
        "from collections import namedtuple",
        "P = namedtuple('P', ['a', 'b'])",
        "p = P(1, b=2)",
        "return p.a + p.b, tuple(p)",
    ),
    body(
        "from fractions import Fraction",
        "from decimal import Decimal",
        "return str(Fraction(1, 3) + 1), float(Decimal('1.10') * 3)",
    ),
    body("if (n := graph.number_of_nodes()) > 3:", "    return n", "return 0"),
    body("a = b = [1, 2]", "a += [3]", "x = {'k': [1]}", "x['k'][0] -= 4", "x['k'] += [2]", "return b, x"),
    body("return nx.node_link_data(graph, edges='links')['nodes'][0]['id'], nx.to_dict_of_lists(graph)['n0'][0]"),
    body(
        "m = nx.to_numpy_array(graph, nodelist=sorted(graph), weight='capacity')",
        "return m[0].tolist(), np.linalg.matrix_rank(m) > 1",
    ),
    body("L = nx.laplacian_matrix(graph).toarray()", "return round(float(np.sort(np.linalg.eigvalsh(L))[1]), 6)"),
    body("cut, (a, b) = nx.minimum_cut(graph, 'n0', 'n7', capacity='capacity')", "return cut, len(a) + len(b)"),
    body("g = nx.relabel_nodes(graph, {n: n.upper() for n in graph})", "return sorted(g)[:2]"),
    body(
        "lines = []",
        "for n, d in sorted(graph.nodes(data=True)):",
        "    lines.append(n + ':' + d['ip'])",
        "return '\\n'.join(lines[:2])",
    ),
    body(
        "s = {n: d for n, d in graph.degree()}",
        "avg = sum(s.values()) / len(s)",
        "return [n for n in s if s[n] >= avg], all(v > 0 for v in s.values())",
    ),
    body(
        "nets = {}",
        "for n, d in graph.nodes(data=True):",
        "    net = ipaddress.ip_network(d['ip'] + '/31', strict=False)",
        "    nets.setdefault(str(net), []).append(n)",
        "return nets, ipaddress.ip_address('10.0.0.1') in ipaddress.ip_network('10.0.0.0/8')",
    ),
    body(
        "total = 0",
        "for i, (u, v) in enumerate(graph.edges()):",
        "    total += i * graph[u][v]['capacity']",
        "return total",
    ),
    body(
        "nx.set_edge_attributes(graph, {e: 1.0 for e in graph.edges}, 'cost')",
        "return nx.shortest_path_length(graph, 'n0', 'n4', weight='cost')",
    ),
    body(
        "for u, v, d in graph.edges(data=True):",
        "    d['inv'] = 1 / d['capacity']",
        "return nx.shortest_path(graph, 'n0', 'n5', weight='inv')",
    ),
    "import networkx as nx\nimport numpy as np\n\nTOP = 2\n\n\ndef helper(g):\n    return sorted(g)[:TOP]\n\n\ndef answer(G):\n"
    '    """Doc."""\n    return helper(G)\n\n\nif __name__ == \'__main__\':\n    print(answer(None))\n',
)
GOOD_PANDAS: tuple[str, ...] = (
    "def answer(nodes, edges):\n    return nodes.groupby('site').size().to_dict()\n",
    "def answer(nodes, edges):\n    both = ends(edges)\n    return both.groupby('node')['capacity'].sum().to_dict()\n",
    "def answer(nodes, edges):\n    return edges.loc[edges['capacity'].idxmax(), ['source', 'target']].tolist()\n",
    "def answer(nodes, edges):\n    m = edges.merge(nodes, left_on='source', right_index=True)\n    return m['site'].value_counts().to_dict()\n",
    "def answer(nodes, edges):\n    return nodes[nodes['site'] == 'ams'].index.tolist()\n",
    "def answer(nodes, edges, tables):\n    return sorted(tables)\n",
    "def answer(nodes, edges):\n    edges['ratio'] = edges['latency'] / edges['capacity']\n    return edges.sort_values('ratio').head(2)[['source', 'target', 'ratio']]\n",
    "def answer(nodes, edges):\n    c = pd.concat([edges['source'], edges['target']]).value_counts()\n    return c.to_dict()\n",
)
GOOD_SQL: tuple[str, ...] = (
    "SELECT count(*) FROM nodes",
    "SELECT site, count(*) AS n FROM nodes GROUP BY site ORDER BY n DESC LIMIT 3",
    "SELECT n.id, sum(e.capacity) total FROM nodes n JOIN edges e ON e.source = n.id OR e.target = n.id GROUP BY n.id ORDER BY total DESC",
    "WITH ends AS (SELECT source AS node, capacity FROM edges UNION ALL SELECT target, capacity FROM edges) SELECT node, sum(capacity) FROM ends GROUP BY node",
    "SELECT id FROM nodes WHERE site = 'ams' AND role IN ('core', 'edge') ORDER BY id",
    "SELECT CASE WHEN capacity > 50 THEN 'big' ELSE 'small' END AS size, avg(latency) FROM edges GROUP BY size;",
    "SELECT max(capacity) FROM edges -- the widest link",
)
