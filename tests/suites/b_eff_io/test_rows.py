# SPDX-License-Identifier: Apache-2.0
"""Rows and scores of runs whose answer is known."""

from pathlib import Path

import pytest

from support.b_eff_io_world import FOLDER, At, World, flat, usual_context, usual_options
from support.data import some
from support.make_records import make_latency, make_phase
from ullage.analysis.metrics import metric_named
from ullage.analysis.settings import select
from ullage.model.plan import Target
from ullage.model.record import Moved
from ullage.model.summary import Row
from ullage.results.rows import RowContext, TargetFacts
from ullage.runs.suite import SuiteSummary
from ullage.suites.b_eff_io.hints import HintLine, HintSet
from ullage.suites.b_eff_io.measured import PARTS, SCHEDULED, TOTAL
from ullage.suites.b_eff_io.pattern_findings import ratios, sets_of
from ullage.suites.b_eff_io.patterns import ACCESSES, PATTERNS, TYPES
from ullage.suites.b_eff_io.rows import (
    ACCESS,
    ALL_SETS,
    B_EFF_IO,
    CALLS,
    MEMORY_TIME,
    PATTERN,
    TIME,
    TYPE,
    VOLUME,
    WRITE_SIDE,
    merge,
    score_name,
)
from ullage.suites.b_eff_io.summarise import summarise

MB = 1e6
# specs/beff.md 5.1, MB/s: types by access, and scatter of the rewrite.
VECTOR = {"write": (300, 400, 500, 450, 460), "rewrite": (350, 1, 1, 1, 1), "read": (400, 500, 520, 480, 470)}


def vector(at: At) -> float:
    return VECTOR[at.access][TYPES.index(at.pattern.type)] * MB


def summary_of(folder: Path, world: World, context: RowContext | None = None) -> SuiteSummary:
    result = world.write(folder / "result")
    return summarise(result, result.read_request(), context or usual_context())


def the(rows: list[Row], metric: str, **params: str | int) -> Row:
    (row,) = select(rows, metric, **params)
    return row


def test_the_vector_from_records_to_the_score(tmp_path: Path) -> None:
    """Opening and closing take a little, in half an hour nearly nothing."""
    found = summary_of(tmp_path, World(usual_options(partitions=[4], time_s=18000.0), vector))
    assert the(found.rows, B_EFF_IO).median / MB == pytest.approx(435.067, rel=1e-3)
    assert the(found.rows, WRITE_SIDE).median / MB == pytest.approx(410.0, rel=1e-3)
    assert the(found.rows, ACCESS, access="write").median / MB == pytest.approx(401.667, rel=1e-3)
    assert the(found.rows, ACCESS, access="read").median / MB == pytest.approx(461.667, rel=1e-3)
    assert the(found.rows, TYPE, access="rewrite", pattern_type="scatter").median / MB == pytest.approx(350, rel=1e-3)
    names = [
        "b_eff_io",
        "b_eff_io of 4 processes",
        "W' of 4 processes",
        *(f"B_{access} of 4 processes" for access in ACCESSES),
    ]
    assert [score.name for score in found.scores] == names
    assert found.scores[0].value == found.scores[1].value == pytest.approx(435.067, rel=1e-3)
    assert found.scores[0].unit == "MB/s"
    assert all(score.valid for score in found.scores)


def test_a_row_of_a_pattern_is_one_of_a_storage_suite(tmp_path: Path) -> None:
    found = summary_of(tmp_path, World(usual_options(repetitions=6)))
    rows = select(found.rows, PATTERN, ranks=4, access="read")
    assert [row.params["pattern"] for row in rows] == list(range(len(PATTERNS)))
    row = rows[5]
    assert list(row.params.items()) == [
        ("access", "read"),
        ("pattern_type", "scatter"),
        ("pattern", 5),
        ("size", "1k"),
        ("chunk_bytes", 1024),
        ("call_bytes", 1 << 20),
        ("ranks", 4),
        ("nodes", 1),
        ("lmax_bytes", 16 << 20),
        ("hint_set", "default"),
    ]
    assert (row.median, row.unit, row.target, row.grade) == (pytest.approx(1e8), "B/s", "disk", "A")
    assert len(row.repetitions) == 6
    assert row.low is not None
    assert row.verdict == "cold"
    assert row.ceiling is not None
    assert row.share == pytest.approx(1e8 / 2e9)
    assert the(found.rows, PATTERN, ranks=4, access="rewrite", pattern=5).share == pytest.approx(0.1)


