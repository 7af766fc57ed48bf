# SPDX-License-Identifier: Apache-2.0
"""A tiny memory run, end to end: rows, report, going on. No number is held against another."""

import json
from pathlib import Path

import pytest
from tests.e2e.commands import command, run, run_here

from ullage.system.hardware import read_cpu

# Working sets of main memory are four times the last cache. Where that is large, no time of a test is enough for all.
_SMALL_CACHE = 64 << 20
_SECONDS = 100 if max(read_cpu().caches.values(), default=0) <= _SMALL_CACHE else 25
TINY = ("--threads", "1", "--block", "64K", "--working-set", "4K,64K,1M", "--repetitions", "1", "--no-peer", "--quick")


def test_a_tiny_run_leaves_rows_and_a_report_and_is_not_measured_again(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    code, out, err = run(
        command(engine, "run", "memory", *TINY, "--time", f"{_SECONDS}s", "--all", "--result", str(result))
    )
    assert code == 0, err
    assert "Memory" in out
    summary = json.loads((result / "summary.json").read_text())
    rows = summary["rows"]
    assert all(row["median"] > 0 for row in rows if row["unit"] != "of time")
    if "time-too-short" in {event["kind"] for event in summary["events"]}:
        pytest.skip(f"{_SECONDS} s were too short here: working sets of main memory are four times the last cache")
    assert {"memory_bandwidth", "access_time", "update_rate"} <= {row["metric"] for row in rows}
    blocks = {row["params"]["order"] for row in rows if "block_bytes" in row["params"]}
    assert blocks == {"sequential", "random"}
    sizes = {row["params"]["working_set_bytes"] for row in rows if row["params"]["access"] == "chase"}
    assert {4096, 65536, 1048576} <= sizes
    for row in rows:
        if row["params"].get("kernel") == "copy" and row["metric"] == "bus_bandwidth":
            same = next(r for r in rows if r["case"] == row["case"] and r["metric"] == "memory_bandwidth")
            ratio = row["median"] / same["median"]
            expected = 1.5 if row["params"]["stores"] == "ordinary" else 1.0
            assert abs(ratio - expected) < 0.01, "each line that an ordinary store fills is fetched first"
    assert (result / "report.html").stat().st_size < 2 << 20
    page = (result / "report.html").read_text()
    for title in ("copies of blocks", "access time of each level", "random updates"):
        assert title in page
    launches = len(list((result / "records").iterdir()))
    code, _, err = run_here("resume", str(result), "--engine", str(engine))
    assert code == 0, err
    assert len(list((result / "records").iterdir())) == launches
