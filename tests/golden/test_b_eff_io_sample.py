# SPDX-License-Identifier: Apache-2.0
"""The sample output of b_eff_io on 64 processes: what follows from its numbers, and what does not."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ullage.analysis.settings import select
from ullage.cli.app import run as run_command
from ullage.importers import read
from ullage.model.summary import Finding, Summary
from ullage.results.folder import ResultFolder
from ullage.suites.b_eff_io.importer import read as read_text
from ullage.suites.b_eff_io.patterns import b_eff_io, implied_write_side
from ullage.suites.b_eff_io.rows import ACCESS, B_EFF_IO, MEMORY_TIME, WRITE_SIDE

SAMPLE = Path(__file__).parent / "b_eff_io_frost.json"
# As the slide prints it.
PRINTED = """\
weighted average bandwidth for write : 422.388 MB/s on 64 processes
weighted average bandwidth for rewrite : 331.833 MB/s on 64 processes
weighted average bandwidth for read : 473.441 MB/s on 64 processes
Total amount of data written/read with each access method: 208558.575 MBytes
= 39.8 percent of the total memory (524288 MBytes)
b_eff_io of these measurements = 451.727 MB/s
on 64 processes with 2048 MByte/PE, scheduled time=30.0 Min,
on AIX frost018 3 4 006005094C00
total memory / b_eff_io = 524288 Mbytes / 451.727 MB/s = 19.3 min.
"""


@cache
def _published() -> dict[str, Any]:
    """The numbers, read without the code under test."""
    return json.loads(SAMPLE.read_text())


@cache
def _summaries() -> tuple[Summary, Summary]:
    return read(SAMPLE), read_text(PRINTED, "slide.txt")


def _finding(summary: Summary, kind: str) -> Finding:
    (found,) = [one for one in summary.findings if one.kind == kind]
    return found


@pytest.mark.parametrize("index", [0, 1])
def test_the_printed_numbers_are_shown_in_both_forms(index: int) -> None:
    summary, published = _summaries()[index], _published()
    (value,) = select(summary.rows, B_EFF_IO)
    assert value.median == pytest.approx(published["b_eff_io_mb_s"] * 1e6)
    assert {row.params["access"]: row.median / 1e6 for row in select(summary.rows, ACCESS)} == pytest.approx(
        published["weighted_average_mb_s"]
    )
    assert value.params["ranks"] == 64
    assert (summary.scores[0].name, summary.scores[0].valid) == ("b_eff_io", True)


@pytest.mark.parametrize("index", [0, 1])
def test_the_headline_needs_431_009_on_the_write_side_and_the_averages_do_not_give_it(index: int) -> None:
    summary = _summaries()[index]
    means = _published()["weighted_average_mb_s"]
    (side,) = select(summary.rows, WRITE_SIDE)
    assert side.median / 1e6 == pytest.approx(431.009, abs=5e-4)
    assert side.median / 1e6 == pytest.approx(implied_write_side(451.727, means["read"]))
    assert b_eff_io(431.009, means["read"]) == pytest.approx(451.727, abs=5e-4)
    found = _finding(summary, "b_eff_io-recomputed")
    assert "W' = 431.009 MB/s" in found.text
    assert "The three printed averages alone do not determine W'" in found.text
    assert found.numbers["determined"] is False
    low, high = found.numbers["low"], found.numbers["high"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert (low / 1e6, high / 1e6) == (pytest.approx(431.0075, abs=1e-4), pytest.approx(431.0103, abs=1e-4))


def test_no_plain_mean_of_the_three_gives_the_headline() -> None:
    """Whatever somebody might guess: all are off by more than rounding."""
    w, again, r = (_published()["weighted_average_mb_s"][access] for access in ("write", "rewrite", "read"))
    guesses = [
        (w + again + r) / 3,
        (w + again + 2 * r) / 4,
        (w + r) / 2,
        math.sqrt(w * r),
        math.sqrt((w + again) / 2 * r),
        (w * again * r) ** (1 / 3),
        (w * again * r * r) ** (1 / 4),
    ]
    assert all(abs(guess - 451.727) > 3 for guess in guesses)


def test_if_only_scatter_was_rewritten_its_first_write_was_slower() -> None:
    found = _finding(_summaries()[0], "b_eff_io-recomputed")
    assert found.numbers["scatter_first_write"] == pytest.approx(280.108e6, abs=0.01e6)


def test_the_printed_minutes_mix_units() -> None:
    """MiB over MB/s: 19.3 min; in one unit 20.3 min."""
    mixed = 524288 / 451.727 / 60
    assert mixed == pytest.approx(19.3, abs=0.05)
    found = _finding(_summaries()[1], "b_eff_io-units")
    assert found.text.endswith("takes 20.3 min. 19.3 min was printed: that is MiB divided by MB/s.")
    for summary in _summaries():
        (row,) = select(summary.rows, MEMORY_TIME)
        assert row.median / 60 == pytest.approx(20.3, abs=0.05)


def test_the_printed_percentage_follows() -> None:
    percent = 208558.575 / 524288 * 100
    assert percent == pytest.approx(39.8, abs=0.05)
    assert not [one for one in _summaries()[1].findings if one.severity == "warning"]


def test_the_import_is_a_result_that_stands_by_itself(tmp_path: Path) -> None:
    assert run_command(["import", str(SAMPLE), "--result", str(tmp_path / "r")]) == 0
    result = ResultFolder.open(tmp_path / "r")
    summary = result.read_summary()
    assert summary.rows == _summaries()[0].rows
    assert summary.scores == _summaries()[0].scores
    page = result.report_path.read_text()
    assert "431.009" in page
    assert len(page) < 2_000_000
