# SPDX-License-Identifier: Apache-2.0
"""The names of the nodes of a job."""

from pathlib import Path

import pytest

from ullage.system.allocation import expanded, node_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n0", ["n0"]),
        ("n[0-2,7],login", ["n0", "n1", "n2", "n7", "login"]),
        ("rack[08-10]-a", ["rack08-a", "rack09-a", "rack10-a"]),
        ("", []),
    ],
)
def test_nodes_are_read_as_slurm_lists_them(text: str, names: list[str]) -> None:
    assert expanded(text) == names


def test_nodes_of_pbs_stand_in_a_file(tmp_path: Path) -> None:
    place = tmp_path / "nodes"
    place.write_text("a\na\nb\n")
    assert node_names({"PBS_JOBID": "7", "PBS_NODEFILE": str(place)}) == ["a", "b"]
    assert node_names({}) == []
