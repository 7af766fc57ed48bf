# SPDX-License-Identifier: Apache-2.0
"""The table and the maps of a matrix, and the table of an io_bench."""

import json

from support.flags import flags_of
from support.make_records import plain_row
from ullage.model.summary import Ceiling, Peer, Row, Summary
from ullage.quantity import DASH
from ullage.report.data import ReportData
from ullage.report.vega import to_svg, with_config
from ullage.suites.io_bench import report as io_bench
from ullage.suites.matrix import report as matrix

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SYSTEM: dict[str, object] = {
    "cpu": {"caches": {"L1d": 32 * KIB, "L2": MIB, "L3": 32 * MIB}},
    "memory": {"total_bytes": 24 * GIB},
}


def row(suite: str, rate: float, place: dict[str, object], **more: object) -> Row:
    metric = "file_bandwidth" if suite == "matrix" else "bandwidth"
    own = {"metric": metric, "target": "here", "case": "c1", "suite": suite}
    return plain_row(rate, {"ranks": 1, **place}, **{**own, **more})


def cell(test: str, rate: float, file: int, record: int, **more: object) -> Row:
    place: dict[str, object] = {"test": test, "iozone": 1, "access": "read", "file_bytes": file, "block_bytes": record}
    return row("matrix", rate, place, **more)


def surface(test: str = "reread", **more: object) -> list[Row]:
    return [
        cell(test, 1e9 * (1 + index), file, record, **more)
        for index, (file, record) in enumerate(
            (file, record) for file in (256 * KIB, MIB, 4 * MIB) for record in (4 * KIB, 256 * KIB)
        )
    ]


def data(*rows: Row, suite: str = "node") -> ReportData:
    return ReportData(Summary(suite=suite, run_id="r", created="now", rows=list(rows), system=SYSTEM))


def test_each_test_is_a_map_with_the_caches_it_crosses() -> None:
    first, second = matrix.figures(data(*surface("write"), *surface("read")))
    assert (first.title, second.title) == ("write", "read")
    assert "Lines: L2 1.00 MiB." in first.caption
    values = first.spec["data"]["values"]
    assert len(values) == 6
    assert [one["what"] for one in values if one["best"]] == ["file 4M, record 256K"]
    rules = [layer for layer in first.spec["layer"] if layer["mark"]["type"] == "rule"]
    assert [rule["data"]["values"] for rule in rules] == [[{"line": "4M"}]], "above the first file that does not fit"


def test_a_record_that_outgrows_a_cache_has_a_line_too() -> None:
    rows = [cell("read", 1e9, 64 * MIB, record) for record in (MIB, 4 * MIB, 64 * MIB)]
    (figure,) = matrix.figures(data(*rows))
    rules = [layer["data"]["values"] for layer in figure.spec["layer"] if layer["mark"]["type"] == "rule"]
    assert rules == [[{"column": "4M"}], [{"column": "64M"}]]


def test_nothing_is_drawn_for_one_cell_for_other_suites_or_without_caches() -> None:
    assert matrix.figures(data(cell("read", 1e9, MIB, MIB))) == []
    assert matrix.figures(data(row("disk", 1e9, {"access": "read"}))) == []
    bare = ReportData(Summary(suite="matrix", run_id="r", created="now", rows=surface()))
    (figure,) = matrix.figures(bare)
    assert "Lines" not in figure.caption


def test_a_map_says_what_was_not_measured_as_asked_and_can_be_drawn() -> None:
    (figure,) = matrix.figures(data(*surface(verdict="warm")))
    assert "squares: warm" in figure.caption
    svg = to_svg(with_config(figure.spec, figure.title, figure.caption))
    assert ">L2<" in svg
    assert ">6.00G<" in svg


def test_targets_have_maps_of_their_own_and_many_records_a_whole_row() -> None:
    found = matrix.figures(data(*surface(target="a"), *surface(target="b")))
    assert [one.title for one in found] == ["a · reread", "b · reread"]
    assert not found[0].wide
    many = [cell("read", 1e9, 64 * MIB, 4 * KIB << step) for step in range(12)]
    assert matrix.figures(data(*many))[0].wide


def test_a_full_matrix_stays_small_enough_for_a_page() -> None:
    files = [64 * KIB << step for step in range(14)]
    records = [4 * KIB << step for step in range(13)]
    from ullage.suites.matrix.suite import LABELS

    rows = [cell(test, 1e9, f, r) for test in LABELS for f in files for r in records if r <= f]
    figures = matrix.figures(data(*rows))
    assert len(figures) == 22
    assert len(json.dumps([one.spec for one in figures], separators=(",", ":"))) < 1_000_000


def test_the_table_has_best_median_and_verdicts_of_each_test() -> None:
    rows = [*surface("write", verdict="synced"), *surface("read")]
    rows[-1] = rows[-1].model_copy(update={"flags": flags_of("INVALID:above-ceiling")})
    content = matrix.tables(data(*rows))
    assert content is not None
    (grid,) = content.grids
    texts = [[one.text for one in line] for line in grid.rows]
    assert texts == [
        ["write", "1", "6", "6.00 GB/s", "4M / 256K", "3.50 GB/s", "1.00 GB/s", "6 synced"],
        ["read", "1", "6", "5.00 GB/s", "4M / 4K", "3.50 GB/s", "1.00 GB/s", "5 cold, 1 INVALID"],
    ]
    assert any("No other tool was run for comparison" in note for note in content.notes)


def test_short_phases_and_peers_are_said() -> None:
    rows = surface(flags=flags_of("too-short"), peer=Peer(tool="iozone", version="3.489", median=5e8))
    content = matrix.tables(data(*rows))
    assert content is not None
    assert any(note.startswith("6 of 6 numbers come from phases below 10 ms") for note in content.notes)
    assert "iozone 3.489 ran for comparison." in content.notes
    assert content.grids[0].columns[-1].heading == "median ratio to peer"
    assert content.grids[0].rows[0][-1].text == "7.00"


def test_other_suites_have_neither_table() -> None:
    other = data(row("disk", 1e9, {"access": "read"}))
    assert matrix.tables(other) is None
    assert io_bench.tables(other) is None


def stream(order: str, access: str, rate: float, record: int, peak: float | None = None) -> Row:
    ceiling = None if peak is None else Ceiling(value=peak, kind="declared", source="--ceiling")
    place: dict[str, object] = {"access": access, "order": order, "block_bytes": record}
    return row("io_bench", rate, place, ceiling=ceiling, share=None if peak is None else rate / peak)


def test_six_streams_stand_by_record_with_their_share() -> None:
    rows = [
        stream("sequential", "write", 2e8, MIB, 4e8),
        stream("sequential", "write", 1e8, 64 * KIB, 4e8),
        stream("backward", "read", 3e8, MIB),
    ]
    content = io_bench.tables(data(*rows))
    assert content is not None
    (grid,) = content.grids
    assert [one.heading for one in grid.columns] == ["record", "sequential write", "backward read"]
    assert [[one.text for one in line] for line in grid.rows] == [
        ["64K", "100 MB/s, 25 %", DASH],
        ["1M", "200 MB/s, 50 %", "300 MB/s"],
    ]
    assert content.notes == ["The peak of here writes is 400 MB/s (declared: --ceiling)."]


def test_an_unknown_peak_is_said() -> None:
    content = io_bench.tables(data(stream("random", "read", 1e8, MIB)))
    assert content is not None
    assert content.notes == ["No peak is known. State one with --ceiling."]
