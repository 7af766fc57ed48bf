# SPDX-License-Identifier: Apache-2.0
"""Cell by cell comparison."""

import csv
import io
import json
import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from support.data import some
from support.sample_result import SYSTEM, Shape, make_rows, make_summary
from ullage.analysis.compare import MAIN, ONE_LAUNCH, Cell, Comparison, compare_summaries
from ullage.errors import UserError
from ullage.model.summary import Row, Score, Summary
from ullage.report import comparison_text


def of(rows: list[Row], **more: object) -> Summary:
    return make_summary().model_copy(update={"rows": rows, **more})


def changed(summary: Summary, change: Callable[[Row], dict[str, Any]]) -> Summary:
    return summary.model_copy(update={"rows": [row.model_copy(update=change(row)) for row in summary.rows]})


def scaled(summary: Summary, factor: float) -> Summary:
    return changed(
        summary,
        lambda row: {"median": row.median * factor, "repetitions": [value * factor for value in row.repetitions]},
    )


def cell_at(found: Comparison, **setting: object) -> Cell:
    return next(cell for cell in found.cells if setting.items() <= dict(cell.setting).items())


def test_targets_cell_by_cell() -> None:
    found = compare_summaries({"a": make_summary(Shape(repetitions=7))}, "target")
    assert (found.base_name, found.names) == ("nvme", ("nvme", "scratch"))
    assert len(found.cells) == 32
    assert found.unmatched == 0
    fast = cell_at(found, access="write", ranks=8, block_bytes=131072)
    assert (fast.outcome, fast.base.target, fast.other.target) == ("slower", "nvme", "scratch")
    assert fast.ratio == pytest.approx(fast.other.median / fast.base.median, rel=0.05)
    assert fast.low is not None
    assert fast.high is not None
    assert fast.low < fast.ratio < fast.high < 1
    assert cell_at(found, access="write", ranks=1, block_bytes=8388608).outcome == "faster"


def test_the_base_can_be_chosen_and_turns_the_words_round() -> None:
    summary = {"a": make_summary(Shape(repetitions=7))}
    forth, back = compare_summaries(summary, "target"), compare_summaries(summary, "target", "scratch")
    turned = {"faster": "slower", "slower": "faster", "cannot tell": "cannot tell"}
    there = {cell.setting: cell for cell in back.cells}
    for cell in some(forth.cells):
        assert there[cell.setting].outcome == turned[cell.outcome]
        assert there[cell.setting].ratio == pytest.approx(1 / cell.ratio)


def test_the_first_target_with_a_partner_is_the_base_and_no_count_is_of_nothing() -> None:
    """Parts of an overview have targets of their own, such as memory, and one of them may come first."""
    summary = make_summary(Shape(repetitions=7))
    alone = [
        row.model_copy(update={"target": name, "metric": f"{name}_rate", "unit": "op"})
        for name in ("memory", "cpu")
        for row in summary.rows[:1]
    ]
    found = compare_summaries({"a": of([*alone, *summary.rows])}, "target")
    assert (found.base_name, len(found.cells)) == ("nvme", 32)
    text = comparison_text.to_markdown(found)
    assert "of 32 cells" in text
    assert "nothing of memory and cpu can be compared with nvme" in text
    assert "of 0 cells" not in text


def test_less_is_better_turns_the_words_round() -> None:
    summary = make_summary(Shape(repetitions=7))
    slow = changed(summary, lambda _: {"better": "less", "unit": "s", "metric": "time"})
    there = some(compare_summaries({"a": summary}, "target").cells)
    for more, less in zip(there, compare_summaries({"a": slow}, "target").cells, strict=True):
        assert (more.outcome == "cannot tell") == (less.outcome == "cannot tell")
        assert more.outcome != less.outcome or more.outcome == "cannot tell"


def test_a_result_against_itself_cannot_tell() -> None:
    summary = make_summary(Shape(repetitions=7))
    found = compare_summaries({"a": summary, "b": summary}, "result")
    assert found.counts("b") == {"cannot tell": 64}
    assert {cell.ratio for cell in found.cells} == {1.0}


def test_results_twice_as_fast_are_faster() -> None:
    summary = make_summary(Shape(repetitions=7))
    found = compare_summaries({"old": summary, "new": scaled(summary, 2)}, "result")
    assert found.counts("new") == {"faster": 64}


