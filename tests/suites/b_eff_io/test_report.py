# SPDX-License-Identifier: Apache-2.0
"""Tables and plots of b_eff_io, of a constructed run and of an imported output."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.b_eff_io_world import At, World, usual_options
from ullage.model.summary import Summary
from ullage.report.contents import Content, Figure, Grid
from ullage.report.data import ReportData, load
from ullage.report.vega import to_svg, with_config
from ullage.runs.summary import build_summary
from ullage.suites.b_eff_io import charts as b_eff_io
from ullage.suites.b_eff_io import report as section
from ullage.suites.b_eff_io.hints import HintSet
from ullage.suites.b_eff_io.importer import read
from ullage.suites.b_eff_io.patterns import ACCESSES, MIB, TYPES, X_POSITIONS
from ullage.suites.b_eff_io.sheets import best_sheets, sheets_of, title_of

PRINTED = """\
b_eff_io.c, Revision 2.1 from Dec. 12, 2001
-N 4 T=1800, MT=8192 MBytes, -noshared
Maximum chunk size   =   16.000 MBytes
Summary of file I/O bandwidth accumulated on   4 processes with 2048 MByte/PE
   4 PEs 1     1024 write      10.000   20.000   30.000   40.000   50.000
   4 PEs 7 16777216 write     110.000  120.000  130.000  140.000  150.000
weighted average bandwidth for write   :  401.667 MB/s on 4 processes
weighted average bandwidth for read    :  461.667 MB/s on 4 processes
b_eff_io of these measurements =  435.067 MB/s on 4 processes with 2048 MByte/PE and scheduled time=30.0 min
"""


def bandwidth(at: At) -> float:
    """Calls of less than 300 KB are slow, 8 bytes more cost 30 %; hints help the largest chunks and harm the others."""
    call = at.pattern.call(16 * MIB) or MIB
    value = 400e6 * {"write": 1.0, "rewrite": 1.25, "read": 2.0}[at.access] * at.ranks / 4 * call / (call + 3e5)
    if at.pattern.size.endswith("+8"):
        value *= 0.7
    if at.hints and at.pattern.type in ("scatter", "shared"):
        value *= 2.0 if call > 8 * MIB else 0.1
    return value * (1 + 0.001 * at.round)


def hints_told(at: At) -> dict[str, object]:
    """One hint is ignored, one is changed, and one is in force without being given."""
    always = {"romio_cb_write": "enable"}
    if not at.hints:
        return {"hints_granted": always}
    given = {"cb_nodes": "8", "IBM_largeblock_io": "true"}
    return {"hints_given": given, "hints_granted": {**always, "cb_nodes": "2"}}


def data_of(folder: Path, world: World) -> ReportData:
    result = world.write(folder / "result")
    return load(result, build_summary(result))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """Half an hour for each partition; pattern 13 hangs with 4 processes, and is then left out with these."""
    world = World(usual_options(), bandwidth, hangs=lambda at: at.pattern.number == 13 and at.ranks == 4)
    return data_of(tmp_path_factory.mktemp("plain"), world)


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """Two sets of hints, three rounds of a short schedule without shared pointers."""
    hint_sets = [HintSet(name=name) for name in ("default", "large")]
    options = usual_options(hint_sets=hint_sets, repetitions=3, time_s=120.0, shared_pointer=False, rewrite=False)
    return data_of(tmp_path_factory.mktemp("sets"), World(options, bandwidth, hints_told))


@pytest.fixture(scope="module")
def printed() -> ReportData:
    return ReportData(read(PRINTED, "a.sum"))


def grids(data: ReportData) -> dict[str, Grid]:
    content = section.tables(data)
    assert content is not None
    for grid in content.grids:
        assert all(len(row) == len(grid.columns) for row in grid.rows)
    return {
        grid.title.partition(",")[0] if grid.title.startswith("Values") else grid.title: grid for grid in content.grids
    }


def column(grid: Grid, heading: str) -> list[str]:
    index = [one.heading for one in grid.columns].index(heading)
    return [row[index].text for row in grid.rows]


def notes(data: ReportData) -> str:
    content: Content | None = section.tables(data)
    assert content is not None
    return " ".join(content.notes)


def within(node: object) -> Iterator[dict[str, Any]]:
    """Every object of a spec."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from within(value)
    elif isinstance(node, list):
        for value in node:
            yield from within(value)


