"""Makes the shipped program library from the development split of the golden suite and from the operations.

Run ``python -m nl2net.assistant.seeding`` after a change of the development questions; a test compares the file with
what this makes. Nothing of the evaluation split is read.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from nl2net.assistant.adaptation import replace_strings
from nl2net.assistant.entities import EntityIndex
from nl2net.assistant.entries import Entry, load_entries
from nl2net.assistant.masking import MaskedQuestion, Masker
from nl2net.assistant.words import speakable
from nl2net.golden import GraphSource, Pair, build_graph, development_pairs
from nl2net.golden.operations import Operation, operations
from nl2net.graphs import LoadedGraph, describe_graph
from nl2net.locations import atomic_write, default_locations
from nl2net.model import GraphSchema, Library

TARGET = Path(__file__).parent / "data" / "library.jsonl"
VECTORS = TARGET.with_suffix(".npy")


@cache
def _described(recipe: str, seed: str, options: str) -> tuple[LoadedGraph, EntityIndex]:
    source = GraphSource(recipe, seed, json.loads(options))
    loaded = describe_graph(build_graph(source).graph, name=seed)
    return loaded, EntityIndex.build(loaded.graph, loaded.schema)


def seed_entries() -> Iterator[Entry]:
    """One masked entry per development wording, intent and library; then those of the operations."""
    yield from golden_entries()
    for operation in operations():
        yield from operation_entries(operation)


def operation_entries(operation: Operation) -> Iterator[Entry]:
    """One entry per wording of an operation; both are masked already."""
    for question in operation.questions:
        yield Entry(
            question=question,
            program=operation.program,
            result_type=operation.type,
            roles={name: list(role) for name, role in operation.roles.items()},
            kinds=operation.kinds,
            directed=operation.directed,
            multi=operation.multi,
            origin="development",
            intent=f"operations/{operation.name}",
        )


def golden_entries() -> Iterator[Entry]:
    """Entries of the golden suite's development pairs."""
    for pair in development_pairs():
        graph = pair.graph
        assert graph is not None  # every development pair names its graph
        loaded, index = _described(graph.recipe, graph.seed, json.dumps(dict(graph.options), sort_keys=True))
        entry = entry_of(pair, loaded, index)
        if entry is not None:
            yield entry


def entry_of(pair: Pair, loaded: LoadedGraph, index: EntityIndex) -> Entry | None:
    """Mask a pair; ``None`` when the masked question does not name everything that the program needs."""
    masked = Masker(index, loaded.schema, assume=True).mask(pair.question)
    program = _masked_program(pair, masked)
    if program is None:
        return None
    kind = loaded.schema.graph_class
    return Entry(
        question=masked.text,
        program=program,
        library=str(pair.library),
        result_type=str(pair.result_type),
        roles=_roles(pair, loaded.schema),
        kinds=tuple(sorted(_kinds(program, loaded.schema))),
        directed=kind.directed,
        multi=kind.multi,
        origin="development",
        intent=f"{pair.application}/{pair.intent}",
        schema_hash=loaded.schema_hash,
    )


def _masked_program(pair: Pair, masked: MaskedQuestion) -> str | None:
    """Put placeholders where the program writes the private words of the question."""
    tokens = {placeholder.value: placeholder.token for placeholder in masked.placeholders}
    renamed: dict[str, str] = {}
    for entity in pair.entities:
        token = tokens.get(entity.value) or tokens.get(entity.text)
        if token is None:
            return None
        renamed[entity.value] = token
    if pair.library is Library.SQL:
        program = pair.program
        for value, token in renamed.items():
            program = program.replace(f"'{value}'", f"'{token}'")
    else:
        program = replace_strings(pair.program, renamed)
        for value, token in renamed.items():  # part of a longer literal, such as an id made of kind and name
            program = re.sub(rf"(?<=:){re.escape(value)}(?=[\"'])", token, program)
    return program if all(token in program for token in renamed.values()) else None


def _roles(pair: Pair, schema: GraphSchema) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for attribute in schema.attributes:
        name = attribute.public_name
        if name in {"name", "kind"} or not any(f"{q}{name}{q}" in pair.program for q in "\"'"):
            continue
        found[name] = [attribute.owner, attribute.role or str(pair.roles.get(name, ""))]
    return found


def _kinds(program: str, schema: GraphSchema) -> set[str]:
    known = {*schema.node_kinds, *schema.edge_kinds}
    return {kind for kind in known if any(f"{quote}{kind}{quote}" in program for quote in "\"'")}


def main() -> None:
    """Write the shipped library."""
    entries = list(seed_entries())
    _write_vectors(entries)  # first: it reads the old library
    with atomic_write(TARGET) as stream:
        for entry in entries:
            stream.write((json.dumps(_compact(entry), ensure_ascii=False) + "\n").encode())
    intents: Counter[Any] = Counter(entry.library for entry in entries)
    sys.stderr.write(
        f"{len(entries)} entries, {dict(intents)}, {len({e.intent for e in entries})} intents -> {TARGET.name}\n"
    )


def _write_vectors(entries: list[Entry]) -> None:
    """Sentence vectors in half precision, one row per entry, if the embedder was fetched."""
    import numpy as np

    from nl2net.llm import open_embedder

    embed = open_embedder(default_locations())
    if embed is None:
        sys.stderr.write("no vectors: fetch the embedder first (nl2net model pull embedder)\n")
        return
    known = _known_vectors()
    missing = sorted({speakable(entry.question) for entry in entries} - known.keys())
    known.update(zip(missing, embed(missing), strict=True))
    matrix = np.stack([known[speakable(entry.question)] for entry in entries]).astype(np.float16)
    with atomic_write(VECTORS) as stream:
        np.save(stream, matrix, allow_pickle=False)


def _known_vectors() -> dict[str, Any]:
    """Vectors of the file as it is, by the text that they stand for: most questions stay the same."""
    import numpy as np

    if not (TARGET.is_file() and VECTORS.is_file()):
        return {}
    matrix = np.load(VECTORS, allow_pickle=False)
    old = load_entries(TARGET)
    if len(old) != len(matrix):
        return {}
    return {speakable(entry.question): row for entry, row in zip(old, matrix, strict=True)}


def _compact(entry: Entry) -> dict[str, Any]:
    """Fields that differ from their default."""
    blank = asdict(Entry("", ""))
    return {name: value for name, value in asdict(entry).items() if value != blank[name]}


if __name__ == "__main__":
    main()
