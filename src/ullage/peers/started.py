# SPDX-License-Identifier: Apache-2.0
"""Run a peer that starts processes of its own, all of which end with it."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.peers import PeerError

_STOP_S: Final = 5


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and what it has said."""

    code: int
    out: str
    err: str


def run_to_end(command: Sequence[str], folder: Path, environment: Mapping[str, str], limit_s: float) -> Ended:
    """Run ``command`` in ``folder`` with ``environment`` besides our own. Whatever ends this call ends all of it too.

    ``PeerError`` when it cannot be started or takes longer than ``limit_s``.
    """
    name = Path(command[0]).name
    try:
        # In a session of its own, because its children would outlive it.
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise PeerError(f"{name} cannot be started: {error.strerror}") from error
    with process:
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired as error:
            raise PeerError(f"{name} was not done after {limit_s:g} s and was ended") from error
        finally:
            _end(process)
    return Ended(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ask all of its session to end, then make them."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_S)
