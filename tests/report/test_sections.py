# SPDX-License-Identifier: Apache-2.0
"""Tables and cards that only some results have."""

from dataclasses import replace
from pathlib import Path

import pytest

from support import sample_result
from support.phase_result import PHASES, Course, make_scores, make_summary, write_result
from ullage.model.record import PhaseRecord, RankTime
from ullage.model.summary import Score
from ullage.report.contents import Content, Grid, built_sections, load_sections
from ullage.report.data import ReportData, load
from ullage.report.sections import phases, scores
from ullage.report.sections.beside import BESIDE
from ullage.suites.io500 import report as sensitivity_section


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    return load(write_result(tmp_path_factory.mktemp("sections") / "result"))


def column(grid: Grid, heading: str) -> list[str]:
    index = [column.heading for column in grid.columns].index(heading)
    return [row[index].text for row in grid.rows]


def grid_of(content: Content | None) -> Grid:
    assert content is not None
    (grid,) = content.grids
    assert all(len(row) == len(grid.columns) for row in grid.rows)
    return grid


def test_numbers_of_another_program_stand_beside_ours_or_the_page_says_that_none_do() -> None:
    summary = sample_result.make_summary(sample_result.Shape(targets=("nvme",)))
    other = [row.model_copy(update={"median": 2 * row.median, "target": "ior"}) for row in summary.rows]
    names = [row.model_copy(update={"metric": "hops"}) for row in other]
    built = [
        BESIDE.build(ReportData(summary.model_copy(update={"beside": beside})))
        for beside in ({}, {"ior.txt": other}, {"a.txt": names})
    ]
    assert built[0] is None
    assert len(grid_of(built[1]).rows) == len(other)
    assert built[2] is not None
    assert built[2].grids == []
    assert "No number of 'a.txt' can be compared with one of 'this run'" in built[2].notes[0]


def test_sections_are_found_in_order_and_say_how_to_read_them() -> None:
    found = load_sections()
    assert [section.name for section in found] == [
        "front",
        "ladders",
        "nodes",
        "required",
        "scores",
        "apps",
        "cpu",
        "published",
        "stepfile_prediction",
        "bdcats",
        "checkpoint",
        "disk",
        "flash",
        "io_bench",
        "loader",
        "overlap",
        "phases",
        "pio",
        "pmem",
        "sar",
        "spio",
        "stepfile",
        "tile",
        "vpic",
        "beside",
        "memory",
        "b_eff",
        "b_eff_io",
        "rings",
        "sensitivity",
        "pairs",
        "collectives",
        "congestion",
        "network",
        "matrix",
        "tune",
        "gpu",
        "operations",
        "slow_ranks",
        "noise",
        "contamination",
    ]
    assert all(section.doc.endswith(".") for section in found)


def test_a_sweep_has_none_of_them(tmp_path: Path) -> None:
    assert built_sections(load(sample_result.write_result(tmp_path / "sweep"))) == []


def test_without_records_what_they_alone_know_is_left_out() -> None:
    found = [section.name for section, _ in built_sections(ReportData(make_summary()))]
    assert found == ["scores", "phases", "sensitivity"]


def test_a_total_and_its_parts_stand_together_with_every_reason_once(data: ReportData) -> None:
    content = scores.score_cards(data)
    assert content is not None
    (cards,) = content.cards
    assert cards.title == "IO500"
    assert not cards.valid
    assert [(card.name, card.value) for card in cards.cards] == [
        ("total", "4.679"),
        ("bandwidth", "0.9342 GiB/s"),
        ("metadata", "27.32 kIOPS"),
    ]
    assert cards.cards[0].interval == "[4.510, 4.800]"
    assert list(cards.reasons) == make_scores()[0].reasons