def plots(figure: Figure) -> list[dict[str, Any]]:
    return [plot for row in figure.spec["vconcat"] for plot in row["concat"]]


def texts(figure: Figure) -> set[str]:
    """Words of corner labels and notes."""
    marks = [one["mark"] for one in within(figure.spec) if isinstance(one.get("mark"), dict)]
    return {line for mark in marks if mark["type"] == "text" for line in mark["text"]}


def drawn(figure: Figure) -> str:
    svg = to_svg(with_config(figure.spec, figure.title, figure.caption))
    assert svg.startswith("<svg")
    return svg


def test_what_voids_a_value_is_said_with_its_reasons(sets: ReportData) -> None:
    assert set(column(grids(sets)["Values"], "counts")) == {"NOT VALID"}
    assert "NOT VALID for comparison of different systems" in notes(sets)
    assert "without shared file pointers" in notes(sets)


def test_a_pattern_without_a_value_says_why(plain: ReportData) -> None:
    by_access = grids(plain)["4 processes: by access, MB/s"]
    assert column(by_access, "shared")[0] == "timeout"
    by_type = grids(plain)["4 processes: by type, MB/s"]
    assert column(by_type, "write")[13] == "timeout"
    assert column(by_type, "write")[12] != "timeout"


def test_hints_are_shown_as_given_and_as_in_force(sets: ReportData) -> None:
    grid = grids(sets)["Hints as given and as MPI-IO reads them back"]
    lines = {tuple(cell.text for cell in row) for row in grid.rows}
    everywhere = "all patterns (write, read)"
    assert ("large", "IBM_largeblock_io", "true", "ignored") in {line[:4] for line in lines}
    assert ("large", "cb_nodes", "8", "2") in {line[:4] for line in lines}
    assert ("default", "romio_cb_write", "\u2013", "enable") in {line[:4] for line in lines}
    assert column(grid, "given")[0] != "\u2013", "what was given stands first"
    assert {line[4] for line in lines} != {everywhere}, "scatter is rewritten too"


def test_a_page_has_three_plots_by_access_and_five_by_type(plain: ReportData) -> None:
    figures = b_eff_io.figures(plain)
    assert [(figure.title, figure.wide) for figure in figures] == [("2 processes", True), ("4 processes", True)]
    by_access, by_type = (row["concat"] for row in figures[0].spec["vconcat"])
    assert [plot["title"]["text"] for plot in by_access] == ["first write", "rewrite", "read"]
    assert [plot["title"]["text"] for plot in by_type] == [f"type {i}: {kind}" for i, kind in enumerate(TYPES)]
    points, of_4 = (figure.spec["data"]["values"] for figure in figures)
    assert len(points) == len(ACCESSES) * len(TYPES) * len(X_POSITIONS)
    assert len(of_4) == len(points) - len(ACCESSES), (
        "pattern 13 hung in the first access and was left out of the others"
    )
    assert {point["x"] for point in points} == {1, 2, 4, 5, 7, 8, 10}
    assert {"b_eff_io", "rule of rel. 2.1", "T=30m00s", "n=2"} == texts(figures[0])
    for label in ("1k", "+8", "32k", "1M", "16M", "MB/s"):
        assert f">{label}<" in drawn(figures[0])


def test_the_axis_holds_the_decades_with_data_or_is_the_originals(plain: ReportData) -> None:
    figure = b_eff_io.figures(plain)[0]
    assert ">100000<" not in drawn(figure)
    figure.spec["params"][0]["value"] = True
    svg = drawn(figure)
    assert ">100000<" in svg
    assert ">0.1<" in svg
    assert ">100000<" not in drawn(b_eff_io.figures(plain)[0]), "one figure's box is no other's"


