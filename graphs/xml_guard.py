"""XML without document types, entities or network, with bounded depth and text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from xml.parsers import expat

from nl2net.errors import DataError
from nl2net.graphs.source import Source


@dataclass(slots=True)
class Element:
    """One element: local name, attributes by local name, text, children, line."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def child(self, tag: str) -> Element | None:
        """The first child of that name."""
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> Iterator[Element]:
        """Children of that name."""
        return (child for child in self.children if child.tag == tag)

    def value(self, tag: str) -> str:
        """Stripped text of the first child of that name, or an empty text."""
        child = self.child(tag)
        return child.text.strip() if child is not None else ""


class _Builder:
    def __init__(self, source: Source, take: Callable[[Element, int], bool] | None) -> None:
        self.source = source
        self.take = take
        self.stack: list[Element] = []
        self.pieces: list[list[str]] = []
        self.root: Element | None = None
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse
        self.parser.ExternalEntityRefHandler = self._refuse

    def _refuse(self, *_: object) -> int:
        raise self.source.error(
            "a document type or entity declaration, which is refused",
            line=self.parser.CurrentLineNumber,
            hint="Remove the DOCTYPE from the file.",
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if len(self.stack) >= self.source.limits.depth:
            raise self.source.error(f"nested more than {self.source.limits.depth} levels deep", line=line)
        local = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        self.stack.append(Element(name.rpartition(" ")[2], local, line))
        self.pieces.append([])

    def _text(self, data: str) -> None:
        if self.pieces:
            self.pieces[-1].append(data)

    def _end(self, _: str) -> None:
        element = self.stack.pop()
        element.text = "".join(self.pieces.pop())
        if self.take is not None and self.take(element, len(self.stack)):
            return
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element


def parse_xml(source: Source, take: Callable[[Element, int], bool] | None = None) -> Element:
    """Parse a source into a light tree.

    Parameters
    ----------
    source : Source
        The file.
    take : callable, optional
        Called with each finished element and its depth; where it returns true the element is not kept in the tree,
        which bounds the memory of large files.

    Raises
    ------
    DataError
        Not well-formed, a document type or an entity, nested too deeply; the message names the line.
    """
    builder = _Builder(source, take)
    try:
        builder.parser.Parse(source.data, True)
    except DataError:
        raise
    except expat.ExpatError as error:
        raise source.error(
            f"not well-formed XML: {expat.ErrorString(error.code)}",
            line=error.lineno,
            hint="The file may be truncated; export it again.",
        ) from None
    except (ValueError, LookupError) as error:
        raise source.error(f"not readable XML: {error}") from None
    if builder.root is None:
        raise source.error("no root element")
    return builder.root


def root_tag(source: Source) -> str:
    """Local name of the root element by the head of the file, or an empty text.

    Only the first start tag is looked at, so a broken file is still recognised for what it is.
    """
    if not source.head_text.lstrip().startswith("<"):
        return ""
    found: list[str] = []
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = lambda name, _: found.append(name.rpartition(" ")[2])
    with suppress(expat.ExpatError, ValueError, LookupError):
        parser.Parse(source.head, False)
    return found[0] if found else ""
