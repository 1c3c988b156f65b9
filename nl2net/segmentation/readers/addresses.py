"""Canonical text of addresses, once per distinct address and block."""

from __future__ import annotations

import ipaddress

import pyarrow as pa
import pyarrow.compute as pc


def canonical(text: str | None) -> str | None:
    """RFC 5952 text of an address; IPv4-mapped IPv6 is unwrapped, a zone is dropped; None when it is none.

    Examples
    --------
    >>> canonical("::ffff:10.0.0.1"), canonical("2001:DB8:0::1"), canonical("10.0.0.256")
    ('10.0.0.1', '2001:db8::1', None)
    """
    if not text:
        return None
    try:
        address = ipaddress.ip_address(text.strip().split("%", 1)[0].strip("[]"))
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


class Canonical:
    """Canonical addresses of whole columns, with a bounded memory of what was seen."""

    def __init__(self, limit: int = 500_000) -> None:
        self._seen: dict[str | None, str | None] = {}
        self._limit = limit

    def column(self, values: pa.ChunkedArray) -> pa.Array:
        """Map a text column; what is no address becomes null."""
        encoded = values.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        if len(self._seen) > self._limit:
            self._seen.clear()
        names = encoded.dictionary.to_pylist()
        for name in names:
            if name not in self._seen:
                self._seen[name] = canonical(name)
        mapped = pa.array([self._seen[name] for name in names], pa.string())
        return pc.take(mapped, encoded.indices)
