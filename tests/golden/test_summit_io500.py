# SPDX-License-Identifier: Apache-2.0
"""IO500 on Summit: the printed scores worked out again from the printed phases, and what its authors concluded.

The first run printed 0.021 for an ior_hard_write of 0.021018: its phases as printed give 284.727, not 284.758.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ullage.cli.app import run as run_command
from ullage.importers import read
from ullage.model.summary import Finding, Summary
from ullage.results.folder import ResultFolder
from ullage.suites.io500.phases import BY_NAME
from ullage.suites.io500.score import score

TABLE = Path(__file__).parent / "summit_io500.json"
TARGETS = ("160x16", "504x2")


@cache
def _published() -> list[dict[str, Any]]:
    """The published numbers, read without the code under test."""
    return json.loads(TABLE.read_text())["runs"]


@cache
def _summary() -> Summary:
    return read(TABLE)


def _values(run: dict[str, Any]) -> dict[str, float]:
    names = {key.replace("_", "-"): value for key, (value, _) in run["phases"].items()}
    return {name: value * BY_NAME[name].factor for name, value in names.items()}


def _texts(kind: str, target: str) -> list[Finding]:
    return [found for found in _summary().findings if found.kind == kind and found.numbers.get("target") == target]


def test_all_phases_are_imported_and_none_claims_to_know_its_cache() -> None:
    found = {(row.target, row.params["phase"], row.metric): row for row in _summary().rows}
    assert len(found) == 2 * 12 * 2
    for target, run in zip(TARGETS, _published(), strict=True):
        for key, (value, seconds) in run["phases"].items():
            phase = BY_NAME[key.replace("_", "-")]
            assert found[target, phase.name, phase.metric].median == pytest.approx(value * phase.factor)
            assert found[target, phase.name, "phase_time"].median == seconds
    assert {row.verdict for row in found.values()} == {"unknown(imported)"}


@pytest.mark.parametrize("index", [0, 1])
def test_the_printed_scores_are_those_of_the_printed_phases_within_rounding(index: int) -> None:
    run = _published()[index]
    (found,) = _texts("io500-recomputed", TARGETS[index])
    assert found.numbers["printed"] == [run["score"][part] for part in ("bandwidth", "iops", "total")]
    assert found.numbers["consistent"] is True
    assert found.severity == "info"
    again = score(_values(run))
    assert again.bandwidth == pytest.approx(run["score"]["bandwidth"], rel=3e-4)
    assert again.metadata == pytest.approx(run["score"]["iops"], rel=1e-5)
    assert again.total == pytest.approx(run["score"]["total"], rel=2e-4)


def test_the_unrounded_value_of_the_first_run_gives_its_printed_score() -> None:
    values = _values(_published()[0])
    assert score(values).total == pytest.approx(284.727, abs=0.0005)
    exact = score(values | {"ior-hard-write": 0.0210181 * 2**30})
    assert exact.bandwidth == pytest.approx(19.9883, abs=0.0001)
    assert exact.total == pytest.approx(284.758, abs=0.001)


def test_the_first_run_lost_its_score_in_ior_hard() -> None:
    head, first, *_ = _texts("io500-score", "160x16")
    assert head.text.endswith(". ior-hard lowers it most.")
    assert first.text.startswith(
        "160x16: ior-hard-write reaches 0.02100 GiB/s; the geometric mean of ior-hard is 0.2713 GiB/s"
    )
    assert head.numbers["family"][0] == "ior-hard"  # type: ignore[index]
    assert head.numbers["loss"][0] == pytest.approx(8.58, abs=0.01)  # type: ignore[index]


def test_ior_hard_made_the_second_run_better() -> None:
    """As the authors conclude. What metadata did is in the number, and no sentence rests on it: see the next test."""
    (change,) = [found for found in _summary().findings if found.kind == "io500-change"]
    assert change.text.startswith(
        "From 160x16 to 504x2 IO500 changes by 1.29 x: 1.51 x from ior-hard-write (its rate: 27.2 x), "
    )
    assert "from parts with doubtful numbers (mdtest-" in change.text
    moved = dict(zip(change.numbers["phase"], change.numbers["moved"], strict=True))  # type: ignore[arg-type]
    metadata = [float(factor) for name, factor in moved.items() if BY_NAME[str(name)].kind == "MD"]  # type: ignore[arg-type]
    product = 1.0
    for factor in metadata:
        product *= factor
    assert product < 1
    assert float(moved["ior-hard-write"]) * float(moved["ior-hard-read"]) * product > 1  # type: ignore[arg-type]


def test_rate_times_time_contradicts_itself_and_that_stands_beside_the_score() -> None:
    """4.8e9 files written and 1.6e8 deleted: one of the two numbers, or of the two times, is not what it says."""
    easy, hard = _texts("io500-arithmetic", "160x16")
    assert "mdtest-easy-write 4,760,000,000 items" in easy.text
    assert "mdtest-easy-delete 157,000,000 items" in easy.text
    assert easy.severity == "warning"
    assert hard.numbers["dataset"] == "mdtest-hard"
    assert [one.numbers["dataset"] for one in _texts("io500-arithmetic", "504x2")] == ["mdtest-hard"]
    first = next(one for one in _summary().scores if one.name == "IO500 of 160x16")
    assert first.valid
    (reason,) = first.reasons
    assert reason.startswith(
        "rate x time of the phases on mdtest-easy and mdtest-hard does not agree: the score counts"
    )


def test_no_sentence_rests_on_phases_that_contradict_themselves() -> None:
    sentences = "\n".join(one.text for target in TARGETS for one in _texts("io500-score", target))
    assert "mdtest-hard" not in sentences
    assert ". ior-hard lowers it most." in _texts("io500-score", "504x2")[0].text


def test_both_runs_are_valid_by_what_can_be_seen_of_them() -> None:
    assert [score.name for score in _summary().scores if score.valid and not score.unit] == [
        "IO500 of 160x16",
        "IO500 of 504x2",
    ]
    assert not [found for found in _summary().findings if found.kind == "io500-void"]


def test_the_import_is_a_result_that_stands_by_itself(tmp_path: Path) -> None:
    assert run_command(["import", str(TABLE), "--result", str(tmp_path / "r")]) == 0
    result = ResultFolder.open(tmp_path / "r")
    summary = result.read_summary()
    Summary.model_validate_json(result.summary_path.read_bytes())
    assert summary.rows == _summary().rows
    assert summary.scores == _summary().scores
    assert result.report_path.stat().st_size < 2_000_000
