# SPDX-License-Identifier: Apache-2.0
"""The batch scripts, word for word."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ullage.errors import UserError
from ullage.launch.slurm_script import batch_script, write_batch
from ullage.model.plan import Layout, Plan
from ullage.results.folder import ResultFolder

if TYPE_CHECKING:
    from .conftest import Ready

SNAPSHOTS = Path(__file__).parent / "snapshots"
ENGINE = Path("/opt/it's here/ullage-engine")


@pytest.mark.parametrize(
    ("name", "family", "layout", "budget_s"),
    [
        ("open-mpi", "openmpi", Layout(ranks=8, nodes=2, ranks_per_node=4, threads=2, binding="core"), 600.0),
        ("mpich", "mpich", Layout(ranks=6, nodes=4), None),
    ],
)
def test_a_script_is_as_it_was(
    name: str, family: str, layout: Layout, budget_s: float | None, make_plan: Callable[[Layout], Plan]
) -> None:
    """Ranks that this node would have cores for, and that are not bound, are not to be."""
    plan = make_plan(layout).model_copy(update={"time_budget_s": budget_s})
    text = batch_script(ResultFolder(Path("/scratch/50% full")), ENGINE, family, 3, plan, 8)  # pyright: ignore[reportArgumentType]
    assert text == (SNAPSHOTS / f"{name}.sbatch").read_text()


@pytest.mark.parametrize(
    ("layout", "cores", "is_bound"),
    [
        (Layout(ranks=128, nodes=2, ranks_per_node=64), 4, True),
        (Layout(ranks=4, nodes=2, ranks_per_node=2), 4, False),
        (Layout(ranks=4, nodes=2, ranks_per_node=2), None, True),
        (Layout(ranks=4, nodes=2, ranks_per_node=2, binding="core"), 4, True),
    ],
)
def test_ranks_are_bound_and_do_not_yield_whatever_cores_there_are_here(
    layout: Layout, cores: int | None, is_bound: bool, make_plan: Callable[[Layout], Plan]
) -> None:
    text = batch_script(ResultFolder(Path("/scratch")), ENGINE, "openmpi", 1, make_plan(layout), cores)
    assert ('--cpu-bind="$bind"' in text) is is_bound
    assert ("--cpu-bind=none" in text) is not is_bound
    crowd = layout.ranks_per_node
    condition = f'if [ {crowd} -gt "${{SLURM_CPUS_ON_NODE:-1}}" ]; then\n'
    within = text.partition(condition)[2].partition("fi\n")[0]
    assert "mpi_yield_when_idle=1" in within
    assert ("bind=none" in within) is is_bound


def test_scripts_are_written_for_all_launches_and_are_sound_shell(
    ready: "Ready", make_plan: Callable[[Layout], Plan]
) -> None:
    launches = [(1, make_plan(Layout(ranks=1))), (2, make_plan(Layout(ranks=16)))]
    batch = write_batch(ready.result, ENGINE, "mpich", launches)
    assert [path.name for path in batch.scripts] == ["001-1-ranks.sbatch", "002-16-ranks.sbatch"]
    submit = Path(batch.submit[-1])
    for path in (*batch.scripts, submit):
        subprocess.run(["bash", "-n", str(path)], check=True)
    assert batch.afterwards == ["ullage", "report", str(ready.result.path)]
    assert submit.read_text().count("sbatch ") >= 2


def test_a_script_starts_the_engine_with_the_words_meant(
    ready: "Ready", make_plan: Callable[[Layout], Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "srun").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (bin_ / "srun").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_NTASKS", "2")
    script = write_batch(ready.result, ENGINE, "openmpi", [(1, make_plan(Layout(ranks=2, binding="core")))]).scripts[0]
    bash = shutil.which("bash")
    assert bash
    for cpus, bind in (("2", "cores"), ("1", "none")):
        monkeypatch.setenv("SLURM_CPUS_ON_NODE", cpus)
        said = subprocess.run([bash, str(script)], check=True, capture_output=True, text=True).stdout.splitlines()
        assert said == ["--mpi=pmix", "-K", f"--cpu-bind={bind}", str(ENGINE), "run", str(ready.result.plan_path(1))]


def test_a_path_that_an_sbatch_line_cannot_hold_is_refused(make_plan: Callable[[Layout], Plan]) -> None:
    with pytest.raises(UserError, match="--result"):
        batch_script(ResultFolder(Path('/a"b')), ENGINE, "mpich", 1, make_plan(Layout(ranks=1)))
