# SPDX-License-Identifier: Apache-2.0
"""The front page: a line for each part of the machine, and what to change first."""

from support.flags import flags_of
from support.make_records import plain_row
from ullage.model.request import Request
from ullage.model.summary import Ceiling, Finding, Gain, Headline, Part, Row, Summary
from ullage.quantity import DASH
from ullage.report.contents import LEAD, Grid
from ullage.report.data import ReportData
from ullage.report.sections.front import SECTION, build


def row(median: float, ceiling: Ceiling | None = None, **changes: object) -> Row:
    own = {"target": "here", "ceiling": ceiling, "grade": "B", "suite": "disk", "case": ""}
    return plain_row(median, {"access": "read"}, **{**own, "low": 0.9 * median, "high": 1.1 * median, **changes})


def declared(value: float) -> Ceiling:
    return Ceiling(value=value, kind="declared", source="machine file: x")


def summary(rows: list[Row], parts: list[Part] | None = None, findings: list[Finding] | None = None) -> Summary:
    heads = [Headline(part="disk", what=f"read {index}", row=index) for index in range(len(rows))]
    found = parts if parts is not None else [Part(suite="disk", status="complete", seconds=30.0, headlines=heads)]
    return Summary(suite="node", run_id="r", created="now", rows=rows, parts=found, findings=findings or [])


def grids(of: Summary) -> list[Grid]:
    content = build(ReportData(of))
    assert content is not None
    assert all(len(line) == len(grid.columns) for grid in content.grids for line in grid.rows)
    return list(content.grids)


def cells(grid: Grid, line: int) -> dict[str, str]:
    heads = [column.heading for column in grid.columns]
    return dict(zip(heads, [cell.text for cell in grid.rows[line]], strict=True))


def test_a_run_of_one_suite_has_none() -> None:
    assert build(ReportData(Summary(suite="disk", run_id="r", created="now", rows=[row(1e9)]))) is None
    assert SECTION.order < LEAD


def test_the_range_of_few_repetitions_is_called_one() -> None:
    few = row(4e8, repetitions=[3.6e8, 4e8, 4.4e8], flags=flags_of("interval-below-95"))
    single = row(4e8, low=None, high=None, flags=flags_of("interval-below-95"))
    (machine, _) = grids(summary([few, single]))
    assert cells(machine, 0)["interval or range"] == "360 to 440 in 3 repetitions"
    assert cells(machine, 1)["interval or range"] == DASH


def test_ullage_is_what_is_not_filled() -> None:
    (machine, _) = grids(summary([row(4e8, declared(5e8)), row(1e8), row(6e8, declared(5e8))]))
    first, second, third = (cells(machine, line) for line in range(3))
    assert (first["part"], second["part"]) == ("disk", "")
    assert (first["reaches"], first["interval or range"], first["ceiling"]) == ("400 MB/s", "[360, 440]", "500 MB/s")
    assert (first["of which kind"], first["ullage"]) == ("declared", "20 %")
    assert (first["verdict"], first["grade"]) == ("cold", "B")
    assert (second["ceiling"], second["ullage"]) == (DASH, DASH)
    assert third["ullage"] == "1.20 x its ceiling"
    assert machine.rows[0][6].bar == 0.8


def test_what_is_its_own_empirical_ceiling_claims_no_ullage() -> None:
    best = Ceiling(value=5e8, kind="empirical", source="the best of this run: x")
    content = build(ReportData(summary([row(5e8, best), row(4e8, best)])))
    assert content is not None
    assert [cells(content.grids[0], line)["ullage"] for line in (0, 1)] == [DASH, "20 %"]
    assert any("--machine" in note for note in content.notes)
    parts: list[object] = [{"suite": "pio", "options": {"ceilings": []}}]
    request = Request(run_id="r", suite="apps", created="now", options={"parts": parts}, targets=[])
    content = build(ReportData(summary([row(5e8, best)]), request=request))
    assert content is not None
    (said,) = [note for note in content.notes if "empirical" in note]
    assert "--ceiling TARGET:write=RATE" in said
    assert "--machine" not in said, "a run of kernels has no such option"


def test_a_row_that_breaks_physics_says_so() -> None:
    wrong = row(9e8, declared(5e8), flags=flags_of("INVALID:above-ceiling"))
    assert cells(grids(summary([wrong]))[0], 0)["verdict"] == "INVALID"


def test_what_gains_most_for_sure_is_to_be_changed_first() -> None:
    fact = Finding(kind="best", text="fact", suite="disk")
    gains = {"more": Gain(factor=2, low=1.5, high=3), "less": Gain(factor=3, low=1.1, high=9)}
    advice = [
        Finding(kind=text, text=text, severity="advice", suite="disk", gain=gains[text]) for text in sorted(gains)
    ]
    (_, changes, _) = grids(summary([row(1e9)], findings=[fact, *advice]))
    assert [[cell.text for cell in line] for line in changes.rows] == [["disk", "more"], ["disk", "less"]]
    assert len(grids(summary([row(1e9)], findings=[fact]))) == 2


def test_what_could_not_be_run_is_said_with_its_reason() -> None:
    parts = [
        Part(suite="cpu", status="not available", reason="this engine has no workload 'compute'"),
        Part(suite="disk", status="interrupted"),
    ]
    content = build(ReportData(summary([row(1e9)], parts)))
    assert content is not None
    (table,) = content.grids
    assert cells(table, 0) == {
        "suite": "cpu",
        "ended": "not available",
        "took": DASH,
        "why": "this engine has no workload 'compute'",
    }
    assert cells(table, 1)["ended"] == "interrupted"
    assert any("Not measured: cpu" in note for note in content.notes)