def test_plots_say_that_shared_pointers_were_worked_around(sets: ReportData) -> None:
    figures = b_eff_io.figures(sets)
    assert [figure.title for figure in figures][:2] == ["2 processes, hints default", "4 processes, hints default"]
    assert "individual file pointer" in texts(figures[0])
    assert "T=1m00s" in texts(figures[0]) or "T=60.0 s" in texts(figures[0])
    assert "Whiskers are the intervals" in figures[0].caption
    assert len(plots(figures[0])) == 8
    assert drawn(figures[0])


def test_of_many_pages_those_with_the_highest_values_are_shown(tmp_path: Path) -> None:
    options = usual_options(ranks=6, partitions=[1, 2, 3, 4, 5, 6], rewrite=False)
    data = data_of(tmp_path, World(options, bandwidth))
    figures = b_eff_io.figures(data)
    assert [figure.title for figure in figures] == [f"{n} processes" for n in (3, 4, 5, 6)]
    assert "Shows 4 of 6 pages, those with the highest values." in figures[0].caption
    assert "Tables of 4 of 6 partitions" in notes(data)
    assert len(grids(data)["Values"].rows) == 6


def test_sets_of_hints_are_compared_pattern_by_pattern(sets: ReportData) -> None:
    figures = b_eff_io.hint_figures(sets)
    assert [figure.title for figure in figures] == ["2 processes: against default", "4 processes: against default"]
    points = {(p["access"], p["type"], p["x"]): p for p in figures[0].spec["data"]["values"]}
    assert points["write", "scatter", 10]["y"] == pytest.approx(2.0)
    assert points["write", "scatter", 1]["y"] == pytest.approx(0.1)
    assert points["read", "separated", 1]["y"] == pytest.approx(1.0)
    assert points["write", "scatter", 10]["outcome"] == "faster"
    assert points["read", "separated", 1]["unsure"]
    assert "large makes " in figures[0].caption
    assert "times default" in drawn(figures[0])


def test_one_set_is_compared_with_nothing(plain: ReportData) -> None:
    assert b_eff_io.hint_figures(plain) == []


def test_an_imported_output_is_shown_alike(printed: ReportData) -> None:
    grid = grids(printed)["4 processes: by access, MB/s"]
    assert column(grid, "seg_coll") == ["50.00", "150.0"]
    (figure,) = b_eff_io.figures(printed)
    assert {"rel. 2.1", "T=30m00s", "n=4", "individual file pointer"} <= texts(figure)
    assert plots(figure)[0]["title"]["text"] == "first write"
    assert drawn(figure)
    assert "NOT VALID" in notes(printed)


def test_a_run_that_was_stopped_early_shows_what_it_has(tmp_path: Path) -> None:
    data = data_of(tmp_path, World(usual_options(), bandwidth, stop_after=1))
    found = grids(data)
    assert set(column(found["Values"], "processes")) == {"2"}
    assert "2 processes: by access, MB/s" in found
    assert plots(b_eff_io.figures(data)[0])[0]["title"]["text"] == "first write"


def test_other_results_have_none_of_it() -> None:
    empty = ReportData(Summary(suite="sweep", run_id="r", created="", rows=[]))
    assert section.tables(empty) is None
    assert b_eff_io.figures(empty) == []
    assert b_eff_io.hint_figures(empty) == []


def test_sheets_are_named_by_what_sets_them_apart(plain: ReportData, sets: ReportData) -> None:
    both = sheets_of(plain)
    assert [title_of(sheet, both) for sheet in both] == ["2 processes", "4 processes"]
    assert [sheet.ranks for sheet in best_sheets(both, 1)] == [4]
    assert title_of(sheets_of(sets)[-1], sheets_of(sets)) == "4 processes, hints large"


def test_the_reason_of_a_flag_stands_at_its_place(sets: ReportData) -> None:
    row = sheets_of(sets)[0].value
    assert row is not None
    assert row.reason_of("INVALID:b_eff_io").startswith("the scheduled time is ")
    assert row.reason_of("unheard-of") == ""
