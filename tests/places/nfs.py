# SPDX-License-Identifier: Apache-2.0
"""A folder behind an NFS server in user space (nfs-ganesha), mounted by the kernel's own client."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.places.served import Served

_LONGEST_START_S = 30.0
_CONFIGURATION = """
NFS_CORE_PARAM {{ Protocols = 4; NFS_Port = {port}; Bind_addr = 127.0.0.1; Enable_NLM = false; Enable_RQUOTA = false; }}
NFSV4 {{ Graceless = true; RecoveryRoot = "{state}"; Only_Numeric_Owners = true; }}
EXPORT {{
    Export_Id = 1; Path = "{behind}"; Pseudo = "/export"; Access_Type = RW; Squash = No_Root_Squash;
    Protocols = 4; Transports = TCP; SecType = sys; FSAL {{ Name = VFS; }}
}}
"""


@contextlib.contextmanager
def nfs(folder: Path) -> Generator[Served]:
    """What is below ``folder/mount`` lies in ``folder/behind``. The test is skipped where that cannot be had."""
    mount, behind, state, log = (folder / name for name in ("mount", "behind", "state", "server.log"))
    server = _server()
    for path in (mount, behind, state):
        path.mkdir()
    port = _free_port()
    configuration = folder / "ganesha.conf"
    configuration.write_text(_CONFIGURATION.format(port=port, behind=behind, state=state))
    words = [server, "-F", "-f", str(configuration), "-L", str(log), "-p", str(folder / "server.pid")]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _wait_for(port, process, log)
        # No helper of nfs-common is needed for what the kernel is told.
        options = f"vers=4.1,proto=tcp,sec=sys,addr=127.0.0.1,clientaddr=127.0.0.1,port={port}"
        done = subprocess.run(
            ["mount", "-i", "-t", "nfs4", "-o", options, "127.0.0.1:/export", mount],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            pytest.skip(f"not available: a mount of NFS ({done.stderr.strip()})")
        yield Served(mount, behind, process)
    finally:
        if mount.is_mount():
            subprocess.run(["umount", "-f", "-l", mount], check=False)
        process.kill()
        process.communicate(timeout=_LONGEST_START_S)


def _server() -> str:
    """The program; the test is skipped where kernel, rights or program are missing."""
    kinds = Path("/proc/filesystems").read_text().split()
    if "nfs4" not in kinds and "nfs" not in kinds:
        pytest.skip("no NFS client in this kernel")
    if os.geteuid() != 0:
        pytest.skip("not available: mounting needs root")
    server = shutil.which("ganesha.nfsd")
    if server is None:
        pytest.skip("not available: nfs-ganesha is not installed")
    return server


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: "subprocess.Popen[str]", log: Path) -> None:
    deadline = time.monotonic() + _LONGEST_START_S
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            said = log.read_text().splitlines()[-1:] if log.exists() else ["it says nothing"]
            pytest.skip(f"not available: the NFS server does not start ({' '.join(said)})")
        time.sleep(0.1)
