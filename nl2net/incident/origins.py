"""Copies of one text are one origin, however many sites print them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from nl2net.incident.records import Claim, Document
from nl2net.incident.text import shingles

# On short texts copies share 0.44-0.82 of their three-word shingles, unrelated notes at most 0.02.
NEAR_DUPLICATE = 0.3
_BASIS = re.compile(
    r"\b(?:on|quoting|via|of|by|citing|from)\s+the\s+((?:[A-Z][\w.&-]*\s*)+)(?:\w+\s+){0,2}?(?:report|review|study|statement|investigation|paper)\b"
)


def canonical_address(url: str) -> str:
    """Host and path without scheme, ``www.``, query and trailing slash.

    Examples
    --------
    >>> canonical_address("http://www.Example.org/a/?utm=1") == canonical_address("https://example.org/a")
    True
    """
    parts = urlsplit(url)
    if not parts.netloc:
        return url
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}"


def similarity(one: str, two: str) -> float:
    """Jaccard similarity of three-word shingles.

    Examples
    --------
    >>> similarity("a b c d", "a b c d"), similarity("a b c d", "e f g h")
    (1.0, 0.0)
    """
    first, second = shingles(one), shingles(two)
    union = len(first | second)
    return len(first & second) / union if union else 0.0


class Origins:
    """Clusters of sources by origin.

    Parameters
    ----------
    documents : sequence of Document
        Those of a pool.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._parent: dict[str, str] = {}
        self.copies: dict[str, tuple[str, ...]] = {}
        self._join_copies(documents)
        self._join_addresses(documents)
        self._join_bases(documents)

    def _find(self, item: str) -> str:
        self._parent.setdefault(item, item)
        while self._parent[item] != item:
            item = self._parent[item]
        return item

    def _join(self, one: str, two: str) -> None:
        first, second = sorted((self._find(one), self._find(two)))
        self._parent[second] = first

    def _join_copies(self, documents: Sequence[Document]) -> None:
        for place, one in enumerate(documents):
            for two in documents[:place]:
                if similarity(one.text, two.text) >= NEAR_DUPLICATE:
                    self._join(f"doc:{one.id}", f"doc:{two.id}")
                    self.copies[one.id] = (*self.copies.get(one.id, ()), two.id)
                    self.copies[two.id] = (*self.copies.get(two.id, ()), one.id)
        for document in documents:
            if document.id in self.copies:
                for passage in document.passages:
                    self._join(self._key(document.id, passage.source.key), f"doc:{document.id}")

    def _join_addresses(self, documents: Sequence[Document]) -> None:
        for document in documents:
            for passage in document.passages:
                if passage.source.url and passage.source.key:
                    self._join(
                        self._key(document.id, passage.source.key), f"url:{canonical_address(passage.source.url)}"
                    )

    def _join_bases(self, documents: Sequence[Document]) -> None:
        """Two news texts "on the Xona report" tell what one report says."""
        for document in documents:
            same = ""
            for passage in document.passages:
                match = _BASIS.search(passage.source.title)
                if match:
                    same = match.group(1).split()[0].lower()
                elif not re.search(
                    r"\b(?:on|quoting) the same (?:report|review|study)", passage.source.title, re.IGNORECASE
                ):
                    continue
                if same:
                    self._join(self._key(document.id, passage.source.key), f"basis:{document.id}:{same}")

    @staticmethod
    def _key(doc: str, key: str) -> str:
        return f"{doc}#{key}" if key else f"doc:{doc}"

    def of(self, claim: Claim) -> str:
        """Name of the origin of a claim."""
        return self._find(self._key(claim.doc, claim.source.key))

    def count(self, claims: Sequence[Claim]) -> int:
        """Number of independent origins."""
        return len({self.of(claim) for claim in claims})
