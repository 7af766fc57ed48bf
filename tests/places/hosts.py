# SPDX-License-Identifier: Apache-2.0
"""Hosts on one machine, each a network namespace of its own, with a switch between them."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

_HERE: Final = Path(__file__).parent
_PATH: Final = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
# Frames of 9000 bytes hold an IPv4 and a TCP header with time stamps; a shaped link counts the Ethernet header too.
PAYLOAD_SHARE: Final = (9000 - 20 - 32) / (9000 + 14)
# No MPI may find a way around the network: shared memory would be one.
_SETTINGS: Final[dict[str, dict[str, str]]] = {
    "openmpi": {
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "tcp,self",
        "OMPI_MCA_btl_tcp_if_include": "eth0",
        "OMPI_MCA_oob_tcp_if_include": "eth0",
        # Each host has a processor of its own, which they share where there are too few.
        "OMPI_MCA_orte_hetero_nodes": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    },
    "mpich": {
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "eth0",
        "HYDRA_IFACE": "eth0",
        "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE",
        "MPIR_CVAR_POLLS_BEFORE_YIELD": "10",
    },
}


@dataclass(frozen=True)
class HostsPlace:
    """``names``: h0, h1, ... as programs on the hosts know them."""

    folder: Path
    names: tuple[str, ...]

    def command(self, host: str, words: list[str]) -> list[str]:
        """``words``, run on ``host``."""
        return [str(self.folder / "on"), host, *words]

    def run(self, host: str, words: list[str], family: str, timeout_s: float) -> "subprocess.CompletedProcess[str]":
        """Run ``words`` on ``host`` to their end, with ranks on these hosts under an MPI of that family."""
        return subprocess.run(
            self.command(host, words),
            env=self.environment(family),
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )

    def environment(self, family: str) -> Mapping[str, str]:
        """Return the environment of a run whose ranks are on these hosts, under an MPI of that family."""
        return {**os.environ, **_SETTINGS[family], "PATH": _PATH, "ULLAGE_RSH_AGENT": str(self.folder / "agent")}


@contextlib.contextmanager
def hosts_up(folder: Path, count: int, *shaped: str) -> Generator[HostsPlace]:
    """``count`` hosts, gone afterwards; ``shaped``: ``3:400mbit``. Skips the test with the reason where none can be."""
    _skip_unless_possible()
    made = _script("hosts-up.sh", str(folder), str(count), *shaped)
    try:
        if made.returncode != 0:
            pytest.skip(f"no network namespaces here: {made.stderr.strip().splitlines()[-1:]}")
        yield HostsPlace(folder, tuple(f"h{index}" for index in range(count)))
    finally:
        _script("hosts-down.sh", str(folder))


def _skip_unless_possible() -> None:
    if os.geteuid() != 0:
        pytest.skip("hosts of network namespaces need root")
    missing = [name for name in ("ip", "tc", "unshare") if shutil.which(name, path=_PATH) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (iproute2, util-linux)")


def _script(name: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(_HERE / name), *words], capture_output=True, text=True, check=False, timeout=120)