def test_one_launch_each_cannot_tell_and_says_why() -> None:
    """A run of other minutes is another launch: without several of each nobody knows what these differ by."""
    summary = changed(make_summary(Shape(repetitions=7)), lambda _: {"launches": [0] * 7})
    found = compare_summaries({"old": summary, "new": scaled(summary, 2)}, "result")
    assert found.counts("new") == {"cannot tell": 64}
    assert all(ONE_LAUNCH in cell.notes and cell.low is None for cell in found.cells)
    assert {round(cell.ratio, 6) for cell in found.cells} == {2.0}
    # Settings of one launch are compared all the same.
    assert "cannot tell" not in compare_summaries({"old": summary}, "block").counts("524288")


def test_a_rerun_of_other_launches_is_not_told_apart() -> None:
    """Today's fault: of 72 pairs of a command and its own rerun, 45 say faster or slower."""
    draw = random.Random(7)

    def run() -> Summary:
        shifts = {
            launch: draw.gauss(0, 0.05) for ranks in (1, 2, 4, 8) for launch in range(100 * ranks, 100 * ranks + 3)
        }
        minutes = draw.gauss(0, 0.05)
        return changed(
            make_summary(Shape(repetitions=6)),
            lambda row: {
                "repetitions": [
                    1e9 * math.exp(minutes + shifts[launch] + draw.gauss(0, 0.02)) for launch in row.launches
                ]
            },
        )

    told = sum(compare_summaries({"a": run(), "b": run()}, "result").counts("b")["cannot tell"] < 64 for _ in range(20))
    assert told <= 2


def test_disturbed_rows_are_not_judged() -> None:
    summary = make_summary(Shape(repetitions=7))
    disturbed = changed(summary, lambda row: {"grade": "C" if row.target == "nvme" else row.grade})
    found = compare_summaries({"old": summary, "new": scaled(disturbed, 2)}, "result")
    assert found.counts("new") == {"faster": 32, "cannot tell": 32}
    assert all(("not judged: grade C" in cell.notes) == (cell.outcome == "cannot tell") for cell in found.cells)


@pytest.mark.parametrize(
    ("by", "names", "cells"),
    [
        ("ranks", ("1", "2", "4", "8"), 48),
        ("block", ("131072", "524288", "2097152", "8388608"), 48),
        ("access", ("write", "read"), 32),
    ],
)
def test_other_dimensions(by: str, names: tuple[str, ...], cells: int) -> None:
    found = compare_summaries({"a": make_summary()}, by)
    assert found.names == names
    assert len(found.cells) == cells
    assert all(by not in dict(cell.setting) for cell in found.cells)


def test_backends_with_their_own_parameters_are_compared() -> None:
    rows = make_rows(Shape())
    posix = [row.model_copy(update={"params": {**row.params, "direct": True}}) for row in rows]
    mpiio = [row.model_copy(update={"params": {**row.params, "backend": "mpiio", "collective": True}}) for row in rows]
    found = compare_summaries({"a": of([*posix, *mpiio])}, "backend")
    assert found.names == ("posix", "mpiio")
    assert len(found.cells) == 64
    assert found.unmatched == 0