def test_calls_alone_are_told_where_there_was_a_sync(tmp_path: Path) -> None:
    found = summary_of(tmp_path, World(usual_options(partitions=[4])))
    assert {row.params["access"] for row in select(found.rows, CALLS)} == {"write", "rewrite"}
    alone, whole = (the(found.rows, metric, access="write", pattern=3) for metric in (CALLS, PATTERN))
    assert alone.median > whole.median


def test_metrics_of_a_known_record() -> None:
    gauges = {"pattern_s": {"sum": 8, "least": 1, "most": 4}, "sync_s": {"sum": 2, "least": 0.5, "most": 2}}
    phase = make_phase(bytes_=4000, gauges=gauges)
    assert metric_named(PATTERN).sample(phase) == 1000
    assert metric_named(CALLS).sample(phase) == 2000
    assert metric_named(CALLS).sample(make_phase(gauges={"pattern_s": gauges["pattern_s"]})) is None


def test_rounds_are_repetitions_and_bound_the_score(tmp_path: Path) -> None:
    def faster(at: At) -> float:
        return 1e8 * (1 + at.round)

    found = summary_of(tmp_path, World(usual_options(partitions=[4], repetitions=3), faster))
    row = the(found.rows, B_EFF_IO)
    assert row.repetitions == pytest.approx([1e8, 2e8, 3e8], rel=0.01)
    assert (row.median, row.low, row.high) == pytest.approx((2e8, 1e8, 3e8), rel=0.01)
    score = found.scores[0]
    assert score.value == pytest.approx(200, rel=0.01)
    assert (score.low, score.high) == (None, None), "the range of 3 is no interval"
    six = summary_of(tmp_path / "six", World(usual_options(partitions=[4], repetitions=6), faster)).scores[0]
    assert six.low is not None
    assert six.low < six.value
    single = summary_of(tmp_path / "x", World(usual_options(partitions=[4])))
    assert single.scores[0].low is None


def test_the_score_is_the_maximum_over_partitions(tmp_path: Path) -> None:
    found = summary_of(tmp_path, World(usual_options(), lambda at: 1e9 / at.ranks))
    scores = {score.name: score.value for score in found.scores}
    assert scores["b_eff_io"] == scores["b_eff_io of 2 processes"] > scores["b_eff_io of 4 processes"]


def test_names_of_scores() -> None:
    assert score_name("b_eff_io", None) == "b_eff_io"
    assert score_name("W'", 1) == "W' of 1 process"
    assert score_name("b_eff_io", 4, "frost", "nvme") == "b_eff_io of 4 processes with hints frost on nvme"


def test_several_targets_and_sets_each_have_their_scores(tmp_path: Path) -> None:
    sets = [HintSet(name="default"), HintSet(name="frost", lines=[HintLine(key="k", value="v")])]

    def bandwidth(at: At) -> float:
        return 1e8 * (1 + at.hints) * (3 if at.target == "other" else 1)

    targets = [FOLDER, Target(name="other", uri="posix:/other")]
    world = World(usual_options(partitions=[4], hint_sets=sets), bandwidth, targets=targets)
    found = summary_of(tmp_path, world)
    scores = {score.name: score.value for score in found.scores}
    assert list(scores)[:4] == [
        "b_eff_io on disk",
        "b_eff_io with hints default on disk",
        "b_eff_io with hints frost on disk",
        "b_eff_io of 4 processes with hints default on disk",
    ]
    assert scores["b_eff_io on disk"] == scores["b_eff_io with hints frost on disk"] == pytest.approx(200, rel=0.01)
    assert scores["b_eff_io on other"] == pytest.approx(600, rel=0.01)


