# SPDX-License-Identifier: Apache-2.0
"""The health of a node: what is measured again, what is told, and what rests on other nodes."""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from support.data import some
from ullage.campaign import health
from ullage.campaign.check import Checked, Kept
from ullage.campaign.rows import TYPES
from ullage.campaign.store import write_rows
from ullage.model.request import Request

LEVELS: Mapping[str, float] = {"cores": 1e12, "memory": 2e11, "disk writes": 1e9, "disk reads": 2e9}
FORM: Mapping[str, object] = dict.fromkeys(TYPES)


def request(number: int, node: str = "n1") -> Request:
    created = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T04:00:00+00:00"
    return Request(run_id=f"20260105T{number:06}Z-{node}", suite="health", created=created)


def rows(number: int, node: str = "n1", cv: float = 0.01, **factor: float) -> list[Kept]:
    draw, asked = random.Random(f"{node}/{number}"), request(number, node)
    own: dict[str, object] = {
        "run": asked.run_id,
        "time": asked.created[:19],
        "node": node,
        "node_class": "Example, 64 cores",
    }
    made: dict[str, object] = {
        "unit": "B/s",
        "better": "more",
        "sound": True,
        "versions": {},
        "params": "{}",
        "metric": "rate",
    }
    return [
        {
            **FORM, **own, **made, "id": f"health-{part}", "part": part, "what": "fma",
            "median": level * draw.gauss(1, cv) * factor.get(part, 1.0),
        }
        for part, level in LEVELS.items()
    ]  # fmt: skip


def campaign(folder: Path, checks: int, nodes: Sequence[str] = ("n1",)) -> Path:
    for node in nodes:
        every = [row for number in range(checks) for row in rows(number, node)]
        write_rows(folder, "n", "health", request(0, node), every)
    return folder


def measuring(*given: list[Kept]) -> Callable[[], list[Kept]]:
    """Return the given rows, one list a call; one call more is a mistake."""
    left = iter(given)
    return lambda: next(left)


def judged(folder: Path, *given: list[Kept]) -> health.Health:
    return health.judge(measuring(*given), lambda now: health.compared(now, folder))


def test_a_usual_node_is_measured_once_and_is_ok(tmp_path: Path) -> None:
    found = judged(campaign(tmp_path, 20), rows(40))
    assert (found.word, found.past, len(found.rows)) == ("ok", 20, 4)


def test_what_is_worse_twice_is_told_with_its_size(tmp_path: Path) -> None:
    found = judged(campaign(tmp_path, 20), rows(40, memory=0.9), rows(41, memory=0.9))
    assert found.word == "worse"
    assert [(one.row["part"], one.past) for one in found.worse] == [("memory", 20)]
    assert found.rows[1]["median"] == rows(40, memory=0.9)[1]["median"]


def test_what_is_worse_once_or_elsewhere_is_not_told(tmp_path: Path) -> None:
    folder = campaign(tmp_path, 20)
    for second in (rows(41), rows(41, cores=0.9)):
        found = judged(folder, rows(40, memory=0.9), second)
        assert (found.word, found.worse) == ("cannot tell", [])
        assert "memory was worse, and is not when measured again" in found.reason


def test_without_a_past_nothing_is_known(tmp_path: Path) -> None:
    assert judged(tmp_path, rows(1)).reason == "of cores (fma) no runs of 8 are known: --keep adds one"
    assert judged(tmp_path, []).reason == "nothing was measured"
    few = judged(campaign(tmp_path, 2), rows(40))
    assert (few.word, few.reason) == ("cannot tell", "of cores (fma) 2 runs of 8 are known: --keep adds one")


def test_a_new_node_is_compared_with_its_kind(tmp_path: Path) -> None:
    folder = campaign(tmp_path, 6, [f"n{number}" for number in range(1, 6)])
    new = [rows(number, "n9", memory=0.85) for number in (40, 41)]
    assert [one.row["part"] for one in judged(folder, *new).worse] == ["memory"]
    # Its own past says that it was so from the beginning, and other nodes of its kind that it is slow.
    own = [row for number in range(8) for row in rows(number, "n9", memory=0.85)]
    write_rows(folder, "n", "health", request(0, "n9"), own)
    assert [one.row["part"] for one in judged(folder, *new).worse] == ["memory"]


def test_the_middle_of_the_launches_counts_and_too_few_sound_ones_are_none() -> None:
    row = rows(1)[0]
    launches = [{**row, "id": "a", "median": value, "sound": value > 1} for value in (1.0, 2.0, 3.0, 4.0, 0.5)]
    middle, few = health.middle(launches, "r"), health.middle(launches[:3], "r")
    assert (middle["median"], middle["sound"], middle["id"], middle["run"]) == (3.0, True, "health-a", "r")
    assert (few["median"], few["sound"]) == (2.0, False)


@pytest.mark.parametrize(("low", "word"), [(0.95, "ok"), (0.85, "cannot tell")])
def test_a_node_is_ok_where_a_loss_would_have_been_seen(low: float, word: str) -> None:
    def compare(now: Sequence[Kept]) -> list[Checked]:
        return [Checked(row, "cannot tell", "measure it 3 more times", 1.0, low, 1.1, 9) for row in some(now)]

    assert health.judge(measuring(rows(1)), compare).word == word
