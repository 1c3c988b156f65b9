"""Sentence vectors on this machine: all-MiniLM-L6-v2 in plain numpy.

The model is a BERT of six layers; a question takes a few milliseconds, and no deep-learning library is needed for it.

References
----------
Wang et al., "MiniLM: Deep Self-Attention Distillation", NeurIPS 2020; Reimers and Gurevych, "Sentence-BERT", EMNLP
2019. The weights are sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nl2net.errors import DataError
from nl2net.llm.catalogue import local_model
from nl2net.locations import Locations

DIMENSIONS = 384
_LAYERS, _HEADS, _HEAD = 6, 12, 32
_LONGEST = 128
_EPSILON = 1e-12
_TYPES: dict[str, Any] = {"F32": np.float32, "F16": np.float16, "I64": np.int64}

Vectors = npt.NDArray[np.float32]


@cache
def _vocabulary() -> dict[str, int]:
    text = files("nl2net.llm").joinpath("data/minilm_vocab.txt").read_text(encoding="utf-8")
    return {word: number for number, word in enumerate(text.split("\n"))}


def word_pieces(text: str) -> list[int]:
    """Token ids of a text by WordPiece, lower case and without accents.

    Examples
    --------
    >>> word_pieces("links"), len(word_pieces("unforgettable prefixes"))
    ([101, 6971, 102], 8)
    """
    known = _vocabulary()
    plain = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    pieces = [piece for word in re.findall(r"\w+|[^\w\s]", plain) for piece in _pieces_of(word, known)]
    return [known["[CLS]"], *pieces[: _LONGEST - 2], known["[SEP]"]]


def _pieces_of(word: str, known: dict[str, int]) -> list[int]:
    """Longest known pieces from the left; a word with an unknown piece is unknown as a whole."""
    found: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in known), None)
        if end is None:
            return [known["[UNK]"]]
        found.append(known[mark + word[start:end]])
        start = end
    return found


def load_safetensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Arrays of a safetensors file: a length, a JSON header with types, shapes and offsets, then the bytes.

    Raises
    ------
    DataError
        The file is not of that form.
    """
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    try:
        size = int.from_bytes(raw[:8].tobytes(), "little")
        header = json.loads(raw[8 : 8 + size].tobytes())
        return dict(_arrays(raw[8 + size :], header))
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"not a safetensors file: {error}", path=path, hint="Fetch it again.") from None


def _arrays(body: Any, header: dict[str, Any]) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            yield name, body[begin:end].view(_TYPES[entry["dtype"]]).reshape(entry["shape"])


class Embedder:
    """Turns short texts into unit vectors whose dot product says how alike they are.

    Parameters
    ----------
    path : Path
        ``model.safetensors`` of all-MiniLM-L6-v2.
    """

    def __init__(self, path: Path) -> None:
        self._weights = load_safetensors(path)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (texts, 384).

        Notes
        -----
        Cost is linear in the number of texts and about linear in their length.
        """
        rows = [self._embed(word_pieces(text)) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, DIMENSIONS), np.float32)

    def _embed(self, tokens: list[int]) -> Vectors:
        weights = self._weights
        x = weights["embeddings.word_embeddings.weight"][tokens]
        x = x + weights["embeddings.position_embeddings.weight"][: len(tokens)]
        x = self._norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(_LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}.")
        mean = x.mean(axis=0)
        unit: Vectors = (mean / np.linalg.norm(mean)).astype(np.float32)
        return unit

    def _layer(self, x: Vectors, name: str) -> Vectors:
        from scipy.special import erf

        query, key, value = (self._heads(x, f"{name}attention.self.{part}") for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(_HEAD))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        joined = mixed.transpose(1, 0, 2).reshape(len(x), DIMENSIONS)
        attended = self._linear(joined, f"{name}attention.output.dense")
        x = self._norm(attended + x, f"{name}attention.output.LayerNorm")
        hidden = self._linear(x, f"{name}intermediate.dense")
        hidden = hidden * np.float32(0.5) * (1 + erf(hidden / np.float32(np.sqrt(2))))
        return self._norm(self._linear(hidden, f"{name}output.dense") + x, f"{name}output.LayerNorm")

    def _heads(self, x: Vectors, name: str) -> Vectors:
        return self._linear(x, name).reshape(len(x), _HEADS, _HEAD).transpose(1, 0, 2)

    def _linear(self, x: Vectors, name: str) -> Vectors:
        found: Vectors = x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found

    def _norm(self, x: Vectors, name: str) -> Vectors:
        mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
        scaled: Vectors = (x - mean) / np.sqrt(variance + _EPSILON)
        found: Vectors = scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return found


def open_embedder(locations: Locations) -> Embedder | None:
    """The embedder, or ``None`` where its weights were not fetched (``nl2net model pull embedder``)."""
    model = local_model("embedder")
    return Embedder(model.path(locations)) if model.present(locations) else None
