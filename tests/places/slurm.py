# SPDX-License-Identifier: Apache-2.0
"""A real Slurm of several nodes on this machine, gone with the test that has raised it."""

import contextlib
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

_SCRIPT: Final = Path(__file__).parent / "slurm-cluster.sh"
_PATH: Final = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_PROGRAMS: Final = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "salloc", "unshare")
_UP_TIMEOUT_S: Final = 60.0
_COMMAND_TIMEOUT_S: Final = 120.0
_PORTS: Final = (20000, 30000)
_TRIES: Final = 3
_PR_SET_PDEATHSIG: Final = 1
# All nodes are this machine at 127.0.0.1, and their cores are the same ones, which waiting ranks have to leave.
# On a busy machine 11 of 150 launches with the default of Slurm 22.05, mixed fences, ended in MPI_Init: a rank got a
# message before it was ready. Of 310 with one kind of fence none did.
_SETTINGS: Final = {
    "SLURM_PMIX_FENCE": "tree",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_oob_tcp_if_include": "lo",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "MPIR_CVAR_CH4_NETMOD": "ofi",
    "FI_PROVIDER": "tcp",
    "FI_TCP_IFACE": "lo",
    "HYDRA_IFACE": "lo",
    "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "10",
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
}


@dataclass(frozen=True)
class SlurmPlace:
    """A cluster of nodes n0, n1, ... with ``cpus`` processors each, which all are those of this machine.

    Its default MPI is pmix, as at many sites. Partitions: ``all`` (default), ``short`` with at most a
    minute, and ``phys`` for an account that this Slurm does not know.
    """

    folder: Path
    nodes: int
    cpus: int
    extra: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a shell on the login node."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "PMI"))}
        return {**kept, **_SETTINGS, "PATH": _PATH, "SLURM_CONF": str(self.folder / "slurm.conf"), **self.extra}

    def run(
        self, *words: str, more: Mapping[str, str] | None = None, timeout_s: float = _COMMAND_TIMEOUT_S
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command on the login node to its end. ``more``: added to its environment."""
        return subprocess.run(
            words,
            env={**self.environment, **(more or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
        )

    def state(self, job: str) -> str:
        """Return the state of a job as ``scontrol`` says it, ``UNKNOWN`` where it says none."""
        said = self.run("scontrol", "show", "job", job, timeout_s=20).stdout
        return next((word.partition("=")[2] for word in said.split() if word.startswith("JobState=")), "UNKNOWN")

    def wait_for(self, job: str, *states: str, timeout_s: float = _COMMAND_TIMEOUT_S) -> str:
        """Wait until a job has one of ``states``, and return it; fail the test where that takes too long."""
        deadline = time.monotonic() + timeout_s
        while (now := self.state(job)) not in states:
            if time.monotonic() > deadline:
                pytest.fail(f"job {job} is {now}, not {' or '.join(states)}, after {timeout_s:g} s")
            time.sleep(0.2)
        return now

    @contextlib.contextmanager
    def without_controller(self) -> Generator[None]:
        """End the controller, and let it come back afterwards; nodes and jobs go on meanwhile."""
        absent = self.folder / "no-controller"
        absent.touch()
        try:
            self.run("scontrol", "shutdown", "slurmctld", timeout_s=20)
            yield
        finally:
            absent.unlink()

    def cancel_all(self) -> None:
        """End all jobs, and wait until none is left: tests that share the cluster begin with idle nodes."""
        self.run("scancel", "--user=root", timeout_s=20)
        deadline = time.monotonic() + _UP_TIMEOUT_S
        while self.run("squeue", "-h", timeout_s=20).stdout.strip() and time.monotonic() < deadline:
            time.sleep(0.2)


@contextlib.contextmanager
def slurm_up(nodes: int = 4, cpus: int = 2, at_a_switch: int = 0) -> Generator[SlurmPlace]:
    """A cluster, gone afterwards, also where this process is killed.

    ``at_a_switch``: how many nodes are at each of its switches; 0: it knows of none. Skips the test with the reason
    where none can be.
    """
    _skip_unless_possible()
    # The path of a socket has at most 107 characters, which pytest's own folders may exceed.
    folder = Path(tempfile.mkdtemp(prefix="ullage-slurm-"))
    folder.chmod(0o755)
    try:
        with _raised(folder, nodes, cpus, at_a_switch) as place:
            yield place
            place.cancel_all()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _raised(folder: Path, nodes: int, cpus: int, at_a_switch: int) -> Generator[SlurmPlace]:
    said = ""
    for _ in range(_TRIES):
        shutil.rmtree(folder / "state", ignore_errors=True)
        process = _start(folder, nodes, cpus, _free_ports(nodes + 1), at_a_switch)
        try:
            if _is_up(process, folder):
                yield SlurmPlace(folder, nodes, cpus)
                return
        finally:
            process.kill()
            _, err = process.communicate(timeout=_UP_TIMEOUT_S)
            said = err.decode(errors="replace").strip()
    pytest.skip(f"no Slurm here: {said.splitlines()[-3:]}")


def _start(folder: Path, nodes: int, cpus: int, port: int, at_a_switch: int) -> "subprocess.Popen[bytes]":
    # The first process of the namespace takes all others with it, and unshare takes it with itself.
    words = ["unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--mount", str(_SCRIPT), str(folder)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "PMI", "OMPI_"))}
    return subprocess.Popen(
        [*words, str(nodes), str(cpus), str(port), str(at_a_switch)],
        env={**clean, "PATH": _PATH},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=_die_with_the_test,  # noqa: PLW1509 - pytest has no other threads here
    )


def _die_with_the_test() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _is_up(process: "subprocess.Popen[bytes]", folder: Path) -> bool:
    deadline = time.monotonic() + _UP_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        if (folder / "ready").exists():
            return True
        time.sleep(0.05)
    return False


def _free_ports(count: int) -> int:
    """Return the first of ``count`` ports in a row that nobody listens on just now."""
    while True:
        first = random.randrange(*_PORTS)
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
        return first


def _skip_unless_possible() -> None:
    if os.geteuid() != 0:
        pytest.skip("a Slurm of one's own needs root, for its namespaces")
    missing = [name for name in _PROGRAMS if shutil.which(name, path=_PATH) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (slurm-wlm, slurmctld, slurmd, slurm-client, munge)")
