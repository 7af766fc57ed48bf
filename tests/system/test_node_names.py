# SPDX-License-Identifier: Apache-2.0
"""The names of the nodes of a job."""

from pathlib import Path

from ullage.system.allocation import node_names


def test_nodes_of_slurm_are_a_list() -> None:
    assert node_names({"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[08-10],login"}) == ["n08", "n09", "n10", "login"]
    assert node_names({"SLURM_JOB_ID": "7"}) == []


def test_nodes_of_pbs_stand_in_a_file(tmp_path: Path) -> None:
    place = tmp_path / "nodes"
    place.write_text("a\na\nb\n")
    assert node_names({"PBS_JOBID": "7", "PBS_NODEFILE": str(place)}) == ["a", "b"]
    assert node_names({}) == []
