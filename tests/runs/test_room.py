# SPDX-License-Identifier: Apache-2.0
"""Facts of the machine are frozen once; what a later job knows of its own nodes is added."""

from pathlib import Path

import pytest

from support.pairs_world import write_result
from ullage.model.system import Switch
from ullage.runs.inputs import EngineContext
from ullage.runs.room import freeze_system

SCONTROL = """#!/bin/sh
echo "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]"
echo "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]"
"""


def test_a_later_job_adds_the_switches_of_its_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scontrol").write_text(SCONTROL)
    (tmp_path / "scontrol").chmod(0o755)
    result = write_result(tmp_path / "r", [])
    request, context = result.read_request(), EngineContext(Path("engine"), None)  # type: ignore[arg-type]
    for name in ("SLURM_TOPOLOGY_ADDR", "PBS_JOBID", "LSB_JOBID", "FLUX_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    freeze_system(result, request, context)
    first = result.read_system()
    assert first is not None
    assert first.switches == []
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    for nodes in ("n[0,2]", "n[1-2]"):
        monkeypatch.setenv("SLURM_JOB_NODELIST", nodes)
        freeze_system(result, request, context)
    later = result.read_system()
    assert later is not None
    assert later.switches == [Switch(name="s0", nodes=["n0", "n1"]), Switch(name="s1", nodes=["n2"])]
    assert later.model_copy(update={"switches": []}) == first
