"""The optional web source of a corpus.

Pages that ``corpus.toml`` lists, fetched under the rules and indexed as documents.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from nl2net.errors import DataError, UserError
from nl2net.incident.client import append_log
from nl2net.incident.corpus import Corpus
from nl2net.incident.guard import FetchRefused, WebRules
from nl2net.incident.readers import read_document
from nl2net.incident.web import Fetcher, PageCache
from nl2net.locations import default_locations

_SUFFIX = {"text/plain": ".txt", "application/pdf": ".pdf", "text/markdown": ".md"}


def read_web_settings(corpus: Corpus, *, any_domain: bool) -> tuple[WebRules, list[str]]:
    """Rules and pages of the table ``[web]``; no model and no document ever adds an address.

    Raises
    ------
    UserError
        The corpus has no web source.
    """
    path = corpus.folder / "corpus.toml"
    table: Mapping[str, Any] = {}
    if path.is_file():
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("web", {})
    if not table.get("pages"):
        raise UserError(
            "the corpus has no web source",
            hint='Write [web] domains = [...] and pages = ["https://..."] into corpus.toml.',
        )
    rules = WebRules(tuple(table.get("domains", ())), any_domain=any_domain, plain=bool(table.get("plain_http", False)))
    return rules, [str(page) for page in table["pages"]]


def extend_corpus(
    corpus: Corpus, *, offline: bool, any_domain: bool, note: Callable[[str], None], fetcher: Fetcher | None = None
) -> int:
    """Fetch the listed pages and index them; a page that is refused or fails is noted and left out.

    Parameters
    ----------
    corpus : Corpus
        With a table ``[web]`` in its ``corpus.toml``.
    offline : bool
        Serve from the cache only.
    any_domain : bool
        Lift the allow-list, not the address rule.
    note : callable
        Gets one line per page that was left out.
    fetcher : Fetcher, optional
        For tests.

    Returns
    -------
    int
        Pages indexed.
    """
    rules, pages = read_web_settings(corpus, any_domain=any_domain)
    log = default_locations().egress_log
    fetcher = fetcher or Fetcher(
        rules,
        cache=PageCache(corpus.index.connection),
        offline=offline,
        log=lambda url, size: append_log(log, {"purpose": "fetch", "url": url, "bytes": size}),
    )
    done = 0
    for url in pages:
        try:
            page = fetcher.fetch(url)
            name = f"web/{hashlib.sha256(url.encode()).hexdigest()[:16]}{_SUFFIX.get(page.kind, '.html')}"
            document = read_document(name, page.body, parse=corpus.parser.parse)
        except (FetchRefused, DataError) as error:
            note(f"left out {url}: {error}")
            continue
        if isinstance(document, str):
            note(f"left out {url}: {document}")
            continue
        with corpus.index.batch():
            corpus.index.add(document)
        done += 1
    return done