def test_every_target_and_every_formula_has_cards_of_its_own() -> None:
    names = [("IO500", ""), ("IO500 bandwidth", "GiB/s"), ("IO500 extended", ""), ("IO500 extended metadata", "kIOPS")]
    found = [
        Score(name=f"{name} of {target}", unit=unit, value=1.0, valid=target == "b")
        for target in ("a", "b")
        for name, unit in names
    ]
    content = scores.score_cards(ReportData(make_summary().model_copy(update={"scores": found})))
    assert content is not None
    assert [(cards.title, [card.name for card in cards.cards], cards.valid) for cards in content.cards] == [
        ("IO500 of a", ["total", "bandwidth"], False),
        ("IO500 extended of a", ["total", "metadata"], False),
        ("IO500 of b", ["total", "bandwidth"], True),
        ("IO500 extended of b", ["total", "metadata"], True),
    ]


def test_numbers_of_one_partition_stand_together() -> None:
    names = ["b_eff_io", *(f"{name} of {n} processes" for n in (2, 4) for name in ("b_eff_io", "W'", "B_read"))]
    values = [3.0, *(1.0 if "2" in name else 2.0 for name in names[1:])]
    found = [Score(name=name, unit="MB/s", value=value, valid=True) for name, value in zip(names, values, strict=True)]
    content = scores.score_cards(ReportData(make_summary().model_copy(update={"scores": found})))
    assert content is not None
    assert [(cards.title, [card.name for card in cards.cards]) for cards in content.cards] == [
        ("b_eff_io", ["score"]),
        ("b_eff_io of 2 processes", ["b_eff_io", "W'", "B_read"]),
        ("b_eff_io of 4 processes", ["b_eff_io", "W'", "B_read"]),
    ]


def test_a_maximum_of_one_partition_is_said_once() -> None:
    found = [
        Score(name=name, unit="MB/s", value=value, valid=False, look=True, reasons=["short"])
        for name, value in (("b_eff_io", 7.0), ("b_eff_io of 2 processes", 7.0), ("W' of 2 processes", 3.0))
    ]
    content = scores.score_cards(ReportData(make_summary().model_copy(update={"scores": found})))
    assert content is not None
    assert [cards.title for cards in content.cards] == ["b_eff_io of 2 processes"]
    assert content.cards[0].stamp == "not valid as a result"
    failed = [score.model_copy(update={"look": index > 0}) for index, score in enumerate(found[1:])]
    content = scores.score_cards(ReportData(make_summary().model_copy(update={"scores": failed})))
    assert content is not None
    assert content.cards[0].stamp == "INVALID"
    valid = [score.model_copy(update={"valid": True}) for score in found]
    content = scores.score_cards(ReportData(make_summary().model_copy(update={"scores": valid})))
    assert content is not None
    assert (content.cards[0].stamp, content.cards[0].look) == ("VALID", False)


def test_the_table_of_phases_says_what_each_gave_and_whether_it_counts(data: ReportData) -> None:
    grid = grid_of(phases.phase_table(data))
    assert column(grid, "phase") == [name for name, *_ in PHASES]
    assert column(grid, "value")[0].endswith(" GiB/s")
    assert column(grid, "value")[1].endswith(" kIOPS")
    assert column(grid, "time")[:2] == ["312 s", "304 s"]
    assert [text == "\u2013" for text in column(grid, "at the wall")] == [phase[3] < 300 for phase in PHASES[:9]] + [
        True
    ] * 3
    counts = column(grid, "counts")
    assert counts[10] == "INVALID: met 12 failed operations, the first: read: I/O error"
    assert counts.count("yes") == len(PHASES) - 1


def test_wear_out_that_was_cut_short_is_said(data: ReportData) -> None:
    def cut(record: PhaseRecord) -> PhaseRecord:
        wall = record.stonewall and record.stonewall.model_copy(update={"cut": True})
        return record.model_copy(update={"stonewall": wall})

    changed = {key: [cut(record) for record in records] for key, records in data.phases.items()}
    grid = grid_of(phases.phase_table(ReportData(data.summary, changed)))
    assert sum(text.endswith(" (cut short)") for text in column(grid, "with wear-out")) == 4


