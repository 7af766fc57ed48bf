# SPDX-License-Identifier: Apache-2.0
"""Batch systems without a server: the script of a job, and what answers say of it (transcripts/README.md)."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from support.fake_program import FakeProgram
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch import batch_systems, flux, lsf, pbs
from ullage.launch.batch import GONE, UNKNOWN, JobRequest, JobState, JobText, clock, seconds_of
from ullage.system.allocation import allocation

HERE = Path(__file__).parent
TEXT = JobText(
    "ullage-a b",
    Path("/scratch/r1.out"),
    Path("/scratch/r1.exit"),
    Path("/home/it's me"),
    ["/usr/bin/python3", "-m", "ullage", "run", "pairs"],
    "run pairs",
    "script",
)
FULL = JobRequest(2, 16, "phys", "main", "00:30:00", extra=["--more"], modules=["openmpi/4.1.4"])
SNAPSHOTS = {"flux": FULL, "lsf": FULL, "pbs": FULL}


@pytest.mark.parametrize("name", sorted(SNAPSHOTS))
def test_the_script_of_a_job_is_as_it_was_and_sound_shell(name: str, tmp_path: Path) -> None:
    system = batch_systems()[name]
    said = system.job_script(SNAPSHOTS[name], TEXT)
    assert said == (HERE / "snapshots" / f"job.{system.suffix}").read_text()
    script = tmp_path / "script"
    script.write_text(said)
    subprocess.run(["bash", "-n", str(script)], check=True)


@pytest.mark.parametrize("name", sorted(SNAPSHOTS))
def test_a_job_that_asks_for_nothing_says_only_its_nodes(name: str) -> None:
    said = batch_systems()[name].job_script(JobRequest(), TEXT)
    assert said
    assert not any(word in said for word in ("phys", "SECONDS", "module load", "30"))


LOST = "exec: lost contact with job shell on broker rank 1: n1|eth0"
BY_JOB = "Job run at Fri Nov 11 at 17:57 on (n0:ncpus=16)+(n1:ncpus=16) and "


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("waits", JobState("Q", "waits", "Not Running: Insufficient amount of resource: ncpus (R: 32 A: 0 T: 64)")),
        ("runs", JobState("R", "runs")),
        ("done", JobState("F", "over", f"{BY_JOB}finished", 0, 0, "itself")),
        ("failed", JobState("F", "over", f"{BY_JOB}failed", 5, 0, "itself")),
        ("killed", JobState("F", "over", f"{BY_JOB}failed", 0, 0, "killed")),
        ("signal", JobState("F", "over", f"{BY_JOB}failed", 0, 9, "killed")),
        ("deleted", JobState("F", "over", f"{BY_JOB}terminated", 0, 15, "wished")),
    ],
)
def test_what_qstat_says_of_a_job(name: str, state: JobState) -> None:
    assert pbs.parse_state((HERE / "transcripts" / f"pbs-{name}.json").read_text()) == state


@pytest.mark.parametrize("text", ["", "{", "[]", '{"Jobs": {}}', '{"Jobs": {"1": {}}}'])
def test_an_answer_that_says_nothing_of_the_job_leaves_its_state_unknown(text: str) -> None:
    assert pbs.parse_state(text).is_unknown


def test_a_job_that_pbs_has_forgotten_is_gone_and_a_server_that_is_down_says_nothing(fake_program: FakeProgram) -> None:
    fake_program("qstat", "echo 'qstat: Unknown Job Id 7.pbs1' >&2\nexit 153")
    assert pbs.SYSTEM.state_of("7.pbs1") == GONE
    fake_program("qstat", "echo 'Connection refused\nqstat: cannot connect to server pbs1 (errno=15010)' >&2\nexit 111")
    assert pbs.SYSTEM.state_of("7.pbs1") == UNKNOWN


def test_what_a_system_refuses_is_said_in_its_words(fake_program: FakeProgram, tmp_path: Path) -> None:
    fake_program("qsub", "echo 'qsub: Unknown queue' >&2\nexit 170")
    with pytest.raises(UserError, match="qsub: Unknown queue") as caught:
        pbs.SYSTEM.submit(tmp_path)
    assert caught.value.code == EXIT_ENVIRONMENT


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("waits", JobState("SCHED", "waits", "insufficient resources")),
        ("runs", JobState("RUN", "runs")),
        ("done", JobState("COMPLETED", "over", "", 0, 0, "itself")),
        ("failed", JobState("FAILED", "over", "", 5, 0, "itself")),
        ("signal", JobState("FAILED", "over", "", 0, 9, "killed")),
        ("lost", JobState("FAILED", "over", LOST, 0, 0, "killed")),
        ("timeout", JobState("TIMEOUT", "over", "timeout: resource allocation expired", 0, 15, "killed")),
        ("canceled", JobState("CANCELED", "over", "cancel")),
    ],
)
def test_what_flux_says_of_a_job(name: str, state: JobState) -> None:
    assert flux.parse_state((HERE / "transcripts" / f"flux-{name}.txt").read_text()) == state


def test_a_job_that_flux_has_forgotten_is_gone(fake_program: FakeProgram) -> None:
    fake_program("flux", "echo 'flux-jobs: ERROR: JobID f7 unknown' >&2\nexit 1")
    assert flux.SYSTEM.state_of("f7") == GONE
    fake_program("flux", "echo 'flux-jobs: ERROR: Unable to connect to Flux: broker socket was not found' >&2\nexit 1")
    assert flux.SYSTEM.state_of("f7") == UNKNOWN
    assert flux.parse_state("") == flux.parse_state("RUN") == UNKNOWN


@pytest.mark.parametrize("job", ["ƒ3QqmsJwd", "f3QqmsJwd"])
def test_the_id_of_a_job_of_flux_is_read(fake_program: FakeProgram, tmp_path: Path, job: str) -> None:
    fake_program("flux", f"echo {job}")
    assert flux.SYSTEM.submit(tmp_path) == job


OWNER = "TERM_OWNER: job killed by owner"
LIMIT = "TERM_RUNLIMIT: job killed after reaching LSF run time limit"


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("waits", JobState("PEND", "waits", "New job is waiting for scheduling;")),
        ("runs", JobState("RUN", "runs")),
        ("done", JobState("DONE", "over", "", 0, 0, "itself")),
        ("failed", JobState("EXIT", "over", "", 5, 0, "itself")),
        ("killed", JobState("EXIT", "over", LIMIT, 0, 12, "killed")),
        ("signal", JobState("EXIT", "over", "", 0, 9, "killed")),
        ("deleted", JobState("EXIT", "over", OWNER, 0, 15)),
    ],
)
def test_what_bjobs_says_of_a_job(name: str, state: JobState) -> None:
    assert lsf.parse_state((HERE / "transcripts" / f"lsf-{name}.json").read_text()) == state


def test_a_job_that_lsf_has_forgotten_is_gone(fake_program: FakeProgram) -> None:
    fake_program("bjobs", "echo 'Job <7> is not found' >&2\nexit 255")
    assert lsf.SYSTEM.state_of("7") == GONE
    fake_program("bjobs", f"echo '{(HERE / 'transcripts' / 'lsf-gone.json').read_text()}'")
    assert lsf.SYSTEM.state_of("7") == GONE
    fake_program("bjobs", "echo 'LSF is down. Please wait ...' >&2\nexit 255")
    assert lsf.SYSTEM.state_of("7") == UNKNOWN


PBS, FLUX, LSF = pbs.SYSTEM.job_script, flux.SYSTEM.job_script, lsf.SYSTEM.job_script


@pytest.mark.parametrize(
    ("script", "wanted", "where"),
    [
        (PBS, JobRequest(queue="main", reservation="R7"), "--reservation"),
        (FLUX, JobRequest(reservation="R7"), "--reservation"),
        (FLUX, JobRequest(exclusive=False), "--no-exclusive"),
        (LSF, JobRequest(exclusive=False), "--no-exclusive"),
        (PBS, JobRequest(walltime="half an hour"), "--walltime half an hour"),
    ],
)
def test_what_a_system_cannot_be_asked_for_is_refused(
    script: Callable[[JobRequest, JobText], str], wanted: JobRequest, where: str
) -> None:
    with pytest.raises(UserError) as caught:
        script(wanted, TEXT)
    assert caught.value.where == where


def test_a_path_that_a_directive_cannot_hold_is_refused() -> None:
    with pytest.raises(UserError, match="--result"):
        PBS(JobRequest(), replace(TEXT, output=Path("/a b/r.out")))


def test_reservations_and_kinds_of_nodes_of_pbs() -> None:
    said = PBS(JobRequest(3, 8, reservation="R7", constraint="cpu=amd", exclusive=False), TEXT)
    assert "#PBS -l select=3:ncpus=8:mpiprocs=8:cpu=amd\n#PBS -l place=scatter\n#PBS -q R7\n" in said


def test_kinds_of_nodes_and_processors_of_flux() -> None:
    said = FLUX(JobRequest(3, 8, constraint="amd", exclusive=False), TEXT)
    assert "#flux: --nodes=3\n#flux: --nslots=24\n#flux: --requires=amd\n" in said


def test_whole_nodes_reservations_and_kinds_of_nodes_of_lsf() -> None:
    said = LSF(JobRequest(3, walltime="00:30:10", reservation="R7", constraint="type==any"), TEXT)
    assert '#BSUB -nnodes 3\n#BSUB -W 31\n#BSUB -U R7\n#BSUB -R "select[type==any]"\n' in said
    assert "#BSUB -x" not in said


@pytest.mark.parametrize(
    ("text", "seconds"), [("00:30:00", 1800), ("30:00", 1800), ("30m", 1800), ("2h", 7200), ("90s", 90)]
)
def test_a_time_limit_is_read(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds
    assert clock(text) == f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


@pytest.mark.parametrize("text", ["", "30", "1:2:3:4", "1-00:00:00", "soon"])
def test_what_is_no_time_limit_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="write 00:30:00"):
        seconds_of(text)


def test_nodes_that_a_job_must_not_get() -> None:
    wanted = JobRequest(nodes=2, ppn=2, constraint="amd", exclude=["n1", "n2"])
    said = JobText("j", Path("/o"), Path("/e"), Path("/"), ["ullage"], "run pairs", "x")
    systems = batch_systems()
    assert "#SBATCH --exclude=n1,n2\n" in systems["slurm"].job_script(wanted, said)
    assert "#flux: --requires=amd and -host:n1 and -host:n2\n" in systems["flux"].job_script(wanted, said)
    assert """#BSUB -R "select[amd && hname!='n1' && hname!='n2']"\n""" in systems["lsf"].job_script(wanted, said)
    with pytest.raises(UserError, match="PBS has no word for nodes that a job must not get"):
        systems["pbs"].job_script(wanted, said)


