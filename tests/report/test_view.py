# SPDX-License-Identifier: Apache-2.0
"""Rows arranged in panels."""

from support.data import some
from support.flags import flags_of
from support.sample_result import Shape, make_rows, make_summary
from ullage.model.summary import Row, Summary
from ullage.report.view import MOST_PANELS, make_view


def with_params(row: Row, **more: object) -> Row:
    return row.model_copy(update={"params": {**row.params, **more}})


def of(rows: list[Row]) -> Summary:
    return make_summary().model_copy(update={"rows": rows})


def test_one_panel_for_each_target_and_access() -> None:
    view = make_view(make_summary())
    assert [panel.title for panel in view.panels] == [
        "nvme · write",
        "nvme · read",
        "scratch · write",
        "scratch · read",
    ]
    assert view.panels[0].xs == [1, 2, 4, 8]
    assert view.panels[0].series == [131072, 524288, 2097152, 8388608]


def test_a_parameter_that_follows_from_the_axes_makes_no_panel() -> None:
    rows = [with_params(row, segments=1024 // int(row.params["ranks"])) for row in make_rows(Shape())]
    assert len(make_view(of(rows)).panels) == 4


def test_a_parameter_that_varies_within_a_cell_makes_panels_of_its_own() -> None:
    rows = [with_params(row, collective=flag) for row in make_rows(Shape()) for flag in (False, True)]
    view = make_view(of(rows))
    assert len(view.panels) == 8
    assert "collective yes" in {panel.setting for panel in view.panels}


def test_best_is_by_direction_and_never_invalid() -> None:
    rows = make_rows(Shape(targets=("nvme",), accesses=("read",)))
    fastest = max(rows, key=lambda row: row.median)
    assert make_view(of(rows)).panels[0].best is fastest
    flagged = [row.model_copy(update={"flags": flags_of("INVALID")}) if row is fastest else row for row in rows]
    best = make_view(of(flagged)).panels[0].best
    assert best is not None
    assert best.median < fastest.median
    slow = [row.model_copy(update={"better": "less"}) for row in rows]
    best = make_view(of(slow)).panels[0].best
    assert best is not None
    assert best.median == min(row.median for row in rows)


def test_no_valid_row_is_no_best() -> None:
    rows = [row.model_copy(update={"flags": flags_of("INVALID:littles-law")}) for row in make_rows(Shape())]
    assert all(panel.best is None for panel in some(make_view(of(rows)).panels))


def test_only_the_first_metric_of_an_access_is_drawn() -> None:
    rows = make_rows(Shape())
    more = [row.model_copy(update={"metric": "open_time", "unit": "s", "better": "less"}) for row in rows]
    view = make_view(of([*rows, *more]))
    assert len(view.panels) == 8
    assert {panel.metric for panel in view.main} == {"bandwidth"}


def test_of_many_panels_the_best_are_drawn() -> None:
    targets = tuple(f"{kind}{index}" for kind in ("nvme", "scratch") for index in range(8))
    view = make_view(make_summary(Shape(targets=targets, accesses=("read",))))
    assert len(view.main) == 16
    assert len(view.shown) == MOST_PANELS
    assert sum(panel.target.startswith("nvme") for panel in view.shown) == 8


def test_rows_without_any_known_parameter_still_make_a_panel() -> None:
    rows = [row.model_copy(update={"params": {}}) for row in make_rows(Shape())[:1]]
    panel = make_view(of(rows)).panels[0]
    assert panel.xs == []
    assert panel.best is not None
