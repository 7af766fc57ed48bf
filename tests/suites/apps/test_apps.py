# SPDX-License-Identifier: Apache-2.0
"""What suite ``apps`` asks of its kernels, and what it concludes over them."""

from collections.abc import Sequence
from typing import cast

import pytest

from support.make_records import make_phase, make_row
from ullage.errors import UserError
from ullage.model.summary import Finding, Row, Summary
from ullage.report.data import ReportData
from ullage.runs.composite.options import PartRequest, PartsOptions
from ullage.runs.options.declared import declared
from ullage.runs.options.reading import settled
from ullage.runs.suite import load_suites
from ullage.suites.apps import SUITE
from ullage.suites.apps.report import tables
from ullage.suites.apps.suite import SETTINGS, SMALL, AppsOptions, Setting, class_of, findings_of, pairs_of


def near(value: float, number: int = 8) -> list[float]:
    """Repetitions around a value, 1 % apart at most."""
    return [value * (1 + 0.01 * (index % 3 - 1)) for index in range(number)]


def pio(rate: float, *, base: int = 0, calls: str = "independent", block: int = 4096, verdict: str = "synced") -> Row:
    params = {"pattern": "segmented", "base_bytes": base, "calls": calls, "nodes": 1, "backend": "mpiio"}
    return make_row(near(rate), block=block, ranks=2, suite="pio", params=params, verdict=verdict)


def spio(rate: float, operation: str, verdict: str) -> Row:
    params = {"operation": operation}
    return make_row(near(rate), access=operation, verdict=verdict, ranks=2, suite="spio", params=params)


def kinds(found: Sequence[Finding]) -> list[str]:
    return [one.kind for one in found]


def parts(**said: object) -> list[PartRequest]:
    return PartsOptions.model_validate(settled(AppsOptions, **said).options).parts


def test_every_kernel_is_a_part_with_its_share_of_the_time() -> None:
    found = {part.suite: cast("float", part.options["time_s"]) for part in parts(time_s=100.0)}
    assert found == {name: pytest.approx(100 * share) for name, (share, _) in SMALL.items()}
    assert sum(found.values()) == pytest.approx(100)


def test_kernels_are_left_out_by_name_and_unknown_words_are_refused() -> None:
    left = [part.suite for part in parts(without=["flash", "pio"])]
    assert left == [name for name in SMALL if name not in ("flash", "pio")]
    with pytest.raises(UserError, match="unknown word 'flahs'"):
        parts(without=["flahs"])
    with pytest.raises(UserError, match="no kernel is left"):
        parts(without=list(SMALL))


def test_the_setting_that_changes_most_comes_first_with_its_gain() -> None:
    rows = [pio(100e6), pio(80e6, base=8), pio(130e6, calls="collective"), pio(400e6, block=1 << 20)]
    found = [one for one in findings_of(rows) if one.gain is not None]
    assert kinds(found) == ["apps-request", "apps-calls", "apps-alignment"]
    assert [one.change for one in found] == ["--request 1M", "--calls collective", "--base 0"]
    assert {one.suite for one in found} == {"pio"}, "the options are those of the kernel"
    assert found[0].title == "Writes on disk are faster with requests of 1M"
    assert found[0].text == (
        "Writes on disk reach 400 MB/s with requests of 1M, and 100 MB/s with requests of 4K (segmented 1M, "
        "well-formed, independent)."
    )
    assert found[0].gain is not None
    assert found[0].gain.factor == pytest.approx(4, rel=0.01)
    assert found[0].gain.low is not None
    assert found[0].gain.low > 3.5


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: f"{one.suite}-{one.param}")
def test_a_setting_is_changed_by_an_option_of_its_kernel(setting: Setting) -> None:
    assert f"--{setting.option}" in {one.name for one in declared(load_suites()[setting.suite].options).values()}


