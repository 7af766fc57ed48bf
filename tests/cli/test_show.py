# SPDX-License-Identifier: Apache-2.0
"""``ullage show``: from a result to its rows, from a row to its repetitions."""

import json
import re
from pathlib import Path

import pytest

from support import recorded_results
from ullage.cli.app import run
from ullage.errors import EXIT_BAD_INPUT, EXIT_OK
from ullage.model.summary import Summary

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    return recorded_results.unpack("disk", tmp_path)


@pytest.fixture
def summary() -> Summary:
    return Summary.model_validate(json.loads(recorded_results.read_frozen("disk")["json"]))


def shown(capsys: Capture, *words: object) -> str:
    assert run(["show", *map(str, words)]) == EXIT_OK
    return capsys.readouterr().out


def numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"^ +(\d+)   ", text, re.MULTILINE)]


def test_a_row_is_shown_with_each_of_its_repetitions(disk: Path, summary: Summary, capsys: Capture) -> None:
    row = summary.rows[2]
    text = shown(capsys, disk, 3)
    assert text.startswith("Row 3: ")
    assert f"case        {row.case}" in text
    assert row.verdict in text
    for flag in row.flags:
        assert f"({flag.code})" in text
    table = text[text.index("repetition") :]
    assert numbers(table) == list(range(1, len(row.repetitions) + 1))
    assert "took" in table


def test_repetitions_that_do_not_count_are_listed_and_say_so(tmp_path: Path, capsys: Capture) -> None:
    result = recorded_results.unpack("collectives", tmp_path)
    assert run(["report", str(result), "--format", "json"]) == EXIT_OK
    rows = json.loads(capsys.readouterr().out)["rows"]
    texts = [shown(capsys, result, index + 1) for index in range(0, len(rows), 9)]
    for index, text in zip(range(0, len(rows), 9), texts, strict=True):
        counted = len(rows[index]["repetitions"])
        listed = numbers(text[text.index("repetition") :])
        assert len(listed) - text.count("not counted") == counted


def test_without_a_word_the_rows_that_stand_for_the_result(disk: Path, summary: Summary, capsys: Capture) -> None:
    listed = numbers(shown(capsys, disk))
    assert 1 < len(listed) < len(summary.rows)


def test_a_suite_a_part_and_the_beginning_of_a_case_name_rows(disk: Path, summary: Summary, capsys: Capture) -> None:
    of_suite = shown(capsys, disk, "disk")
    assert len(numbers(of_suite)) == 40
    assert f"{len(summary.rows) - 40} more rows: --all" in of_suite
    assert len(numbers(shown(capsys, disk, "disk", "--all"))) == len(summary.rows)
    assert shown(capsys, disk, "disk reads").startswith("Row ")
    case = summary.rows[0].case
    of_case = [index + 1 for index, row in enumerate(summary.rows) if row.case == case]
    assert numbers(shown(capsys, disk, case[:10])) == of_case


@pytest.mark.parametrize("word", ["nothing", "0", "99999", "-1x"])
def test_a_word_that_names_nothing_is_refused_in_one_line(word: str, disk: Path, capsys: Capture) -> None:
    assert run(["show", str(disk), "--", word]) == EXIT_BAD_INPUT
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "a row from 1 to 80" in said
