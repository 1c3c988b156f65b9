"""Ask questions about private networks in plain language; the data stays on your machine.

The package is lazy (PEP 562): importing it, or asking for ``nl2net --help``, imports neither networkx nor pandas.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> module that owns it.
_EXPORTS = {
    "Assistant": "nl2net.assistant",
    "Answer": "nl2net.assistant",
    "load_graph": "nl2net.graphs",
    "Nl2netError": "nl2net.errors",
    # For `%load_ext nl2net`; not in `__all__`, it is no part of the library.
    "load_ipython_extension": "nl2net.notebook",
}

__all__ = ["Answer", "Assistant", "Nl2netError", "__version__", "load_graph"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
