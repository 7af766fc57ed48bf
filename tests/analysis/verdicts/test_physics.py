# SPDX-License-Identifier: Apache-2.0
from typing import Literal

import pytest

from support.make_records import SECOND_NS, make_latency, make_phase
from ullage.analysis.verdicts.physics import (
    above_ceiling,
    buffers_in_turn,
    clock_stopped,
    littles_law,
    not_persistent,
    payload_in_time,
    removed_lately,
    stamped_in_groups,
    too_short,
    verification,
    verified_in_time,
)
from ullage.model.plan import Parameters
from ullage.model.record import Contamination
from ullage.model.summary import Ceiling


@pytest.mark.parametrize(("share", "flagged"), [(1.0, False), (1.05, False), (1.051, True), (2.0, True)])
def test_more_than_the_ceiling_is_invalid_not_fast(share: float, flagged: bool) -> None:
    found = above_ceiling(share, Ceiling(value=100.0, kind="detected", source="x"))
    assert (found is not None) == flagged
    assert above_ceiling(share, Ceiling(value=100.0, kind="empirical", source="the best of this run")) is None
    if found:
        assert found.code == "INVALID:above-ceiling"


def _busy(share: float) -> object:
    operations = 1000
    return make_phase(latency=make_latency(operations, round(share * 2 * SECOND_NS / operations)))


@pytest.mark.parametrize(
    ("share", "name"), [(1.0, None), (1.09, None), (1.2, "INVALID:littles-law"), (0.6, None), (0.4, "idle-ranks")]
)
def test_littles_law(share: float, name: str | None) -> None:
    found = littles_law(_busy(share), {})  # type: ignore[arg-type]
    assert (found.code if found else None) == name


def test_operations_under_way_at_once_count_as_many_slots() -> None:
    phase = _busy(3.9)
    assert littles_law(phase, {"queue_depth": 4}) is None  # type: ignore[arg-type]
    assert littles_law(phase, {"queue_depth": 2, "threads": 2}) is None  # type: ignore[arg-type]
    assert littles_law(phase, {"queue_depth": 2}) is not None  # type: ignore[arg-type]


def test_each_accelerator_has_one_step_at_a_time() -> None:
    phase = _busy(2.4).model_copy(update={"facts": {"accelerators": 5}})  # type: ignore[attr-defined]
    assert littles_law(phase, {"threads": 4}) is None
    found = littles_law(phase.model_copy(update={"facts": {"accelerators": 4}}), {"threads": 4})
    assert found is not None
    assert found.code == "INVALID:littles-law"


def test_ranks_that_waited_for_a_core_were_not_idle() -> None:
    waited = Contamination(foreign_cpu_ppm=500_000, steal_ppm=0, involuntary_switches=9, run_delay_ppm=300_000)
    assert littles_law(_busy(0.4).model_copy(update={"contamination": waited}), {}) is None  # type: ignore[attr-defined]
    found = littles_law(_busy(0.1).model_copy(update={"contamination": waited}), {})  # type: ignore[attr-defined]
    assert found is not None
    assert found.code == "idle-ranks"


