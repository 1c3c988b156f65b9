"""The built wheel holds every package and data file, and nothing at the top level but `nl2net`."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAPPED = ("prompts", "sandbox", "graphs", "golden", "tui")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    return next(folder.glob("nl2net-*.whl"))


def source_files() -> set[str]:
    """Tracked files of the packages, as they are installed."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    found = set()
    for name in listed:
        top = name.split("/", 1)[0]
        if top == "nl2net":
            found.add(name)
        elif top in MAPPED:
            found.add(f"nl2net/{name}")
    return found


def test_every_file_is_in_the_wheel_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {name.split("/", 1)[0] for name in names} == {"nl2net"}
    assert source_files() - names == set()


def test_the_installed_wheel_imports_and_reads_its_data(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    site = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # The libraries come from this environment: fetching them again would test the package index, not the wheel.
    others = [path for path in sys.path if path.endswith("site-packages")]
    code = (
        "import importlib, pkgutil, nl2net\n"
        "names = [m.name for m in pkgutil.walk_packages(nl2net.__path__, 'nl2net.')]\n"
        "skip = ('nl2net.mcp_server', 'nl2net.notebook', 'nl2net.llm.engine', 'nl2net.llm.serving')\n"
        "packages = [n for n in names if not n.startswith(skip) and not n.endswith('__main__')]\n"
        "packages = [n for n in packages if n.count('.') == 1]\n"
        "for name in packages: importlib.import_module(name)\n"
        "from nl2net.graphs import load_graph\n"
        "assert load_graph('geant2012').schema.edges == 61\n"
        "from nl2net.prompts import render\n"
        "assert 'Question' in render('question.j2', question='x', entities=[], expected='')\n"
        "print(nl2net.__file__)\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *others])}
    done = subprocess.run(
        [tmp_path / "env" / "bin" / "python", "-c", code], capture_output=True, text=True, env=environ, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(site))
