"""What the wall refuses, and that each refusal says what to write instead."""

from __future__ import annotations

import pytest

from nl2net.errors import RefusedCode
from nl2net.model import Library
from nl2net.sandbox.language import run_restricted, validate
from tests.sandbox.language.programs import load_graph
from tests.sandbox.language.slips import body

STATIC: tuple[tuple[str, str], ...] = (
    ("import", "import os\n" + body("return 1")),
    ("import", "import networkx.drawing\n" + body("return 1")),
    ("import", "from networkx import read_gml\n" + body("return 1")),
    ("import", "from math import *\n" + body("return 1")),
    ("import", "from . import x\n" + body("return 1")),
    ("import", "import importlib as x\n" + body("return 1")),
    ("statement", "class A:\n    pass\n" + body("return 1")),
    ("statement", body("global x", "x = 1", "return x")),
    ("statement", body("x = 1", "def f():", "    nonlocal x", "    x = 2", "return x")),
    ("statement", body("match 1:", "    case 1:", "        return 1", "return 2")),
    ("statement", body("try:", "    return 1", "except* ValueError:", "    return 2")),
    ("statement", "async def f():\n    return 1\n" + body("return 1")),
    ("builtin", body("return eval('1')")),
    ("builtin", body("return exec('1')")),
    ("builtin", body("return compile('1', 'x', 'eval')")),
    ("builtin", body("return open('x')")),
    ("builtin", body("return globals()")),
    ("builtin", body("setattr(graph, 'x', 1)")),
    ("builtin", body("raise SystemExit(1)")),
    ("underscore", body("return graph.__class__")),
    ("underscore", body("return graph._adj")),
    ("underscore", body("return __import__('os')")),
    ("underscore", body("def f(x, _write_=1, /):", "    return x", "return f(1)")),
    ("underscore", body("def f(x, *, _getattr_=1):", "    return x", "return f(1)")),
    ("underscore", body("return (lambda *_apply_: 1)()")),
    ("underscore", body("return (lambda **_apply_: 1)()")),
    ("underscore", body("for _getattr_ in [1]:", "    pass", "return 1")),
    ("underscore", body("try:", "    1 / 0", "except ZeroDivisionError as _write_:", "    return 1", "return 2")),
    ("underscore", body("with np.errstate() as _getattr_:", "    return 1")),
    ("underscore", body("return [_write_ for _write_ in [1]]")),
    ("underscore", body("return (_getattr_ := 1)")),
    ("underscore", body("return dict(_x=1)")),
    ("underscore", "import math as _write_\n" + body("return 1")),
    ("underscore", "from math import sqrt as _write_\n" + body("return 1")),
    ("underscore", "def _helper():\n    return 1\n" + body("return 1")),
    ("underscore", body("return f'{graph.__dict__}'")),
    ("underscore", body("return type(graph).__mro__")),
    ("underscore", body("_tmp0 = 1", "return 1")),
    ("write", body("nx.pagerank = 1", "return 1")),
    ("write", body("graph.nodes = 1", "return 1")),
    ("write", body("del graph.name", "return 1")),
    ("write", body("graph.name += 'x'", "return 1")),
    ("write", body("for nx.density in [1]:", "    pass", "return 1")),
    ("keyword", body("return nx.pagerank(graph, backend='x')")),
    ("keyword", body("return nx.Graph(backend='x')")),
    ("signature", "def solve(graph):\n    return 1\n"),
    ("signature", "def answer():\n    return 1\n"),
    ("signature", "def answer(a, b):\n    return 1\n"),
    ("signature", "x = 1\n"),
    ("syntax", "def answer(graph)\n    return 1\n"),
    ("size", body("return " + "(" * 200 + "1" + ")" * 200)),
    ("size", body("return " + "-" * 500 + "1")),
    ("size", body("return " + "not " * 500 + "1")),
    ("size", body("return " + "+".join(["1"] * 3000))),
    ("size", body("x = '" + "a" * 30_000 + "'", "return x")),
    ("size", body("return 1\0")),
)
RUNNING: tuple[tuple[str, str], ...] = (
    ("module-name", body("return nx.read_gml('x')")),
    ("module-name", body("return nx.lazy_imports")),
    ("module-name", body("return pd.io")),
    ("module-name", body("return np.lib.stride_tricks")),
    ("module-name", body("return np.frombuffer(b'x')")),
    ("module-name", body("import string", "return string.Formatter")),
    ("module-name", body("return getattr(pd, 'read' + '_csv')")),
    ("module-name", body("np.random.seed(1)", "return 1")),
    ("underscore", body("return getattr(graph, '_' + 'adj')")),
    ("underscore", body("return list(map(getattr, [graph], ['__class__']))")),
    ("underscore", body("return hasattr(graph, '__dict__')")),
    ("getattr", body("return getattr(graph, np.str_('nodes'))")),
    ("attribute", body("g = (x for x in [1])", "return getattr(g, 'gi_' + 'frame')")),
    (
        "attribute",
        body("f = nx.pagerank", "return getattr(f, 'orig_' + 'func', None) or graph.adjlist_outer_dict_factory"),
    ),
    ("attribute", body("return pd.DataFrame({'a': [1]}).to_csv('x')")),
    ("attribute", body("return pd.DataFrame({'a': [1]}).style")),
    ("attribute", body("return pd.DataFrame({'a': [1]}).eval('a')")),
    ("attribute", body("return np.arange(3).tofile('x')")),
    ("attribute", body("return np.arange(3).ctypes")),
    ("attribute", body("return np.arange(3).data")),
    ("attribute", body("try:", "    nx.x_y", "except Exception as e:", "    return e.with_traceback")),
    ("class-attribute", body("return pd.DataFrame.to_csv")),
    ("class-attribute", body("return nx.Graph.add_node")),
    ("class-attribute", body("return list.mro()")),
    ("class-attribute", body("return str.format('{0.real}', 1)")),
    ("buffer", body("return np.ndarray((3,), dtype='O', buffer=b'x' * 24)")),
    ("method-name", body("return pd.DataFrame({'a': [1]}).agg('to_json')")),
    ("method-name", body("return pd.DataFrame({'a': [1]}).agg({'a': ['sum', ['__reduce__']]})")),
    ("method-name", body("return pd.DataFrame({'a': [1]}).apply('to_csv', args=('x',))")),
    ("method-name", body("return pd.DataFrame({'a': [1]}).transform('to_pickle')")),
    ("method-name", body("return pd.DataFrame({'a': [1]}).groupby('a').agg(x=('a', '__class__'))")),
    ("method-name", body("return pd.DataFrame({'a': [1]}).groupby('a').agg(x=pd.NamedAgg('a', 'to_csv'))")),
    ("method-name", body("return pd.DataFrame({'a': [1]}).groupby('a').a.agg(x='to_csv')")),
    ("method-name", body("return pd.Series([1]).rolling(1).agg('__reduce__')")),
    ("method-name", body("return pd.Series([1]).expanding().aggregate('__reduce__')")),
    ("method-name", body("return pd.DataFrame({'a': [1], 'b': [2]}).pivot_table(index='a', aggfunc='to_csv')")),
    ("method-name", body("return pd.DataFrame({'a': [1], 'b': [2]}).pivot_table('b', 'a', None, 'to_csv')")),
    ("method-name", body("return pd.crosstab([1], [1], values=[1], aggfunc='to_csv')")),
    ("method-name", body("return pd.DataFrame({'a': [1]}).pipe(('to_csv', 'x'))")),
    ("keyword", body("return pd.DataFrame({'a': [1]}).apply(sum, engine='numba')")),
    ("keyword", body("return pd.Series([1]).rolling(1, win_type='get_window')")),
    ("keyword", body("return nx.pagerank(graph, **{'backend': 'x'})")),
    ("keyword", body("return nx.Graph(**{'backend': 'x'})")),
    ("keyword", body("import json", "return json.dumps(1, cls=print)")),
    ("query", body("m = pd", "return pd.DataFrame({'a': [1]}).query('a == @m.read_csv')")),
    ("query", body("m = pd", "return pd.DataFrame({'a': [1]}).query('a == @m')")),
    ("query", body("return pd.DataFrame({'a': [1]}).query('a.sum() == 1')")),
    ("query", body("return pd.DataFrame({'a': [1]}).query('__class__ == 1')")),
    ("query", body("return pd.DataFrame({'a': [1]}).query('a == 1 ' + ' ' * 3000)")),
    ("format", body("return '{0.real}'.format(1)")),
    ("format", body("return '{0[0]}'.format([1])")),
    ("format", body("return '{:{0.real}}'.format(1)")),
    ("format", body("return '{a.real}'.format_map({'a': 1})")),
    ("underscore", body("from collections import namedtuple", "P = namedtuple('P', '_a')", "return 1")),
    ("write", body("nx.flow['a'] = 1", "return 1")),
    ("write", body("pd.DataFrame.columns = 1", "return 1")),
)


