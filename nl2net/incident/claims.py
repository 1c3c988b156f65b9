"""Sentences of documents as claims with typed values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from nl2net.incident.entities import cable_mentions, entity_tokens
from nl2net.incident.injection import ATTACKS
from nl2net.incident.language import MONTHS, fold_name, stem, terms_of
from nl2net.incident.records import Claim, Document, Source, SourceClass, TypedValue
from nl2net.incident.text import sentence_spans
from nl2net.incident.typed import typed_values

# A document that tries to give orders is still quoted, one class lower.
_LOWERING = ATTACKS | {"hidden_text"}
_HEDGE = re.compile(
    r"\b(?:likely|probably|possibly|perhaps|apparently|reportedly|allegedly|suspected|believed|thought|preliminary|"
    r"initial(?:ly)?|recalls?|"
    r"may have|might have|could have|not (?:been )?(?:conclusively )?(?:attributed|confirmed|established)|under "
    r"(?:scrutiny|investigation)"
    r"|is said|are said|rumou?r|unconfirmed|unclear|estimated?)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"(?<!and )\bnot\b(?! only)|\b(?:no(?!\.)|never|none|nobody|nothing|neither|nor|cannot|didn't|wasn't|weren't|"
    r"isn't|hadn't|denied|denies|"
    r"ruled out|rejected)\b",
    re.IGNORECASE,
)
# Words by which a sentence takes away what a question on its subject presumes.
_STATE = re.compile(
    r"\b(?:had|has|have) (?:already )?been (?:out|down|dark|offline|cut|broken|inactive|closed|retired|shut|"
    r"unused)\b|\balready (?:out|down|dark|cut|"
    r"offline|broken)\b|\bchanged (?:little|nothing)\b|\b(?:little|no) (?:effect|impact|change)\b|\bunaffected\b|"
    r"\b(?:was|were) not (?:affected|impacted|hit|touched|damaged|involved|in service|used)\b",
    re.IGNORECASE,
)
# A sentence in which a source speaks of itself: "This report gives a duration of ...".
_REPORTING = re.compile(
    r"\b(?:this|that|one|another|a|an|the same|the|some|other|later|second|secondary|early)\s+(?:[\w-]+\s+){0,2}"
    r"(?:reports?|pages?|posts?|blogs?|weblogs?|articles?|texts?|sources?|statements?|headlines?|accounts?|stor(?:y|"
    r"ies)|"
    r"notes?|collections?|papers?|newspapers?|agenc(?:y|ies))\b.{0,40}\b(?:gives?|says?|said|puts?|lists?|dates?|"
    r"speaks?|"
    r"spoke|counts?|counted|calls?|put|named?|names|mentions?|reports?|claims?|states?|has|have|uses?|writes?|wrote|"
    r"shows?)\b"
    r"|^(?:The\s+)?(?:[A-Z][\w&.-]*\s+){1,4}(?:wrote|writes|spoke|speaks|counted|counts|reported|reports|estimated|"
    r"estimates|puts?|put|gave|gives|says|said)\b",
    re.IGNORECASE,
)


def effective_class(source: Source, document: Document) -> SourceClass:
    """Class of a passage after the flags of its document are counted."""
    if any(flag.kind in _LOWERING for flag in document.flags):
        return source.source_class.lowered()
    return source.source_class


def claims_of(document: Document) -> list[Claim]:
    """Claims of a document: one per sentence of every passage that may be quoted.

    Examples
    --------
    >>> from nl2net.incident.readers import read_document
    >>> claims = claims_of(read_document("a.txt", b"It failed at 10:00 UTC. It came back at 11:30 UTC."))
    >>> [claim.quote for claim in claims]
    ['It failed at 10:00 UTC.', 'It came back at 11:30 UTC.']
    """
    found: list[Claim] = []
    inner = _names_inside(document)
    for passage in document.passages:
        source = passage.source
        ranked = Source(source.key, source.title, source.url, effective_class(source, document))
        for start, end in sentence_spans(passage.usable):
            quote = passage.text[start:end].rstrip()
            shift = passage.start + start
            values = typed_values(quote)
            found.append(
                Claim(
                    doc=document.id,
                    start=shift,
                    end=shift + len(quote),
                    quote=quote,
                    source=ranked,
                    values=values,
                    terms=frozenset([*terms_of(quote), *entity_tokens(quote), *_kind_terms(quote, values)]),
                    heading=f"{document.title} {passage.heading}",
                    context=f"{document.title} {passage.heading} {passage.usable}",
                    carried=_carried(quote, found[-1] if found else None, inner),
                )
            )
    return found


def _kind_terms(quote: str, values: Sequence[TypedValue]) -> list[str]:
    """A prefix counts as the word "prefix", a sum of money as "money", "Helsinki - Rostock" as joining the two."""
    joins = [stem("join")] if re.search(r"\b[A-Z]\w+ (?:-|–|—|to) [A-Z]\w+\b", quote) else []
    lacking = [stem("lost")] if re.search(r"\b(?:had no|were without|was without|left without)\b", quote) else []
    return [*joins, *lacking, *(stem(value.kind) for value in values if value.kind in ("prefix", "money"))]


def _names_inside(document: Document) -> frozenset[str]:
    """Capitalised words that stand inside sentences: at its head any word has a capital."""
    text = " ".join(passage.usable for passage in document.passages)
    return frozenset(re.findall(r"(?<=[a-z,;(] )[A-Z][\w&-]+", text))


def _carried(quote: str, last: Claim | None, inner: frozenset[str]) -> str:
    """The sentence before, if this one has no subject of its own."""
    if last is None:
        return ""
    head = quote.split(" ", 1)[0]
    own = re.findall(r"(?<!^)(?<![.!?] )\b[A-Z][\w&-]*[a-z]\w*|\bAS\d+", quote)
    own += [head] if head in inner else []
    return "" if [name for name in own if name.lower() not in MONTHS] else f"{last.quote} {last.carried}".strip()


def named_by(claim: Claim, name: str) -> int:
    """How a claim speaks of a name: 2 in its own words, 1 by its title or the sentence it goes on from, 0 not at all.

    A longer name counts by its first word too, where the document uses it in full.
    """
    if mentions(claim.quote, name):
        return 2
    first, _, rest = name.partition(" ")
    told = bool(rest) and len(first) > 3 and mentions(f"{claim.context} {claim.carried}", name)
    if told and re.search(rf"(?<!\w){re.escape(first)}(?!\w)(?!\s+[A-Z])", claim.quote):
        return 2
    return int(mentions(f"{claim.heading} {claim.context} {claim.carried} {claim.source.title}", name))


def mentions(text: str, name: str) -> bool:
    """Whether a text speaks of a name, in any spelling.

    Examples
    --------
    >>> mentions("the SMW4 system", "SEA-ME-WE 4"), mentions("AT&T Mobility", "AT&T"), mentions("Optus", "Opt")
    (True, True, False)
    """
    folded = fold_name(name)
    if not folded:
        return False
    pattern = r"[\W_]*".join(re.escape(letter) for letter in folded)
    # A digit glued to an AS or a version counts as part of the name.
    if re.search(rf"(?<![^\W_]){pattern}(?:['’]?s|ese|ian)?(?![^\W_])", text, re.IGNORECASE):
        return True
    cables = cable_mentions(name)
    return bool(cables) and set(cables) <= set(cable_mentions(text))


def is_hedged(text: str) -> bool:
    """Whether a sentence is careful: "likely", "under scrutiny"."""
    return _HEDGE.search(text) is not None


def is_denial(text: str) -> bool:
    """Whether a sentence denies something."""
    return _NEGATION.search(text) is not None


def state_denial(text: str) -> bool:
    """Whether a sentence says that its subject was out already, or that nothing changed.

    Examples
    --------
    >>> state_denial("EIG had been out since December, so its cut changed little.")
    True
    """
    return _STATE.search(text) is not None


def denied_words(text: str) -> str:
    """The words right after the denials of a sentence.

    Examples
    --------
    >>> denied_words("It did not spread, and no traffic was lost at all.")
    'spread and no traffic traffic was lost at'
    """
    return " ".join(
        word for m in _NEGATION.finditer(text) for word in re.findall(r"\w+", text[m.end() : m.end() + 60])[:4]
    )


def is_reporting(text: str) -> bool:
    """Whether a source speaks of what it says itself.

    Examples
    --------
    >>> is_reporting("This report gives a duration of 12 to 15 hours.")
    True
    """
    return _REPORTING.search(text) is not None


def clause_of(claim: Claim, value: TypedValue) -> str:
    """The clause around a value.

    Examples
    --------
    >>> from nl2net.incident.readers import read_document
    >>> claim = claims_of(read_document("a.txt", b"North failed at 09:46 UTC and South at 09:51 UTC; East held."))[0]
    >>> clause_of(claim, claim.values[1])
    'and South at 09:51 UTC'
    """
    cuts = [0]
    for match in re.finditer(
        r";\s*|:\s+(?!\d)|,\s+(?=(?:and|but|while|which|after|so|because)\b)|\s(?=(?:and|while|but)\s)|"
        r"(?<=\w),\s+(?=[a-z])",
        claim.quote,
    ):
        inside = any(v.start < match.start() < v.end for v in claim.values)
        if not inside:
            cuts.append(match.end())
    cuts.append(len(claim.quote))
    for begin, stop in pairwise(cuts):
        if begin <= value.start < stop:
            return claim.quote[begin:stop].strip(" ,;")
    return claim.quote


def disowned(claim: Claim, value: TypedValue) -> bool:
    """Whether the sentence itself takes the value back: "the headline says 25 million, while its text says 25,000".

    Examples
    --------
    >>> from nl2net.incident.readers import read_document
    >>> claim = claims_of(read_document("a.txt", b"The headline says 40 ports, while the text says 4 ports."))[0]
    >>> [disowned(claim, value) for value in claim.values]
    [True, False]
    """
    before = claim.quote[: value.start]
    if re.search(r"\b(?:not|rather than|instead of|and not|wrongly|mistakenly)\s+(?:\w+\s+)?$", before, re.IGNORECASE):
        return True
    after = claim.quote[value.end :]
    own = re.search(r"\b(?:headline|title|caption|first version|earlier version)\b", before, re.IGNORECASE)
    corrected = re.search(
        r"\b(?:while|but|whereas|though|although|yet)\b.*\b(?:text|body|article|itself|corrected|later|now)\b",
        after,
        re.I,
    )
    late = re.search(
        r"\b(?:was|has been|had been) (?:later |since )?(?:corrected|revised|withdrawn) to\b", after, re.IGNORECASE
    )
    return bool(own and corrected) or late is not None
