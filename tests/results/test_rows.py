# SPDX-License-Identifier: Apache-2.0
"""Records become rows, joined by launch, case and repetition: nothing is counted wrongly or dropped silently."""

import pytest

from support.make_records import (
    MIB,
    SECOND_NS,
    make_case,
    make_latency,
    make_launch,
    make_phase,
    make_repetition,
    make_run,
)
from ullage.analysis.message_steps import THROUGH_LOOPBACK
from ullage.analysis.statistics.intervals import median_interval
from ullage.model.record import Contamination, Moved
from ullage.model.summary import Ceiling, Row
from ullage.model.system import DriveLimit
from ullage.results.records import AnyRecord
from ullage.results.row_checks import verified_share
from ullage.results.rows import RowContext, TargetFacts, build_rows

BANDWIDTH = RowContext(metrics=("bandwidth",))


def _repetition(index: int, elapsed_ns: int = SECOND_NS, *, case: str = "c1", **fields: object) -> list[AnyRecord]:
    phase = make_phase(case, index, elapsed_ns=elapsed_ns, latency=None, **fields)
    return [phase, make_case(case, index)]


def _one(*launches: list[AnyRecord], context: RowContext = BANDWIDTH) -> Row:
    rows = build_rows(launches, context)
    assert len(rows) == 1
    return rows[0]


def test_a_row_says_everything_of_its_case() -> None:
    row = _one(make_launch(*(_repetition(i, (10 + i) * 10**8) for i in range(7)), run=make_run(ranks=2)))
    rates = [1000 * MIB * 1e9 / ((10 + i) * 10**8) for i in range(7)]
    assert row.repetitions == pytest.approx(rates)
    assert row.median == pytest.approx(rates[3])
    known = median_interval(rates)
    assert (row.low, row.high) == (pytest.approx(known.low), pytest.approx(known.high))
    assert row.params == {
        "access": "write",
        "ranks": 2,
        "nodes": 1,
        "block_bytes": MIB,
        "backend": "posix",
        "file_mode": "shared",
        "order": "sequential",
    }
    assert (row.metric, row.unit, row.better, row.target, row.case) == ("bandwidth", "B/s", "more", "disk", "c1")
    assert (row.verdict, row.grade, row.flag_codes) == ("synced", "A", [])


def test_launches_of_one_case_are_pooled_though_their_repetitions_have_the_same_numbers() -> None:
    row = _one(make_launch(_repetition(0), _repetition(1)), make_launch(_repetition(0, 2 * SECOND_NS)))
    assert len(row.repetitions) == 3


def test_two_launches_within_one_file_stay_apart() -> None:
    # The first launch was cut short after its phase: the second one's case record is not the first one's.
    cut = [make_run(), make_phase("c1", 0, elapsed_ns=5 * SECOND_NS)]
    row = _one([*cut, *make_launch(_repetition(0))])
    assert row.repetitions == [1000 * MIB]


def test_warm_ups_failures_and_unfinished_repetitions_do_not_count() -> None:
    warm = [make_phase("c1", 0, warmup=True), make_case("c1", 0, warmup=True)]
    failed = [
        make_phase("c1", 1),
        make_phase("c1", 1, phase="read", status="failed"),
        make_case("c1", 1, status="failed"),
    ]
    unfinished = [make_phase("c1", 9)]
    row = _one(make_launch(warm, failed, _repetition(2, 2 * SECOND_NS), unfinished))
    assert row.repetitions == [500 * MIB]


def test_a_case_without_a_good_repetition_has_no_row() -> None:
    assert build_rows([make_launch([make_case(status="failed")])], BANDWIDTH) == []
    assert build_rows([], BANDWIDTH) == []
    assert build_rows([[make_phase(), make_case()]], BANDWIDTH) == []


def test_only_asked_accesses_become_rows() -> None:
    records = make_launch(make_repetition(0, make_phase(), make_phase(phase="read"), make_phase(phase="reread")))
    context = RowContext(accesses=("read",), metrics=("bandwidth",))
    assert [row.params["access"] for row in build_rows([records], context)] == ["read"]
    everything = build_rows([records], BANDWIDTH)
    assert [row.params["access"] for row in everything] == ["write", "read", "reread"]


