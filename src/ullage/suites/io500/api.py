# SPDX-License-Identifier: Apache-2.0
"""The value of ``API`` in the official configuration file: a backend, and the words behind it."""

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

from ullage.errors import UserError
from ullage.model.base import Strict
from ullage.model.plan import Parameters
from ullage.parameters import suggest
from ullage.reading import read_text
from ullage.suites.io500.phases import OfficialPhase

_HINT: Final = re.compile(r"IOR_HINT__(MPI|GPFS)__(\w+)\s*=\s*(\S+)", re.ASCII)
_BACKENDS: Final = {"POSIX": "posix", "MPIIO": "mpiio", "MMAP": "mmap", "PMDK": "pmem"}
_NAMELESS: Final = {"mpiio": "MPI-IO", "mmap": "MMAP", "pmem": "PMDK"}
_SHARED: Final = "ior-hard"
_LAYOUT_OF_FILES: Final = ("--posix.lustre.", "--posix.gpfs.", "--posix.beegfs.")
_STRIPES: Final = (
    "leave it out: set it with the file system's own tool on the folder DATADIR/{} before the run, whose layout is used"
)


class Api(Strict):
    """Through which backend a phase goes, and the parameters that its words set."""

    backend: Literal["posix", "mpiio", "mmap", "pmem"] = "posix"
    parameters: Parameters = {}


def parse_api(text: str, place: str, phase: OfficialPhase, folder: Path, *, is_own: bool = True) -> Api:
    """Parse ``POSIX``, ``POSIX --posix.odirect``, ``MPIIO --mpiio.hintsFileName=FILE``, ``MMAP`` ... for ``phase``.

    Metadata goes through POSIX only. Another API is an error where it is asked of such a phase itself (``is_own``), and
    means POSIX where it is asked of all.
    """
    name, *words = _split(text, place)
    if name.upper() not in _BACKENDS:
        raise UserError(f"API '{name}' is not supported", place, suggest(name.upper(), _BACKENDS))
    backend = _BACKENDS[name.upper()]
    on_names = phase.workload in {"metadata", "mixed-metadata"}
    if backend != "posix" and on_names:
        if is_own:
            raise UserError(f"{_NAMELESS[backend]} has no metadata operations but open and delete", place, "use POSIX")
        return Api()
    if backend == "pmem" and phase.dataset == _SHARED:
        raise UserError("PMDK needs a file for each process", place, f"{phase.name} shares a file: use MMAP or POSIX")
    api = Api.model_validate({"backend": backend})
    for word in (joined.removesuffix("=1") for joined in _joined(words)):
        # Small files are made and read through the cache; O_DIRECT would concern their bytes only.
        if word == "--posix.odirect" and backend == "posix" and not on_names:
            api = api.model_copy(update={"parameters": {**api.parameters, "direct": True}})
        elif word.startswith("--mpiio.hintsFileName=") and backend == "mpiio":
            hints = read_hint_file(folder / word.partition("=")[2])
            api = api.model_copy(update={"parameters": {**api.parameters, "hints": dict(hints)}})
        # What is set on a folder counts for all that is made in it.
        elif word.startswith(_LAYOUT_OF_FILES):
            raise UserError(f"{name} option '{word}' is not set by a run", place, _STRIPES.format(phase.dataset))
        elif not (word == "--posix.odirect" and on_names and not is_own):
            right = "leave it out: --posix.odirect of bandwidth phases and --mpiio.hintsFileName=FILE are known"
            raise UserError(f"option '{word}' of {name} is not supported for {phase.name}", place, right)
    return api


def _split(text: str, place: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UserError(f"cannot be split into words: {error}", place, "close the quotation") from error


def _joined(words: Iterable[str]) -> list[str]:
    """Join an option and its value, ``--a b``, to ``--a=b``."""
    found: list[str] = []
    for word in words:
        if not word.startswith("-") and found:
            found[-1] += f"={word}"
        else:
            found.append(word)
    return found


def read_hint_file(path: Path) -> dict[str, str]:
    """Read the MPI hints of a file of lines ``IOR_HINT__MPI__KEY=VALUE``; raise ``UserError`` for another line."""
    lines = read_text(path, "name a file of IOR_HINT__MPI__KEY=VALUE lines").splitlines()
    hints: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        bare = line.partition("#")[0].strip()
        match = _HINT.fullmatch(bare)
        if bare and (match is None or match[1] != "MPI"):
            raise UserError("is not an MPI hint", f"{path}:{number}", "write IOR_HINT__MPI__KEY=VALUE")
        if match is not None:
            hints[match[2]] = match[3]
    return hints
