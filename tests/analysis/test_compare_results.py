# SPDX-License-Identifier: Apache-2.0
"""Comparison of results as wholes: what sets them apart, and what is paired with what."""

import json

import pytest
from tests.analysis.test_compare import changed, of, scaled

from support.sample_result import Shape, make_rows, make_summary
from ullage.analysis.compare import MAIN, compare_summaries
from ullage.errors import UserError
from ullage.model.summary import Score, Summary
from ullage.report import comparison_text


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
