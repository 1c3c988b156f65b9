"""A loopback API server over an emulated cluster, for the official client and for kubectl.

Policies can be written, pods, services and namespaces only read. Every change is enforced before the answer returns.
"""

from __future__ import annotations

import json
import secrets
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import yaml

from nl2net.emulator.interface import Emulator
from nl2net.emulator.kubernetes.requests import Answer, Api, Request, failure
from nl2net.errors import UserError
from nl2net.locations import atomic_write

MAX_BODY = 1 << 20


class ApiServer:
    """Serves one emulator on a loopback port until it is closed.

    Examples
    --------
    >>> from nl2net.emulator import build, online_boutique
    >>> with build(online_boutique(), backend="simulated") as network, ApiServer(network) as server:
    ...     server.address.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, network: Emulator) -> None:
        if network.topology.cluster is None:
            raise UserError("this network has no cluster to serve")
        self._token = secrets.token_urlsafe(24)
        api = Api(network)
        lock = threading.Lock()
        token = self._token

        class Handler(_Handler):
            def dispatch(self, request: Request) -> Answer:
                head, _, path = request.path.removeprefix("/").partition("/")
                if not secrets.compare_digest(head.encode(), token.encode()):
                    return failure(401, "Unauthorized", "the token is missing or wrong")
                with lock:
                    return api.handle(replace(request, path=f"/{path}"))

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Address without the token; a request goes to ``address/token/...``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def token(self) -> str:
        """Secret first part of every path: kubectl sends no bearer token over plain HTTP, not even on loopback."""
        return self._token

    def write_kubeconfig(self, path: Path) -> None:
        """Write a kubeconfig of mode 0600 for this server."""
        body = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "nl2net", "cluster": {"server": f"{self.address}/{self._token}"}}],
            "users": [{"name": "nl2net", "user": {}}],
            "contexts": [{"name": "nl2net", "context": {"cluster": "nl2net", "user": "nl2net"}}],
            "current-context": "nl2net",
        }
        with atomic_write(path, private=True) as stream:
            stream.write(yaml.safe_dump(body).encode())

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def dispatch(self, request: Request) -> Answer:
        raise AssertionError("overridden")

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing is logged: a request line may carry names."""

    def _serve(self) -> None:
        split = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BODY:
            self.close_connection = True
            self._reply(failure(413, "RequestEntityTooLarge", f"more than {MAX_BODY} bytes"))
            return
        body = self.rfile.read(length)
        query = {name: values[-1] for name, values in parse_qs(split.query).items()}
        kind = (self.headers.get("Content-Type") or "").partition(";")[0]
        self._reply(self.dispatch(Request(self.command, split.path.rstrip("/"), query, kind, body)))

    def _reply(self, answer: Answer) -> None:
        data = json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve
