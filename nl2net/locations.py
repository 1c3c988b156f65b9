"""All paths of nl2net. ``NL2NET_HOME`` moves them all below one folder (for tests and portable set-ups)."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO


@dataclass(frozen=True, slots=True)
class Locations:
    """Folders of one installation.

    Attributes
    ----------
    config, data, cache, runtime : Path
        Settings; the store, the program library and registered graphs; model weights; sockets and pid files.
    """

    config: Path
    data: Path
    cache: Path
    runtime: Path

    @property
    def store(self) -> Path:
        """SQLite log of every question."""
        return self.data / "history.sqlite3"

    @property
    def egress_log(self) -> Path:
        """JSON lines of every byte that was sent to a model."""
        return self.data / "egress.log"

    @property
    def library(self) -> Path:
        """Approved programs of this user."""
        return self.data / "library.jsonl"

    @property
    def graphs(self) -> Path:
        """Registered graphs and their schema settings."""
        return self.data / "graphs"

    @property
    def figures(self) -> Path:
        """Pictures that answers drew."""
        return self.data / "figures"

    @property
    def models(self) -> Path:
        """Weights of local models."""
        return self.cache / "models"


def default_locations() -> Locations:
    """Folders by the rules of the platform, or below ``NL2NET_HOME``."""
    home = os.environ.get("NL2NET_HOME")
    if home:
        root = Path(home).expanduser().resolve()
        return Locations(root / "config", root / "data", root / "cache", root / "run")
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("nl2net", appauthor=False)
    # Without a login session there is no runtime folder, and platformdirs would warn and fall back to /tmp.
    has_runtime = "XDG_RUNTIME_DIR" in os.environ or sys.platform != "linux"
    runtime = dirs.user_runtime_path if has_runtime else dirs.user_cache_path / "run"
    return Locations(dirs.user_config_path, dirs.user_data_path, dirs.user_cache_path, runtime)


def private_folder(path: Path) -> Path:
    """Create ``path`` with mode 0700 and return it."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


@contextmanager
def atomic_write(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` and rename it over ``path`` when the block ends without an error.

    Parameters
    ----------
    path : Path
        Target; its folder is created.
    private : bool
        Mode 0600 instead of the default of the user.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if not private:
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
