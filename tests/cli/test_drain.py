# SPDX-License-Identifier: Apache-2.0
"""``ullage drain``: what batch systems are told of nodes that are worse, and only of those."""

import shlex
from pathlib import Path

import pytest

from support.campaign_world import stored_summaries, write_run
from support.fake_program import FakeProgram
from ullage.cli.app import run
from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, EXIT_OK
from ullage.launch import batch_systems
from ullage.model.nodes import Nodes, OneNode
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder
from ullage.system.allocation import JOBS

Capture = pytest.CaptureFixture[str]
REASON = "memory 1.2 x worse; it's `hot` $(reboot)"
COMMANDS = {
    "slurm": ["scontrol", "update", "nodename=n3", "state=drain", f"reason=ullage: {REASON}"],
    "pbs": ["pbsnodes", "-o", "-C", f"ullage: {REASON}", "n3.site"],
    "lsf": ["badmin", "hclose", "-C", f"ullage: {REASON}", "n3.site"],
    "flux": ["flux", "resource", "drain", "n3.site", f"ullage: {REASON}"],
}


@pytest.fixture(autouse=True)
def _no_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*JOBS, "FLUX_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ULLAGE_CAMPAIGN", str(tmp_path / "c"))


def of_each_node(folder: Path, name: str = "n3.site") -> str:
    """A run of four nodes: one suspect, one of which nothing can be told."""
    created, options = "2026-01-05T04:00:00+00:00", dict[str, object](each_node=True)
    asked = Request(run_id="20260105T040000Z-000001", suite="memory", created=created, options=options)
    result = ResultFolder.create(folder / "r", asked)
    nodes = [
        OneNode(name="n1.site", state="good"),
        OneNode(name="n2.site", state="unknown", reason="1 of 3 floors cannot be told"),
        OneNode(name=name, state="suspect", reason=REASON),
    ]
    said = Nodes(nodes=nodes, numbers=[], level=0.95, margin=1.25)
    result.write_summary(Summary(suite="memory", run_id=asked.run_id, created=asked.created, rows=[], nodes=said))
    return str(result.path)


@pytest.mark.parametrize("system", sorted(COMMANDS))
def test_only_suspect_nodes_are_drained_in_the_words_of_each_system(
    system: str, tmp_path: Path, capsys: Capture, fake_program: FakeProgram
) -> None:
    seen = tmp_path / "seen"
    fake_program(COMMANDS[system][0], f'printf "%s\\n" "$@" >> {seen}')
    words = ["drain", of_each_node(tmp_path), "--system", system]
    assert run(words) == EXIT_OK
    assert shlex.split(capsys.readouterr().out) == COMMANDS[system]
    assert not seen.exists()
    assert run([*words, "--apply"]) == EXIT_OK
    assert seen.read_text().splitlines() == COMMANDS[system][1:]


def test_a_system_is_found_by_the_job_or_by_its_command(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, here = of_each_node(tmp_path), dict[str, str]()
    monkeypatch.setattr("shutil.which", here.get)
    assert run(["drain", result]) == EXIT_ENVIRONMENT
    assert "no batch system is known here; name one of" in capsys.readouterr().err
    here["badmin"] = "/opt/badmin"
    assert run(["drain", result]) == EXIT_OK
    assert capsys.readouterr().out.startswith("badmin hclose")
    monkeypatch.setenv("PBS_JOBID", "7")
    assert run(["drain", result]) == EXIT_OK
    assert capsys.readouterr().out.startswith("pbsnodes -o")
    assert run(["drain", result, "--system", "cron"]) == EXIT_BAD_INPUT


def test_a_command_that_fails_is_told_in_its_words(tmp_path: Path, capsys: Capture, fake_program: FakeProgram) -> None:
    fake_program("scontrol", "echo 'Invalid user id' >&2; exit 1")
    assert run(["drain", of_each_node(tmp_path), "--system", "slurm", "--apply"]) == EXIT_ENVIRONMENT
    assert "--apply: scontrol: Invalid user id" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["ALL", "n[0-99]", "n1,n2", "-o", ""])
def test_what_may_be_several_nodes_is_never_drained(
    name: str, tmp_path: Path, capsys: Capture, fake_program: FakeProgram
) -> None:
    fake_program("scontrol", f"touch {tmp_path}/ran")
    assert run(["drain", of_each_node(tmp_path, name), "--system", "slurm", "--apply"]) == EXIT_BAD_INPUT
    assert "is no name of one node" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()


def test_a_result_that_is_checked_drains_what_is_worse_alone(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored_summaries(monkeypatch)
    runs = [str(write_run(tmp_path / "past", number, cv=0.01).path) for number in range(20)]
    assert run(["keep", *runs]) == EXIT_OK
    capsys.readouterr()
    slow = write_run(tmp_path / "now", 30, factor={"triad": 0.7}, cv=0.001)
    assert run(["drain", str(slow.path), "--system", "slurm"]) == EXIT_OK
    words = shlex.split(capsys.readouterr().out)
    assert words[2] == "nodename=n1"
    assert words[4].startswith("reason=ullage: memory_bandwidth 1")
    fine = write_run(tmp_path / "now", 31, grade="C")
    assert run(["drain", str(fine.path), "--system", "slurm"]) == EXIT_OK
    said = capsys.readouterr()
    assert (said.out, "no node is proved to be worse" in said.err) == ("", True)


def test_every_batch_system_can_drain() -> None:
    assert sorted(COMMANDS) == sorted(batch_systems())
