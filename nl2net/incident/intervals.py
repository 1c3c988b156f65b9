"""Pairs of times that a sentence writes as an interval."""

from __future__ import annotations

import re
from itertools import pairwise

from nl2net.incident.language import related, stem, stems, terms_of
from nl2net.incident.records import Claim, TypedValue


def interval_pairs(claim: Claim) -> list[tuple[TypedValue, TypedValue]]:
    """Pairs of times that a sentence writes as "a to b" or "started at a and ended at b".

    Examples
    --------
    >>> from nl2net.incident.claims import claims_of
    >>> from nl2net.incident.readers import read_document
    >>> claim = claims_of(read_document("a.txt", b"Waves ran 11:10 to 13:20 UTC and 15:50 to 17:00 UTC."))[0]
    >>> [(a.text, b.text) for a, b in interval_pairs(claim)]
    [('11:10', '13:20 UTC'), ('15:50', '17:00 UTC')]
    """
    times = [v for v in claim.values if v.kind == "time"]
    pairs = []
    for one, two in pairwise(times):
        gap = claim.quote[one.end : two.start]
        if re.fullmatch(r"\s*(?:to|until|till|and|-|–|—)\s*(?:about\s+)?", gap) and (
            "and" not in gap or re.search(r"\bbetween\s*$", claim.quote[: one.start], re.IGNORECASE)
        ):
            pairs.append((one, two))
    if not pairs and len(times) == 2:
        between = frozenset(terms_of(claim.quote[times[0].end : times[1].start]))
        before = frozenset(terms_of(claim.quote[: times[0].start]))
        closes = related(stem("end")) | related(stem("return")) | stems("until withdraw")
        if between & closes and before & (related(stem("begin")) | related(stem("fail")) | stems("lose stop")):
            pairs.append((times[0], times[1]))
    return pairs
