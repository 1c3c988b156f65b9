"""Settings by precedence: flag, environment, project file, user file, default.

The project file is ``nl2net.toml`` in the working folder. It may come from a cloned repository, so it cannot set
anything that decides where data goes or what is allowed to run: see ``_NOT_FROM_PROJECT``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nl2net.errors import UserError
from nl2net.locations import Locations, default_locations

_NOT_FROM_PROJECT = frozenset({"base_url", "mask", "probe_local_servers"})


class Settings(BaseModel):
    """Everything that a user may set; field names are the keys of the TOML files and, in capitals behind ``NL2NET_``,
    of the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = Field(default=None, description="Model name; `builtin` or `builtin-small` for the local ones.")
    base_url: str | None = Field(default=None, description="Base URL of an OpenAI-compatible endpoint.")
    probe_local_servers: bool = Field(default=True, description="Look for a running server on loopback.")
    library: str = Field(default="auto", pattern="^(auto|networkx|pandas|sql)$")
    samples: int | None = Field(default=None, ge=1, le=32, description="Programs per question; default by model.")
    repairs: int = Field(default=1, ge=0, le=2)
    threshold: float | None = Field(default=None, ge=0, le=1, description="Least confidence of a delivered answer.")
    timeout_s: float = Field(default=30.0, gt=0, le=3600, description="Wall seconds of one program run.")
    memory_mb: int = Field(default=2048, ge=64, description="Memory of one program beyond the graph.")
    max_cost_usd: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1, description="Prompt and completion tokens per question.")
    request_timeout_s: float = Field(default=120.0, gt=0)
    mask: bool = Field(default=True, description="Replace names in questions by placeholders before sending.")
    schema_tokens: int | None = Field(default=None, ge=100, description="Budget of the schema text; default by model.")
    retention_days: int | None = Field(default=None, ge=1, description="Forget history older than this.")
    idle_stop_s: float = Field(default=900.0, gt=0, description="Stop the local model server after this idle time.")
    max_file_mb: int = Field(default=2048, ge=1)
    max_nodes: int = Field(default=2_000_000, ge=1)
    max_edges: int = Field(default=20_000_000, ge=1)
    max_attributes: int = Field(default=2_000, ge=1, description="Attributes of one node or link in a file.")
    max_text_chars: int = Field(default=100_000, ge=1, description="Characters of one value in a file.")
    max_depth: int = Field(default=64, ge=4, le=400, description="Nesting of a file.")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path}: not a readable settings file: {error}", hint="Mend or remove the file.") from None


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    found = {name: environ.get(f"NL2NET_{name.upper()}") for name in Settings.model_fields}
    return {name: value for name, value in found.items() if value}


def load_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    locations: Locations | None = None,
) -> Settings:
    """Merge all sources into one `Settings`.

    Parameters
    ----------
    flags : mapping, optional
        Values from the command line; ``None`` values count as not given.
    environ : mapping, optional
        Environment, default ``os.environ``.
    folder : Path, optional
        Where to look for ``nl2net.toml``, default the working folder.
    locations : Locations, optional
        Where the user file lies.

    Raises
    ------
    UserError
        A file cannot be read, or a value is out of range or unknown; the message names the source and the key.
    """
    locations = locations or default_locations()
    project_path = (folder or Path.cwd()) / "nl2net.toml"
    user_path = locations.config / "config.toml"
    project = _read_toml(project_path)
    for name in sorted(_NOT_FROM_PROJECT & project.keys()):
        raise UserError(
            f"{project_path}: {name!r} cannot be set by a project file",
            hint=f"Set it in {user_path}, in the environment or by a flag.",
        )
    sources: list[tuple[str, Mapping[str, Any]]] = [
        (str(user_path), _read_toml(user_path)),
        (str(project_path), project),
        ("environment", _from_environment(os.environ if environ is None else environ)),
        ("command line", {k: v for k, v in (flags or {}).items() if v is not None}),
    ]
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for name, values in sources:
        merged.update(values)
        origin.update(dict.fromkeys(values, name))
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else "?"
        raise UserError(f"{origin.get(key, 'settings')}: {key}: {first['msg']}") from None
