# SPDX-License-Identifier: Apache-2.0
"""``[a, b]`` is a 95 % interval and nothing else, ``a to b`` a range, in everything that recorded results say."""

import re

import pytest

from support import recorded_results
from support.data import some
from ullage.model.summary import Summary
from ullage.quantity import times

CELL = re.compile(r"^\[[^\[\]]+\]$")
HEADING = "interval or range"


def plain(cell: str) -> str:
    return cell.replace("\\", "").strip()


def intervals(summary: Summary) -> list[str]:
    """Every interval of a gain and of what a rung costs, as it would be written as a range."""
    gains = [finding.gain for finding in summary.findings if finding.gain is not None]
    rungs = [rung for ladder in summary.ladders for rung in ladder.rungs]
    return [
        *(f"{times(gain.low)} to {times(gain.high)}" for gain in gains if gain.low and gain.high),
        *(f"{100 * (1 - rung.high):.1f} to {100 * (1 - rung.low):.1f} %" for rung in rungs if rung.low and rung.high),
    ]


@pytest.mark.parametrize("name", recorded_results.names())
def test_no_interval_is_written_as_a_range(name: str) -> None:
    frozen = recorded_results.read_frozen(name)
    known = intervals(Summary.model_validate_json(frozen["json"]))
    texts = {form: frozen[form] for form in ("md", "terminal")} | {"page": "\n".join(frozen["page"])}
    for form, text in some(texts.items()):
        assert [one for one in known if one in plain(text)] == [], form


def test_recorded_results_have_gains_and_rungs_to_look_for() -> None:
    every = [recorded_results.read_frozen(name)["json"] for name in recorded_results.names()]
    assert sum(len(intervals(Summary.model_validate_json(one))) for one in every) > 10


@pytest.mark.parametrize("name", recorded_results.names())
def test_no_range_is_written_as_an_interval(name: str) -> None:
    """Rows of too few repetitions have a flag that says so."""
    lines = recorded_results.read_frozen(name)["md"].splitlines()
    rows = lines[lines.index("## All rows") :] if "## All rows" in lines else []
    heads = [plain(head) for head in rows[2].split(" | ")] if rows else []
    if HEADING not in heads:
        return
    place = heads.index(HEADING)
    for line in some([line for line in rows[4:] if line.startswith("| ")]):
        cell = plain(line.split(" | ")[place])
        is_range = "interval-below" in plain(line)
        assert bool(CELL.match(cell)) != is_range or cell == "\N{EN DASH}", line
