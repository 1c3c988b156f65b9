"""Run a program behind the language wall. The caller supplies the process and its limits (the other wall)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, MappingProxyType
from typing import Any

from nl2net.errors import RefusedCode, UserError
from nl2net.model import Library
from nl2net.sandbox.language.attributes import guarded_getattr
from nl2net.sandbox.language.binding import bind_source, bind_tree
from nl2net.sandbox.language.builtin_names import build_builtins, cut, type_name
from nl2net.sandbox.language.library import RANDOM_METHODS, random_proxy, static_proxies
from nl2net.sandbox.language.locating import PROGRAM, error_line
from nl2net.sandbox.language.prelude import FUNCTIONS
from nl2net.sandbox.language.proxies import ModuleProxy, proxy_get
from nl2net.sandbox.language.remarks import note_forgotten_parts
from nl2net.sandbox.language.rewriting import APPLY, CUT, IMPORT, IMPORT_FROM, READ, TYPE_NAME, WRITE, WRITE_ATTRIBUTE
from nl2net.sandbox.language.state import RunState, start_run
from nl2net.sandbox.language.strictness import STRICT_NAMES
from nl2net.sandbox.language.validation import ENTRY, Checked, check_program
from nl2net.sandbox.language.writing import writable_attributes, writable_items

PRELOADED = {
    "nx": "networkx",
    "networkx": "networkx",
    "pd": "pandas",
    "np": "numpy",
    **{n: n for n in ("math", "re", "statistics", "collections", "itertools", "ipaddress", "heapq", "json")},
    **{n: n for n in ("datetime", "functools", "operator", "copy")},
}
# Models write these without the import.
BARE = (
    ("collections", "Counter"),
    ("collections", "defaultdict"),
    ("collections", "deque"),
    ("itertools", "combinations"),
)
WARNINGS_KEPT = 5
NO_BINDINGS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Ran:
    """What a finished run left: the value as it is, printed text, caveats, and the bound source."""

    value: Any
    printed: str
    notes: tuple[str, ...]
    program: str


def run_restricted(
    source: str,
    arguments: Sequence[Any],
    *,
    library: Library,
    bindings: Mapping[str, Any] = NO_BINDINGS,
    seed: int = 1,
) -> Ran:
    """Validate, bind and run a program.

    Parameters
    ----------
    source : str
        The masked program.
    arguments : sequence
        ``(graph,)`` for networkx; ``(nodes, edges)`` or ``(nodes, edges, tables)`` for pandas.
    library : Library
        ``NETWORKX`` or ``PANDAS``; SQL statements are run by DuckDB, not here.
    bindings : mapping
        Real values of the placeholders.
    seed : int
        For everything random that the program does not seed itself.

    Returns
    -------
    Ran

    Raises
    ------
    RefusedCode
        The policy said no, before or while running.
    CannotAnswer, AskUser
        The program said so.
    Exception
        Whatever the program raised; ``locate`` finds its place in the masked source.

    Notes
    -----
    One program at a time in a process. The wall does not limit time or memory.

    Examples
    --------
    >>> import networkx as nx
    >>> source = "def answer(graph):\\n    return {n: graph.degree(n) for n in graph}\\n"
    >>> run_restricted(source, (nx.path_graph(3),), library=Library.NETWORKX).value
    {0: 1, 1: 2, 2: 1}
    """
    if library is Library.SQL:
        raise UserError("an SQL statement is not run by the Python wall")
    checked, findings = check_program(source, library=library)
    if checked is None:
        first = findings[0]
        raise RefusedCode(first.message, rule=first.rule, line=first.line, hint=first.hint)
    code = compile_checked(checked, bindings)
    state = RunState(seed, arguments)
    if checked.names & STRICT_NAMES:
        state.remember_nodes()
    start_run(state)
    try:
        value = _execute(code, tuple(arguments)[: checked.parameters], state)
    except RefusedCode as refused:
        if refused.line is None:
            refused.line = error_line(refused)
        raise
    return Ran(value, "".join(state.printed), tuple(state.notes), bind_source(source, bindings))


def compile_checked(checked: Checked, bindings: Mapping[str, Any] = NO_BINDINGS) -> CodeType:
    """Bind and compile a checked program."""
    code = compile(bind_tree(checked.tree, bindings), PROGRAM, "exec", dont_inherit=True)
    assert isinstance(code, CodeType)  # flags that return a tree are not used
    return code


def _execute(code: CodeType, arguments: tuple[Any, ...], state: RunState) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        namespace = build_namespace()
        exec(code, namespace)  # noqa: S102 - this is the guarded place where programs run
        value = namespace[ENTRY](*arguments)
    note_forgotten_parts()
    for warning in caught[:WARNINGS_KEPT]:
        text = str(warning.message).strip().split("\n")[0]
        state.note(f"{warning.category.__name__}: {text[:300]}")
    return value


def build_namespace() -> dict[str, Any]:
    """Globals of one run: guards, builtins, proxies, prelude."""
    proxies = {**static_proxies(), RANDOM_METHODS: random_proxy()}
    namespace: dict[str, Any] = {short: proxies[name] for short, name in PRELOADED.items()}
    namespace.update({name: proxies[module].proxy_table[name] for module, name in BARE})
    namespace["random"] = proxies[RANDOM_METHODS]
    namespace.update(FUNCTIONS)
    namespace.update(
        {
            "__builtins__": build_builtins(),
            "__name__": "program",
            READ: guarded_getattr,
            WRITE: writable_items,
            WRITE_ATTRIBUTE: writable_attributes,
            APPLY: apply_keywords,
            IMPORT: _importer(proxies),
            IMPORT_FROM: _from_importer(proxies),
            CUT: cut,
            TYPE_NAME: type_name,
        }
    )
    return namespace


def apply_keywords(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A call with ``**``: keywords are only known now."""
    if "backend" in kwargs or "backend_kwargs" in kwargs:
        owner = getattr(function, "__self__", None)
        if owner is None and function is not dict:
            raise RefusedCode("backend= is not available here", rule="keyword", hint="Leave out backend=.")
    return function(*args, **kwargs)


def _importer(proxies: Mapping[str, ModuleProxy]) -> Callable[[str, bool], ModuleProxy]:
    def import_module(name: str, whole: bool) -> ModuleProxy:
        if name not in proxies:
            raise RefusedCode(f"the module {name} is not available here", rule="import", hint="Leave it out.")
        return proxies[name if whole else name.split(".")[0]]

    return import_module


def _from_importer(proxies: Mapping[str, ModuleProxy]) -> Callable[[str, str], Any]:
    def import_from(module: str, name: str) -> Any:
        if module not in proxies:
            raise RefusedCode(f"the module {module} is not available here", rule="import", hint="Leave it out.")
        return proxy_get(proxies[module], name)

    return import_from
