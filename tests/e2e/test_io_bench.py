# SPDX-License-Identifier: Apache-2.0
"""The six streams of io_bench on real files with the real engine."""

from pathlib import Path

from tests.e2e.commands import command, run

from ullage.results.folder import ResultFolder

KIB, MIB = 1 << 10, 1 << 20


def test_six_streams_are_measured_and_nothing_is_left(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    sizes = ["--record", "64K,1M", "--volume", "8M", "--max-repetitions", "3", "--time", "120s"]
    own = ["run", "io_bench", "--target", f"here={target}", *sizes, "--ceiling", "here=1TB/s"]
    code, out, err = run(command(engine, *own, "--all", "--result", str(result)))
    assert code == 0, err
    rows = [row for row in ResultFolder.open(result).read_summary().rows if row.metric == "bandwidth"]
    streams = {(row.params["order"], row.params["access"], row.params["block_bytes"]) for row in rows}
    assert streams == {
        (order, access, record)
        for order in ("sequential", "random", "backward")
        for access in ("write", "read")
        for record in (64 * KIB, MIB)
    }
    assert all(0 < (row.share or 0) < 1 for row in rows)
    assert min(len(row.repetitions) for row in rows) >= 3
    assert "Six streams" in out
    assert [path.name for path in target.iterdir()] == ["precious"]
