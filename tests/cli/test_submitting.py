# SPDX-License-Identifier: Apache-2.0
"""Which batch system a command line means, and what of it goes into the job."""

from pathlib import Path
from typing import Any

import pytest
from tests.e2e.commands import run_here

from ullage.cli.submitting import asked_of_site, nodes_to_use, submit_or_write, usable
from ullage.errors import UserError
from ullage.launch import batch_systems
from ullage.launch.batch import JobRequest
from ullage.launch.hosts import Hosts
from ullage.launch.lsf import Jsrun
from ullage.launch.open_mpi import OpenMpi
from ullage.model.system import Place
from ullage.runs.submitted import Submission, arguments_in_job

NOTHING: dict[str, Any] = {
    "launcher": "auto",
    "ppn": 0,
    "account": "",
    "queue": "",
    "walltime": "",
    "reservation": "",
    "constraint": "",
    "extra": None,
    "chain": 0,
    "exclusive": True,
}


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "FLUX_ENCLOSING_ID", "FLUX_URI"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    path = tmp_path / "site.toml"
    path.write_text("launcher = 'pbs'\nppn = 16\nqueue = 'main'\nextra = ['-l a=1']\n")
    return path


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("auto", "pbs"), ("script", "script:pbs"), ("script:lsf", "script:lsf"), ("flux", "flux"), ("mpich", "mpich")],
)
def test_the_site_says_for_which_system_where_the_command_line_does_not(site: Path, typed: str, meant: str) -> None:
    assert asked_of_site({**NOTHING, "launcher": typed, "site": site}).launcher == meant


def test_script_is_of_slurm_without_a_site(tmp_path: Path) -> None:
    empty = tmp_path / "empty.toml"
    empty.write_text("")
    assert asked_of_site({**NOTHING, "launcher": "script", "site": empty}).launcher == "script:slurm"


def test_the_command_line_takes_precedence_and_adds_words(site: Path) -> None:
    said = asked_of_site({**NOTHING, "site": site, "queue": "short", "exclusive": False, "extra": ["-l b=2"]})
    assert (said.queue, said.ppn, said.exclusive, said.extra) == ("short", 16, False, ["-l a=1", "-l b=2"])


