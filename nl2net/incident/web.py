"""Fetches pages under the rules of `nl2net.incident.guard`, with a cache that serves alone when offline."""

from __future__ import annotations

import http.client
import socket
import sqlite3
import ssl
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.robotparser import RobotFileParser

from nl2net.errors import DataError
from nl2net.incident.guard import FetchRefused, Target, WebRules, check_url, follow, pick_address

AGENT = "nl2net (+https://github.com/nl2net/nl2net; incident research)"
_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "application/pdf", "text/markdown")
_CHUNK = 16 * 1024


class Connect(Protocol):
    """Opens a connection to a checked address; ``host`` is for the certificate."""

    def __call__(self, address: str, target: Target, timeout: float) -> socket.socket: ...


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page."""

    url: str
    kind: str
    body: bytes


def resolve_host(host: str, port: int) -> list[str]:
    """All addresses of a host, in the order of the resolver."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise FetchRefused(f"{host} cannot be resolved: {error}", hint="Check the name and the network.") from None
    return list(dict.fromkeys(str(row[4][0]) for row in found))


def connect_socket(address: str, target: Target, timeout: float) -> socket.socket:
    """A connection to the address that was checked; the certificate must be for the host that was asked."""
    plain = socket.create_connection((address, target.port), timeout=timeout)
    if not target.tls:
        return plain
    return ssl.create_default_context().wrap_socket(plain, server_hostname=target.host)


class PageCache:
    """Pages by address, in SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._db.execute("CREATE TABLE IF NOT EXISTS pages(url TEXT PRIMARY KEY, kind TEXT, body BLOB, fetched TEXT)")

    def get(self, url: str) -> Page | None:
        """The page, if it is there."""
        row = self._db.execute("SELECT url, kind, body FROM pages WHERE url=?", (url,)).fetchone()
        return Page(*row) if row else None

    def put(self, url: str, page: Page, fetched: str) -> None:
        """Keep a page under the address that was asked for."""
        self._db.execute("INSERT OR REPLACE INTO pages VALUES(?,?,?,?)", (url, page.kind, page.body, fetched))


class Fetcher:
    """Fetches pages one by one.

    Parameters
    ----------
    rules : WebRules
        What may be fetched.
    cache : PageCache
        Asked first.
    offline : bool
        Serve from the cache only.
    resolver, connect, clock, sleep : callable
        Stand-ins for tests; the rules are the same for all of them.
    log : callable
        Gets address and size of every request that is made.
    """

    def __init__(
        self,
        rules: WebRules,
        *,
        cache: PageCache,
        offline: bool = False,
        resolver: Callable[[str, int], Sequence[str]] = resolve_host,
        connect: Connect = connect_socket,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        log: Callable[[str, int], None] = lambda _url, _size: None,
    ) -> None:
        self.rules = rules
        self._cache = cache
        self._offline = offline
        self._resolver = resolver
        self._connect = connect
        self._clock = clock
        self._sleep = sleep
        self._log = log
        self._robots: dict[str, RobotFileParser] = {}
        self._last: dict[str, float] = {}

    def fetch(self, url: str) -> Page:
        """A page from the cache or from the network.

        Raises
        ------
        FetchRefused
            A rule forbids it, here or at a redirect.
        DataError
            Offline and not in the cache, or the answer is too large, too slow or of a type that is not read.
        """
        target = check_url(url, self.rules)
        if (kept := self._cache.get(target.url)) is not None:
            return kept
        if self._offline:
            raise DataError("not in the cache", path=target.url, hint="Run once without --offline.")
        deadline = self._clock() + self.rules.seconds
        page = self._follow(target, deadline)
        self._cache.put(target.url, page, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        return page

    def _follow(self, target: Target, deadline: float, *, robots: bool = True) -> Page:
        for _ in range(self.rules.redirects + 1):
            if robots and not self._allowed(target, deadline):
                raise FetchRefused(f"robots.txt of {target.host} forbids {target.path}", hint="Leave the page out.")
            status, location, page = self._request(target, deadline)
            if status in (301, 302, 303, 307, 308) and location:
                target = follow(target, location, self.rules)
                continue
            if status != 200:
                raise DataError(f"the server answered {status}", path=target.url, hint="Check the address.")
            return page
        raise FetchRefused(f"more than {self.rules.redirects} redirects", hint="Give the final address.")

    def _allowed(self, target: Target, deadline: float) -> bool:
        if target.host not in self._robots:
            scheme = "https" if target.tls else "http"
            parser = RobotFileParser()
            try:
                found = self._follow(
                    check_url(f"{scheme}://{target.host}/robots.txt", self.rules), deadline, robots=False
                )
                parser.parse(found.body.decode("utf-8", "replace").splitlines())
            except DataError:
                parser.parse([])
            self._robots[target.host] = parser
        return self._robots[target.host].can_fetch(AGENT, target.url)

    def _request(self, target: Target, deadline: float) -> tuple[int, str, Page]:
        address = pick_address(target.host, self._resolver(target.host, target.port))
        wait = self._last.get(target.host, -10.0) + 1.0 - self._clock()
        if wait > 0:
            self._sleep(wait)
        self._last[target.host] = self._clock()
        left = deadline - self._clock()
        if left <= 0:
            raise DataError("too slow", path=target.url, hint=f"More than {self.rules.seconds:g} s in all.")
        connection = http.client.HTTPConnection(target.host, target.port, timeout=left)
        try:
            connection.sock = self._connect(address, target, left)
            headers = {"Host": target.host, "User-Agent": AGENT, "Accept": ", ".join(_TYPES), "Accept-Encoding": "gzip"}
            connection.request("GET", target.path, headers=headers)
            response = connection.getresponse()
            body = self._read(response, target, deadline) if response.status == 200 else b""
            self._log(target.url, len(body))
            kind = (response.getheader("Content-Type") or "text/plain").split(";")[0].strip().lower()
            if response.status == 200 and kind not in _TYPES:
                raise DataError(f"{kind} is not read", path=target.url, hint="Text, HTML and PDF only.")
            return response.status, response.getheader("Location") or "", Page(target.url, kind, body)
        except (OSError, http.client.HTTPException) as error:
            raise DataError(f"no answer: {error}", path=target.url, hint="Try again later.") from None
        finally:
            connection.close()

    def _read(self, response: http.client.HTTPResponse, target: Target, deadline: float) -> bytes:
        packed = (response.getheader("Content-Encoding") or "").lower()
        if packed not in ("", "identity", "gzip"):
            raise DataError(f"encoding {packed!r} is not read", path=target.url, hint="Leave the page out.")
        unpacker = zlib.decompressobj(wbits=31) if packed == "gzip" else None
        body = bytearray()
        while chunk := response.read(_CHUNK):
            room = self.rules.max_bytes + 1 - len(body)
            try:
                body += unpacker.decompress(chunk, room) if unpacker else chunk
            except zlib.error as error:
                raise DataError(f"damaged: {error}", path=target.url, hint="Try again later.") from None
            if len(body) > self.rules.max_bytes:
                raise DataError(
                    f"more than {self.rules.max_bytes:,} bytes", path=target.url, hint="Leave the page out."
                )
            if self._clock() > deadline:
                raise DataError("too slow", path=target.url, hint=f"More than {self.rules.seconds:g} s in all.")
        return bytes(body)
