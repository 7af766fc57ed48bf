# SPDX-License-Identifier: Apache-2.0
"""The sentences, tables and charts of suite ``checkpoint``."""

import pytest

from support.make_records import around, plain_row
from ullage.model.summary import Finding, Row, Summary
from ullage.report.contents import Content
from ullage.report.data import ReportData
from ullage.report.headlines import headlines
from ullage.suites.checkpoint.findings import LEAST_RATE, RATE, WAIT, findings_of
from ullage.suites.checkpoint.report import figures, tables

MIB = 1 << 20
CLEAR = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01]


def row(layout: str, seconds: float, operation: str = "save", metric: str = WAIT, **fields: object) -> Row:
    files = {"rank": 2, "tensor": 582, "shared": 1}[layout]
    access, verdict = ("write", "synced") if operation == "save" else ("read", "cold")
    params = {"access": access, "operation": operation, "ranks": 2, "nodes": 1, "model": "8B", "mode": "whole"}
    params |= {"scale": 0.01, "layout": layout, "files": files, "block_bytes": MIB, "rank_bytes": 400 * MIB}
    params |= {"volume_bytes": 800 * MIB, "backend": "posix"}
    params |= {"data_of": "own"} if operation == "restore" else {}
    is_time = metric == WAIT
    samples = [one if is_time else 1e9 / seconds / seconds * one for one in around(seconds)]
    own = {"metric": metric, "unit": "s" if is_time else "B/s", "case": layout, "verdict": verdict}
    return plain_row(samples, params, **{**own, **fields})


def of(found: list[Finding], kind: str) -> list[Finding]:
    return [finding for finding in found if finding.kind == kind]


def whole() -> list[Row]:
    """Both operations in all layouts, in no order."""
    times = {"shared": (3.0, 1.0), "tensor": (6.0, 2.0), "rank": (2.0, 1.001)}
    return [
        one
        for name, (save, restore) in times.items()
        for operation, seconds in (("restore", restore), ("save", save))
        for one in (
            row(name, seconds, operation),
            row(name, seconds, operation, RATE),
            row(name, 2 * seconds, operation, LEAST_RATE),
        )
    ]


def test_the_wait_is_told_for_every_layout_with_the_least_rate() -> None:
    (found,) = of(findings_of(whole(), 0.95), "checkpoint-wait")
    assert found.title == ("Training on disk waits 2.00 s to 6.00 s to save and 1.00 s to 2.00 s to restore")
    assert found.text == (
        "The checkpoint has 800 MiB (8B, 1 % of its published size) and is saved by 2 ranks on disk. Saving with fsync "
        "takes 2.00 s (a file for each rank), 6.00 s (a file for each tensor) and 3.00 s (one shared file). Reading it "
        "back takes 1.00 s (a file for each rank), 2.00 s (a file for each tensor) and 1.00 s (one shared file). "
        "The slowest rank saves at 250 MB/s, 83.3 MB/s and 167 MB/s, in the same order. The slowest rank reads at "
        "500 MB/s, 250 MB/s and 500 MB/s, in the same order."
    )
    assert found.numbers["layout"] == ["rank", "rank", "tensor", "tensor", "shared", "shared"]
    assert found.numbers["wait_s"] == [2.0, 1.001, 6.0, 2.0, 3.0, 1.0]


def test_a_subset_is_a_part_of_what_its_ranks_have() -> None:
    subset = row("rank", 2.0)
    subset = subset.model_copy(update={"params": {**subset.params, "mode": "subset"}})
    (found,) = of(findings_of([subset], 0.95), "checkpoint-wait")
    assert "has 800 MiB (8B, 1 % of the published part of these ranks) and is saved by 2 ranks" in found.text
    content = tables(data_of([subset]))
    assert content is not None
    assert "1 % of the published part of these ranks. Mode subset: each rank has the part" in content.notes[0]


def test_a_single_time_is_no_range_and_restores_may_stand_alone() -> None:
    (saved,) = of(findings_of([row("rank", 2.0)], 0.95), "checkpoint-wait")
    assert saved.title == "Training on disk waits 2.00 s to save"
    (read,) = of(findings_of([row("rank", 2.0, "restore")], 0.95), "checkpoint-wait")
    assert read.title == "Training on disk waits 2.00 s to restore"


