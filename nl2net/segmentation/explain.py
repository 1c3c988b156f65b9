"""Why a role is a role, who fits badly, and why two roles are not one. Sentences by template, no model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nl2net.errors import UserError
from nl2net.segmentation.flows import protocol_name
from nl2net.segmentation.roles import RoleModel
from nl2net.segmentation.tokens import GENERIC, PEER

_TOP = 5


@dataclass(frozen=True, slots=True)
class TokenShare:
    """A token in words, with its share among the members and among those of the nearest other role."""

    text: str
    share: float
    share_there: float
    weight: float


@dataclass(frozen=True, slots=True)
class Odd:
    """A member that fits badly, and why."""

    member: str
    similarity: float
    why: str


@dataclass(frozen=True, slots=True)
class RoleCard:
    """What explains a role.

    ``nearest`` is the most similar other role and ``separation`` the evidence in nats against joining the two;
    ``cohesion`` is the mean cosine of members to the centre.
    """

    id: str
    members: tuple[str, ...]
    serves: tuple[str, ...]
    consumes: tuple[str, ...]
    called_by: tuple[str, ...]
    tokens: tuple[TokenShare, ...]
    cohesion: float
    nearest: str
    separation: float
    odd: tuple[Odd, ...]
    hints_agree: int = 0
    hints_differ: int = 0

    def sentences(self) -> list[str]:
        """The card in plain sentences."""
        lines = [f"{self.id} has {len(self.members)} member(s)."]
        for word, services in (("serves", self.serves), ("calls", self.consumes), ("is called by", self.called_by)):
            if services:
                lines.append(f"It {word} {', '.join(services[:6])}{' and more' if len(services) > 6 else ''}.")
        if self.tokens:
            shown = "; ".join(f"{t.text} ({t.share:.0%} here, {t.share_there:.0%} there)" for t in self.tokens[:3])
            other = f" against {self.nearest}" if self.nearest else ""
            lines.append(f"What sets it apart{other}: {shown}.")
        if self.nearest:
            lines.append(f"The evidence against joining it with {self.nearest} is {self.separation:.1f} nats.")
        lines += [f"{odd.member} fits least ({odd.similarity:.2f}): {odd.why}." for odd in self.odd]
        return lines

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {**asdict(self), "sentences": self.sentences()}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> RoleCard:
        """The card that `to_json` gave."""
        plain = {name: body[name] for name in cls.__dataclass_fields__ if name in body}
        lists = {name: tuple(body[name]) for name in ("members", "serves", "consumes", "called_by")}
        tokens = tuple(TokenShare(**token) for token in body["tokens"])
        return cls(**{**plain, **lists, "tokens": tokens, "odd": tuple(Odd(**odd) for odd in body["odd"])})


class Explainer:
    """Answers questions about a role model.

    Parameters
    ----------
    model : RoleModel
        The groups.
    ids : mapping of int to str
        Role ids.
    soft : mapping, optional
        Soft hints, to count agreement.
    """

    def __init__(self, model: RoleModel, ids: Mapping[int, str], soft: Mapping[str, str] | None = None) -> None:
        self._model, self._ids, self._soft = model, dict(ids), soft or {}
        self._groups = {label: np.flatnonzero(model.labels == label) for label in sorted(self._ids)}
        matrix = model.vectors.matrix
        order = list(self._groups)
        rows = np.concatenate([self._groups[label] for label in order])
        sizes = np.array([len(self._groups[label]) for label in order])
        import scipy.sparse as sp

        share = sp.csr_matrix(
            (np.repeat(1.0 / sizes, sizes), (np.repeat(np.arange(len(order)), sizes), rows)),
            (len(order), matrix.shape[0]),
        )
        centres = share @ matrix
        norms = np.sqrt(np.asarray(centres.multiply(centres).sum(axis=1)).ravel())
        self._centres = sp.csr_matrix(sp.diags(1 / np.where(norms > 0, norms, 1)) @ centres)
        self._at = {label: index for index, label in enumerate(order)}
        similar = (self._centres @ self._centres.T).tolil()
        similar.setdiag(0)
        self._similar = similar.tocsr()
        self._edges = self._edges_by_role()

    def _edges_by_role(self) -> dict[str, dict[str, Counter[str]]]:
        """Services by role: served, consumed and callers, with connections."""
        model = self._model
        role = {name: self._ids[label] for name, label in zip(model.names, model.labels.tolist(), strict=True)}
        found: dict[str, dict[str, Counter[str]]] = {
            name: {"serves": Counter(), "consumes": Counter(), "called_by": Counter()} for name in self._ids.values()
        }
        edges = model.population.edges[model.population.learn]
        columns = (edges[name].tolist() for name in ("client", "server", "proto", "port", "connections"))
        for client, server, proto, port, count in zip(*columns, strict=True):
            service = service_text(proto, port)
            c, s = role.get(client), role.get(server)
            if c and s:
                found[s]["serves"][service] += count
                found[s]["called_by"][c] += count
                found[c]["consumes"][f"{service} of {s}"] += count
        return found

    def confidence(self) -> dict[str, float]:
        """Per endpoint: own similarity over own plus best other; 0 where nothing is known."""
        model = self._model
        scores = (model.vectors.matrix @ self._centres.T).tocsr()
        result = {}
        for row, name in enumerate(model.names):
            own_at = self._at[int(model.labels[row])]
            values = scores.data[scores.indptr[row] : scores.indptr[row + 1]]
            where = scores.indices[scores.indptr[row] : scores.indptr[row + 1]]
            own = float(values[where == own_at].sum())
            other = float(values[where != own_at].max(initial=0.0))
            result[name] = round(own / (own + other), 3) if own + other > 0 else 0.0
        return result

    def nearest(self, label: int) -> int | None:
        """The group with the most similar centre."""
        row = self._similar.getrow(self._at[label])
        return list(self._at)[int(row.indices[row.data.argmax()])] if row.nnz else None

    def why_apart(self, first: str, second: str) -> list[TokenShare]:
        """Tokens that differ most between two roles, strongest first.

        Raises
        ------
        UserError
            No such role.
        """
        by_id = {role: label for label, role in self._ids.items()}
        for role in (first, second):
            if role not in by_id:
                raise UserError(f"no role {role!r}", hint="roles.csv lists them.")
        return self._difference(by_id[first], by_id[second])

    def why_members_apart(self, first: str, second: str) -> list[TokenShare]:
        """Tokens that one of two endpoints has and the other lacks, strongest first.

        Raises
        ------
        UserError
            No such endpoint, or nothing is known of it.
        """
        here, there = (self._shares_of(np.array([self._row(name)])) for name in (first, second))
        return _contrast(here, there, self._token_text)

    def evidence(self, first: str, second: str) -> float:
        """Nats against joining two roles, or two endpoints; negative in favour."""
        by_id = {role: self._groups[label] for label, role in self._ids.items()}
        left, right = (by_id[name] if name in by_id else np.array([self._row(name)]) for name in (first, second))
        return -self._model.model.gain(left.tolist(), right.tolist())

    def _row(self, name: str) -> int:
        try:
            return self._model.names.index(name)
        except ValueError:
            raise UserError(f"nothing is known of {name!r}", hint="roles.csv lists the endpoints.") from None

    def _difference(self, label: int, other: int | None) -> list[TokenShare]:
        there = self._shares(other) if other is not None else {}
        return _contrast(self._shares(label), there, self._token_text)

    def _shares(self, label: int) -> dict[int, tuple[float, float]]:
        return self._shares_of(self._groups[label])

    def _shares_of(self, members: np.ndarray) -> dict[int, tuple[float, float]]:
        rows = self._model.vectors.matrix[members]
        count = rows.shape[0]
        present = np.bincount(rows.indices, minlength=rows.shape[1])
        weight = np.asarray(rows.sum(axis=0)).ravel()
        return {int(c): (present[c] / count, weight[c] / count) for c in np.flatnonzero(present)}

    def _token_text(self, column: int) -> str:
        side, proto, port, kind, peer = (int(v) for v in self._model.vectors.keys.iloc[column])
        service = service_text(proto, port)
        verb = "serves" if side else "calls"
        if kind == GENERIC:
            return f"{verb} {service}"
        name = self._model.names[peer] if kind == PEER else self._ids.get(peer, f"group {peer}")
        return f"{verb} {service} {'to' if side else 'of'} {name}"

    def card(self, label: int) -> RoleCard:
        """The card of one group."""
        model, rows = self._model, self._groups[label]
        role = self._ids[label]
        near = self.nearest(label)
        centre = self._centres[self._at[label]]
        similarity = np.asarray((model.vectors.matrix[rows] @ centre.T).todense()).ravel()
        services = self._edges[role]
        separation = -model.model.gain(rows.tolist(), self._groups[near].tolist()) if near is not None else 0.0
        labels = Counter(self._soft[model.names[row]] for row in rows if model.names[row] in self._soft)
        agree = max(labels.values(), default=0)
        return RoleCard(
            id=role,
            members=tuple(model.names[row] for row in rows),
            serves=_most(services["serves"]),
            consumes=_most(services["consumes"]),
            called_by=_most(services["called_by"]),
            tokens=tuple(self._difference(label, near)),
            cohesion=round(float(similarity.mean()), 3),
            nearest=self._ids[near] if near is not None else "",
            separation=round(separation, 2),
            odd=self._odd(rows, similarity),
            hints_agree=agree,
            hints_differ=sum(labels.values()) - agree,
        )

    def _odd(self, rows: np.ndarray, similarity: np.ndarray) -> tuple[Odd, ...]:
        if len(rows) < 3:
            return ()
        limit = similarity.mean() - 2 * similarity.std() - 1e-6
        shares = self._shares(int(self._model.labels[rows[0]]))
        found = []
        for at in np.argsort(similarity)[:3].tolist():
            if similarity[at] >= min(limit, 0.85):
                continue
            own = set(self._model.vectors.matrix[rows[at]].indices.tolist())
            missing = sorted(
                (c for c, s in shares.items() if s[0] >= 0.7 and c not in own), key=lambda c: -shares[c][1]
            )
            extra = [c for c in own if shares.get(c, (0, 0))[0] * len(rows) <= 1.01]
            parts = [f"it alone {self._token_text(c)}" for c in sorted(extra)[:1]]
            parts += [f"it lacks what most do: {self._token_text(c)}" for c in missing[:1]]
            why = "; ".join(parts) or "its peers differ"
            found.append(Odd(self._model.names[rows[at]], round(float(similarity[at]), 3), why))
        return tuple(found)

    def cards(self) -> list[RoleCard]:
        """All cards, largest role first."""
        cards = [self.card(label) for label in self._groups]
        return sorted(cards, key=lambda card: (-len(card.members), card.id))

    def questions(self, cards: Sequence[RoleCard], limit: int = 5) -> list[str]:
        """At most five questions whose answers change most: weak borders of large roles, then scanners."""
        asked: list[tuple[float, str]] = []
        seen: set[frozenset[str]] = set()
        size = {card.id: len(card.members) for card in cards}
        for card in cards:
            pair = frozenset((card.id, card.nearest))
            if (
                not card.nearest
                or pair in seen
                or card.id.startswith("external")
                or card.nearest.startswith("external")
            ):
                continue
            seen.add(pair)
            value = size[card.id] * size[card.nearest] / (1.0 + max(card.separation, 0.0))
            asked.append((value, f"Are {card.id} and {card.nearest} one role? ({card.separation:.1f} nats say no)"))
        asked.sort(key=lambda item: (-item[0], item[1]))
        texts = [text for _, text in asked[:limit]]
        for scanner in self._model.population.scanners[:2]:
            texts.insert(0, f"Is {scanner} your own scanner? It probed many services and few answered.")
        return texts[:limit]


def _contrast(
    here: Mapping[int, tuple[float, float]], there: Mapping[int, tuple[float, float]], text: Callable[[int], str]
) -> list[TokenShare]:
    found = []
    for column in here.keys() | there.keys():
        a, b = here.get(column, (0.0, 0.0)), there.get(column, (0.0, 0.0))
        weight = abs(a[1] - b[1])
        if weight > 0:
            found.append(TokenShare(text(column), round(a[0], 3), round(b[0], 3), round(weight, 4)))
    return sorted(found, key=lambda token: (-token.weight, token.text))[:_TOP]


def service_text(proto: int, port: int) -> str:
    """A service in words.

    Examples
    --------
    >>> service_text(6, 443), service_text(1, 0)
    ('tcp/443', 'icmp')
    """
    return f"{protocol_name(int(proto))}/{port}" if port else protocol_name(int(proto))


def _most(counter: Counter[str]) -> tuple[str, ...]:
    return tuple(name for name, _ in sorted(counter.items(), key=lambda item: (-item[1], item[0])))