def test_each_metric_is_a_row_and_one_that_was_not_recorded_is_none() -> None:
    records = make_launch(make_repetition(0, make_phase()))
    rows = build_rows([records], RowContext(metrics=("bandwidth", "latency_p50", "stonewall_bandwidth")))
    assert [row.metric for row in rows] == ["bandwidth", "latency_p50"]


def test_disturbed_repetitions_count_like_all_others_and_the_row_says_so() -> None:
    """Where slow and disturbed go together, a choice by grade would shift the median."""
    slow = [_repetition(index, 9 * SECOND_NS, grade="C") for index in (3, 4)]
    row = _one(make_launch(*(_repetition(i, grade="B") for i in range(3)), *slow))
    assert len(row.repetitions) == 5
    assert row.reason_of("dirty-used:2") == "other programs disturbed 2 of 5 repetitions (grade C), and all are counted"
    assert row.grade == "C"


def test_a_short_disturbance_of_many_repetitions_is_not_that_of_their_row() -> None:
    def repetition(index: int, run_delay: int, grade: str = "A") -> list[AnyRecord]:
        account = {"steal_ppm": 0, "kernel_threads_ppm": 0, "involuntary_switches": 0, "uncertainty_ppm": 1000}
        found = Contamination(foreign_cpu_ppm=run_delay, run_delay_ppm=run_delay, **account)
        return make_repetition(index, make_phase(repetition=index, grade=grade, contamination=found))

    row = _one(make_launch(*(repetition(index, 0) for index in range(9)), repetition(9, 200_000, "C")))
    assert (len(row.repetitions), row.grade) == (10, "B")
    row = _one(make_launch(*(repetition(index, 0) for index in range(2)), repetition(2, 200_000, "C")))
    assert (len(row.repetitions), row.grade) == (3, "C")


def test_few_repetitions_are_flagged() -> None:
    single = _one(make_launch(_repetition(0)))
    assert (single.low, single.high) == (None, None)
    assert "interval-below-95" in single.flag_codes
    three = _one(make_launch(*(_repetition(i, (10 + i) * 10**8) for i in range(3))))
    assert (three.low, three.high) == (min(three.repetitions), max(three.repetitions))
    assert any("75 %" in reason for reason in three.reasons)
    two = _one(make_launch(_repetition(0), _repetition(1, 2 * 10**9)))
    covers = "the range of 2 repetitions covers the median with a probability of 50 %"
    assert f"the value is the mean of 2 repetitions; {covers}" in two.reasons


def test_a_wide_interval_has_not_converged() -> None:
    records = make_launch(*(_repetition(i, (10 + 5 * i) * 10**8) for i in range(3)))
    wanted = RowContext(metrics=("bandwidth",), wanted_width=0.05)
    assert "not-converged" in _one(records, context=wanted).flag_codes
    assert "not-converged" not in _one(records).flag_codes
    narrow = make_launch(*(_repetition(i, 10**9 + i) for i in range(3)))
    assert "not-converged" not in _one(narrow, context=wanted).flag_codes


@pytest.mark.parametrize(
    ("run", "flag"),
    [
        (make_run(4, oversubscribed=True, unpinned=4), "oversubscribed"),
        (make_run(2, unpinned=2), "unpinned"),
        (make_run(2, residual_ns=2_000_000), "clock-skew"),
    ],
)
def test_what_the_launch_was_like(run: AnyRecord, flag: str) -> None:
    row = _one(make_launch(_repetition(0), run=run))  # type: ignore[arg-type]
    assert [name for name in row.flag_codes if name in {"oversubscribed", "unpinned", "clock-skew"}] == [flag]


@pytest.mark.parametrize(
    ("residual_ns", "jumped", "launch_ns", "reason"),
    [
        (900_000, False, 0, None),
        (3_000_000, False, 0, "known to 3.0 ms"),
        (2_000_000_000, True, 0, "known to 2000.0 ms: one of them jumped"),
        (3_000_000, False, 4_000_000, "known to 4.0 ms"),  # the launch has said so already
    ],
)
def test_clocks_that_drifted_in_a_phase(residual_ns: int, jumped: bool, launch_ns: int, reason: str | None) -> None:
    clock = {"measured": "around", "residual_ns": residual_ns, "drift_ppm": 3.0, "jumped": jumped}
    flags = _one(make_launch(_repetition(0, clock=clock), run=make_run(residual_ns=launch_ns))).flags
    said = [flag.reason for flag in flags if flag.code == "clock-skew"]
    assert len(said) == (reason is not None)
    assert reason is None or said[0].endswith(reason)


