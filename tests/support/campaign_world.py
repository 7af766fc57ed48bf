# SPDX-License-Identifier: Apache-2.0
"""Results of many weeks of a machine that does not exist: what the tests of campaigns keep and ask."""

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from ullage.model.record import Grade
from ullage.model.request import Request
from ullage.model.summary import Row, Summary
from ullage.results.folder import ResultFolder

START = datetime.fromisoformat("2026-01-05T04:00:00+00:00")
LEVELS: Mapping[str, float] = {"triad": 2.0e11, "copy": 1.8e11, "read": 2.4e11, "write": 1.1e11}


def stored_summaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let campaigns take the summaries as they are stored: these results have no records."""
    for module in ("store", "check"):
        monkeypatch.setattr(f"ullage.campaign.{module}.build_summary", ResultFolder.read_summary)


def write_run(
    folder: Path,
    number: int,
    *,
    factor: Mapping[str, float] | None = None,
    node: str = "n1",
    kernel: str = "6.8.0",
    verdict: str = "memory",
    grade: Grade = "A",
    cv: float = 0.03,
) -> ResultFolder:
    """The result of week ``number``; ``factor``: by what some rows differ from what is usual."""
    created = (START + timedelta(weeks=number)).isoformat()
    run_id = f"20260105T{number:06}Z-{node}"
    result = ResultFolder.create(folder / run_id, Request(run_id=run_id, suite="memory", created=created))
    draw = random.Random(f"{node}/{number}")
    levels = {access: level * (factor or {}).get(access, 1.0) * draw.gauss(1, cv) for access, level in LEVELS.items()}
    rows = [_row(access, level, verdict, grade, draw) for access, level in levels.items()]
    system: dict[str, object] = {
        "host": f"{node}.site",
        "cpu": {"model": "Example CPU", "physical_cores": 64},
        "kernel": {"release": kernel},
    }
    versions = {"ullage": "0.1.0", "mpi": "Open MPI v4.1.4"}
    result.write_summary(
        Summary(suite="memory", run_id=run_id, created=created, versions=versions, rows=rows, system=system)
    )
    return result


def _row(access: str, level: float, verdict: str, grade: Grade, draw: random.Random) -> Row:
    values = sorted(level * draw.gauss(1, 0.01) for _ in range(7))
    return Row(
        metric="memory_bandwidth",
        unit="B/s",
        better="more",
        target="memory",
        params={"access": access, "threads": 64},
        median=values[3],
        low=values[0],
        high=values[6],
        repetitions=values,
        verdict=verdict,
        grade=grade,
    )
