# SPDX-License-Identifier: Apache-2.0
"""The engine on a disk of each node: copied there once by the launcher's own broadcast, and removed afterwards.

It lies in a private folder of its own, which has a marker. Nothing else is written or removed there.
"""

import contextlib
import hashlib
import secrets
import subprocess
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import Launcher
from ullage.quantity import listing
from ullage.reading import read_bytes

_MARKER: Final = ".ullage-stage"
_PROGRAM: Final = "ullage-engine"
# A wheel has a program for each of these MPIs beside it.
_OF_WHEELS: Final = ("-openmpi", "-mpich", "-mpi5")
_TIMEOUT_S: Final = 120
# Run by /bin/sh on every node, with the folder as first word. A folder that is there, or a link, is refused.
_MAKE: Final = f'mkdir -m 700 -- "$1" && : > "$1/{_MARKER}"'
_SUM: Final = f'echo "$(uname -n) $(sha256sum < "$1/{_PROGRAM}")"'
_REMOVE: Final = (
    f'[ -f "$1/{_MARKER}" ] || exit 0; rm -f -- "$1/{_PROGRAM}"* && rm -f -- "$1/{_MARKER}" && rmdir -- "$1"'
)


@runtime_checkable
class Broadcasting(Protocol):
    """A launcher that can copy a file to all nodes of its job."""

    def broadcast(self, source: Path, place: Path) -> list[str]:
        """Return the argument list that copies ``source`` to ``place`` on every node."""
        ...

    def on_every_node(self, command: Sequence[str]) -> list[str]:
        """Return the argument list that runs ``command``, no program of MPI, once on every node."""
        ...


@contextlib.contextmanager
def staged(engine: Path, launcher: Launcher, folder: Path | None, lost: Sequence[str] = ()) -> Generator[Path]:
    """Give the path of the engine on all nodes: ``engine`` itself, or a copy below ``folder``, gone afterwards.

    ``lost``: nodes that have failed meanwhile, where nothing can be removed. Raise ``UserError`` (exit code 3) where
    the launcher has no broadcast, and where a node has no right copy.
    """
    if folder is None:
        yield engine
        return
    if not isinstance(launcher, Broadcasting):
        what = f"{launcher.name} has no broadcast that could copy the engine to all nodes"
        right = "start by srun in a job of Slurm, or leave --stage out and keep the engine on a shared path"
        raise UserError(what, f"--stage {folder}", right, EXIT_ENVIRONMENT)
    if not folder.is_absolute():
        raise UserError("is not an absolute path", f"--stage {folder}", "name a folder of each node: /tmp")
    place = folder / f"ullage-stage-{secrets.token_hex(8)}"
    try:
        _on_every_node(launcher, _MAKE, place)
        for suffix in ("", *_OF_WHEELS):
            program = engine.with_name(f"{engine.name}{suffix}")
            if not suffix or program.is_file():
                _run(launcher.broadcast(program, place / f"{_PROGRAM}{suffix}"), place)
        _check(engine, _on_every_node(launcher, _SUM, place), launcher.nodes, place)
        yield place / _PROGRAM
    finally:
        left = launcher.without(lost) if lost else launcher
        with contextlib.suppress(UserError):  # the first error tells more
            if isinstance(left, Broadcasting):
                _on_every_node(left, _REMOVE, place)


def _on_every_node(launcher: Broadcasting, script: str, place: Path) -> str:
    return _run(launcher.on_every_node(["/bin/sh", "-c", script, "stage", str(place)]), place)


def _run(words: list[str], place: Path) -> str:
    """Run a command and return what it says. Raise ``UserError`` with its own words where it fails."""
    where, right = f"--stage {place.parent}", "name a folder that every node has, or leave --stage out"
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except FileNotFoundError as error:
        raise UserError(f"no {words[0]} found", "PATH", "leave --stage out", EXIT_ENVIRONMENT) from error
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{words[0]} did not end within {_TIMEOUT_S} s", where, right, EXIT_ENVIRONMENT) from error
    if done.returncode != 0:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        what = f"the engine cannot be copied to all nodes: {(said or [f'exit code {done.returncode}'])[0]}"
        raise UserError(what, where, right, EXIT_ENVIRONMENT)
    return done.stdout


def _check(engine: Path, said: str, nodes: int, place: Path) -> None:
    """Raise ``UserError`` where a node's copy is not what ``engine`` is, or a node said nothing."""
    wanted = hashlib.sha256(read_bytes(engine)).hexdigest()
    found = [line.split() for line in said.splitlines() if line.strip()]
    wrong = sorted(words[0] for words in found if wanted not in words[1:])
    if wrong:
        what = f"the copy of the engine on {listing(wrong)} is not the engine"
        raise UserError(what, f"--stage {place.parent}", "look at the disks of these nodes", EXIT_ENVIRONMENT)
    if len(found) < nodes:
        what = f"{len(found)} of {nodes} nodes have the engine"
        raise UserError(what, f"--stage {place.parent}", "name a folder that every node has", EXIT_ENVIRONMENT)
