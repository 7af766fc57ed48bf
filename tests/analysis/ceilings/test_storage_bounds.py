# SPDX-License-Identifier: Apache-2.0
"""What a run's own transfers bound: the same target and direction, never a cache's; requests by Little's law."""

from collections.abc import Sequence

import pytest

from support.make_records import MIB, make_row
from ullage.analysis.ceilings.measured import with_measured
from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.ceilings.storage import BOUNDS
from ullage.model.summary import Ceiling, Row

KIB = 1 << 10


def bounded(*rows: Row) -> list[Row]:
    return with_measured(rows, BOUNDS)


def test_a_transfer_is_bounded_by_the_best_of_its_target_and_direction() -> None:
    best = make_row([99.0, 100, 104], ranks=4)
    slow, other, read = make_row([50.0] * 3), make_row([9.0] * 3, target="b"), make_row([70.0] * 3, access="read")
    found = bounded(best, slow, other, read)
    assert [row.ceiling and row.ceiling.value for row in found] == [104, 104, 9, 70]
    assert found[1].share == pytest.approx(50 / 104)
    assert found[1].ceiling is not None
    assert (found[1].ceiling.kind, found[1].ceiling.source) == (
        "measured", "the best transfer of this run: writes of 1M, 4 ranks"
    )  # fmt: skip
    assert found[1].ceiling.why.endswith(".")


def test_kernels_of_applications_and_libraries_are_bounded_by_plain_transfers() -> None:
    plain = make_row([100.0] * 3, params={"backend": "posix"}, suite="sweep")
    hdf5 = make_row([40.0] * 3, params={"backend": "hdf5", "file": "checkpoint"}, suite="flash")
    observed = make_row([20.0] * 3, metric="observed_bandwidth", params={"layout": "CC"}, suite="vpic")
    assert [row.share for row in bounded(plain, hdf5, observed)] == [1.0, 0.4, 0.2]


@pytest.mark.parametrize(
    "wrong", [{"verdict": "warm"}, {"verdict": "cached"}, {"verdict": "mixed 40 %"}, {"grade": "C"}, {"value": [900.0]}]
)
def test_cached_disturbed_and_few_rows_bound_nothing(wrong: dict[str, object]) -> None:
    value = wrong.pop("value", [900.0] * 3)
    fast, slow = bounded(make_row(value, ranks=4, **wrong), make_row([50.0] * 3))  # type: ignore[arg-type]
    assert slow.share == 1.0
    assert fast.share is None, "and what a cache answered, or is above the bound, has none"


def test_memory_does_not_bound_a_drive_of_the_same_name() -> None:
    _, disk = bounded(make_row([900.0] * 3, ranks=4, verdict="memory"), make_row([50.0] * 3))
    assert disk.share == 1.0


def test_the_best_of_a_drive_takes_the_place_of_nothing_that_is_declared() -> None:
    declared = Ceiling(value=200, kind="declared", source="--ceiling")
    (row,) = bounded(with_ceiling(make_row([100.0] * 3), declared))
    assert (row.ceiling, row.notes) == (declared, [])


def test_a_kernel_bounds_nothing_not_even_itself() -> None:
    names = ({"tile": "256x192"}, {"pattern": "simple-strided"}, {"phase": "ior-hard-write"})
    rows = bounded(*(make_row([100.0] * 3, params=params) for params in names))
    assert {row.ceiling for row in rows} == {None}
    easy, hard = bounded(
        make_row([100.0] * 3, params={"phase": "ior-easy-write"}),
        make_row([25.0] * 3, params={"phase": "ior-hard-write"}),
    )
    assert (easy.share, hard.share) == (1.0, 0.25)


def requests(depth: int, rate: float, latency: float) -> Sequence[Row]:
    params = {"order": "random", "queue_depth": depth}
    values = {"operation_rate": rate, "latency_p50": latency}
    return [
        make_row(
            [value] * 3,
            metric=metric,
            unit="op/s" if metric == "operation_rate" else "s",
            better="more" if metric == "operation_rate" else "less",
            access="read",
            block=4 * KIB,
            params=params,
        )
        for metric, value in values.items()
    ]


def test_requests_in_flight_are_bounded_by_littles_law_and_by_saturation() -> None:
    """A drive of 100 us and 40,000 requests a second: it is busy from depth 4 on."""
    known = [(1, 9_500, 100e-6), (2, 18_000, 105e-6), (4, 30_000, 130e-6), (64, 40_000, 1.6e-3)]
    rows = [row for one in known for row in requests(*one)]
    found = {row.params["queue_depth"]: row for row in bounded(*rows) if row.metric == "operation_rate"}
    ceilings = {depth: row.ceiling.value for depth, row in found.items() if row.ceiling is not None}
    assert ceilings == {1: 10_000, 2: 20_000, 4: 40_000, 64: 40_000}
    assert found[4].share == pytest.approx(0.75)
    assert {row.ceiling.kind for row in found.values() if row.ceiling} == {"measured"}


def test_blocks_of_other_sizes_bound_no_requests() -> None:
    rate, _ = requests(8, 20_000, 400e-6)
    other = rate.model_copy(update={"params": {**rate.params, "block_bytes": MIB}, "repetitions": [1.0] * 3})
    assert bounded(rate, other)[0].share == 1.0
