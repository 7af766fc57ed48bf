# SPDX-License-Identifier: Apache-2.0
"""Each finding says what was put into the rows, with its numbers, and keeps silent otherwise."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from support.data import some
from support.flags import flags_of
from support.make_records import MIB, make_row
from ullage.analysis.findings import Failed, find_all, load_finders
from ullage.model.summary import Finding, Row
from ullage.runs.options.declared import settable_by
from ullage.suites.sweep.cells import SweepOptions

RANKS = (1, 2, 4, 8)
BLOCKS = (MIB, 2 * MIB, 4 * MIB, 8 * MIB)


def _table(
    value: Callable[[int, int], float], *, spread: float = 0.01, ranks: Iterable[int] = RANKS, **fields: object
) -> list[Row]:
    """Three close repetitions of every cell."""
    return [
        make_row(
            [value(r, b) * (1 - spread), value(r, b), value(r, b) * (1 + spread)],
            ranks=r,
            block=b,
            **fields,  # type: ignore[arg-type]
        )
        for r in ranks
        for b in BLOCKS
    ]


def _of(findings: list[Finding], kind: str, **numbers: object) -> list[Finding]:
    wanted = [finding for finding in findings if finding.kind == kind]
    return [finding for finding in wanted if all(finding.numbers.get(key) == v for key, v in numbers.items())]


def _one(findings: list[Finding], kind: str, **numbers: object) -> Finding:
    found = _of(findings, kind, **numbers)
    assert len(found) == 1, [finding.text for finding in found]
    return found[0]


def test_without_rows_nothing_is_found() -> None:
    assert find_all([]) == []


def test_one_row_is_the_best_of_none() -> None:
    found = find_all([make_row([1e9, 1.01e9, 0.99e9])])
    assert [finding.kind for finding in found] == ["cache"]


def test_best_names_setting_interval_and_rivals() -> None:
    rows = _table(lambda r, b: 1e9 * r if b != 8 * MIB else 1.001e9 * r)
    found = _one(find_all(rows), "best")
    assert (found.numbers["ranks"], found.numbers["block_bytes"]) == (8, 8 * MIB)
    assert found.numbers["low"] == pytest.approx(8.008e9 * 0.99)
    assert found.numbers["rival_ranks"] == [8, 8, 8]
    assert "8 ranks and 8M blocks: 8.01 GB/s" in found.text
    assert "3 other settings cannot be told apart" in found.text


def test_rows_that_cannot_be_right_count_nowhere_but_are_named() -> None:
    rows = [*_table(lambda r, _: 1e9 * r), make_row(9e12, ranks=16, flags=flags_of("INVALID:above-ceiling"))]
    found = find_all(rows)
    assert _one(found, "best").numbers["ranks"] == 8
    assert _one(found, "invalid").numbers["rows"] == 1
    assert _one(found, "invalid").severity == "warning"


def test_ratios_between_targets() -> None:
    fast = _table(lambda r, _: 4e9 * r, target="fast")
    slow = _table(lambda r, b: 1e9 * r if b < 8 * MIB else 8e9 * r, target="slow")
    found = find_all([*slow, *fast])
    cells = _one(found, "ratio", scope="cells")
    assert (cells.numbers["target"], cells.numbers["against"]) == ("fast", "slow")
    assert (cells.numbers["faster"], cells.numbers["slower"], cells.numbers["cannot_tell"]) == (12, 4, 0)
    by_block = _one(found, "ratio", scope="best-by-block")
    assert by_block.numbers["ratio"] == pytest.approx([4, 4, 4, 0.5])
    assert by_block.numbers["verdict"] == ["faster", "faster", "faster", "slower"]
    assert _one(found, "ratio", scope="best").numbers["verdict"] == "slower"


def test_overlapping_cells_cannot_be_told_apart() -> None:
    rows = [
        *_table(lambda r, _: 1e9 * r, target="a", spread=0.1),
        *_table(lambda r, _: 1.02e9 * r, target="b", spread=0.1),
    ]
    assert _one(find_all(rows), "ratio", scope="cells").numbers["cannot_tell"] == 16


def test_a_comparison_of_unlike_verdicts_says_so() -> None:
    rows = [
        *_table(lambda r, _: 1e9 * r, target="a", access="read", verdict="cold"),
        *_table(lambda r, _: 9e9 * r, target="b", access="read", verdict="warm"),
    ]
    assert "The two were not measured alike" in _one(find_all(rows), "ratio", scope="best").text


def test_targets_are_compared_though_their_backends_differ() -> None:
    rows = [
        *_table(lambda r, _: 1e9 * r, target="a", params={"backend": "posix"}),
        *_table(lambda r, _: 2e9 * r, target="b", params={"backend": "mpiio"}),
    ]
    assert _one(find_all(rows), "ratio", scope="cells").numbers["faster"] == 16


def test_settings_are_compared_with_their_like_only() -> None:
    rows = [
        row
        for target, factor in (("a", 1e9), ("b", 2e9))
        for backend, gain in (("posix", 1), ("mpiio", 10))
        for row in _table(lambda r, _, f=factor * gain: f * r, target=target, params={"backend": backend})  # type: ignore[misc]
    ]
    found = find_all(rows)
    ratios = _of(found, "ratio", scope="best")
    assert [finding.numbers["ratio"] for finding in ratios] == pytest.approx([2, 2])
    assert {finding.numbers["backend"] for finding in ratios} == {"posix", "mpiio"}
    assert _one(found, "best", target="a").numbers["backend"] == "mpiio"


def test_crossovers_along_ranks_and_blocks() -> None:
    rising = _table(lambda r, _: 1e9 * r, target="rising")
    flat = _table(lambda _, b: 3e9 if b < 8 * MIB else 0.5e9, target="flat")
    found = find_all([*rising, *flat])
    ranks = _one(found, "crossover", axis="ranks")
    # Each target wins 8 or more of 16 cells: the one that wins more stands first.
    assert ranks.numbers["target"] == "rising"
    assert ranks.numbers["pattern"] == ["gains", "gains", "gains", "first"]
    assert ranks.numbers["before"] == [2, 2, 2, ""]
    assert ranks.numbers["after"] == [4, 4, 4, ""]
    assert "rising is faster at every rank count for blocks of 8M" in ranks.text
    assert (
        "rising becomes the faster one: between 2 and 4 ranks with 1M, 2 and 4 with 2M and 2 and 4 with 4M"
        in ranks.text
    )
    blocks = _one(found, "crossover", axis="block_bytes")
    assert blocks.numbers["pattern"] == ["gains", "gains", "first", "first"]


@pytest.mark.parametrize(
    ("curve", "overall"),
    [
        ([1, 2, 4, 8], "rises"),
        ([8, 4, 2, 1], "falls"),
        ([1, 4, 8, 3], "peaks"),
        ([5, 5, 5, 5], "flat"),
        ([1, 4, 8, 8], "rises"),
    ],
)
def test_scaling(curve: list[float], overall: str) -> None:
    rows = _table(lambda r, b: curve[RANKS.index(r)] * 1e9 * (1 + b / (100 * MIB)))
    found = _one(find_all(rows), "scaling")
    assert found.numbers["overall"] == overall
    assert found.numbers["ratio"] == pytest.approx(curve[-1] / curve[0])


def test_of_ranks_that_had_one_launch_each_nothing_is_said() -> None:
    """A launch has minutes of its own: what it measured slow may be these, and not its rank count."""
    rows = _table(lambda r, _: 1e9 * r)
    apart = [row.model_copy(update={"launches": [int(row.params["ranks"])] * len(row.repetitions)}) for row in rows]
    found = _one(find_all(apart), "scaling")
    assert found.numbers["overall"] == "unknown"
    assert "launches cannot be told from ranks" in found.text
    assert not _of(find_all(apart), "edge")
    assert "have the highest median" in _one(find_all(apart), "best").text


def test_scaling_names_the_block_size_that_does_otherwise() -> None:
    rows = _table(lambda r, b: 1e9 * (r if b != MIB or r < 8 else 2.0))
    found = _one(find_all(rows), "scaling")
    assert found.numbers["best_ranks"] == [4, 8, 8, 8]
    assert "They are best at 8 ranks for every block size except 1M (4)" in found.text


def test_an_outlier_is_found_with_the_advice_to_repeat_it() -> None:
    rows = _table(lambda r, b: 1e9 * r**0.5 * (b / MIB) ** 0.25 * (0.1 if (r, b) == (2, 4 * MIB) else 1))
    found = _one(find_all(rows, settable=settable_by(SweepOptions)), "outlier")
    assert found.severity == "advice"
    assert (found.numbers["ranks"], found.numbers["block_bytes"]) == ([2], [4 * MIB])
    assert found.numbers["case"] == [f"disk-write-2-{4 * MIB}"]
    assert "Measure it again before you use it (--recheck)." in found.text
    assert "Measure it again before you use it." in _one(find_all(rows), "outlier").text, "no suite, no option"


def test_a_drop_that_repetitions_do_not_confirm_is_none() -> None:
    def value(r: int, b: int) -> float:
        return 1e9 * r * (0.25 if (r, b) == (8, MIB) else 1)

    assert len(_of(find_all(_table(value)), "drop")) == 1
    assert _of(find_all(_table(value, spread=0.9)), "drop") == []


def test_the_rim_of_the_table_is_named_while_the_best_still_grows() -> None:
    found = find_all(_table(lambda r, b: 1e9 * r / (b / MIB)), settable=settable_by(SweepOptions))
    upper = _one(found, "edge", axis="ranks")
    assert (upper.numbers["side"], upper.numbers["value"]) == ("upper", 8)
    assert upper.numbers["ratio"] == pytest.approx(2)
    assert upper.text.endswith("Test 16 ranks (--extend ranks).")
    lower = _one(found, "edge", axis="block_bytes")
    assert (lower.numbers["side"], lower.numbers["value"]) == ("lower", MIB)
    assert lower.text.endswith("Test 512K blocks (--block).")


def test_nobody_is_told_to_test_more_ranks_than_there_are_cores() -> None:
    rows = _table(lambda r, _: 1e9 * r, spread=0.05)
    most = max(int(row.params["ranks"]) for row in rows)
    for cores, advised in ((0, True), (2 * most, True), (most, False)):
        (edge,) = _of(find_all(rows, settable=replace(settable_by(SweepOptions), cores=cores)), "edge", axis="ranks")
        assert (f"Test {2 * most} ranks" in edge.text) == advised
        assert (edge.severity == "advice") == advised


def test_a_best_that_no_longer_grows_is_not_at_the_edge() -> None:
    assert _of(find_all(_table(lambda r, _: 1e9 * min(r, 4), spread=0.05)), "edge") == []


def test_what_was_measured_is_counted() -> None:
    rows = [
        make_row(1e9, access="read", ranks=1, verdict="cold"),
        make_row(2e9, access="read", ranks=2, verdict="mixed 37 %"),
        make_row(9e9, access="read", ranks=4, verdict="warm"),
    ]
    found = find_all(rows)
    cache = _one(found, "cache")
    assert cache.severity == "warning"
    assert cache.numbers["verdict"] == ["cold", "mixed", "warm"]


def test_rereads_show_what_memory_adds() -> None:
    rows = [
        *_table(lambda r, _: 1e9 * r, access="read"),
        *_table(lambda r, _: 6e9 * r, access="reread", verdict="warm"),
    ]
    assert _one(find_all(rows), "cache-effect").numbers["ratio"] == pytest.approx(6)


@pytest.mark.parametrize("again", [[4e9], [0.5e9, 4e9, 0.7e9, 3e9, 0.4e9, 2e9]])
def test_rereads_by_noise_or_of_one_sample_are_not_called_faster(again: list[float]) -> None:
    rows = [make_row([1e9, 0.9e9, 1.1e9, 1e9, 1e9, 1e9]), make_row(again, access="reread", verdict="warm")]
    read = rows[0].model_copy(update={"params": {**rows[0].params, "access": "read"}})
    assert not [one for one in find_all([read, rows[1]]) if one.kind == "cache-effect"]


def test_rereads_of_memory_show_nothing() -> None:
    rows = [
        *_table(lambda r, _: 1e9 * r, access="read", verdict="memory"),
        *_table(lambda r, _: 6e9 * r, access="reread", verdict="memory"),
    ]
    assert _of(find_all(rows), "cache-effect") == []


def test_failures_are_grouped_by_what_went_wrong() -> None:
    failed = [
        Failed("disk", "c1", 2, 3, 3, "write: No space left on device (errno 28)", "rank 0 on n1, /p"),
        Failed("disk", "c2", 4, 1, 3, "write: No space left on device (errno 28)", "rank 1 on n1, /q"),
        Failed("other", "c3", 4, 1, 1, "open: Permission denied (errno 13)"),
    ]
    found = _of(find_all([], failed), "failure")
    assert [finding.numbers["cases"] for finding in found] == [2, 1]
    assert found[0].text == (
        "2 cases failed on disk, 1 of them in every repetition: write: No space left on device (errno 28) "
        "(first: rank 0 on n1, /p)."
    )


def test_only_the_first_metric_of_an_access_is_looked_at() -> None:
    rows = _table(lambda r, _: 1e9 * r)
    more = [row.model_copy(update={"metric": "latency_p50", "unit": "s", "better": "less"}) for row in rows]
    assert find_all([*rows, *more]) == find_all(rows)


def test_for_times_less_is_better() -> None:
    rows = [
        row.model_copy(update={"metric": "open_time", "unit": "s", "better": "less"})
        for row in _table(lambda r, _: 0.001 * r)
    ]
    found = find_all(rows)
    assert _one(found, "best").numbers["ranks"] == 1
    assert _one(found, "scaling").numbers["overall"] == "falls"


def test_sentences_are_for_people_and_numbers_for_machines() -> None:
    fast = _table(lambda r, _: 4e9 * r, target="<b>fast</b>")
    slow = _table(lambda r, b: 1e9 * r if b < 8 * MIB else 8e9 * r, target="slow")
    for finding in some(find_all([*slow, *fast])):
        assert finding.text.endswith(".")
        assert not re.search(r"  |nan|inf\b|None", finding.text), finding.text
        assert finding.numbers
        json.dumps(finding.model_dump(mode="json"), allow_nan=False)


def test_kinds_come_in_their_order() -> None:
    assert len(load_finders()) >= 9
    fast, slow = _table(lambda r, _: 4e9 * r, target="a"), _table(lambda r, _: 1e9 * r, target="b")
    kinds = list(dict.fromkeys(finding.kind for finding in find_all([*fast, *slow])))
    assert kinds == ["best", "ratio", "crossover", "scaling", "edge", "cache"]


def test_what_is_true_of_several_targets_and_accesses_is_told_once() -> None:
    rows = [
        make_row(1e9, target=target, access=access, verdict=verdict)
        for target, verdicts in (("a", ("memory", "memory")), ("b", ("memory", "memory")), ("c", ("synced", "cold")))
        for access, verdict in zip(("write", "read"), verdicts, strict=True)
    ]
    texts = [finding.text.partition(":")[0] for finding in _of(find_all(rows), "cache")]
    assert texts == ["a and b writes and reads", "c writes", "c reads"]


def test_a_target_of_which_only_one_access_is_alike_is_told_apart() -> None:
    rows = [
        make_row(1e9, target="a", access="write", verdict="memory"),
        make_row(1e9, target="b", access="write", verdict="memory"),
        make_row(1e9, target="b", access="read", verdict="memory"),
        make_row(1e9, target="b", access="reread", verdict="warm"),
        make_row(1e9, target="b", access="reread", ranks=2, verdict="cold"),
    ]
    texts = [finding.text.partition(":")[0] for finding in _of(find_all(rows), "cache")]
    assert texts == ["a writes", "b writes and reads", "b rereads"]