def test_a_parameter_that_follows_from_the_block_does_not_keep_blocks_apart() -> None:
    rows = [
        row.model_copy(update={"params": {**row.params, "segments": 2**30 // int(row.params["block_bytes"])}})
        for row in make_rows(Shape())
    ]
    assert len(compare_summaries({"a": of(rows)}, "block").cells) == 48


def test_two_results_are_never_pooled() -> None:
    summary = make_summary()
    found = compare_summaries({"a": summary, "b": scaled(summary, 2)}, "target")
    assert len(found.cells) == 64


def test_a_parameter_that_some_rows_lack_keeps_them_apart() -> None:
    """The rows of one NUMA node have its number, and those of all nodes have none."""
    rows = make_rows(Shape(repetitions=7))
    of_node = [row.model_copy(update={"params": {**row.params, "memory_node": 0}}) for row in rows]
    both = of([*rows, *of_node])
    assert len(compare_summaries({"a": both, "b": scaled(both, 2.0)}, "result").cells) == 2 * len(rows)


def test_rows_without_partner_are_counted() -> None:
    summary = make_summary()
    found = compare_summaries({"a": of(summary.rows[:-3])}, "target")
    assert len(found.cells) == 29
    assert found.unmatched == 3


def test_values_of_zero_have_no_ratio() -> None:
    summary = make_summary()
    zero = changed(of(summary.rows[:1]), lambda _: {"repetitions": [0.0]}).rows
    found = compare_summaries({"a": of([*zero, *summary.rows[1:]])}, "target")
    assert (len(found.cells), found.unmatched) == (31, 2)
    with pytest.raises(UserError, match="no number of 'scratch' can be compared with one of 'nvme'"):
        compare_summaries({"a": changed(summary, lambda _: {"repetitions": [0.0]})}, "target")


def test_different_units_are_refused() -> None:
    other = changed(make_summary(), lambda _: {"unit": "op/s"})
    with pytest.raises(UserError, match="different units, B/s and op/s"):
        compare_summaries({"a": make_summary(), "b": other}, "result")


@pytest.mark.parametrize(
    ("by", "base", "message"),
    [("result", None, "a result cannot"), ("backend", None, "only 'posix'"), ("target", "tape", "no row has 'tape'")],
)
def test_what_cannot_be_compared_is_said(by: str, base: str | None, message: str) -> None:
    with pytest.raises(UserError, match=message):
        compare_summaries({"a": make_summary()}, by, base)


def test_one_metric_of_several_and_none() -> None:
    rows = make_rows(Shape())
    times = [row.model_copy(update={"metric": "open_time", "unit": "s", "better": "less"}) for row in rows]
    both = {"a": of([*rows, *times])}
    assert len(compare_summaries(both, "target").cells) == 64
    assert {cell.metric for cell in compare_summaries(both, "target", metric="open_time").cells} == {"open_time"}
    with pytest.raises(UserError, match="one of bandwidth, open_time"):
        compare_summaries(both, "target", metric="speed")
    with pytest.raises(UserError, match="no rows"):
        compare_summaries({"a": of([])}, "target")


def test_rows_that_stand_twice_are_refused() -> None:
    summary = make_summary()
    with pytest.raises(UserError, match="two rows"):
        compare_summaries({"a": of([*summary.rows, summary.rows[0]])}, "target")


def test_verdicts_that_differ_are_noted() -> None:
    found = compare_summaries({"a": make_summary()}, "target")
    assert cell_at(found, access="read", block_bytes=131072).notes == ("cold against warm",)
    assert cell_at(found, access="write", block_bytes=131072).notes == ()


@pytest.mark.parametrize(
    ("system", "word"),
    [
        ({**SYSTEM, "host": "other"}, "machine differs: node017 (a), other (b)"),
        ({**SYSTEM, "kernel": {"release": "7.0"}}, "kernel differs"),
        ({**SYSTEM, "cpu": {"model": "another"}}, "CPU differs"),
        ({**SYSTEM, "mpi": {"library": "MPICH 5.0.2"}}, "MPI library differs: Open MPI v4.1.4 (a), MPICH 5.0.2 (b)"),
    ],
)
def test_surroundings_that_differ_are_warned_of(system: dict[str, object], word: str) -> None:
    found = compare_summaries({"a": make_summary(), "b": of(make_rows(Shape()), system=system)}, "result")
    assert len(found.warnings) == 1
    assert word in found.warnings[0]


def test_equal_surroundings_are_not() -> None:
    assert compare_summaries({"a": make_summary(), "b": make_summary()}, "result").warnings == ()


def test_forms_hold_every_cell(capsys: pytest.CaptureFixture[str]) -> None:
    found = compare_summaries({"a": make_summary(), "b": scaled(make_summary(), 2)}, "result")
    loaded = json.loads(comparison_text.to_json(found))
    assert len(loaded["cells"]) == 64
    assert loaded["counts"] == {"b": dict(found.counts("b"))}
    lines = list(csv.DictReader(io.StringIO(comparison_text.to_csv(found))))
    assert [float(line["ratio"]) for line in lines] == [cell.ratio for cell in found.cells]
    assert comparison_text.to_markdown(found).count("\n| ") == 2 + 64
    comparison_text.print_comparison(found)
    printed = capsys.readouterr().out
    assert "b against a: faster in" in printed
    assert "\x1b" not in printed


def test_suites_of_one_result_are_compared_each_with_itself() -> None:
    plain = make_summary(Shape(repetitions=7))
    disk, sweep = (changed(plain, lambda _row, name=name: {"suite": name}) for name in ("disk", "sweep"))
    both = of([*disk.rows, *scaled(sweep, 2.0).rows])
    found = compare_summaries({"a": both, "b": scaled(both, 1.5)}, "result")
    assert {dict(cell.setting)["suite"] for cell in found.cells} == {"disk", "sweep"}
    assert all(cell.ratio == pytest.approx(1.5, rel=0.1) for cell in found.cells)
    # Results of one suite each, whatever it is called, are compared as ever.
    apart = compare_summaries({"a": disk, "b": sweep}, "result")
    assert len(apart.cells) == len(plain.rows)


# -- results as wholes -------------------------------------------------------------------------------------------------


def of_ranks(ranks: int, factor: float = 1.0, nodes: int = 1) -> Summary:
    """A result whose rows all have so many ranks, as those of a benchmark with phases have."""
    rows = [row for row in make_rows(Shape(repetitions=7)) if row.params["ranks"] == 4 and row.target == "nvme"]
    made = of([row.model_copy(update={"params": {**row.params, "ranks": ranks, "nodes": nodes}}) for row in rows])
    return scaled(made, factor)


def test_results_of_different_ranks_stand_side_by_side() -> None:
    found = compare_summaries({"a": of_ranks(2), "b": of_ranks(4, 2.0)}, "result")
    assert found.counts("b") == {"faster": 8}
    assert found.unmatched == 0
    assert found.differing == {"b": [("ranks", 2, 4)]}
    assert {cell.notes for cell in found.cells} == {()}


@pytest.mark.parametrize(("by", "names"), [("ranks", ("2", "8")), ("nodes", ("1", "2")), ("ppn", ("2", "4"))])
def test_results_are_compared_by_what_sets_them_apart(by: str, names: tuple[str, ...]) -> None:
    found = compare_summaries({"a": of_ranks(2, nodes=1), "b": of_ranks(8, 2.0, nodes=2)}, by)
    assert found.names == names
    assert found.counts(names[1]) == {"faster": 8}
    assert {key for key, *_ in found.differing[names[1]]} == {"ranks", "nodes"} - {by}
    assert [len(found.groups[name]) for name in names] == [8, 8]


def test_any_parameter_is_a_dimension() -> None:
    rows = make_rows(Shape(repetitions=7))
    synced = [row.model_copy(update={"params": {**row.params, "sync": how}}) for row in rows for how in ("end", "each")]
    found = compare_summaries({"a": of(synced)}, "sync")
    assert (found.names, len(found.cells)) == (("end", "each"), 64)


def test_results_on_different_targets_are_compared() -> None:
    one, other = of_ranks(4), changed(of_ranks(4, 3.0), lambda _: {"target": "scratch"})
    for by in ("result", "target"):
        found = compare_summaries({"a": one, "b": other}, by)
        assert found.counts(found.names[1]) == {"faster": 8}


def test_what_a_result_has_several_of_is_compared_at_its_largest_count() -> None:
    """A sweep of 1 to 8 ranks has no cell in common with one of 16: all ranks of each stand side by side."""
    found = compare_summaries({"a": make_summary(Shape(repetitions=7)), "b": of_ranks(16)}, "result")
    assert {(cell.base.params["ranks"], cell.other.params["ranks"]) for cell in found.cells} == {(8, 16)}
    assert found.differing == {"b": [("ranks", 8, 16)]}
    assert (len(found.cells), found.unmatched) == (8, 56)


def test_targets_of_one_result_that_differ_in_several_things_stand_side_by_side() -> None:
    """Runs with 160 x 16 and 504 x 2 ranks are compared by any of what sets them apart."""
    small = of_ranks(2, nodes=1)
    large = changed(of_ranks(8, 2.0, nodes=2), lambda _: {"target": "scratch"})
    for by in ("target", "ranks", "nodes"):
        found = compare_summaries({"a": of([*small.rows, *large.rows])}, by)
        assert found.counts(found.names[1]) == {"faster": 8}
        assert {key for key, *_ in found.differing[found.names[1]]} == {"target", "ranks", "nodes"} - {by}
        (line,) = comparison_text.difference_texts(found)
        assert line.count("also differ") == 1


def test_what_differs_in_some_cells_is_noted_there() -> None:
    one = of_ranks(2)
    rows = [
        row.model_copy(update={"params": {**row.params, "order": order}})
        for row, order in zip(one.rows, ["random", *["sequential"] * 7], strict=True)
    ]
    plain = changed(one, lambda row: {"params": {**row.params, "order": "sequential"}})
    found = compare_summaries({"a": plain, "b": of(rows)}, "result")
    assert [cell.notes for cell in found.cells if cell.notes] == [("order sequential against random",)]
    assert found.differing == {}


def test_a_parameter_that_a_table_lacks_keeps_nothing_apart() -> None:
    """A table of an official result does not tell the block of a phase; our rows do."""
    ours = changed(of_ranks(4), lambda row: {"params": {"phase": f"{row.params['block_bytes']}{row.params['access']}"}})
    known = changed(ours, lambda row: {"params": {**row.params, "block_bytes": 1 << 20, "backend": "posix"}})
    assert len(compare_summaries({"a": ours, "b": known}, "result").cells) == 8


def test_a_dimension_that_pairs_nothing_names_those_that_do() -> None:
    reads = [row for row in of_ranks(2).rows if row.params["access"] == "read"]
    writes = [row for row in of_ranks(2).rows if row.params["access"] == "write"]
    other = [row.model_copy(update={"target": "scratch"}) for row in writes]
    with pytest.raises(UserError, match=r"they share no access; take --by block \(6 pairs\) or --by access \(4 p"):
        compare_summaries({"a": of([*reads, *other])}, "target")


def test_scores_of_whole_results_stand_beside_each_other() -> None:
    def scored(value: float, ranks: int) -> Summary:
        return of_ranks(ranks).model_copy(update={"scores": [Score(name="IO500", value=value, valid=True)]})

    found = compare_summaries({"a": scored(4.0, 2), "b": scored(5.0, 4)}, "ranks")
    (pair,) = found.scores
    assert pair.title == "IO500"
    assert (pair.base_name, pair.other_name, pair.ratio) == ("2", "4", 1.25)
    assert comparison_text.score_texts(found) == ["IO500: 4.00 (2), 5.00 (4), 1.25 x"]
    assert json.loads(comparison_text.to_json(found))["scores"][0]["ratio"] == 1.25
    assert "- IO500: 4.00" in comparison_text.to_markdown(found)


def test_by_default_each_phase_is_compared_by_what_it_is_about() -> None:
    rows = make_rows(Shape(repetitions=7))[:2]
    write = rows[0].model_copy(update={"params": {"phase": "ior-easy-write", "ranks": 2}})
    of_stat = {"params": {"phase": "stat", "ranks": 2}, "metric": "operation_rate", "unit": "op/s"}
    stat = rows[1].model_copy(update=of_stat)
    late = write.model_copy(update={"metric": "latency_p50", "unit": "s", "better": "less"})
    both = of([write, late, stat])
    found = compare_summaries({"a": both, "b": scaled(both, 2.0)}, "result", metric=MAIN)
    assert [cell.metric for cell in found.cells] == ["bandwidth", "operation_rate"]


def test_scores_of_parts_of_one_result_are_paired_by_what_they_are_of() -> None:
    one, other = of_ranks(2), changed(of_ranks(4), lambda _: {"target": "scratch"})
    values = {"b_eff_io": 5.0, "b_eff_io of 2 processes": 4.0, "b_eff_io of 4 processes": 5.0}
    scores = [Score(name=name, value=value, valid=True) for name, value in values.items()]
    found = compare_summaries({"a": of([*one.rows, *other.rows], scores=scores)}, "ranks")
    assert comparison_text.score_texts(found) == ["b_eff_io: 4.00 (2), 5.00 (4), 1.25 x"]


def test_the_first_metric_of_each_suite_and_access_is_compared() -> None:
    plain = make_summary(Shape(repetitions=7)).rows
    pairs = [row.model_copy(update={"suite": "pairs", "metric": "exchange_bandwidth"}) for row in plain]
    both = of([*(row.model_copy(update={"suite": "sweep"}) for row in plain), *pairs])
    found = compare_summaries({"a": both, "b": scaled(both, 2.0)}, "result", metric=MAIN)
    assert {cell.metric for cell in found.cells} == {"bandwidth", "exchange_bandwidth"}
