# SPDX-License-Identifier: Apache-2.0
"""The health of this node, measured with the real engine as a prologue would."""

from pathlib import Path

import pytest
from tests.e2e.commands import command, run

from ullage.engine import describe


def test_a_check_ends_in_its_time_with_one_line_and_leaves_nothing(
    engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not {"compute", "stream", "transfer"} <= {thing.name for thing in describe(engine).workloads}:
        pytest.skip("this engine was built without the workloads of cores, memory and storage")
    target, scratch = tmp_path / "drive", tmp_path / "scratch"
    target.mkdir()
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    words = ["health", "--time", "20s", "--target", f"here={target}", "--campaign", str(tmp_path / "c")]
    code, out, err = run(command(engine, *words, "--keep"))
    assert (code, out.count("\n")) == (0, 1), err
    assert "no runs of 8 are known: --keep adds one" in out
    for part in ("cores", "memory", "disk writes", "disk reads"):
        assert f"{part} " in out
    assert len(list((tmp_path / "c").rglob("*.parquet"))) == 1
    assert list(target.iterdir()) == list(scratch.iterdir()) == []
