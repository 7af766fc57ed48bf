# SPDX-License-Identifier: Apache-2.0
"""What bounds a row of the disk: the device, by bytes or by operations."""

import pytest

from support.flags import flags_of
from support.make_records import plain_row
from ullage.analysis.ceilings.rows import with_ceiling
from ullage.model.machine import DeclaredDrive, MachineFile
from ullage.model.plan import Target
from ullage.model.summary import Ceiling, Peer, Row
from ullage.runs.ceilings import with_ceilings

HERE = [Target(name="here", uri="posix:/data/me")]
KIB = 1 << 10
DRIVE = MachineFile(drive=[DeclaredDrive(path="/data", read=540e6, read_iops=93e3)])


def row(metric: str, median: float, *, block: int = 1 << 20, order: str = "random", **params: int) -> Row:
    unit = "B/s" if metric == "bandwidth" else "op/s"
    usual = {"access": "read", "ranks": 1, "block_bytes": block, "order": order}
    own = {"metric": metric, "unit": unit, "target": "here", "verdict": "direct", "case": ""}
    return plain_row([median] * 3, {**usual, **params}, low=None, high=None, **own)


def test_random_requests_are_bounded_by_operations_and_blocks_by_bytes() -> None:
    bytes_per_s = Ceiling(value=540e6, kind="declared", source="x")
    block = row("bandwidth", 300e6).model_copy(update={"ceiling": bytes_per_s})
    rows = [row("operation_rate", 46.5e3, block=KIB, queue_depth=8), row("bandwidth", 46.5e3 * KIB, block=KIB), block]
    rate, small, large = with_ceilings(rows, HERE, DRIVE)
    assert rate.ceiling is not None
    assert small.ceiling is not None
    assert large.ceiling is not None
    assert (rate.ceiling.value, rate.share) == (93e3, 0.5)
    assert (small.ceiling.value, small.share) == (93e3 * KIB, 0.5)
    assert large.ceiling.value == 540e6


def test_threads_do_not_raise_a_ceiling_and_what_is_above_it_is_invalid() -> None:
    rows = [row("operation_rate", value, block=KIB, ranks=ranks) for ranks, value in ((1, 90e3), (4, 200e3))]
    one, four = with_ceilings(rows, HERE, DRIVE)
    assert one.ceiling == four.ceiling
    assert one.flag_codes == []
    assert four.flag_codes == ["INVALID:above-ceiling"]
    assert "the value is 2.15 times the ceiling" in four.reasons


def test_the_best_of_the_run_is_called_so_and_gives_no_share() -> None:
    ours, other = row("bandwidth", 1e8), row("bandwidth", 2e8)
    ours = ours.model_copy(update={"peer": Peer(tool="fio", version="3.33", median=4e8, samples=3)})
    first, second = with_ceilings([ours, other], HERE, None)
    assert first.ceiling is not None
    assert (first.ceiling.kind, first.ceiling.value, first.share, second.share) == ("empirical", 4e8, None, None)
    assert first.ceiling.source.startswith("the best of this run: fio")
    assert "INVALID:above-ceiling" not in [*first.flag_codes, *second.flag_codes]


def test_the_best_of_one_order_bounds_no_other() -> None:
    random, sequential = with_ceilings([row("bandwidth", 1e8), row("bandwidth", 2e8, order="sequential")], HERE, None)
    assert random.ceiling is not None
    assert sequential.ceiling is not None
    assert (random.ceiling.value, sequential.ceiling.value) == (1e8, 2e8)


def test_the_best_of_two_samples_or_under_the_load_of_others_bounds_nothing() -> None:
    few = row("bandwidth", 1.05e8).model_copy(update={"repetitions": [1.05e8, 1.05e8]})
    disturbed = row("bandwidth", 1.02e8).model_copy(update={"grade": "C"})
    *_, good = with_ceilings([few, disturbed, row("bandwidth", 1e8)], HERE, None)
    assert good.ceiling is not None
    assert good.ceiling.value == 1e8
    assert with_ceilings([few, disturbed], HERE, None)[0].ceiling is None


def test_an_invalid_row_is_nobodys_best() -> None:
    wrong = row("bandwidth", 9e9).model_copy(update={"flags": flags_of("INVALID:littles-law")})
    _, good = with_ceilings([wrong, row("bandwidth", 1e8)], HERE, None)
    assert good.ceiling is not None
    assert good.ceiling.value == 1e8


def test_of_a_time_the_bound_lies_below() -> None:
    slow = row("latency_p50", 2e-3).model_copy(update={"better": "less", "unit": "s"})
    bounded = with_ceiling(slow, Ceiling(value=5e-4, kind="declared", source="x"))
    assert bounded.share == pytest.approx(0.25)
    too_fast = with_ceiling(slow.model_copy(update={"median": 5e-6}), Ceiling(value=5e-4, kind="declared", source="x"))
    assert too_fast.flag_codes == ["INVALID:above-ceiling"]
    assert with_ceiling(too_fast, None).flag_codes == []
