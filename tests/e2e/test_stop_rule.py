# SPDX-License-Identifier: Apache-2.0
"""The engine stops by the interval that the rows state: both compute it, of the same repetitions."""

from pathlib import Path

import pytest
from tests.e2e.launching import case, plan, run

from ullage.analysis.statistics.intervals import is_look, median_interval, relative_width


@pytest.mark.parametrize("correlation", [0.0, 0.3])
def test_the_width_in_the_records_is_that_of_the_repetitions_so_far(
    engine: Path, tmp_path: Path, target: Path, correlation: float
) -> None:
    rule = {"relative_width": 0.02, "minimum": 3, "maximum": 13, "correlation": correlation}
    written = plan(
        tmp_path,
        [case(cache="none") for _ in range(2)],
        f"posix:{target}",
        ranks=1,
        stop_rule={"name": "median-ci", "parameters": rule},
    )
    done = run(engine, tmp_path, written)
    assert done.code == 0
    elapsed: dict[tuple[str, str], list[float]] = {}
    seen = 0
    for record in done.records:
        if record.kind == "phase":
            elapsed.setdefault((record.case, record.phase), []).append(record.elapsed_ns)
        elif record.kind == "case":
            intervals = [
                median_interval(values, 0.95, correlation) for (one, _), values in elapsed.items() if one == record.case
            ]
            count = len(next(values for (one, _), values in elapsed.items() if one == record.case))
            if any(interval.below_level for interval in intervals):
                assert record.relative_width is None
                assert record.stop == ""
                continue
            width = max(relative_width(interval) or 0.0 for interval in intervals)
            assert record.relative_width == pytest.approx(width, rel=1e-9)
            wanted = "converged" if width <= 0.02 and is_look(count) else "count" if count == 13 else ""
            assert record.stop == wanted
            seen += 1
    assert seen >= 2