def test_patterns_with_other_hints_stand_against_the_first_set(tmp_path: Path) -> None:
    sets = [HintSet(name="default"), HintSet(name="frost", lines=[HintLine(key="k", value="v")])]
    world = World(usual_options(partitions=[4], hint_sets=sets), lambda at: 4e8 if at.hints else 1e8)
    rows = summary_of(tmp_path, world).rows
    found = ratios(rows)
    assert sets_of(rows) == ["default", "frost"]
    assert len(found) == 3 * len(PATTERNS)
    assert {one.hint_set for one in found} == {"frost"}
    assert [one.ratio for one in found] == pytest.approx([4.0] * len(found))
    assert [one.ratio for one in ratios(rows, "frost")] == pytest.approx([0.25] * len(found))
    assert ratios(rows, "unknown") == []


def test_a_type_without_some_patterns_says_so(tmp_path: Path) -> None:
    world = World(usual_options(partitions=[4], repetitions=2), hangs=lambda at: at.pattern.number == 12)
    found = summary_of(tmp_path, world)
    row = the(found.rows, TYPE, access="read", pattern_type="shared")
    assert "patterns-lost:1" in row.flag_codes
    assert len(row.repetitions) == 2
    assert select(found.rows, PATTERN, pattern=12) == []
    assert "INVALID:b_eff_io" in the(found.rows, B_EFF_IO).flag_codes
    # Its case has another id from then on; the rows of its other patterns are one all the same.
    assert all(len(row.repetitions) == 2 for row in select(found.rows, PATTERN, access="write", pattern=13))


def test_a_type_of_which_nothing_went_well_has_no_row(tmp_path: Path) -> None:
    found = summary_of(tmp_path, World(usual_options(partitions=[4]), fails=lambda at: at.pattern.number == 9))
    assert select(found.rows, TYPE, pattern_type="shared") == []
    assert the(found.rows, ACCESS, access="write").median == pytest.approx(5 / 6 * 1e8, rel=0.01)


def test_the_verdict_of_many_patterns_is_that_of_their_bytes(tmp_path: Path) -> None:
    """Small patterns come from memory, most bytes from the device."""

    def change(at: At) -> dict[str, object]:
        if at.access != "read" or at.pattern.type != "scatter":
            return {}
        is_first = at.pattern.units == 0
        asked = 1 << 20 if is_first else 100 << 20
        came = 0 if is_first else asked
        return {"moved": Moved(requested_bytes=asked, process_bytes=came, device_bytes=came)}

    found = summary_of(tmp_path, World(usual_options(partitions=[4]), change=change))
    assert the(found.rows, PATTERN, access="read", pattern=0).verdict == "warm"
    assert the(found.rows, TYPE, access="read", pattern_type="scatter").verdict == "cold"
    assert the(found.rows, ACCESS, access="write").verdict == "synced"
    assert the(found.rows, B_EFF_IO).verdict == "synced"


def test_a_counter_that_one_pattern_lacks_all_lack() -> None:
    with_it = make_phase(moved=Moved(requested_bytes=1, process_bytes=1, device_bytes=1))
    without = make_phase(moved=Moved(requested_bytes=1, process_bytes=1))
    merged = merge([with_it, without])
    assert merged.moved == Moved(requested_bytes=2, process_bytes=2, device_bytes=None)
    assert merge([with_it, make_phase(moved=None)]).moved is None


def test_a_target_in_memory_is_told(tmp_path: Path) -> None:
    context = RowContext(targets={"disk": TargetFacts(is_memory=True)})
    found = summary_of(tmp_path, World(usual_options(partitions=[4])), context)
    assert {row.verdict for row in select(found.rows, PATTERN)} == {"memory"}
    assert the(found.rows, B_EFF_IO).verdict == "memory"