def test_inside_a_job_nothing_is_submitted(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PBS_JOBID", "7.pbs1")
    assert asked_of_site({**NOTHING, "launcher": "pbs", "site": site}).launcher == "auto"
    assert asked_of_site({**NOTHING, "site": site}).launcher == "auto"
    with pytest.raises(UserError, match="this is a job of pbs already"):
        asked_of_site({**NOTHING, "launcher": "slurm", "site": site})


def test_a_chain_needs_somebody_who_watches(site: Path) -> None:
    with pytest.raises(UserError, match="give --launcher pbs"):
        asked_of_site({**NOTHING, "launcher": "script", "site": site, "chain": 2})


@pytest.mark.parametrize(("is_remote", "is_said"), [(False, True), (True, False), (None, False)])
def test_a_result_on_a_disk_of_this_machine_is_said_before_the_job(
    is_remote: bool | None,
    is_said: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = Place(target="result", path=str(tmp_path), exists=True, file_system="xfs", is_remote=is_remote)
    monkeypatch.setattr("ullage.system.storage.read_places", lambda _targets: [place])
    job = Submission(tmp_path / "r1", ["run", "rings"], JobRequest(), "run rings", [], batch_systems()["slurm"])
    (tmp_path / "site.toml").touch()
    assert (
        submit_or_write(
            job, asked_of_site({**NOTHING, "launcher": "script", "site": tmp_path / "site.toml"}), "path", 0
        )
        == 0
    )
    said = capsys.readouterr().err
    assert (f"warning: {tmp_path} is on xfs of this machine" in said) is is_said


def test_options_of_the_job_stay_outside_of_it(tmp_path: Path) -> None:
    typed = ["run", "pairs", "--no-exclusive", "--ppn=4", "--reservation", "R7", "--constraint", "amd", "--quick"]
    words = arguments_in_job(typed, tmp_path, Path("/e"))
    assert words[:3] == ["run", "pairs", "--quick"]


def test_spare_and_excluded_nodes_are_no_nodes_for_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = ["a", "b", "c", "d"]
    assert nodes_to_use(hosts, {"spare_nodes": 1, "exclude": "b,x"}) == 2
    assert nodes_to_use([], {"spare_nodes": 1}) == 0  # the job that is submitted has one more
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "3")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[0-2]")
    assert nodes_to_use([], {"spare_nodes": 0, "exclude": "n2,n17"}) == 2
    with pytest.raises(UserError, match="none of the 3 nodes is left for ranks"):
        nodes_to_use([], {"spare_nodes": 3})


def test_a_launcher_that_takes_all_nodes_cannot_leave_one_out() -> None:
    two = usable(OpenMpi(Path("/m"), hosts=Hosts(("a", "b", "c"))), "b")
    assert two.hosts.names == ("a", "c")
    for launcher in (OpenMpi(Path("/m")), Jsrun(Path("/j"))):
        with pytest.raises(UserError, match="takes all nodes of the job"):
            usable(launcher, "b")


def test_a_run_that_nobody_watches_has_no_spare_nodes(site: Path) -> None:
    with pytest.raises(UserError, match="needs an ullage in the job"):
        asked_of_site({**NOTHING, "launcher": "script:slurm", "site": site, "spare_nodes": 1})
    with pytest.raises(UserError, match="--spare-nodes: is of batch jobs"):
        asked_of_site({**NOTHING, "launcher": "mpich", "site": site, "spare_nodes": 1})
    said = asked_of_site({**NOTHING, "launcher": "mpich", "site": site, "spare_nodes": 1, "hosts": "a,b"})
    assert said.launcher == "mpich"


def test_inside_a_job_the_site_names_the_launcher_of_its_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site.toml"
    site.write_text("launcher = 'slurm'\nmpi = 'mpich'\n")
    assert asked_of_site({**NOTHING, "site": site}).launcher == "slurm"
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert asked_of_site({**NOTHING, "site": site}).launcher == "mpich"
    assert asked_of_site({**NOTHING, "launcher": "here", "site": site}).launcher == "mpich"
    assert asked_of_site({**NOTHING, "launcher": "srun", "site": site}).launcher == "srun"


def test_a_site_gives_targets_and_a_machine_file(tmp_path: Path, engine: Path) -> None:
    site, machine = tmp_path / "site.toml", tmp_path / "machine.toml"
    site.write_text(f"targets = ['scratch={tmp_path}']\n")
    words = ["plan", "sweep", "--ranks", "1", "--volume", "1M", "--block", "64K", "--engine", str(engine)]
    code, out, err = run_here(*words, "--site", str(site))
    assert code == 0, err
    assert f"Target scratch: posix:{tmp_path}" in out
    code, _, err = run_here(*words)
    assert (code, len(err.splitlines())) == (2, 1)
    assert "give --target NAME=PLACE, or targets in the site file" in err
    elsewhere = tmp_path / "machine-site.toml"
    elsewhere.write_text(f"machine = '{machine}'\n")
    code, _, err = run_here("plan", "memory", "--site", str(elsewhere), "--engine", str(engine))
    assert (code, str(machine) in err) == (2, True)
    # What the command line says takes precedence.
    code, out, _ = run_here(*words, "--site", str(site), "--target", "other=null:")
    assert (code, "Target other: null:" in out, "scratch" in out) == (0, True, False)


@pytest.mark.fault("a line end in a word for a batch script", "exit 2 and one line that names the option or the key")
@pytest.mark.parametrize("name", ["account", "queue", "reservation", "constraint", "walltime", "extra"])
def test_words_for_a_script_are_one_plain_line(name: str, tmp_path: Path) -> None:
    bad = "a\nb\x1b"
    with pytest.raises(UserError, match=f"--{name}: must be one line without control characters"):
        asked_of_site({**NOTHING, "launcher": "script:slurm", "site": None, name: [bad] if name == "extra" else bad})
    site = tmp_path / "site.toml"
    for value in ('"a\\nb"', '"a\\u001bb"', '"\\u202ea"'):
        site.write_text(f"{name} = {f'[{value}]' if name == 'extra' else value}\n")
        with pytest.raises(UserError) as caught:
            asked_of_site({**NOTHING, "launcher": "script:slurm", "site": site})
        assert f"{site} /{name}" in str(caught.value)
        assert "must be one line" in str(caught.value)
