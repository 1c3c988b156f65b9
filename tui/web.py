"""The same application in a browser: on loopback only, behind a key, and without a byte from elsewhere."""

from __future__ import annotations

import re
import secrets
import shlex
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from nl2net.errors import UserError

HOST = "127.0.0.1"
_COOKIE = "nl2net_key"
_FONTS = re.compile(r"<link\s[^>]*https?://[^>]*>")


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
    Whoever reaches the page can ask questions and read answers. So it listens on 127.0.0.1, asks for the key of the
    printed address, and takes no request that another page or another host name made.
    """
    chosen = port or free_port()
    key = secrets.token_urlsafe(24)
    with tempfile.TemporaryDirectory(prefix="nl2net-web-") as folder:
        server = build_server(arguments, port=chosen, key=key, folder=Path(folder))
        sys.stderr.write(f"nl2net: http://{HOST}:{chosen}/?key={key} (Ctrl-C ends it)\n")
        sys.stderr.flush()
        server.serve()


def build_server(arguments: Sequence[str], *, port: int, key: str, folder: Path) -> Any:
    """The server; ``folder`` takes the page without its reference to a font on the internet."""
    try:
        import textual_serve
        from aiohttp import web
        from textual_serve.server import Server
    except ImportError:
        raise UserError("the browser front end needs the extra `web`", hint="pip install 'nl2net[web]'") from None

    class LoopbackServer(Server):
        async def _make_app(self) -> web.Application:
            app = await super()._make_app()
            app.middlewares.append(guard(port, key))
            return app

    templates = Path(str(textual_serve.__file__)).parent / "templates"
    for template in templates.glob("*.html"):
        page = _FONTS.sub("", template.read_text(encoding="utf-8"))
        (folder / template.name).write_text(page, encoding="utf-8")
    command = shlex.join([sys.executable, "-c", "from nl2net.cli import main; main()", "tui", *arguments])
    return LoopbackServer(command, host=HOST, port=port, title="nl2net", templates_path=str(folder))


def guard(port: int, key: str) -> Any:
    """Middleware: own host name, own origin, and the key from the address or from the cookie that it left."""
    from aiohttp import web

    hosts = {f"{HOST}:{port}", f"localhost:{port}"}

    @web.middleware
    async def check(request: web.Request, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        origin = request.headers.get("Origin")
        if request.host not in hosts or (origin is not None and origin.removeprefix("http://") not in hosts):
            raise web.HTTPForbidden(text="this page is served to this machine only")
        shown = request.cookies.get(_COOKIE) or request.query.get("key") or ""
        if not secrets.compare_digest(shown.encode(), key.encode()):
            raise web.HTTPForbidden(text="open the address that nl2net printed; it holds the key")
        response = await handler(request)
        if "key" in request.query and not response.prepared:
            response.set_cookie(_COOKIE, key, httponly=True, samesite="Strict")
        return response

    return check