def test_a_long_phase_needs_no_clock_that_is_as_good() -> None:
    clock = {"measured": "around", "residual_ns": 3_000_000, "drift_ppm": 10.0}
    assert "clock-skew" not in _one(make_launch(_repetition(0, 600 * SECOND_NS, clock=clock))).flag_codes


def test_a_single_rank_needs_no_pinning() -> None:
    assert "unpinned" not in _one(make_launch(_repetition(0), run=make_run(1, unpinned=1))).flag_codes


def test_ceiling_share_and_what_lies_above_it() -> None:
    for value, share, invalid in ((2000 * MIB, 0.5, False), (500 * MIB, 2.0, True)):
        ceiling = Ceiling(value=value, kind="declared", source="--ceiling")
        facts = TargetFacts(ceilings={"write": ceiling})
        row = _one(make_launch(_repetition(0)), context=RowContext(metrics=("bandwidth",), targets={"disk": facts}))
        assert row.ceiling == ceiling
        assert row.share == pytest.approx(share)
        assert ("INVALID:above-ceiling" in row.flag_codes) == invalid


@pytest.mark.parametrize(
    ("cache", "limit", "declared", "expected"),
    [
        ("direct", 1.1, None, ("detected", True)),
        ("advise", 1.1, None, (None, False)),  # the page cache may take a write at any rate
        ("direct", 0.92, None, (None, True)),  # what the kernel grants above the limit
        ("direct", 0.8, None, (None, False)),  # a short phase that exceeded its slice of the limit
        ("direct", 1.1, 5.0, ("declared", True)),
        ("direct", 1.1, 1.05, ("declared", False)),
    ],
)
def test_a_limit_of_a_control_group_bounds_what_passes_the_page_cache(
    cache: str, limit: float, declared: float | None, expected: tuple[str | None, bool]
) -> None:
    rate = 1000 * MIB
    known = {} if declared is None else {"write": Ceiling(value=declared * rate, kind="declared", source="x")}
    limits = [DriveLimit(access="write", unit="bytes", value=limit * rate, source="/io.max")]
    context = RowContext(metrics=("bandwidth",), targets={"disk": TargetFacts(ceilings=known, limits=limits)})
    row = _one(make_launch(*(_repetition(i, cache_control=cache) for i in range(6))), context=context)
    noted = any(note.startswith("a control group limits writes of this drive") for note in row.notes)
    assert (row.ceiling and row.ceiling.kind, noted) == expected
    assert not row.is_invalid


def test_a_ceiling_of_bytes_does_not_bound_a_time() -> None:
    facts = TargetFacts(ceilings={"write": Ceiling(value=1e9, kind="declared", source="x")})
    records = make_launch(make_repetition(0, make_phase()))
    row = _one(records, context=RowContext(metrics=("latency_p50",), targets={"disk": facts}))
    assert (row.ceiling, row.share) == (None, None)


def test_what_breaks_littles_law_is_invalid_wherever_it_was_seen() -> None:
    good = [make_phase("c1", 0), make_case("c1", 0)]
    bad = [make_phase("c1", 1, latency=make_latency(1000, 3_000_000)), make_case("c1", 1)]
    row = _one(make_launch(good, bad))
    assert "INVALID:littles-law" in row.flag_codes
    assert any("(1 of 2 repetitions)" in reason for reason in row.reasons)


def test_ranks_that_idle_are_no_news_where_no_storage_is() -> None:
    records = make_launch([make_phase(latency=make_latency(1000, 1000)), make_case()])
    assert "idle-ranks" in _one(records).flag_codes
    simulated = RowContext(metrics=("bandwidth",), targets={"disk": TargetFacts(holds_data=False)})
    row = _one(records, context=simulated)
    assert "idle-ranks" not in row.flag_codes
    assert row.verdict == "none"


def test_the_verdict_comes_from_all_counted_repetitions() -> None:
    def read(index: int, share: float) -> list[AnyRecord]:
        moved = Moved(requested_bytes=1000, process_bytes=int(1000 * share), device_bytes=int(1000 * share))
        return _repetition(index, phase="read", moved=moved)

    row = _one(make_launch(read(0, 1.0), read(1, 0.4), read(2, 0.4)))
    assert row.verdict == "mixed 40 %"
    assert row.reasons[0] == "repetitions differ: 2 mixed, 1 cold"


