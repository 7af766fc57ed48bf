# SPDX-License-Identifier: Apache-2.0
"""``ullage explain``: 60 columns, parts by their names, JSON, and its exit codes."""

import json
from pathlib import Path

import pytest

from support import recorded_results
from ullage.cli.app import run


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run of several suites."""
    return recorded_results.unpack("node_quick", tmp_path_factory.mktemp("recorded"))


def test_every_part_is_told_within_60_columns(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", str(result)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    heads = [line.partition(":")[0] for line in lines if line and not line.startswith(" ")]
    assert heads == ["cores", "memory", "disk writes", "disk reads", "network", "noise"]
    assert "declared ceiling" in "\n".join(lines)


@pytest.mark.parametrize(("word", "parts"), [("disk", 2), ("disk-writes", 1), ("Cores", 1)])
def test_a_part_is_named_whole_or_by_its_first_word(
    result: Path, capsys: pytest.CaptureFixture[str], word: str, parts: int
) -> None:
    assert run(["explain", str(result), word]) == 0
    assert sum(not line.startswith(" ") and bool(line) for line in capsys.readouterr().out.splitlines()) == parts


def test_an_unknown_part_is_refused_and_a_near_one_named(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", str(result), "memry"]) == 2
    assert "memory" in capsys.readouterr().err


def test_json_holds_the_ladders_alone(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", str(result), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"run_id", "ladders"}
    assert all({"part", "rungs", "unexplained", "share"} <= set(ladder) for ladder in told["ladders"])


def test_a_folder_without_a_result_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", str(tmp_path)]) == 2
    assert capsys.readouterr().err
