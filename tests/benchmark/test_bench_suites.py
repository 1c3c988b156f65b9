"""Suites: the same bytes everywhere, keys apart, nothing that gives the answer away, originality."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nl2net.benchmark.audit import audit
from nl2net.benchmark.contamination import grams_of, overlap, words_of
from nl2net.benchmark.items import Item, Order, applications_named, make_items, shard_of
from nl2net.benchmark.suites import generate_suite, load_suite, read_public, write_suite
from nl2net.cli.main import main
from nl2net.errors import DataError, UserError

_WRITE = """
import sys
from pathlib import Path
from nl2net.benchmark.items import Order
from nl2net.benchmark.suites import generate_suite, write_suite
write_suite(generate_suite(Order(count=4, seed="bytes")), Path(sys.argv[1]))
"""


def test_another_process_and_hash_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "4242"}
    subprocess.run([sys.executable, "-c", _WRITE, str(tmp_path / "there")], env=environment, check=True)
    write_suite(generate_suite(Order(count=4, seed="bytes")), tmp_path / "here")
    assert hash("nl2net") != _hash_under("4242")
    for name in ("suite.jsonl", "keys.jsonl"):
        first, second = ((tmp_path / place / name).read_bytes() for place in ("here", "there"))
        assert first == second and len(first.splitlines()) == 17


def _hash_under(seed: str) -> int:
    command = [sys.executable, "-c", "print(hash('nl2net'))"]
    said = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
    return int(said.stdout)


def test_a_suite_is_read_back_and_damage_is_seen(tmp_path: Path) -> None:
    suite = generate_suite(Order(("traffic", "routing"), 4, seed="file"))
    public, keys = write_suite(suite, tmp_path)
    assert load_suite(tmp_path) == suite
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    head, *rest = keys.read_text().splitlines(keepends=True)
    keys.write_text(head + "".join(rest).replace('"level"', '"level" ', 1))
    with pytest.raises(DataError, match="digest"):
        load_suite(tmp_path)
    public.write_text("nonsense\n")
    with pytest.raises(DataError, match="not a suite"):
        load_suite(tmp_path)


def test_the_public_half_gives_nothing_away(tmp_path: Path, traffic: list[Item]) -> None:
    suite = generate_suite(Order(count=6, seed="halves"))
    write_suite(suite, tmp_path)
    text = (tmp_path / "suite.jsonl").read_text()
    for item in suite.items:
        assert item.type not in item.id
    for word in ('"program"', '"expected"', '"faults"', '"repair"', '"intent"', '"type"'):
        assert word not in text
    assert suite.header.canary in text
    assert len({item.id for item in traffic}) == len(traffic)


def test_a_test_suite_keeps_its_seed_to_itself(tmp_path: Path) -> None:
    suite = generate_suite(Order(("traffic", "routing"), 5, seed="my secret", split="test"))
    write_suite(suite, tmp_path)
    text = (tmp_path / "suite.jsonl").read_text()
    assert "my secret" not in text and "recipe" not in text
    header, lines = read_public(tmp_path)
    assert str(header.order["seed"]).startswith("sha256:")
    graph = json.loads((tmp_path / "graphs" / lines[0]["graph"]["file"]).read_text())
    assert graph["nodes"]
    open_ids = {item.id for item in generate_suite(Order(("traffic", "routing"), 5, seed="my secret")).items}
    assert not open_ids & {item.id for item in suite.items}


def test_levels_shards_and_names(traffic: list[Item]) -> None:
    made = make_items(Order(("planning", "policy"), 3, seed="levels", level=2)).items
    assert {item.level for item in made} == {2} and len(made) == 6
    assert {item.control for item in make_items(Order(("routing",), 2, seed="levels", level=0)).items} == {True}
    parts = [shard_of(traffic, f"{number}/3") for number in (1, 2, 3)]
    assert sorted(item.id for part in parts for item in part) == sorted(item.id for item in traffic)
    for wrong in ("0/3", "4/3", "x", "1"):
        with pytest.raises(UserError, match="no shard"):
            shard_of(traffic, wrong)
    with pytest.raises(UserError, match="unknown application"):
        applications_named("traffic,chess")
    with pytest.raises(UserError, match="unknown split"):
        make_items(Order(split="train"))
    with pytest.raises(UserError, match="unknown level"):
        make_items(Order(level=9))


def test_the_audit_counts_what_is_planted(traffic: list[Item]) -> None:
    from dataclasses import replace

    good = traffic[:6]
    assert not any(vars_of(good).values())
    first = good[0].case
    assert first is not None
    wrong = replace(good[0], case=replace(first, id="traffic-other", expected="something else"))
    found = vars_of([*good, good[1], wrong])
    assert found["duplicate"] == 1
    assert found["unsolved"] == 1  # no key of a change that anything could fulfil


def vars_of(items: list[Item]) -> dict[str, int]:
    from dataclasses import asdict

    return asdict(audit(items))


def test_overlap_sees_copies_and_known_wordings() -> None:
    old = ["How many links does web-01 have in site fra1?"]
    copy, renamed, fresh = old[0], "How many links does db-77 have in site ams2?", "Name the busiest machine."
    assert overlap([copy], old, n=4).identical == 1
    assert overlap([renamed], old, n=6).questions == 0.0
    assert overlap([renamed], old, n=6, masked=True).questions == 1.0
    assert overlap([fresh, renamed], old, n=4, masked=True).questions == 0.5
    assert words_of('Is "x" up?') == ["is", "x", "up"]
    assert grams_of("one two", 4) == {("one", "two")}


def test_generate_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def call(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            main(["bench", "generate", *arguments])
        return int(end.value.code or 0), capsys.readouterr().out

    first, second = str(tmp_path / "a"), str(tmp_path / "b")
    code, out = call("--out", first, "-a", "traffic,policy", "-n", "3", "--seed", "c")
    assert code == 0
    assert "audit of what was kept: 0 unsafe, 0 no-op, 0 duplicate, 0 unobservable, 0 unsolved" in out
    code, out = call("--out", second, "-a", "traffic,policy", "-n", "3", "--seed", "c", "--earlier", first, "--json")
    found = json.loads(out)
    assert found["overlap"][first]["as_written"]["identical"] == 6
    assert found["overlap"]["development"]["as_written"]["identical"] == 0
    assert not any(found["audit"].values())
    assert call("--out", first, "-a", "chess")[0] == 2
