"""Modules that attacks use, loaded before privileges are dropped: an unreadable library would hide their teeth."""

from __future__ import annotations

import importlib

NAMES = [
    "mmap",
    "gc",
    "pathlib",
    "socket",
    "multiprocessing",
    "multiprocessing.context",
    "ctypes",
    "ctypes.util",
    "numpy.f2py",
    "numpy.ctypeslib",
    "numpy.testing",
    "jinja2",
    "matplotlib",
    "scipy.sparse",
    "scipy.sparse.linalg",
    "scipy.linalg",
    "statistics",
    "RestrictedPython",
    "inspect",
    "encodings.utf_32",
    "encodings.utf_16",
    "encodings.idna",
    "http.client",
    "urllib.request",
    "pandas.io.formats.style",
    "pandas.io.formats.csvs",
    "pandas.io.formats.html",
    "pandas.io.parsers",
    "pandas.io.json",
    "pandas.io.pickle",
    "pandas.core.computation.eval",
    "pandas.core.reshape.pivot",
    "importlib.resources",
    "numpy.lib.format",
    "networkx.readwrite",
    "nl2net.sandbox.language.running",
    "tests.escape.naive",
    "multiprocessing.popen_fork",
    "typing",
    "json",
    "string",
]


def preload() -> None:
    """Load them all; a missing one is an error of the environment."""
    for name in NAMES:
        importlib.import_module(name)
