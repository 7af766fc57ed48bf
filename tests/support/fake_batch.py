#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands of PBS, Flux and LSF without any of them: which one is this program's own name.

Jobs really run, in a session of their own on this machine, and the answers have the form of the transcripts in
tests/launch/transcripts. What is known of jobs stands in the folder $FAKE_BATCH. A file ``hold`` there lets jobs wait,
a file ``forget`` makes the system forget those that have ended.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

STORE = Path(os.environ.get("FAKE_BATCH", "."))


def directive(script: Path, mark: str, pattern: str) -> str:
    """The value of an option in the lines of a script that are for its batch system."""
    lines = [line for line in script.read_text().splitlines() if line.startswith(mark)]
    found = [match[1] for line in lines if (match := re.search(pattern, line))]
    return found[0] if found else ""


def start(job: str, script: Path, output: str, variables: dict[str, str]) -> None:
    (STORE / "jobs").mkdir(exist_ok=True)
    (STORE / "jobs" / f"{job}.sh").write_text(script.read_text())
    keeper = [sys.executable, __file__, "keep", job, output]
    none = subprocess.DEVNULL
    subprocess.Popen(
        keeper, env={**os.environ, **variables}, stdin=none, stdout=none, stderr=none, start_new_session=True
    )


def keep(job: str, output: str) -> None:
    """Wait until jobs may begin, run one, and write down how it ended."""
    while (STORE / "hold").exists():
        if (STORE / "jobs" / f"{job}.end").exists():
            return
        time.sleep(0.05)
    with Path(output).open("w") as stream:
        words = ["/bin/bash", str(STORE / "jobs" / f"{job}.sh")]
        process = subprocess.Popen(words, stdout=stream, stderr=stream, start_new_session=True)
        (STORE / "jobs" / f"{job}.pid").write_text(str(process.pid))
        code = process.wait()
    end = STORE / "jobs" / f"{job}.end"
    if not end.exists():
        end.write_text(str(code))


def pid_of(job: str) -> int | None:
    try:
        return int((STORE / "jobs" / f"{job}.pid").read_text())
    except (OSError, ValueError):
        return None


def end_of(job: str) -> str | None:
    """How a job ended: a code, ``-N`` for a signal, ``deleted``, or None."""
    try:
        return (STORE / "jobs" / f"{job}.end").read_text()
    except OSError:
        return None


def send(job: str, number: int) -> None:
    """As batch systems do: to all processes of the job's session."""
    session = pid_of(job)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and session is not None:
            try:
                if os.getsid(int(entry.name)) == session:
                    os.kill(int(entry.name), number)
            except (ProcessLookupError, PermissionError):
                continue


def end(job: str) -> None:
    if end_of(job) is None:
        (STORE / "jobs" / f"{job}.end").write_text("deleted")
        send(job, signal.SIGTERM)


def is_known(job: str) -> bool:
    return (STORE / "jobs" / f"{job}.sh").exists() and not (end_of(job) is not None and (STORE / "forget").exists())


def log(words: list[str]) -> None:
    with (STORE / "commands.log").open("a") as stream:
        stream.write(f"{shlex.join(words)}\n")


def qsub(words: list[str]) -> int:
    script = Path(words[-1])
    nodes = STORE / "nodes"
    nodes.write_text(f"{os.uname().nodename}\n" * 2)
    number = len(list(STORE.glob("jobs/*.sh"))) + 7
    output = directive(script, "#PBS", r"^#PBS -o (\S+)")
    if directive(script, "#PBS", r"^#PBS -q (\S+)") == "nowhere":
        sys.stderr.write("qsub: Unknown queue\n")
        return 170
    start(f"{number}.fake", script, output, {"PBS_JOBID": f"{number}.fake", "PBS_NODEFILE": str(nodes)})
    print(f"{number}.fake")
    return 0


def qstat(words: list[str]) -> int:
    job = words[-1]
    if not is_known(job):
        sys.stderr.write(f"qstat: Unknown Job Id {job}\n")
        return 153
    said: dict[str, object] = {"Job_Name": "ullage", "job_state": "R", "substate": 42}
    how = end_of(job)
    if how is not None:
        code = {"deleted": 271}.get(how) or (int(how) if not how.startswith("-") else 256 - int(how))
        said |= {"job_state": "F", "substate": 91 if how == "deleted" else 92, "Exit_status": code}
    elif pid_of(job) is None:
        said |= {"job_state": "Q", "substate": 10, "comment": "Not Running: Insufficient amount of resource: ncpus"}
    print(json.dumps({"timestamp": 1, "pbs_version": "23.06.06", "pbs_server": "fake", "Jobs": {job: said}}))
    return 0


def qsig(words: list[str]) -> int:
    send(words[-1], signal.Signals[f"SIG{words[words.index('-s') + 1]}"])
    return 0


def qdel(words: list[str]) -> int:
    end(words[-1])
    return 0


