"""Service tokens of endpoints with their weights.

Each clean edge (u -> v, q, p) gives u the tokens ``c|q|p`` and ``c|q|p|v``, and v ``s|q|p`` and ``s|q|p|u``. A family
is (side, q, p, kind); a token weighs ``g(kind) * ln(n / df) / sqrt(m)`` with m tokens of its family on the endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp

GENERIC, PEER, ROLE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class TokenTable:
    """Tokens in coordinate form: one row per (endpoint, token).

    ``frame`` has ``endpoint`` (index), ``side`` (0 client, 1 server), ``proto``, ``port``, ``kind`` and ``peer`` (index
    of endpoint or role, -1 for generic tokens).
    """

    frame: pd.DataFrame
    size: int


def edge_tokens(edges: pd.DataFrame, index: Mapping[str, int]) -> TokenTable:
    """Generic and peer tokens of clean edges.

    Parameters
    ----------
    edges : DataFrame
        Typed edges with ``client``, ``server``, ``proto``, ``port``.
    index : mapping of str to int
        Row of every endpoint.
    """
    client = edges["client"].map(index).to_numpy(np.int64)
    server = edges["server"].map(index).to_numpy(np.int64)
    proto, port = edges["proto"].to_numpy(np.int64), edges["port"].to_numpy(np.int64)
    parts = []
    for side, owner, peer in ((0, client, server), (1, server, client)):
        for kind, other in ((GENERIC, np.full(len(edges), -1)), (PEER, peer)):
            parts.append(
                pd.DataFrame(
                    {"endpoint": owner, "side": side, "proto": proto, "port": port, "kind": kind, "peer": other}
                )
            )
    return TokenTable(_distinct(pd.concat(parts, ignore_index=True)), len(index))


def _distinct(frame: pd.DataFrame) -> pd.DataFrame:
    keep = ~pd.Series(_packed(frame, list(frame.columns))).duplicated().to_numpy()
    return frame[keep].reset_index(drop=True)


def role_tokens(table: TokenTable, labels: np.ndarray) -> TokenTable:
    """Add tokens that name the role of the peer instead of the peer itself."""
    peers = table.frame[table.frame["kind"] == PEER]
    roles = _distinct(peers.assign(kind=ROLE, peer=labels[peers["peer"].to_numpy()]))
    return TokenTable(pd.concat([table.frame, roles], ignore_index=True), table.size)


@dataclass(frozen=True, slots=True)
class Weights:
    """Factor per kind of token, and what becomes of tokens that one endpoint alone has.

    ``unique`` is ``"length"`` (they count against similarity), ``"joint"`` (all of a side and kind count as one) or
    ``"drop"``.
    """

    generic: float = 0.5
    peer: float = 1.0
    role: float = 1.0
    unique: str = "length"
    idf: bool = True
    ports: bool = True


@dataclass(frozen=True, slots=True)
class Vectors:
    """L2-normalised token vectors; ``keys`` holds side, proto, port, kind and peer of each column."""

    matrix: sp.csr_matrix
    keys: pd.DataFrame


def weigh(table: TokenTable, weights: Weights) -> Vectors:
    """Weighted, L2-normalised vectors of all endpoints."""
    frame = table.frame
    if not weights.ports:
        frame = _distinct(frame.assign(port=0))
    names = ["side", "proto", "port", "kind", "peer"]
    token, keys = token_codes(frame, names)
    row = frame["endpoint"].to_numpy()
    kind = frame["kind"].to_numpy()
    df = np.bincount(token)[token] if len(token) else np.zeros(0)
    family, _ = token_codes(frame, ["endpoint", "side", "proto", "port", "kind"])
    m = np.bincount(family)[family].astype(float) if len(family) else np.zeros(0)
    alone = df == 1
    keep = ~(alone & (kind == PEER))
    if weights.unique == "drop":
        keep &= ~alone
    else:
        side_kind, _ = token_codes(frame, ["endpoint", "side", "kind"])
        singles = np.bincount(side_kind, weights=alone)[side_kind] if len(frame) else np.zeros(0)
        m = np.where(alone & (kind != PEER), np.maximum(m, singles if weights.unique == "length" else singles**2), m)
    factor = np.array([weights.generic, weights.peer, weights.role])[kind]
    value = factor * (np.log(table.size / np.maximum(df, 1)) if weights.idf else 1.0) / np.sqrt(np.maximum(m, 1))
    matrix = sp.csr_matrix((value[keep], (row[keep], token[keep])), shape=(table.size, len(keys)))
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale = sp.diags(1.0 / np.where(norms > 0, norms, 1.0))
    return Vectors(sp.csr_matrix(scale @ matrix), keys)


def token_codes(frame: pd.DataFrame, names: list[str] | None = None) -> tuple[np.ndarray, pd.DataFrame]:
    """Number every distinct token, in order of appearance, and list them."""
    names = names or ["side", "proto", "port", "kind", "peer"]
    codes, _ = pd.factorize(_packed(frame, names))
    first = np.unique(codes, return_index=True)[1]
    return codes.astype(np.int64), frame[names].iloc[first].reset_index(drop=True)


def _packed(frame: pd.DataFrame, names: list[str]) -> np.ndarray:
    """One number per row that is equal where all columns are: hashing one is much faster than grouping by five."""
    packed = np.zeros(len(frame), dtype=np.int64)
    for name in names:
        values = frame[name].to_numpy(np.int64)
        low = int(values.min(initial=0))
        packed = packed * (int(values.max(initial=0)) - low + 1) + (values - low)
    return packed