def test_processors_that_were_asked_for_hold_in_a_job_with_whole_nodes() -> None:
    said = JobText("j", Path("/o"), Path("/e"), Path("/"), ["ullage"], "run pairs", "x")
    script = batch_systems()["slurm"].job_script(JobRequest(nodes=2, ppn=2), said)
    assert "#SBATCH --exclusive" in script
    assert "\nexport ULLAGE_PPN=2\nexec ullage\n" in script
    job = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_CPUS_PER_NODE": "16(x2)"}
    given = [allocation({**job, **more}) for more in ({}, {"ULLAGE_PPN": "2"}, {"ULLAGE_PPN": "64"})]
    assert [one.cpus for one in given if one is not None] == [16, 2, 16]
    shared = batch_systems()["slurm"].job_script(JobRequest(nodes=2, ppn=2, exclusive=False), said)
    assert "ULLAGE_PPN" not in shared


def test_the_script_of_a_job_warns_the_run_itself_and_waits_for_it(tmp_path: Path) -> None:
    """Short limits have their warning at half of the time. The script looks every 5 s."""
    program = tmp_path / "run.sh"
    program.write_text("trap 'echo warned > told; exit 5' TERM\nwhile :; do sleep 0.1; done\n")
    text = replace(TEXT, folder=tmp_path, command=["sh", str(program)], ended=tmp_path / "ended")
    done = subprocess.run(["bash", "-c", pbs.SYSTEM.job_body(JobRequest(walltime="2s"), text)], check=False, timeout=60)
    assert done.returncode == 5
    assert (tmp_path / "told").read_text() == "warned\n"
    assert (tmp_path / "ended").read_text() == "5\n"