def flux(words: list[str]) -> int:
    verb, rest = words[0], words[1:]
    if verb == "batch":
        return flux_batch(Path(rest[-1]))
    if verb == "jobs":
        return flux_jobs(rest)
    if verb == "run":
        return flux_run(rest)
    if verb == "job" and rest[0] == "timeleft":
        print("infinity")
        return 0
    if verb == "job":
        send(rest[-1], signal.SIGHUP)  # as an instance does to its script when it gets SIGTERM
        return 0
    if verb == "cancel":
        end(rest[-1])
        return 0
    if verb == "getattr":
        print({"size": "1", "jobid": "f7", "hostlist": os.uname().nodename}[rest[0]])
        return 0
    return 1


def flux_batch(script: Path) -> int:
    job = f"f{len(list(STORE.glob('jobs/*.sh'))) + 7}"
    variables = {"FLUX_URI": "local:///fake", "FLUX_ENCLOSING_ID": job}
    start(job, script, directive(script, "#flux:", r"--output=(\S+)"), variables)
    print(job)
    return 0


def flux_jobs(words: list[str]) -> int:
    job = words[-1]
    if job.startswith("-"):
        return 0
    if not is_known(job):
        sys.stderr.write(f"flux-jobs: ERROR: JobID {job} unknown\n")
        return 1
    how = end_of(job)
    if how is None:
        print("RUN|||||" if pid_of(job) else "SCHED||||no node is free|")
    elif how == "deleted":
        print("INACTIVE|CANCELED|143|cancel||")
    else:
        code = int(how) if not how.startswith("-") else 128 - int(how)
        print(f"INACTIVE|{'FAILED' if code else 'COMPLETED'}|{code}|||")
    return 0


def bsub(_words: list[str]) -> int:
    script = STORE / "script"
    script.write_text(sys.stdin.read())
    nodes = STORE / "nodes"
    nodes.write_text(f"{os.uname().nodename}\n" * 2)
    job = str(len(list(STORE.glob("jobs/*.sh"))) + 7)
    output = directive(script, "#BSUB", r"^#BSUB -o (\S+)")
    start(job, script, output, {"LSB_JOBID": job, "LSB_DJOB_HOSTFILE": str(nodes)})
    print(f"Job <{job}> is submitted to queue <batch>.")
    return 0


def bjobs(words: list[str]) -> int:
    job = words[-1]
    how = end_of(job)
    said = {"JOBID": job, "STAT": "RUN", "EXIT_CODE": "", "EXIT_REASON": "", "PEND_REASON": ""}
    if not is_known(job):
        said = {"JOBID": job, "ERROR": f"Job <{job}> is not found"}
    elif how == "deleted":
        said |= {"STAT": "EXIT", "EXIT_CODE": "143", "EXIT_REASON": "TERM_OWNER: job killed by owner"}
    elif how is not None:
        code = int(how) if not how.startswith("-") else 128 - int(how)
        said |= {"STAT": "EXIT" if code else "DONE", "EXIT_CODE": str(code or "")}
    elif pid_of(job) is None:
        said |= {"STAT": "PEND", "PEND_REASON": "New job is waiting for scheduling;"}
    print(json.dumps({"COMMAND": "bjobs", "JOBS": 1, "RECORDS": [said]}))
    return 0


def bkill(words: list[str]) -> int:
    if "-s" in words:
        send(words[-1], signal.Signals[f"SIG{words[words.index('-s') + 1]}"])
    else:
        end(words[-1])
    return 0


def jsrun(words: list[str]) -> int:
    command = words[words.index("/bin/sh") :]
    parts = [word.partition("=") for word in words[: -len(command)]]
    said = {name: value for name, _, value in parts}
    return mpiexec(str(int(said["--nrs"]) * int(said["--tasks_per_rs"])), "JSM_NAMESPACE_RANK", command)


def mpiexec(ranks: str, number: str, command: list[str]) -> int:
    """Start ranks as the engine's MPI does, with the variable that tells each which one it is."""
    also = ["--oversubscribe"] if os.environ.get("FAKE_MPI") == "openmpi" else []
    shell = f'export {number}="${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}"; exec "$@"'
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    os.execv(os.environ["FAKE_MPIEXEC"], ["mpiexec", *also, "-n", ranks, "/bin/sh", "-c", shell, "rank", *command])


def flux_run(words: list[str]) -> int:
    command = words[words.index("/bin/sh") :]
    parts = [word.partition("=") for word in words[: -len(command)]]
    said = {name: value for name, _, value in parts}
    return mpiexec(said.get("--ntasks") or said["--tasks-per-node"], "FLUX_TASK_RANK", command)


def main() -> int:
    name = Path(sys.argv[0]).name
    if sys.argv[1:2] == ["keep"]:
        keep(*sys.argv[2:])
        return 0
    log([name, *sys.argv[1:]])
    return globals()[name](sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
