# SPDX-License-Identifier: Apache-2.0
"""What a run would do is told in full, and touches nothing."""

import pytest

from suites.sweep.conftest import World


def text(world: World, **words: object) -> str:
    explanation = world.prepare(**words).explain()
    return "\n".join([*explanation.head, *(" ".join(row) for row in explanation.rows), *explanation.tail])


def test_every_case_has_its_line(world: World) -> None:
    prepared = world.prepare(volume="64M")
    explanation = prepared.explain()
    assert [row[-1] for row in explanation.rows] == [cell.case.id for cell in prepared.cells(64 << 20)]
    assert all(len(row) == len(explanation.headers) for row in explanation.rows)
    assert list((world.path / "a").iterdir()) == []
    assert not (world.path / "result").exists()


def test_bytes_time_and_space_are_said_with_what_they_rest_on(world: World) -> None:
    said = text(world, volume="64M")
    for expected in (
        "Cases: 8, in 2 launches at least; volume 64.0 MiB for every case, as asked.",
        "Each is repeated 6 to 15 times, until its median is known to +-5.0 %, in 2m00s in all; order shuffled",
        "Written 3.00 GiB to 7.50 GiB, read 3.00 GiB to 7.50 GiB.",
        "assumed, not measured",
        "Space on a: 64.0 MiB at a time;",
    ):
        assert expected in said


def test_a_volume_that_a_probe_would_choose_is_said_to_be_one(world: World) -> None:
    assert "a probe of a few seconds would choose it" in text(world)


def test_what_differs_from_what_was_asked_is_said(world: World) -> None:
    assert "writes first what it reads; only read become rows" in text(world, access="read", volume="64M")
    said = text(world, volume="10M", ranks="1,2", block="4M")
    assert (
        "4 cases move another volume: each rank moves whole blocks, one at least: their true bytes are below." in said
    )
    assert " 8.00 MiB " in said
    assert "expect the verdict warm" in text(world, cache="none", volume="64M")
    assert "more than the time allows" in text(world, volume="4G", time="5s")
    assert "doubled values come" in text(world, volume="64M", extend="ranks")


def test_plans_are_one_for_each_layout_and_share_the_time(world: World) -> None:
    from ullage.results.folder import ResultFolder

    plans = world.prepare(volume="64M").plans(ResultFolder(world.path / "result"))
    assert [plan.layout.ranks for plan in plans] == [1, 2]
    assert [len(plan.cases) for plan in plans] == [4, 4]
    assert sum(plan.time_budget_s or 0 for plan in plans) == pytest.approx(120.0)
    assert plans[0].records == str(world.path / "result" / "records" / "001.ndjson")
    assert plans[0].stop_rule.parameters == {"relative_width": 0.05, "minimum": 6, "maximum": 15}