def test_time_for_payload_is_named_where_ranks_were_idle() -> None:
    phase = make_phase(latency=make_latency(1000, 500_000), prepare_ns=SECOND_NS // 2)
    found = littles_law(phase, {})
    assert found is not None
    assert "500 ms went into payload" in found.reason


def test_without_latencies_the_law_says_nothing() -> None:
    assert littles_law(make_phase(latency=None), {}) is None
    assert littles_law(make_phase(stages={}), {}) is None


@pytest.mark.parametrize(
    ("elapsed_ns", "read_cost_ns", "flagged"),
    [(9_999_999, 30, True), (10_000_000, 30, False), (20_000_000, 30_000, True), (30_000_000, 30_000, False)],
)
def test_short_phases_are_flagged(elapsed_ns: int, read_cost_ns: int, flagged: bool) -> None:
    assert (too_short(make_phase(elapsed_ns=elapsed_ns), read_cost_ns) is not None) == flagged


def test_bad_blocks_invalidate() -> None:
    assert verification(make_phase()) is None
    found = verification(make_phase(bad_blocks=3))
    assert found is not None
    assert found.code == "INVALID:verification-failed"


@pytest.mark.parametrize(("share", "flagged"), [(0.0, False), (0.01, False), (0.02, True)])
def test_payload_that_costs_more_than_a_hundredth_of_the_phase_is_named(share: float, flagged: bool) -> None:
    found = payload_in_time(make_phase(elapsed_ns=SECOND_NS, prepare_ns=round(share * SECOND_NS)))
    assert (found is not None) == flagged


def test_what_is_no_write_has_no_payload() -> None:
    written = make_phase(elapsed_ns=SECOND_NS, prepare_ns=SECOND_NS // 3)
    found = payload_in_time(written)
    assert found is not None
    assert (found.code, found.reason) == ("payload-in-time", "33.3 % of the phase went into payload")
    for access in ("read", "metadata"):
        other = payload_in_time(written.model_copy(update={"access": access}))
        assert other is not None
        assert other.code == "preparation-in-time"
        assert "payload" not in other.reason


@pytest.mark.parametrize(
    ("stops", "ranks", "share", "in_time", "stopped"),
    [
        (False, 2, 0.02, True, False),
        (True, 2, 0.02, False, True),
        (True, 2, 0.01, False, False),
        (True, 1, 0.5, False, False),
    ],
)
def test_a_clock_that_stopped_is_named_where_others_went_on(
    stops: bool, ranks: int, share: float, in_time: bool, stopped: bool
) -> None:
    phase = make_phase(elapsed_ns=SECOND_NS, prepare_ns=round(share * SECOND_NS), clock_stops=stops, ranks=ranks)
    assert (payload_in_time(phase) is not None) == in_time
    assert (clock_stopped(phase) is not None) == stopped


def test_checking_in_the_time_is_named() -> None:
    checked = make_phase(verified_bytes=1000)
    found = verified_in_time(checked, {"verify": "timed"})
    assert found is not None
    assert found.code == "verified-in-time"
    assert verified_in_time(checked, {"verify": "full"}) is None
    assert verified_in_time(checked, {}) is None
    assert verified_in_time(make_phase(), {"verify": "timed"}) is None, "a phase that reads nothing"


@pytest.mark.parametrize(("access", "flagged"), [("read", True), ("write", True), ("metadata", False)])
def test_buffers_in_turn_are_named(access: Literal["read", "write", "metadata"], flagged: bool) -> None:
    found = buffers_in_turn(make_phase(access=access), {"buffers": 16 << 20})
    assert (found is not None) == flagged
    assert found is None or "16M" in found.reason
    assert buffers_in_turn(make_phase(access=access), {}) is None
    assert buffers_in_turn(make_phase(access=access), {"buffers": 0}) is None


def test_latencies_of_groups_are_flagged_with_their_size() -> None:
    assert stamped_in_groups(make_phase()) is None
    found = stamped_in_groups(make_phase(stamped_every=7.53))
    assert found is not None
    assert "times 7.5 operations" in found.reason


@pytest.mark.parametrize(("said", "reason"), [("forced", "PMEM_IS_PMEM_FORCE=1"), ("no", "only msync")])
def test_memory_that_is_not_persistent_is_flagged(said: str, reason: str) -> None:
    found = not_persistent(make_phase(hints_granted={"persistent": said}))
    assert found is not None
    assert (found.code, reason in found.reason) == ("not-persistent", True)


@pytest.mark.parametrize("hints", [{}, {"persistent": "yes", "map": "MAP_SYNC"}])
def test_persistent_memory_and_other_backends_are_not(hints: dict[str, str]) -> None:
    assert not_persistent(make_phase(hints_granted=hints)) is None


@pytest.mark.parametrize(
    ("here_us", "spent_us", "flagged"),
    [
        (8, 22, False),  # an ordinary create: name and close cost more than the inode
        (23, 40, False),
        (24, 40, True),
        (300, 330, True),
        (300, 25, False),  # somebody removed files after the phase
        (8, 400, False),  # ranks that compete for a directory: a file of one rank alone takes no longer
    ],
)
def test_creates_that_look_past_removed_files_are_flagged(here_us: int, spent_us: int, flagged: bool) -> None:
    cost = {"new_file_ns": here_us * 1000, "least_new_file_ns": 8000}
    phase = make_phase(phase="create", facts=cost, cpu_ns=1000 * spent_us * 1000)
    found = removed_lately(phase, {})
    assert (found is not None) == flagged
    if found is not None:
        assert "of a core here, and 8.00 us where nothing was removed lately" in found.reason
        assert found.code == "removed-lately"


@pytest.mark.parametrize(
    ("here_ns", "median_ns", "spent_ns", "flagged"),
    [
        (327_426, 15_780, 66_719, True),  # a second run of io500: one create in twenty took 0.3 ms and more
        (10_806, 17_220, 20_917, False),  # the first one
        (327_426, 15_780, 31_000, False),  # others removed files after it
        (8_112, 15_000, 39_893, False),  # ranks that wait for a directory
    ],
)
def test_creates_of_which_some_look_past_removed_files_are_flagged(
    here_ns: int, median_ns: int, spent_ns: int, flagged: bool
) -> None:
    cost = {"new_file_ns": here_ns, "least_new_file_ns": 7050}
    phase = make_phase(phase="create", facts=cost, cpu_ns=1000 * spent_ns, latency=make_latency(1000, median_ns))
    assert (removed_lately(phase, {}) is not None) == flagged


OWN: Parameters = {"unique_directory": True, "sync": "none", "item": "file"}


@pytest.mark.parametrize(
    ("spent_us", "more", "bytes_", "flagged"),
    [
        (190.6, {}, 0, True),  # a run of io500 within minutes of others
        (13.9, {}, 0, False),  # 4.5 times the least: the most of 40 that nothing slowed
        (190.6, {"unique_directory": False}, 0, False),  # ranks may compete
        (190.6, {"sync": "file"}, 0, False),
        (190.6, {}, 3901, False),  # data takes time of a core, too
    ],
)
def test_creates_in_directories_of_their_own_are_slowed_if_they_take_ten_times_the_least(
    spent_us: float, more: Parameters, bytes_: int, flagged: bool
) -> None:
    cost = {"new_file_ns": 3200, "least_new_file_ns": 3100}
    spent = round(1000 * spent_us * 1000)
    phase = make_phase(phase="create", facts=cost, cpu_ns=spent, bytes=1000 * bytes_, latency=None)
    found = removed_lately(phase, {**OWN, **more})
    assert (found is not None) == flagged
    assert found is None or "a new file took 191 us of a core here" in found.reason


@pytest.mark.parametrize("facts", [{}, {"new_file_ns": 1000}, {"new_file_ns": "?", "least_new_file_ns": 1}])
def test_without_a_comparison_nothing_is_said_of_removed_files(facts: dict[str, object]) -> None:
    assert removed_lately(make_phase(facts=facts, cpu_ns=10**9), OWN) is None