def test_parameters_that_set_rows_apart_are_named_and_those_that_follow_are_not() -> None:
    def repetition(case: str, transfer: int, dedup: float, direct: bool) -> list[AnyRecord]:
        parameters = {"transfer_bytes": transfer, "block_bytes": 512 * transfer, "dedup_ratio": dedup}
        end = make_case(case, 0, parameters=parameters, backend_parameters={"direct": direct})
        return [make_phase(case, 0, latency=None), end]

    rows = build_rows(
        [
            make_launch(
                repetition("a", MIB, 1.0, False),
                repetition("b", MIB, 2.0, False),
                repetition("c", 2 * MIB, 1.0, False),
                repetition("d", 2 * MIB, 1.0, True),
            )
        ],
        BANDWIDTH,
    )
    varied = [{name: row.params[name] for name in ("dedup_ratio", "direct")} for row in rows]
    assert varied == [
        {"dedup_ratio": 1.0, "direct": False},
        {"dedup_ratio": 2.0, "direct": False},
        {"dedup_ratio": 1.0, "direct": False},
        {"dedup_ratio": 1.0, "direct": True},
    ]
    # The workload's own block follows from the transfer here, so no row needs it.
    assert "segment_block_bytes" not in rows[0].params


def test_nodes_are_derived_where_the_layout_does_not_say() -> None:
    run = make_run(8, nodes=None)
    run = run.model_copy(update={"pinning": run.pinning.model_copy(update={"most_ranks_on_a_node": 3})})
    assert _one(make_launch(_repetition(0), run=run)).params["nodes"] == 3


def test_more_repetitions_than_asked_for_are_explained() -> None:
    records = make_launch(*(_repetition(i, grade="C") for i in range(5)))
    few = RowContext(metrics=("bandwidth",), most_repetitions=3)
    (note,) = _one(records, context=few).notes
    assert note == "5 repetitions where at most 3 were asked for"
    assert _one(records, context=RowContext(metrics=("bandwidth",), most_repetitions=5)).notes == []


def test_repetitions_that_resemble_those_before_them_widen_the_interval_and_say_so() -> None:
    def of(case: str, order: list[int]) -> list[AnyRecord]:
        found: list[AnyRecord] = []
        for index, step in enumerate(order):
            found += [make_phase(case, index, elapsed_ns=10**9 + step * 10**7, latency=None), make_case(case, index)]
        return found

    cases = [f"{number:016x}" for number in range(8)]
    rising, mixed = list(range(12)), [0, 7, 3, 10, 5, 1, 8, 4, 11, 2, 9, 6]
    slow = build_rows([make_launch(*(of(case, rising) for case in cases))], BANDWIDTH)[0]
    calm = build_rows([make_launch(*(of(case, mixed) for case in cases))], BANDWIDTH)[0]
    assert "dependent" in slow.flag_codes
    assert "over all cells): 12 count as" in slow.reason_of("dependent")
    assert "dependent" not in calm.flag_codes
    assert slow.low is not None
    assert calm.low is not None
    assert slow.low < calm.low


@pytest.mark.parametrize(
    ("workload", "loopback", "is_told"), [("ring", 990, True), ("ring", 90, False), ("sockets", 990, False)]
)
def test_a_row_says_that_an_mpi_used_the_loopback_device(workload: str, loopback: int, is_told: bool) -> None:
    use = Contamination(foreign_cpu_ppm=0, steal_ppm=0, involuntary_switches=0, loopback_bytes=loopback * MIB)
    records = [
        [make_phase("c1", n, latency=None, contamination=use), make_case("c1", n, workload=workload)] for n in range(3)
    ]
    notes = [note for note in _one(make_launch(*records)).notes if "loopback" in note]
    assert notes == ([THROUGH_LOOPBACK] if is_told else [])


def test_a_row_says_which_share_of_what_was_read_has_been_verified() -> None:
    def read(verified: int) -> list[AnyRecord]:
        return make_launch(*(_repetition(n, phase="read", bytes_=400 * MIB, verified_bytes=verified) for n in range(3)))

    assert _one(read(100 * MIB)).notes == ["verified 25.0 % of the bytes read, not all of them"]
    assert verified_share(_one(read(100 * MIB)).notes) == 25.0
    assert _one(read(400 * MIB)).notes == []
    assert _one(read(0)).notes == []
    assert verified_share(["an other note"]) is None
