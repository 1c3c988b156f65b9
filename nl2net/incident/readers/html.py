"""HTML without a renderer: visible text as blocks; what a style hides is left out and reported."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from nl2net.incident.injection import is_order
from nl2net.incident.readers.build import Block, Hidden, Parsed
from nl2net.incident.records import SourceClass
from nl2net.incident.text import word_set

_BREAKS = word_set(
    "address article aside blockquote body br caption dd div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section table tbody td tfoot th thead title tr "
    "ul"
)
_SILENT = word_set("script style noscript template svg math head iframe object select textarea button datalist")
_VOID = word_set("area base br col embed hr img input link meta param source track wbr")
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*(?:\.0+)?\s*(?:;|$|!)|font-size\s*:\s*0*(?:\.\d+)?"
    r"(?:px|pt|em|rem|%)?\s*(?:;|$|!)|(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%|(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:;|$|!)"
    r"|transform\s*:\s*scale\(\s*0\s*\)|color\s*:\s*transparent",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"(?<![-\w])color\s*:\s*([^;!}]+)", re.IGNORECASE)
_GROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!}]+)", re.IGNORECASE)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_DATE_KEYS = frozenset({"date", "article:published_time", "dc.date", "datepublished", "pubdate", "dcterms.date"})
_WHITE = {"#fff", "#ffffff", "white", "rgb(255,255,255)", "rgba(255,255,255,1)"}


def _hides(style: str) -> bool:
    if _HIDING.search(style):
        return True
    colour, ground = _COLOUR.search(style), _GROUND.search(style)
    if colour is None:
        return False
    ink = colour.group(1).strip().lower().replace(" ", "")
    if ground is None:
        return ink in _WHITE
    paper = ground.group(1).strip().lower().replace(" ", "")
    return ink == paper or (ink in _WHITE and paper in _WHITE)


class _Reader(HTMLParser):
    def __init__(self, hidden_names: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.names = hidden_names
        self.stack: list[tuple[str, bool, bool]] = []  # tag, hidden, silent
        self.blocks: list[Block] = []
        self.hidden: list[Hidden] = []
        self.words: list[str] = []
        self.secret: list[str] = []
        self.heading = 0
        self.title = ""
        self.in_title = False
        self.published = ""
        self.canonical = ""

    def _is_hidden(self, tag: str, attrs: dict[str, str]) -> bool:
        if "hidden" in attrs or attrs.get("aria-hidden", "").lower() == "true" or _hides(attrs.get("style", "")):
            return True
        own = {tag, *(f".{name}" for name in attrs.get("class", "").split()), f"#{attrs.get('id', '')}"}
        own |= {f"{tag}{name}" for name in list(own) if name[:1] in ".#"}
        return bool(own & self.names)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key.lower(): value or "" for key, value in attrs}
        if tag == "meta":
            self._meta(given)
        if tag == "link" and "canonical" in given.get("rel", "").lower():
            self.canonical = given.get("href", "")
        if tag in _BREAKS:
            self._close()
        if tag in ("img", "input") and is_order(given.get("alt", "") + " " + given.get("title", "")):
            self.hidden.append(
                Hidden("hidden_text", given.get("alt", "") + " " + given.get("title", ""), len(self.blocks))
            )
        if re.fullmatch(r"h[1-6]", tag):
            self.heading = int(tag[1])
        self.in_title = self.in_title or tag == "title"
        if tag in _VOID:
            return
        above = self.stack[-1] if self.stack else ("", False, False)
        hidden = above[1] or self._is_hidden(tag, given)
        self.stack.append((tag, hidden, above[2] or tag in _SILENT))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _BREAKS:
            self._close()
        self.in_title = self.in_title and tag != "title"
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place][0] == tag:
                self._reveal()
                del self.stack[place:]
                break

    def handle_data(self, data: str) -> None:
        _, hidden, silent = self.stack[-1] if self.stack else ("", False, False)
        if self.in_title:
            self.title += data
        elif hidden and not silent:
            self.secret.append(data)
        elif not silent:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        if data.strip():
            self.hidden.append(Hidden("html_comment", data, len(self.blocks) + bool(self.words)))

    def _meta(self, given: dict[str, str]) -> None:
        key = (given.get("name") or given.get("property") or given.get("itemprop") or "").lower()
        content = given.get("content", "")
        if key in _DATE_KEYS:
            self.published = content[:10]
        elif is_order(content):
            self.hidden.append(Hidden("hidden_text", content, 0))

    def _reveal(self) -> None:
        if text := "".join(self.secret).strip():
            self.hidden.append(Hidden("hidden_text", text, len(self.blocks) + bool("".join(self.words).strip())))
        self.secret.clear()

    def _close(self) -> None:
        if text := "".join(self.words).strip():
            self.blocks.append(Block(text, is_heading=self.heading > 0, level=self.heading or 1))
        self.words.clear()
        self.heading = 0

    def finish(self) -> None:
        self.close()
        self._reveal()
        self._close()


def _hidden_names(text: str) -> frozenset[str]:
    names = set()
    for sheet in re.findall(r"<style\b[^>]*>(.*?)</style", text, re.IGNORECASE | re.DOTALL):
        for selectors, body in _RULE.findall(re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)):
            if _hides(body):
                names |= {selector.strip() for selector in selectors.split(",")}
    return frozenset(names)


def parse_html(text: str, *, name: str) -> Parsed:
    """Blocks of a page.

    Parameters
    ----------
    text : str
        The decoded page.
    name : str
        Its path, used as title where the page has none.

    Examples
    --------
    >>> page = "<title>T</title><style>.x{display:none}</style><p>Seen <b>text</b>.</p><p class=x>Not seen.</p>"
    >>> parsed = parse_html(page, name="t.html")
    >>> [block.text for block in parsed.blocks], [item.kind for item in parsed.hidden]
    (['Seen text.'], ['hidden_text'])
    """
    reader = _Reader(_hidden_names(text))
    reader.feed(text)
    reader.finish()
    title = reader.title.strip() or next((b.text for b in reader.blocks if b.is_heading), "") or name
    return Parsed(
        title=title,
        blocks=reader.blocks,
        hidden=reader.hidden,
        source_class=SourceClass.SECONDARY,
        published=reader.published,
        url=reader.canonical,
    )
