"""May this program run at all? Sizes, structure, imports, names; each refusal says what to write instead."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from nl2net.model import Finding, Library
from nl2net.sandbox.language.belt import (
    check_builtin_names,
    check_names,
    check_statements,
    check_text,
    check_tree_size,
    refuse,
)
from nl2net.sandbox.language.library import RANDOM_METHODS, module_names, static_proxies
from nl2net.sandbox.language.policy import module_names_of
from nl2net.sandbox.language.proxies import INSTEAD, near_names
from nl2net.sandbox.language.rewriting import guard, prepare
from nl2net.sandbox.language.statements import check_statement

ENTRY = "answer"
MODULE_HINTS = {
    "sklearn": "For clusters write from scipy.cluster.vq import kmeans2, then kmeans2(points, k, minit='++').",
    "matplotlib": "Return the data as a table; figures are drawn outside the program.",
    "seaborn": "Return the data as a table; figures are drawn outside the program.",
    "os": "Leave it out: the data is in the arguments of answer().",
    "sys": "Leave it out: the data is in the arguments of answer().",
    "warnings": "Leave it out.",
    "logging": "Leave it out, or use print().",
    "time": "Leave it out; for dates use datetime.",
}
SIGNATURES = {
    Library.NETWORKX: ("def answer(graph):", 1, 1),
    Library.PANDAS: ("def answer(nodes, edges):", 2, 3),
}


@dataclass(frozen=True, slots=True)
class Checked:
    """A program that passed: its guarded tree, the number of arguments that ``answer`` takes, all identifiers."""

    tree: ast.Module
    parameters: int
    names: frozenset[str]


def validate(source: str, *, library: Library) -> tuple[Finding, ...]:
    """Reasons why a program may not run; empty when it may.

    Parameters
    ----------
    source : str
        The program, untrusted. Parse hostile text in a sealed child only.
    library : Library
        Decides the signature of ``answer``; for SQL the text must be one statement.

    Returns
    -------
    tuple of Finding
        All with severity ``refuse``; the first one is the most useful.

    Examples
    --------
    >>> validate("def answer(graph):\\n    return len(graph)\\n", library=Library.NETWORKX)
    ()
    >>> [f.rule for f in validate("import os\\ndef answer(graph):\\n    return 1\\n", library=Library.NETWORKX)]
    ['import']
    """
    if library is Library.SQL:
        return check_statement(source)
    return _check(source, library)[1]


def check_program(source: str, *, library: Library) -> tuple[Checked | None, tuple[Finding, ...]]:
    """Validate, and keep the prepared tree for the run."""
    return _check(source, library)


def parse_program(source: str) -> tuple[ast.Module | None, Finding | None]:
    """Parse text of a checked size; a syntax error becomes a finding without any text of the program."""
    found = check_text(source)
    if found is not None:
        return None, found
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks of the parser on strange literals
            return ast.parse(source), None
    except SyntaxError as error:
        hint = "Reply with Python code only, with even indentation and closed brackets."
        return None, refuse("syntax", error.lineno, f"the program cannot be read: {error.msg}", hint)
    except (RecursionError, MemoryError, ValueError):
        return None, refuse("size", None, "the program is nested too deeply", "Write simpler steps.")


def _check(source: str, library: Library) -> tuple[Checked | None, tuple[Finding, ...]]:
    tree, found = parse_program(source)
    if tree is None:
        return None, (found,) if found else ()
    too_large = check_tree_size(tree)
    if too_large is not None:
        return None, (too_large,)
    prepared = prepare(tree)
    findings = [
        *check_names(prepared),
        *check_statements(prepared),
        *check_imports(prepared),
        *check_builtin_names(prepared),
        *check_signature(prepared, library),
    ]
    if findings:
        return None, tuple(findings)
    names = frozenset(_used_names(prepared))
    parameters = _parameter_count(_entry(prepared))
    guarded, errors = guard(prepared)
    if errors:
        return None, tuple(_restricted(text) for text in errors)
    return Checked(guarded, parameters, names), ()


def _restricted(text: str) -> Finding:
    match = re.match(r"Line (\d+): (.*)", text)
    line = int(match.group(1)) if match else None
    message = match.group(2) if match else text
    return refuse("statement", line, message, "Use plain functions, loops and expressions.")


def _used_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name


def _entry(tree: ast.Module) -> ast.FunctionDef:
    return next(s for s in reversed(tree.body) if isinstance(s, ast.FunctionDef) and s.name == ENTRY)


def _parameter_count(entry: ast.FunctionDef) -> int:
    return len(entry.args.posonlyargs) + len(entry.args.args)


def check_signature(tree: ast.Module, library: Library) -> Iterator[Finding]:
    """One function ``answer`` with the right number of parameters, on the outer level."""
    wanted, least, most = SIGNATURES[library]
    functions = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    entries = [f for f in functions if f.name == ENTRY]
    if not entries:
        known = f" (there is {functions[0].name})" if functions else ""
        yield refuse("signature", None, f"there is no function answer{known}", f"Begin with: {wanted}")
        return
    arguments = entries[-1].args
    count = len(arguments.posonlyargs) + len(arguments.args)
    needed = count - len(arguments.defaults)
    required = [a for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None]
    if required or count < least or needed > most:
        yield refuse("signature", entries[-1], "answer does not take the right arguments", f"Begin with: {wanted}")


def check_imports(tree: ast.AST) -> Iterator[Finding]:
    """Imports by exact dotted name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _check_module(node, alias.name)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield refuse("import", node, "a relative import is not available here", "Import by the full name.")
            elif not any(_check_module(node, node.module or "")):
                yield from _check_from(node)
            else:
                yield from _check_module(node, node.module or "")


def _check_module(node: ast.stmt, name: str) -> Iterator[Finding]:
    if name not in module_names():
        near = near_names(name, module_names())
        offered = "networkx, pandas, numpy, math, collections, itertools, statistics, ipaddress, datetime, re, json"
        known = MODULE_HINTS.get(name.split(".")[0], "")
        hint = (
            known or f"Use {' or '.join(near)}."
            if known or near
            else f"Leave it out; available are {offered} and a few more."
        )
        yield refuse("import", node, f"the module {name} is not available here", hint)


def _check_from(node: ast.ImportFrom) -> Iterator[Finding]:
    module = node.module or ""
    for alias in node.names:
        if alias.name == "*":
            yield refuse("import", node, "import * is not available here", f"Write import {module}.")
            continue
        table = static_proxies()[module].proxy_table if module != RANDOM_METHODS else _random_names()
        if alias.name not in table:
            near = near_names(alias.name, table)
            hint = INSTEAD.get(alias.name, "") or (f"Use {' or '.join(near)}." if near else "Leave it out.")
            yield refuse("import", node, f"{module} offers no {alias.name} here", hint)


def _random_names() -> dict[str, None]:
    return dict.fromkeys(module_names_of(RANDOM_METHODS))