def test_what_all_phases_share_is_said_once_and_columns_of_dashes_are_left_out() -> None:
    summary = make_summary(Course(repetitions=1))
    rows = [
        row.model_copy(update={"verdict_reasons": [*row.verdict_reasons, "imported from x"], "grade": None})
        for row in summary.rows
    ]
    content = phases.phase_table(ReportData(summary.model_copy(update={"rows": rows})))
    assert content is not None
    assert content.notes == ["All phases: imported from x."]
    heads = [column.heading for column in content.grids[0].columns]
    assert heads == ["phase", "value", "verdict", "n", "counts"]


def test_sensitivity_names_the_phase_that_holds_the_score_down(data: ReportData) -> None:
    grid = grid_of(sensitivity_section.tables(data))
    gains = dict(zip(column(grid, "phase"), column(grid, "10 % more: total"), strict=True))
    assert gains["ior-easy-write"] == "+1.20 %"
    assert gains["find"] == "+0.60 %"
    bars = {row[0].text: row[4].bar for row in grid.rows}
    assert bars["ior-hard-write"] == 1.0
    assert bars["ior-easy-read"] == 0.0


def test_sensitivity_has_a_table_for_each_target_and_none_for_phases_it_does_not_know() -> None:
    content = sensitivity_section.tables(ReportData(make_summary(Course(targets=("a", "b")))))
    assert content is not None
    assert [grid.title for grid in content.grids] == ["a", "b"]
    rows = [row.model_copy(update={"params": {"phase": "unheard-of"}}) for row in make_summary().rows[:1]]
    assert sensitivity_section.tables(ReportData(make_summary().model_copy(update={"rows": rows}))) is None


def test_an_operation_stands_above_its_parts(data: ReportData) -> None:
    grid = grid_of(phases.operation_table(data))
    parts = column(grid, "part")
    names = column(grid, "phase")
    first = names.index("mdtest-hard-write")
    assert parts[first : first + 4] == ["whole", "open", "write", "close"]
    assert names[first + 1 : first + 4] == ["", "", ""]
    assert len(grid.rows) == sum(1 + len(phase[4]) for phase in PHASES)
    assert [column.heading for column in grid.columns][3:] == ["p50", "p95", "p99", "p99.9", "max"]


OFTEN_LAST = (
    "Often the slowest: rank 5 on node001 in 36 of 36 repetitions of phases with unequal ranks that nobody disturbed."
)


def test_the_slowest_ranks_are_named_and_who_is_slow_again_and_again(data: ReportData) -> None:
    content = phases.rank_table(data)
    grid = grid_of(content)
    assert column(grid, "slowest / fastest")[0] == "1.25x"
    assert column(grid, "fastest rank")[0] == "rank 2 on node000: 250 s"
    assert column(grid, "slowest ranks")[0].startswith("rank 5 on node001: 312 s; rank 6 on node001: 306 s; ")
    assert content is not None
    assert content.notes == [OFTEN_LAST]


def test_a_rank_is_not_named_for_few_phases_or_for_disturbed_ones(data: ReportData) -> None:
    """Rank 5 is always the last: of 2 ranks in 6 repetitions, or where others were at work, that may be chance."""
    few = {key: phases if place < 2 else [] for place, (key, phases) in enumerate(data.phases.items())}
    two = {key: [one.model_copy(update={"ranks": 2}) for one in some] for key, some in few.items()}
    dirty = {key: [one.model_copy(update={"grade": "C"}) for one in some] for key, some in data.phases.items()}
    for phases_of in (two, dirty):
        content = phases.rank_table(replace(data, phases=phases_of))
        assert content is not None
        assert content.notes == []


def test_ranks_that_ended_together_accuse_nobody(data: ReportData) -> None:
    def even(record: PhaseRecord) -> PhaseRecord:
        assert record.by_rank is not None
        rank = RankTime(rank=0, node="n", elapsed_ns=100, bytes=1)
        return record.model_copy(
            update={"by_rank": record.by_rank.model_copy(update={"fastest": rank, "slowest": [rank]})}
        )

    changed = {key: [even(record) for record in records] for key, records in data.phases.items()}
    content = phases.rank_table(ReportData(data.summary, changed))
    assert set(column(grid_of(content), "slowest / fastest")) == {"1.00x"}
    assert content is not None
    assert content.notes == []
