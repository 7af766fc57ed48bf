# SPDX-License-Identifier: Apache-2.0
"""Whether the engine can be started on hosts that people have named: tried before anything is launched there."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ullage.launch.hosts import Hosts
from ullage.model.describe import Describe, EngineBuild

_LIMIT_S: Final = 30.0
_AT_ONCE: Final = 32
_MISSING: Final = 90
_SSH: Final = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
# An MPI that starts its daemons by something else may reach hosts that ssh does not.
_OF_THE_MPI: Final = ("OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent", "HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC")
_CAUSES: Final = tuple(
    (re.compile(pattern), cause)
    for pattern, cause in (
        (r"Could not resolve|Name or service not known|Temporary failure in name resolution", "its name is not known"),
        (r"No route to host|Network is unreachable", "there is no route to it"),
        (r"Connection refused", "it refuses connections"),
        (r"timed out|Connection timeout", "it does not answer"),
        (r"Host key verification failed|HOST IDENTIFICATION HAS CHANGED", "its host key is not known, or has changed"),
        (r"Permission denied", "it refuses the login"),
    )
)
_LIBRARY: Final = re.compile(r"error while loading shared libraries: ([^\s:]+)")


@dataclass(frozen=True)
class Refusal:
    """``why`` nothing can be started on a host; ``said``: by the command that tried."""

    why: str
    said: str


def unusable_hosts(
    hosts: Hosts, engine: Path, build: EngineBuild, environment: Mapping[str, str] = os.environ
) -> dict[str, Refusal]:
    """Start ``engine describe`` on the other hosts; return those that refuse, none where only the MPI reaches them."""
    if not hosts.agent and (shutil.which(_SSH[0]) is None or any(name in environment for name in _OF_THE_MPI)):
        return {}
    agent = shlex.split(hosts.agent) or list(_SSH)
    path = shlex.quote(str(engine))
    words = shlex.join(["sh", "-c", f"test -x {path} || exit {_MISSING}; exec {path} describe"])
    others = hosts.names[1:]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(partial(_try, agent, words, engine, build), others)
        return {host: refusal for host, refusal in zip(others, found, strict=True) if refusal is not None}


def _try(agent: list[str], words: str, engine: Path, build: EngineBuild, host: str) -> Refusal | None:
    command = [*agent, host, words]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, errors="replace", timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Refusal(f"it does not answer within {_LIMIT_S:g} s", "")
    except OSError as error:
        return Refusal(f"{command[0]} cannot be started: {error.strerror}", str(error))
    if done.returncode != 0:
        return Refusal(_cause(done.returncode, done.stderr, engine), done.stderr)
    try:
        there = Describe.model_validate_json(done.stdout).engine
    except ValidationError:
        return Refusal(f"{engine} there is no engine of this version", done.stdout[:400])
    if there.mpi.library != build.mpi.library:
        return Refusal(f"its MPI is {_short(there.mpi.library)}, here it is {_short(build.mpi.library)}", done.stderr)
    return None


def _cause(code: int, stderr: str, engine: Path) -> str:
    if code == _MISSING:
        return f"{engine} is not there; put it on a file system that all hosts share, or use --stage"
    if library := _LIBRARY.search(stderr):
        return f"the engine needs {library[1]}, which is not there"
    known = next((cause for pattern, cause in _CAUSES if pattern.search(stderr)), None)
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return known or (lines[-1][:160] if lines else f"exit code {code}")


def _short(library: str) -> str:
    return library.splitlines()[0].split(",")[0].strip()
