# SPDX-License-Identifier: Apache-2.0
"""``ullage compare``."""

import csv
import io
import json
from pathlib import Path

import pytest

from support.sample_result import SYSTEM, Shape, make_summary, write_result
from ullage.cli.app import run
from ullage.errors import EXIT_BAD_INPUT, EXIT_OK
from ullage.results.folder import ResultFolder

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def stored_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.runs.summary.build_summary", ResultFolder.read_summary)


def results(folder: Path, *systems: dict[str, object]) -> list[str]:
    """Results of the same numbers on the given machines."""
    shape = Shape(repetitions=7)
    paths: list[str] = []
    for index, system in enumerate(systems):
        summary = make_summary(shape).model_copy(update={"system": system})
        paths.append(str(write_result(folder / f"run{index}", shape, summary).path))
    return paths


def test_targets_of_one_result(tmp_path: Path, capsys: Capture) -> None:
    assert run(["compare", *results(tmp_path, SYSTEM)]) == EXIT_OK
    out = capsys.readouterr().out
    assert "scratch against nvme: faster in" in out
    assert "cannot tell" in out


def test_csv_and_json_hold_every_cell(tmp_path: Path, capsys: Capture) -> None:
    paths = results(tmp_path, SYSTEM)
    assert run(["compare", *paths, "--format", "csv"]) == EXIT_OK
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert run(["compare", *paths, "--format", "json"]) == EXIT_OK
    loaded = json.loads(capsys.readouterr().out)
    assert len(lines) == len(loaded["cells"]) == 32
    assert {line["outcome"] for line in lines} == {"faster", "slower", "cannot tell"}


def test_results_are_named_by_their_folders_and_differences_are_warned_of(tmp_path: Path, capsys: Capture) -> None:
    paths = results(tmp_path, SYSTEM, {**SYSTEM, "kernel": {"release": "7.0"}})
    assert run(["compare", *paths, "--by", "result", "--format", "md"]) == EXIT_OK
    seen = capsys.readouterr()
    assert seen.err.count("\n") == 1
    assert "warning: The kernel differs: 6.1.0-42-amd64 (run0), 7.0 (run1)" in seen.err
    assert "# run1 against run0" in seen.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--by", "targte"], "did you mean 'target'?"),
        (["--by", "result"], "a result cannot be compared with itself"),
        (["--metric", "speed"], "one of bandwidth"),
        (["--base", "tape"], "one of nvme, scratch"),
        (["--format", "html"], "unknown format 'html'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words: list[str], message: str, tmp_path: Path, capsys: Capture) -> None:
    assert run(["compare", *results(tmp_path, SYSTEM), *words]) == EXIT_BAD_INPUT
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_result_named_twice_is_refused(tmp_path: Path, capsys: Capture) -> None:
    path = results(tmp_path, SYSTEM)[0]
    assert run(["compare", path, path, "--by", "result"]) == EXIT_BAD_INPUT
    assert "named twice" in capsys.readouterr().err


def test_the_terminal_shows_decisions_and_the_largest_differences_and_all_on_demand(
    tmp_path: Path, capsys: Capture
) -> None:
    paths = results(tmp_path, SYSTEM)
    assert run(["compare", *paths]) == EXIT_OK
    short = capsys.readouterr().out
    assert run(["compare", *paths, "--all"]) == EXIT_OK
    whole = capsys.readouterr().out
    first = short.splitlines()[0]
    assert first.startswith("scratch against nvme: faster in")
    assert whole.splitlines()[0] == first
    assert any(line.startswith("  read: ") for line in short.splitlines())
    assert "The 10 largest of 32 cells; --all shows every cell." in short
    table = short[short.index("ratio") :]
    assert "cannot tell" not in table, "only what is told stands among the largest"
    assert whole.count("GB/s") > short.count("GB/s")