def test_a_pattern_that_ended_early_is_flagged(tmp_path: Path) -> None:
    def facts(at: At) -> dict[str, object]:
        return {"end": "overtime"} if at.round == 0 and at.pattern.number == 20 else {}

    world = World(usual_options(partitions=[4], repetitions=2), facts=facts)
    rows = select(summary_of(tmp_path, world).rows, PATTERN, access="read")
    flagged = [row for row in rows if "ended-early:overtime" in row.flag_codes]
    assert [row.params["pattern"] for row in flagged] == [20]
    assert flagged[0].reason_of("ended-early:overtime") == "1 of 2 repetitions ended early by overtime"
    assert all(row.verdict_reasons for row in rows)


def test_ranks_that_wait_are_no_news(tmp_path: Path) -> None:
    """Barriers between calls and untimed checks are part of the definition."""
    latency = make_latency(10, 1000)
    found = summary_of(tmp_path, World(usual_options(partitions=[4]), change=lambda _: {"latency": latency}))
    rows = some(select(found.rows, PATTERN))
    assert not any("idle-ranks" in row.flag_codes or "the ranks were in" in " ".join(row.reasons) for row in rows)


def test_checking_beside_others_that_read_is_flagged(tmp_path: Path) -> None:
    found = summary_of(tmp_path, World(usual_options(partitions=[1, 4], time_s=20.0, ranks=4)))
    flagged = [row for row in select(found.rows, PATTERN) if "payload-beside" in row.flag_codes]
    assert {row.params["pattern_type"] for row in flagged} == {"separated", "segmented"}
    assert {row.params["ranks"] for row in flagged} == {4}


def test_volumes_and_the_time_for_the_memory(tmp_path: Path) -> None:
    found = summary_of(tmp_path, World(usual_options(partitions=[4], memory_total=1 << 30)))
    volume = the(found.rows, VOLUME, access="read")
    assert volume.unit == "B"
    planned = sum(1e8 * pattern.units * 3600 / 192 for pattern in PATTERNS)
    assert volume.median == pytest.approx(planned, rel=0.02)
    time = the(found.rows, MEMORY_TIME)
    assert (time.unit, time.better) == ("s", "less")
    assert time.median == pytest.approx((1 << 30) / the(found.rows, B_EFF_IO).median)
    unknown = summary_of(tmp_path / "x", World(usual_options(partitions=[4], memory=None, memory_total=None)))
    assert select(unknown.rows, MEMORY_TIME) == []


def test_where_the_time_went_is_in_rows(tmp_path: Path) -> None:
    found = summary_of(tmp_path, World(usual_options(partitions=[4], repetitions=2)))
    rows = select(found.rows, TIME, access="write")
    assert [row.params["part"] for row in rows] == [*PARTS, SCHEDULED, TOTAL]
    assert {row.params["hint_set"] for row in rows} == {ALL_SETS}
    of = {str(row.params["part"]): row for row in rows}
    later = [of[part].repetitions[-1] for part in PARTS]
    assert sum(later) == pytest.approx(of[TOTAL].repetitions[-1])
    # The first launch of the run has no launch before it.
    assert len(of["launch"].repetitions) == 1
    assert len(of["loops"].repetitions) == 2


def test_nothing_measured_makes_no_rows(tmp_path: Path) -> None:
    found = summary_of(tmp_path, World(usual_options(), flat, stop_after=0))
    assert (found.rows, found.scores) == ([], [])


def test_each_access_stands_on_a_front_page(tmp_path: Path) -> None:
    from ullage.report.headlines import headlines

    found = summary_of(tmp_path, World(usual_options(partitions=[1, 4], time_s=18000.0), vector))
    lines = [(line.part, line.what) for line in headlines(found.rows)]
    assert {part for part, _ in lines} == {"disk"}
    assert len(lines) == len(ACCESSES), "the best of the partitions"
    assert all(what.startswith("MPI-IO, ") and " of all patterns, " in what for _, what in lines)