def test_rows_of_another_or_of_an_unclear_verdict_are_no_pair() -> None:
    assert not pairs_of([pio(100e6), pio(50e6, base=8, verdict="cached")])
    assert not pairs_of([pio(100e6, verdict="mixed 40 %"), pio(50e6, base=8, verdict="mixed 40 %")])
    assert not pairs_of([pio(100e6, verdict="unknown(server)"), pio(50e6, base=8, verdict="unknown(server)")])
    assert not pairs_of([pio(100e6), pio(50e6, base=8, calls="collective")])
    assert len(pairs_of([pio(100e6), pio(50e6, base=8)])) == 1


def test_equal_rows_have_neither_a_best_class_nor_a_setting() -> None:
    found = findings_of([pio(100e6), pio(100e6, base=8), pio(100e6, calls="collective")])
    assert kinds(found) == ["apps-classes", "apps-settings"]
    assert "Whether both differ cannot be told." in found[0].text
    assert "2 pairs of rates differ in one setting alone. None of them is shown to differ." in found[1].text


def test_best_and_worst_class_are_named_with_their_ratio() -> None:
    best, *_ = findings_of([pio(300e6), pio(100e6, base=8), pio(200e6, calls="collective")])
    assert best.title == "Synced writes on disk are slowest with segmented 4K, 8 bytes off, independent"
    assert best.text.startswith("The lowest median of 3 settings of synced writes on disk is 100 MB/s (pio: segmented")
    assert "The highest is 3.00 x [" in best.text


def test_cached_reads_are_compared_with_cold_ones_only() -> None:
    cold, warm = spio(1e9, "read", "cold"), spio(10e9, "reread", "warm")
    assert "apps-cached" in kinds(findings_of([cold, warm]))
    assert "apps-cached" not in kinds(findings_of([spio(1e9, "read", "mixed 40 %"), warm]))


def test_a_run_with_other_suites_is_not_spoken_of() -> None:
    rows = [pio(300e6), pio(100e6, base=8)]
    assert SUITE.across(rows)
    assert SUITE.across([*rows, make_row(1e9, suite="disk")]) == []
    assert SUITE.across([]) == []


def test_the_table_has_a_line_for_each_class_and_states_missing_ceilings() -> None:
    rows = [pio(300e6), pio(100e6, base=8), spio(1e9, "read", "cold")]
    summary = Summary(suite="apps", run_id="r", created="", rows=rows)
    content = tables(ReportData(summary))
    assert content is not None
    assert [grid.title for grid in content.grids] == ["Settings that change most", "disk: writes", "disk: reads"]
    assert [line[0].text for line in content.grids[1].rows] == [class_of(rows[0]), class_of(rows[1])]
    (change,) = content.grids[0].rows
    assert [cell.text for cell in change][:6] == [
        "--base 0",
        "pio",
        "writes on disk",
        "300 MB/s",
        "--base 8",
        "100 MB/s",
    ]
    assert change[6].text.startswith("3.00 x [")
    assert "1 pair of rates differs in one setting alone. 1 setting is shown to change a rate." in content.notes
    assert any(note.startswith("No ceiling is known but the best of this run.") for note in content.notes)
    assert tables(ReportData(summary.model_copy(update={"suite": "overview"}))) is None


def test_the_table_has_the_data_that_a_class_moved() -> None:
    row = pio(300e6).model_copy(update={"case": "c1"})
    phases = [make_phase(case="c1", bytes=n << 20, operations=256) for n in (64, 64, 65)]
    summary = Summary(suite="apps", run_id="r", created="", rows=[row])
    content = tables(ReportData(summary, {("c1", "write"): phases}))
    assert content is not None
    (grid,) = content.grids
    line = dict(zip([head.heading for head in grid.columns], [cell.text for cell in grid.rows[0]], strict=True))
    assert (line["data"], line["operations"]) == ("64.0 MiB", "256")
    assert "No two rates with a clear verdict differ in one setting alone, so no setting is compared." in content.notes


def test_rates_that_cannot_be_compared_are_said() -> None:
    (told,) = findings_of([pio(100e6), pio(50e6, base=8, verdict="mixed 40 %")])
    assert told.title == "No setting can be compared"
    assert "Memory answered a part of 1 of them, or the state of a cache is not known." in told.text
    assert findings_of([]) == []
