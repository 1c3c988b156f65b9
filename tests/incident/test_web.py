"""The web source: address rules, redirects, sizes, robots and cache, against servers on loopback."""

from __future__ import annotations

import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nl2net.errors import DataError
from nl2net.incident.guard import FetchRefused, Target, WebRules, check_url, pick_address, refuse_address
from nl2net.incident.web import Fetcher, PageCache

PUBLIC = "93.184.216.34"
RULES = WebRules(("example.org",), plain=True)


_ADDRESSES = (
    "127.0.0.1 10.1.2.3 100.64.0.1 169.254.169.254 224.0.0.1 0.0.0.0 ::1 ::ffff:127.0.0.1 ::7f00:1 64:ff9b::7f00:1 "
    "64:ff9b:1::1 "
    "2002:7f00:1:: 2001::1 fec0::1 fe80::1%eth0 fc00::1 ff02::1 255.255.255.255 x"
)
_URLS = (
    "http://example.org/ ftp://example.org/ https://u:p@example.org/ https://example.org:8443/ https://other.net/ "
    "https://127.0.0.1/ "
    "https://2130706433/ https://0x7f.1/ https://localhost/ https://exa\tmple.org/ https://example.org\\@evil.net/ "
    "https://notexample.org/ https://[::1]/ //example.org/"
)


class Pages(BaseHTTPRequestHandler):
    """A few pages; what was asked for is kept."""

    asked: list[str]

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        moves = {
            "/move": "/page",
            "/inside": "http://inside.example.org/x",
            "/loop": "/loop",
            "/file": "file:///etc/passwd",
        }
        if self.path in moves:
            self.send_response(302)
            self.send_header("Location", moves[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/robots.txt":
            self._send(b"User-agent: *\nDisallow: /secret\n", "text/plain")
        elif self.path == "/big":
            self._send(b"x" * 4000, "text/html")
        elif self.path == "/image":
            self._send(b"GIF89a", "image/gif")
        else:
            self._send(b"<p>It failed at 10:00 UTC.</p>", "text/html")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    handler = type("Fresh", (Pages,), {"asked": []})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


def _fetcher(
    server: ThreadingHTTPServer, *, rules: WebRules = RULES, offline: bool = False, cache: PageCache | None = None
) -> Fetcher:
    def connect(address: str, target: Target, timeout: float) -> socket.socket:
        assert address == PUBLIC
        return socket.create_connection(("127.0.0.1", server.server_port), timeout=timeout)

    def resolve(host: str, _port: int) -> list[str]:
        return ["10.0.0.5"] if host.startswith("inside") else [PUBLIC]

    return Fetcher(
        rules,
        cache=cache or PageCache(sqlite3.connect(":memory:", isolation_level=None)),
        offline=offline,
        resolver=resolve,
        connect=connect,
        sleep=lambda _seconds: None,
    )


def _asked(server: ThreadingHTTPServer) -> list[str]:
    asked: list[str] = server.RequestHandlerClass.asked  # type: ignore[attr-defined]
    return asked


def test_a_page_is_fetched_once(server: ThreadingHTTPServer) -> None:
    fetcher = _fetcher(server)
    page = fetcher.fetch("http://docs.example.org/page")
    assert (page.kind, fetcher.fetch("http://docs.example.org/page")) == ("text/html", page)
    assert _asked(server) == ["/robots.txt", "/page"]


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("/inside", FetchRefused, "not a global address"),
        ("/loop", FetchRefused, "redirects"),
        ("/file", FetchRefused, "scheme"),
        ("/secret", FetchRefused, "robots"),
        ("/image", DataError, "is not read"),
        ("/big", DataError, "more than"),
    ],
)
def test_refusals(server: ThreadingHTTPServer, path: str, error: type[Exception], words: str) -> None:
    fetcher = _fetcher(server, rules=WebRules(("example.org",), plain=True, max_bytes=2000))
    with pytest.raises(error, match=words):
        fetcher.fetch(f"http://docs.example.org{path}")


def test_offline_serves_the_cache_and_names_a_miss(server: ThreadingHTTPServer) -> None:
    cache = PageCache(sqlite3.connect(":memory:", isolation_level=None))
    page = _fetcher(server, cache=cache).fetch("http://docs.example.org/page")
    offline = _fetcher(server, cache=cache, offline=True)
    assert offline.fetch("http://docs.example.org/page") == page
    with pytest.raises(DataError, match="/other"):
        offline.fetch("http://docs.example.org/other")


@pytest.mark.parametrize(
    "address",
    _ADDRESSES.split(" "),
)
def test_addresses_that_are_never_reached(address: str) -> None:
    assert refuse_address(address)


def test_public_addresses_pass() -> None:
    assert refuse_address(PUBLIC) == refuse_address("2606:2800:220:1::1") == ""


def test_every_address_of_an_answer_is_checked() -> None:
    with pytest.raises(FetchRefused, match=r"10\.0\.0\.1"):
        pick_address("h.example.org", [PUBLIC, "10.0.0.1"])


@pytest.mark.parametrize(
    "url",
    _URLS.split(" "),
)
def test_urls_that_are_refused(url: str) -> None:
    with pytest.raises(FetchRefused):
        check_url(url, WebRules(("example.org",)))


def test_any_domain_lifts_the_list_only() -> None:
    rules = WebRules(any_domain=True)
    make: Callable[[str], Target] = lambda url: check_url(url, rules)  # noqa: E731
    assert make("https://other.net/a").host == "other.net"
    with pytest.raises(FetchRefused):
        make("https://127.0.0.1/")
