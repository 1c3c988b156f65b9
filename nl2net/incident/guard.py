"""Which addresses a fetch may reach: checked as addresses, never as strings, at every redirect."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from nl2net.errors import Nl2netError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# Forms of IPv6 that carry an IPv4 address, and what is no longer global; `is_global` lets some of them through.
_CARRIERS = tuple(
    ipaddress.ip_network(text)
    for text in (
        "::ffff:0:0/96",
        "::/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2002::/16",
        "2001::/32",
        "fec0::/10",
        "fe80::/10",
    )
)


class FetchRefused(Nl2netError):
    """A web address may not be fetched; no request was made."""

    exit_code = 5


@dataclass(frozen=True, slots=True)
class Target:
    """A checked address of a page: ``path`` with query, as it goes on the wire."""

    url: str
    host: str
    port: int
    path: str
    tls: bool


@dataclass(frozen=True, slots=True)
class WebRules:
    """What may be fetched.

    ``domains`` are allowed with their subdomains; ``any_domain`` lifts that, never the address rule. ``plain``
    admits port 80.
    """

    domains: tuple[str, ...] = ()
    any_domain: bool = False
    plain: bool = False
    redirects: int = 5
    seconds: float = 10.0
    max_bytes: int = 5 * 1024 * 1024


def refuse_address(text: str) -> str:
    """Why an address may not be connected to, ``""`` if it may.

    Parameters
    ----------
    text : str
        An address in its own notation, as a resolver gives it.

    Examples
    --------
    >>> refuse_address("93.184.216.34"), refuse_address("100.64.0.1"), refuse_address("64:ff9b::7f00:1")
    ('', 'not a global address', 'an IPv6 form that leads elsewhere')
    """
    try:
        address: Address = ipaddress.ip_address(text.split("%")[0])
    except ValueError:
        return "no address"
    if any(address.version == network.version and address in network for network in _CARRIERS):
        return "an IPv6 form that leads elsewhere"
    if address.is_multicast:
        return "a multicast address"
    return "" if address.is_global else "not a global address"


def check_url(url: str, rules: WebRules) -> Target:
    """Parse and check an address before anything is resolved.

    Raises
    ------
    FetchRefused
        Scheme, port, credentials, host or domain are not allowed.

    Examples
    --------
    >>> check_url("https://docs.example.org/a?b=1", WebRules(("example.org",))).path
    '/a?b=1'
    """
    if any(ord(sign) < 33 or sign in '\\<>"{}|^`' for sign in url):
        raise FetchRefused(
            "the address has signs that parsers read in different ways", hint="Write it percent-encoded."
        )
    parts = urlsplit(url)
    if parts.scheme != "https" and not (rules.plain and parts.scheme == "http"):
        raise FetchRefused(f"{parts.scheme or 'no'} scheme: only https is fetched", hint="Use https.")
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise FetchRefused("the address holds credentials", hint="Leave them out.")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = (parts.hostname or "").encode("idna").decode().lower().rstrip(".")
    except (ValueError, UnicodeError):
        raise FetchRefused("the host or port is malformed", hint="Check the address.") from None
    if port not in ((443, 80) if rules.plain else (443,)):
        raise FetchRefused(f"port {port} is not fetched", hint="Only 443, and 80 by opt-in.")
    if not host or not any(sign.isalpha() for sign in host.rsplit(".", 1)[-1]) or "." not in host:
        raise FetchRefused(f"{host or 'an empty host'} is no public name", hint="Hosts are given by name.")
    allowed = any(host == d or host.endswith(f".{d}") for d in (domain.lower().lstrip(".") for domain in rules.domains))
    if not allowed and not rules.any_domain:
        raise FetchRefused(
            f"{host} is not on the allow-list", hint="Add it to [web] domains of corpus.toml, or give --any-domain."
        )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(url.split("#")[0], host, port, path, parts.scheme == "https")


def pick_address(host: str, addresses: Sequence[str]) -> str:
    """The address to connect to, after **every** address of the answer passed.

    Raises
    ------
    FetchRefused
        One of them may not be reached, or there is none.
    """
    if not addresses:
        raise FetchRefused(f"{host} has no address", hint="Check the name.")
    for address in addresses:
        if reason := refuse_address(address):
            raise FetchRefused(f"{host} resolves to {address}: {reason}", hint="Nothing was requested.")
    return addresses[0]


def follow(target: Target, location: str, rules: WebRules) -> Target:
    """The target of a redirect, checked in full; a step down from https is refused."""
    after = check_url(urljoin(target.url, location), rules)
    if target.tls and not after.tls:
        raise FetchRefused("a redirect leaves https", hint="Nothing further was requested.")
    return after
