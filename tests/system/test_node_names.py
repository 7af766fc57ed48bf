# SPDX-License-Identifier: Apache-2.0
"""The names of the nodes of a job."""

from pathlib import Path

import pytest

from support.fake_program import FakeProgram
from ullage.system.allocation import node_names, nodes_lost

JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "3", "SLURM_JOB_NODELIST": "n[0-2]"}


def test_nodes_of_slurm_are_a_list() -> None:
    assert node_names({"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[08-10],login"}) == ["n08", "n09", "n10", "login"]
    assert node_names({"SLURM_JOB_ID": "7"}) == []


def test_nodes_of_pbs_stand_in_a_file(tmp_path: Path) -> None:
    place = tmp_path / "nodes"
    place.write_text("a\na\nb\n")
    assert node_names({"PBS_JOBID": "7", "PBS_NODEFILE": str(place)}) == ["a", "b"]
    assert node_names({}) == []


@pytest.mark.parametrize(
    ("answer", "lost"),
    [
        ("echo 'n[0,2]'", ["n1"]),
        ("echo 'n[0-2]'", []),
        # The job of an array is listed with all others of it.
        ("echo n0; echo 'n[1-2]'; echo", []),
        ("echo 'Unable to contact slurm controller' >&2; exit 1", []),
        ("echo", []),
    ],
)
def test_nodes_that_slurm_takes_from_a_job_are_lost(fake_program: FakeProgram, answer: str, lost: list[str]) -> None:
    path = {"PATH": f"{fake_program('squeue', answer).parent}:/bin:/usr/bin"}
    assert nodes_lost({**JOB, **path}) == lost
    assert nodes_lost(path) == []
    assert nodes_lost({"SLURM_JOB_ID": "7", **path}) == []
