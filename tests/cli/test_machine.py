# SPDX-License-Identifier: Apache-2.0
"""``ullage draft``, and ``report --require`` on what it drafts."""

import tomllib
from pathlib import Path

import pytest

from support import recorded_results
from support.data import some
from ullage.cli.app import run
from ullage.errors import EXIT_BAD_INPUT, EXIT_CANNOT_TELL, EXIT_CASE_FAILED, EXIT_OK
from ullage.runs.options.floors import row_words
from ullage.suites.b_eff_io.hints import read_hint_sets

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def result(tmp_path: Path) -> Path:
    return recorded_results.unpack("sweep_two_targets", tmp_path)


def test_a_result_reaches_the_floors_drafted_from_it_and_no_higher_ones(
    result: Path, tmp_path: Path, capsys: Capture
) -> None:
    reqs = tmp_path / "reqs.toml"
    assert run(["draft", "floors", str(result), "--output", str(reqs)]) == EXIT_OK
    seen = capsys.readouterr()
    assert f"ullage run SUITE --require {reqs}" in seen.out
    floors = tomllib.loads(reqs.read_text())["require"]
    assert {floor["suite"] for floor in some(floors)} == {"sweep"}
    low = reqs.read_text()
    easy = "".join('least = "1 B/s"\n' if line.startswith("least") else line for line in low.splitlines(keepends=True))
    reqs.write_text(easy)
    code = run(["report", str(result), "--require", str(reqs), "--format", "md", "--output", "-"])
    out = capsys.readouterr().out
    assert "## What was required" in out
    assert "fail: 0" in out
    assert code == (EXIT_OK if "cannot tell: 0" in out else EXIT_CANNOT_TELL)
    reqs.write_text(easy.replace('"1 B/s"', '"900 TB/s"'))
    code = run(["report", str(result), "--require", str(reqs), "--format", "md", "--output", "-"])
    out = capsys.readouterr().out
    assert "pass: 0" in out
    assert code == (EXIT_CANNOT_TELL if "fail: 0" in out else EXIT_CASE_FAILED)


def test_what_somebody_has_written_is_not_replaced(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "hints.toml").write_text("mine")
    assert run(["draft", "hints", "--output", str(tmp_path / "hints.toml")]) == EXIT_BAD_INPUT
    assert (tmp_path / "hints.toml").read_text() == "mine"
    assert "exists already" in capsys.readouterr().err


def test_drafted_hints_are_read_as_they_are_and_with_every_comment_removed(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "hints.toml"
    assert run(["draft", "hints", "--output", str(path)]) == EXIT_OK
    capsys.readouterr()
    assert read_hint_sets([str(path)], [2])[0].lines
    path.write_text("\n".join(line.removeprefix("# ") for line in path.read_text().splitlines()[1:]))
    assert {line.key for line in read_hint_sets([str(path)], [2])[0].lines} >= {"cb_nodes", "striping_unit"}


@pytest.mark.parametrize("words", [["floor"], ["floors"], ["nothing"]])
def test_what_cannot_be_drafted_is_refused_in_one_line(words: list[str], capsys: Capture) -> None:
    assert run(["draft", *words]) == EXIT_BAD_INPUT
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('where = { thread = "most" }', "no row has a parameter 'thread'; did you mean 'threads'?"),
        ('suite = "memry"', "unknown suite 'memry'; did you mean 'memory'?"),
        ("leest = 3", "unknown key 'leest'"),
    ],
)
@pytest.mark.parametrize("verb", [["run", "sweep", "--target", "/tmp"], ["run", "b_eff"], ["report", "RESULT"]])
def test_unknown_words_of_floors_are_refused_before_anything_runs(
    text: str, said: str, verb: list[str], result: Path, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "reqs.toml"
    path.write_text(f'[[require]]\nmetric = "bandwidth"\nleast = "1 GB/s"\n{text}\n')
    words = [str(result) if word == "RESULT" else word for word in verb]
    assert run([*words, "--require", str(path)]) == EXIT_BAD_INPUT
    assert said in capsys.readouterr().err


def test_floors_may_name_every_parameter_that_recorded_rows_have() -> None:
    import json

    names = [*recorded_results.names()]
    rows = [row for name in names for row in json.loads(recorded_results.read_frozen(name)["json"])["rows"]]
    assert {key for row in some(rows) for key in row["params"]} <= row_words()