@pytest.mark.parametrize(("rule", "source"), STATIC)
def test_program_is_refused_before_it_runs(rule: str, source: str) -> None:
    findings = validate(source, library=Library.NETWORKX)
    assert rule in [f.rule for f in findings]
    assert findings[0].message
    with pytest.raises(RefusedCode):
        run_restricted(source, (load_graph(),), library=Library.NETWORKX)


@pytest.mark.parametrize(("rule", "source"), RUNNING)
def test_program_is_refused_while_it_runs(rule: str, source: str) -> None:
    with pytest.raises(RefusedCode) as refused:
        run_restricted(source, (load_graph(),), library=Library.NETWORKX)
    assert refused.value.rule == rule
    assert refused.value.line is not None


@pytest.mark.parametrize("rule", ["import", "statement", "builtin", "write", "signature"])
def test_refusals_say_what_to_write_instead(rule: str) -> None:
    hints = [
        f.hint
        for r, source in STATIC
        if r == rule
        for f in validate(source, library=Library.NETWORKX)
        if f.rule == rule
    ]
    assert hints and all(hints)


def test_near_names_are_listed() -> None:
    with pytest.raises(RefusedCode) as refused:
        run_restricted(body("return nx.page_rank(graph)"), (load_graph(),), library=Library.NETWORKX)
    assert "networkx.pagerank" in refused.value.hint
    with pytest.raises(AttributeError, match="number_of_nodes"):
        run_restricted(body("return graph.number_of_node()"), (load_graph(),), library=Library.NETWORKX)


def test_identifiers_outside_ascii_are_refused() -> None:
    found = validate(body("return graph.__\uff43lass__"), library=Library.NETWORKX)
    assert found[0].rule == "underscore"
    assert validate(body("\u0430 = 1", "return \u0430"), library=Library.NETWORKX)[0].rule == "identifier"


@pytest.mark.parametrize(
    "source",
    [
        "SELECT 1; SELECT 2",
        "DROP TABLE nodes",
        "COPY nodes TO 'x.csv'",
        "SELECT * FROM 'x.csv'",
        "SELECT * FROM read_csv('x.csv')",
        "SELECT * FROM read_text('/etc/passwd')",
        'SELECT * FROM "x.parquet"',
        "ATTACH 'x.db'",
        "SELECT getenv('HOME')",
        "PRAGMA database_list",
        "INSTALL httpfs",
        "WITH x AS (DELETE FROM nodes RETURNING *) SELECT * FROM x",
        "SET enable_external_access = true",
        "",
        "SELECT " + "(" * 100 + "1" + ")" * 100,
        "SELECT $$x$$",
    ],
)
def test_statement_is_refused(source: str) -> None:
    assert validate(source, library=Library.SQL)