def test_the_best_layout_is_named_with_those_that_are_proved_slower() -> None:
    save, restore = of(findings_of(whole(), 0.95), "checkpoint-layout")
    assert (save.severity, save.change) == ("advice", "--layout rank")
    assert save.title == "Saves by 2 ranks on disk are faster with a file for each rank"
    assert (
        "The save takes 3.00 x as long with a file for each tensor and 1.50 x as long with one shared file."
        in save.text
    )
    assert save.gain is not None
    assert save.gain.factor == pytest.approx(1.5, rel=0.01)
    # Layout rank restores as fast as the best, beyond what the noise lets tell.
    assert restore.title == "Restores by 2 ranks on disk are faster with one shared file"


def test_layouts_within_the_noise_and_other_readers_are_not_compared() -> None:
    same = [row("rank", 1.0), row("shared", 1.001)]
    assert of(findings_of(same, 0.95), "checkpoint-layout") == []
    other = row("shared", 5.0, "restore")
    other = other.model_copy(update={"params": {**other.params, "data_of": "other-node"}})
    assert of(findings_of([row("rank", 1.0, "restore"), other], 0.95), "checkpoint-layout") == []


def test_nothing_is_concluded_from_what_a_cache_answered() -> None:
    warm = [row("rank", 0.1, "restore", verdict="warm"), row("shared", 3.0, "restore", verdict="mixed 37 %")]
    (found,) = findings_of([*warm], 0.95)
    assert (found.kind, found.severity) == ("checkpoint-cached", "warning")
    assert "a file for each rank with 2 ranks (warm) and one shared file with 2 ranks (mixed 37 %)" in found.text
    assert "No finding rests on these times." in found.text
    (left,) = findings_of([row("rank", 0.1, verdict="cached")], 0.95)
    assert left.title == "A part of the checkpoint did not reach the storage in its time on disk"


def data_of(rows: list[Row]) -> ReportData:
    return ReportData(Summary(suite="checkpoint", run_id="r", created="now", command=[], versions={}, rows=rows))


def column(content: Content | None, table: int, heading: str) -> list[str]:
    assert content is not None
    grid = content.grids[table]
    at = [head.heading for head in grid.columns].index(heading)
    return [line[at].text for line in grid.rows]


def test_a_table_for_each_operation_has_the_layouts_in_one_order() -> None:
    content = tables(data_of(whole()))
    assert content is not None
    assert [grid.title for grid in content.grids] == ["disk: saved", "disk: read back"]
    for table in (0, 1):
        assert column(content, table, "layout") == ["rank", "tensor", "shared"]
    assert column(content, 0, "training waits") == ["2.00 s", "6.00 s", "3.00 s"]
    assert column(content, 0, "least rate of a rank") == ["250 MB/s", "83.3 MB/s", "167 MB/s"]
    assert column(content, 0, "files") == ["2", "582", "1"]
    assert column(content, 1, "written by") == ["the same rank"] * 3
    assert content.notes[0] == (
        "The checkpoint of model 8B has 800 MiB, 1 % of the published size. Mode whole: all ranks share it."
    )
    assert "Nodes read back what they have saved themselves" in content.notes[1]
    assert tables(data_of([])) is None


def test_a_chart_has_a_bar_for_each_layout_saves_first() -> None:
    (figure,) = figures(data_of(whole()))
    assert figure.title == "disk, posix, 2 ranks"
    names = [value["name"] for value in figure.spec["data"]["values"]]
    assert names == [f"{done}, {name}" for done in ("saved", "read back") for name in ("rank", "tensor", "shared")]
    assert "Lines are the intervals" in figure.caption
    (single,) = figures(data_of([row("rank", 1.0, low=None, high=None)]))
    assert "One sample a bar: no interval." in single.caption
    assert figures(data_of([])) == []


def test_the_headlines_are_the_best_rate_and_the_shortest_wait() -> None:
    rows = [*whole(), row("tensor", 0.001, "restore", verdict="warm")]
    found = {one.what: rows[one.row].median for one in headlines(rows) if one.part == "disk"}
    assert found == {
        "disk: checkpoint saved, a file for each rank": 5e8,
        "disk: checkpoint read back, one shared file": 1e9,
        "disk: time to save a checkpoint, a file for each rank": 2.0,
        "disk: time to read a checkpoint back, one shared file": 1.0,
    }
