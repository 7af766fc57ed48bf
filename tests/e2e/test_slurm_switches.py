# SPDX-License-Identifier: Apache-2.0
"""Switches of a real Slurm with topology/tree: kept with the result, and in a report that is made outside of it."""

import sys
from pathlib import Path

from tests.places.slurm import slurm_up

from support import calm_ullage
from ullage.model.system import Switch
from ullage.report.data import FinishedResult, load
from ullage.results.folder import ResultFolder
from ullage.suites.pairs.report import tables


def test_a_report_knows_the_switches_of_the_job(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "pairs", "--quick", "--sizes", "8", "--repetitions", "1", "--result", str(result)]
    with slurm_up(4, 2, at_a_switch=2) as slurm:
        ullage = [sys.executable, calm_ullage.__file__, *words, "--engine", str(engine)]
        done = slurm.run("salloc", "--nodes=3", "--nodelist=n[0-2]", "--exclusive", *ullage)
        assert done.returncode == 0, done.stderr
    system = ResultFolder.open(result).read_system()
    assert system is not None
    assert system.switches == [
        Switch(name="s0", nodes=["n0", "n1"]),
        Switch(name="s1", nodes=["n2"]),
        Switch(name="top", level=1, switches=["s0", "s1"]),
    ]
    content = tables(load(FinishedResult(result)))
    assert content is not None
    assert content.notes[0] == "The 3 ranks are on 3 nodes of 2 switches, by Slurm's topology: s0 (n0, n1), s1 (n2)."
    (by_switch,) = [grid for grid in content.grids if grid.title.startswith("pairs by switch")]
    assert [[cell.text for cell in row][:4] for row in by_switch.rows[:2]] == [
        ["one switch", "the same", "", "2"],
        ["one switch", "another", "", "4"],
    ]
