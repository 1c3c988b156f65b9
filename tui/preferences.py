"""Settings and keys that a user changes inside the application, written where the command line reads them, too."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from nl2net.config import Settings, load_settings
from nl2net.errors import UserError
from nl2net.locations import atomic_write
from nl2net.tui.desk import Desk


def change_setting(desk: Desk, name: str, text: str) -> Settings:
    """Set one value in the user's file and use it from now on; an empty text takes it out.

    Raises
    ------
    UserError
        The value does not fit, or the file holds what cannot be read.
    """
    value = _value(text)
    try:
        chosen = desk.settings.model_dump() | {name: value if text.strip() else Settings.model_fields[name].default}
        Settings.model_validate(chosen)
    except ValidationError as error:
        raise UserError(f"{name}: {error.errors()[0]['msg']}") from None
    path = desk.locations.config / "config.toml"
    kept: dict[str, Any] = {}
    if path.is_file():
        try:
            kept = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: not a readable settings file: {error}", hint="Mend or remove it.") from None
    kept.pop(name, None)
    if text.strip():
        kept[name] = value
    with atomic_write(path, private=True) as stream:
        stream.write(render_toml(kept).encode())
    load_settings(environ={}, locations=desk.locations)
    desk.set_settings(Settings.model_validate(chosen))
    return desk.settings


def _value(text: str) -> Any:
    """A text as the TOML value it looks like, else as text."""
    stripped = text.strip()
    try:
        return tomllib.loads(f"v = {stripped}")["v"]
    except ValueError:
        return stripped


def render_toml(values: Mapping[str, Any]) -> str:
    """Flat values as TOML; the settings have no tables.

    Examples
    --------
    >>> render_toml({"model": "m", "mask": True, "repairs": 1})
    'model = "m"\\nmask = true\\nrepairs = 1\\n'
    """
    return "".join(f"{name} = {_toml(value)}\n" for name, value in values.items())


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text) + '"'
