"""The same application in a browser, on loopback only."""

from __future__ import annotations

import shlex
import socket
import sys
from collections.abc import Sequence

from nl2net.errors import UserError

HOST = "127.0.0.1"


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def serve(arguments: Sequence[str], *, port: int) -> None:
    """Serve until interrupted; every page runs an application of its own.

    Parameters
    ----------
    arguments : sequence of str
        Of ``nl2net tui``.
    port : int
        0 takes a free one.

    Raises
    ------
    UserError
        The extra is not installed.

    Notes
    -----
    Whoever can open the page can ask questions and read answers, so it listens on 127.0.0.1 and nowhere else; on a
    machine with other users they can reach it as well.
    """
    try:
        from textual_serve.server import Server
    except ImportError:
        raise UserError("the browser front end needs the extra `web`", hint="pip install 'nl2net[web]'") from None
    chosen = port or free_port()
    command = shlex.join([sys.executable, "-c", "from nl2net.cli import main; main()", "tui", *arguments])
    sys.stderr.write(f"nl2net: http://{HOST}:{chosen} (Ctrl-C ends it)\n")
    Server(command, host=HOST, port=chosen, title="nl2net").serve()
