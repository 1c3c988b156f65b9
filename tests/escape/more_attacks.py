"""Attacks of our own, in the terms of the corpus: none may reach a file, a process, a frame or a later answer."""

from __future__ import annotations

from tests.sandbox.language.slips import body

ATTACKS: dict[str, str] = {
    "import_from_parent": body("from networkx import lazy_imports", "return 'REACHED'"),
    "import_submodule": "import networkx.utils as u\n" + body("return 'REACHED'"),
    "import_alias_of_os": "import networkx.lazy_imports.os as o\n" + body("return 'REACHED'"),
    "module_in_dict": body("return [getattr(m, 'sys') for m in {'a': statistics}.values()] and 'REACHED'"),
    "copy_of_proxy": body("import copy", "return copy.copy(nx).lazy_imports and 'REACHED'"),
    "deepcopy_of_proxy": body("import copy", "return copy.deepcopy(nx).lazy_imports and 'REACHED'"),
    "partial_func": body("from functools import partial", "return partial(print).func and 'REACHED'"),
    "reduce_getattr": body(
        "from functools import reduce", "return reduce(getattr, ['__class__', '__mro__'], graph) and 'REACHED'"
    ),
    "lru_cache_wrapped": body(
        "from functools import lru_cache",
        "f = lru_cache(lambda x: x)",
        "return getattr(f, '__wrapped__') and 'REACHED'",
    ),
    "cache_parameters": body(
        "from functools import cache", "f = cache(lambda x: x)", "return f.cache_parameters and 'REACHED'"
    ),
    "cmp_to_key_obj": body("from functools import cmp_to_key", "return cmp_to_key(print)(3).obj and 'REACHED'"),
    "match_re": body("import re", "return re.match('a', 'a').re.scanner('a') and 'REACHED'"),
    "generator_throw": body("def g():", "    yield 1", "x = g()", "return x.gi_code and 'REACHED'"),
    "exception_context": body(
        "try:", "    1 / 0", "except Exception as e:", "    return e.args and getattr(e, 'add_note') and 'REACHED'"
    ),
    "exception_name": body("try:", "    zz", "except NameError as e:", "    return e.name and 'REACHED'"),
    "stopiteration_value": body(
        "try:", "    next(iter([]))", "except StopIteration as e:", "    return [e.value] and 'REACHED'"
    ),
    "groupby_string": body("return pd.Series([1]).groupby([1]).agg('__class__') is not None and 'REACHED'"),
    "groupby_apply_string": body("return pd.DataFrame({'a': [1]}).groupby('a').apply('to_csv', WRITE_PATH)"),
    "resample_string": body(
        "s = pd.Series([1], index=pd.to_datetime(['2024-01-01']))",
        "return s.resample('D').agg('__reduce__') and 'REACHED'",
    ),
    "ewm_string": body("return pd.Series([1.0]).ewm(1).agg('__class__') is not None and 'REACHED'"),
    "transform_list": body("return pd.DataFrame({'a': [1]}).transform(['to_csv'])"),
    "map_elementwise": body("return pd.DataFrame({'a': [1]}).map('__class__') is not None and 'REACHED'"),
    "agg_tuple": body("pd.DataFrame({'a': [1]}).agg(x=('a', 'to_csv'))", "return 'REACHED'"),
    "agg_generator": body("pd.DataFrame({'a': [1]}).agg(f for f in ['to_csv'])", "return 'REACHED'"),
    "agg_index": body("pd.DataFrame({'a': [1]}).agg(pd.Index(['to_csv']))", "return 1"),
    "agg_series": body("pd.DataFrame({'a': [1]}).agg(pd.Series({'a': '__reduce__'}))", "return 'REACHED'"),
    "agg_array": body("pd.DataFrame({'a': [1]}).agg(np.array(['__reduce__']))", "return 'REACHED'"),
    "agg_keyword": body("pd.DataFrame({'a': [1]}).agg(func='to_csv')", "return 1"),
    "agg_np_str": body("pd.DataFrame({'a': [1]}).agg(np.str_('__reduce__'))", "return 'REACHED'"),
    "agg_deque": body(
        "from collections import deque", "pd.DataFrame({'a': [1]}).agg(deque(['__reduce__']))", "return 'REACHED'"
    ),
    "agg_dict_values": body("pd.DataFrame({'a': [1]}).agg({'x': '__reduce__'}.values())", "return 'REACHED'"),
    "pivot_positional": body("return pd.pivot_table(pd.DataFrame({'a': [1], 'b': [2]}), 'b', 'a', None, '__class__')"),
    "style_getattr": body("return getattr(pd.DataFrame({'a': [1]}), 'st' + 'yle') and 'REACHED'"),
    "plot_accessor": body("return pd.Series([1]).plot and 'REACHED'"),
    "query_backtick": body("return pd.DataFrame({'a': [1]}).query('`a` == `__class__`') is not None and 'REACHED'"),
    "query_backtick_in_text": body(
        "df = pd.DataFrame({'a': ['x', 'y']})",
        "df.query('a == \\'`x\\' or a.to_csv(\"' + WRITE_PATH + '\") == 3 or a == \\'y`\\'')",
        "return 1",
    ),
    "query_backtick_in_double_quotes": body(
        "df = pd.DataFrame({'a': ['x', 'y']})",
        'df.query(\'a == "`x" or a.to_csv("\' + WRITE_PATH + \'") == 3 or a == "y`"\')',
        "return 1",
    ),
    "query_backtick_and_comment": body(
        "df = pd.DataFrame({'a': ['x', 'y']})",
        'df.query(\'`a` == "#`" or a.to_csv("\' + WRITE_PATH + \'") == 3 or a == "`"\')',
        "return 1",
    ),
    "query_triple_quotes": body(
        "df = pd.DataFrame({'a': ['x', 'y']})",
        "df.query(\"a == '''`x''' or a.to_csv('\" + WRITE_PATH + \"') == 3 or a == '''y`'''\")",
        "return 1",
    ),
    "module_in_column": body("return pd.DataFrame({'f': [nx, np]}).f.iloc[0].lazy_imports and 'REACHED'"),
    "module_in_array": body("return np.array([nx, pd], dtype=object)[0].utils and 'REACHED'"),
    "accumulate_getattr": body("return list(itertools.accumulate([graph, '__class__'], getattr)) and 'REACHED'"),
    "starmap_getattr": body("return list(itertools.starmap(getattr, [(graph, '__dict__')])) and 'REACHED'"),
    "bit_generator": body("return np.random.default_rng(1).bit_generator.ctypes and 'REACHED'"),
    "decimal_local_context": body(
        "from decimal import localcontext", "with localcontext() as c:", "    c.prec = 3", "return 'REACHED'"
    ),
    "to_dict_into": body("return pd.DataFrame({'a': [1]}).to_dict(into=print) and 'REACHED'"),
    "create_using": body("return nx.empty_graph(3, create_using=print) and 'REACHED'"),
    "namespace_of_namespace": body("return nx.algorithms.community.quality.nx.utils and 'REACHED'"),
    "query_engine": body("return pd.DataFrame({'a': [1]}).query('a == 1', engine='python', resolvers=[{}])"),
    "query_at_dunder": body("return pd.DataFrame({'a': [1]}).query('a == @__builtins__') is not None and 'REACHED'"),
    "to_string_buf": body("pd.DataFrame({'a': [1]}).to_string(WRITE_PATH)", "return 1"),
    "to_string_buf_kw": body("pd.DataFrame({'a': [1]}).to_string(buf=WRITE_PATH)", "return 1"),
    "to_markdown": body("pd.DataFrame({'a': [1]}).to_markdown(WRITE_PATH)", "return 1"),
    "info_buf": body("pd.DataFrame({'a': [1]}).info(buf=WRITE_PATH)", "return 1"),
    "np_save": body("np.save(WRITE_PATH, np.arange(3))", "return 1"),
    "np_lib": body("return np.lib.npyio and 'REACHED'"),
    "np_core": body("return np.core and 'REACHED'"),
    "np_ctypes": body("return np.arange(3).ctypes.data and 'REACHED'"),
    "np_base": body("return np.arange(9).reshape(3, 3).base is not None and 'REACHED'"),
    "np_dtype_type": body("return np.dtype('O').type and 'REACHED'"),
    "np_recarray": body("return np.recarray and 'REACHED'"),
    "type_of_array": body("t = type(np.arange(3))", "return t((2,), 'O') and 'REACHED'"),
    "type_three_arguments": body("return type('A', (), {}) and 'REACHED'"),
    "type_attribute": body("return type(graph).add_node and 'REACHED'"),
    "class_of_class": body("return type(type(1)) is not None and type(type(1)).mro and 'REACHED'"),
    "str_class_method": body("return str.maketrans('a', 'b') and str.format_map('{0.a}', {}) and 'REACHED'"),
    "nested_format": body("return '{:{x.real}}'.format(1, x=2) and 'REACHED'"),
    "format_method_object": body("f = '{0.real}'.format", "return f(1) and 'REACHED'"),
    "format_map_of_map": body("return list(map('{0.real}'.format, [1])) and 'REACHED'"),
    "format_in_pandas": body("return pd.Series([1]).map('{0.real}'.format).tolist() and 'REACHED'"),
    "series_str_format": body("return pd.Series(['{0.real}']).str.format(1) and 'REACHED'"),
    "walrus_guard": body("return (_getattr_ := 1) and 'REACHED'"),
    "keyword_only_guard": body("def f(*, _getattr_=lambda a, b: 'REACHED'):", "    return graph.x", "return f()"),
    "star_args_guard": body("def f(*_apply_):", "    return 'REACHED'", "return f()"),
    "pattern_capture": body("match 1:", "    case _write_:", "        return 'REACHED'"),
    "nested_function_guard": body("def _getattr_(a, b):", "    return 'REACHED'", "return graph.x"),
    "del_guard": body("del _getattr_", "return 'REACHED'"),
    "builtins_name": body("return __builtins__ and 'REACHED'"),
    "globals_of_answer": body("return answer.__globals__ and 'REACHED'"),
    "annotation_dunder": body("x: graph.__class__ = 1", "return getattr(answer, '__annotations__') and 'REACHED'"),
    "default_dunder": "def answer(graph, x=().__class__):\n    return 'REACHED'\n",
    "decorator_getattr": "@getattr\ndef f():\n    return 1\n" + body("return 'REACHED'"),
    "decorator_lambda": "@(lambda f: f.__globals__)\ndef f():\n    return 1\n" + body("return 'REACHED'"),
    "set_on_class": body("nx.Graph.density = 1", "return 'REACHED'"),
    "set_on_function": body("answer.x = 1", "return 'REACHED'"),
    "set_item_on_proxy_table": body("nx.community['x'] = 1", "return 'REACHED'"),
    "set_pandas_option": body("pd.set_option('display.width', 1)", "return 'REACHED'"),
    "set_np_seterr": body("np.seterr(all='raise')", "return 'REACHED'"),
    "set_decimal_context": body("import decimal", "decimal.getcontext().prec = 2", "return 'REACHED'"),
    "errstate_left_open": body(
        "def g():", "    with np.errstate(all='raise'):", "        yield 1", "x = g()", "next(x)", "return 1"
    ),
    "namedtuple_module": body(
        "from collections import namedtuple", "P = namedtuple('P', 'a', module='os')", "return 'REACHED'"
    ),
    "namedtuple_source": body(
        "from collections import namedtuple", "namedtuple('P', ['a=1):\\n pass', 'b'])", "return 'REACHED'"
    ),
    "namedtuple_make": body(
        "from collections import namedtuple", "return namedtuple('P', 'a')._make([1]) and 'REACHED'"
    ),
    "json_cls": body("import json", "return json.loads('1', cls=lambda **k: graph) and 'REACHED'"),
    "operator_attrgetter": body("import operator", "return operator.attrgetter('x') and 'REACHED'"),
    "operator_setitem": body("import operator", "return operator.setitem and 'REACHED'"),
    "random_system": body("import random", "return random.SystemRandom and 'REACHED'"),
    "random_state": body("import random", "return random.getstate() and 'REACHED'"),
    "datetime_sys": body("import datetime", "return datetime.sys and 'REACHED'"),
    "ipaddress_functools": body("return ipaddress.functools and 'REACHED'"),
    "collections_abc": body("return collections.abc.sys and 'REACHED'"),
    "typing_get_type_hints": "import typing\n" + body("return typing.get_type_hints and 'REACHED'"),
    "typing_inert_attribute": "from typing import Any\n" + body("return Any.__class__ and 'REACHED'"),
    "timezone_file": body("pd.Timestamp('2024-01-01', tz='dateutil/' + SECRET_PATH)", "return 'opened'"),
    "nx_generator_file": body("return nx.graph_atlas(3) and 'REACHED'"),
    "nx_backend_apply": body("return nx.pagerank(graph, **dict([('back' + 'end', 'x')])) and 'REACHED'"),
    "nx_config_argument": body("return nx.config and 'REACHED'"),
    "nx_parse": body("return nx.parse_edgelist and 'REACHED'"),
    "nx_write_text": body("return list(nx.generate_network_text(graph)) and 'REACHED'"),
    "print_reassigned": body("p = print", "p.write('x')", "return 'REACHED'"),
    "print_sep_object": body("print(1, 2, sep=graph)", "return 'REACHED'"),
    "getattr_bytes": body("return getattr(graph, b'__class__') and 'REACHED'"),
    "getattr_default_swallows": body("return getattr(graph, '__class__', 0) and 'REACHED'"),
    "hasattr_probe": body("return hasattr(graph, '__class__') and 'REACHED'"),
    "sorted_key_getattr": body("return sorted([graph], key=lambda g: getattr(g, '__dict__')) and 'REACHED'"),
    "vectorize_pyfunc": body("return np.vectorize(len).pyfunc and 'REACHED'"),
    "frompyfunc": body("return np.frompyfunc and 'REACHED'"),
    "weird_unicode": body("return graph.\u2102lass and 'REACHED'"),
    "null_in_source": body("return 'REACHED'") + "\0",
    "surrogate_source": body("x = '\\ud800'", "return x"),
    "line_separator": body("return 1 # \u2028 import os"),
    "form_feed": body("x = 1\x0c", "return x"),
    "coding_cookie": "# -*- coding: utf-7 -*-\n" + body("return 1"),
    "main_block": body("return 1") + "if __name__ == '__main__':\n    import os\n",
    "future_import": "from __future__ import annotations\n" + body("return 1"),
    "finally_hides": body("try:", "    cannot_answer('x')", "finally:", "    return 1"),
    "gc_through_statistics": body("return statistics.sys.modules and 'REACHED'"),
    "cycle_result": body("x = []", "x.append(x)", "return x"),
    "int_from_text": body("return int('9' * 6000) > 0"),
    "rolling_window_name": body(
        "return pd.Series([1.0, 2.0]).rolling(2, win_type='windows').mean() is not None and 'REACHED'"
    ),
    "interpolate_name": body("return pd.Series([1.0, None]).interpolate(method='__class__') is not None and 'REACHED'"),
    "corr_name": body(
        "return pd.DataFrame({'a': [1, 2], 'b': [2, 1]}).corr(method='__class__') is not None and 'REACHED'"
    ),
}
