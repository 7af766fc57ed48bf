# SPDX-License-Identifier: Apache-2.0
"""The backend that an API of IOR asks for, with its parameters."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from ullage.command_lines.flags import Given
from ullage.errors import UserError
from ullage.model.plan import Named, Parameters, Scalar
from ullage.parameters import suggest

_TOOL: Final = "ior"
NULL: Final = "null"
BACKENDS: Final[Mapping[str, str]] = {
    "POSIX": "posix",
    "MPIIO": "mpiio",
    "MMAP": "mmap",
    "HDF5": "hdf5",
    "PMDK": "pmem",
    "DUMMY": NULL,
}
_WITHOUT: Final = (
    *("AIO", "NCMPI", "DFS", "RADOS", "CEPHFS", "IME", "Gfarm", "CHFS", "FINCHFS", "LIBNFS", "HDFS"),
    *("S3-libs3", "S3-4c", "S3_plus", "S3_EMC", "S3-curl"),
)
_HINT_WORD: Final = re.compile(r"IOR_HINT__(MPI|GPFS)__(\w+)")


def backend_of(given: Given, environment: Mapping[str, str], read_file: Callable[[Path], str]) -> Named:
    """``environment``: what stands before the command. ``UserError`` for an API or flag that no backend serves."""
    api = given.text("-a", "POSIX")
    if api in _WITHOUT:
        raise UserError(f"no backend speaks {api}", f"{_TOOL} -a", f"one of {', '.join(BACKENDS)}")
    if api.upper() not in BACKENDS:
        raise UserError(f"unknown API '{api}'", f"{_TOOL} -a", suggest(api.upper(), BACKENDS))
    name = BACKENDS[api.upper()]
    for flag, backend in (("-c", "mpiio"), ("--posix.odirect", "posix"), ("--mpiio.hintsFileName", "mpiio")):
        if given.has(flag) and name != backend:
            raise UserError(f"{flag} needs -a {backend.upper()}", _TOOL, f"change -a, or leave {flag} out")
    parameters: Parameters = {}
    if given.has("-c"):
        parameters["collective"] = True
    if given.has("--posix.odirect"):
        parameters["direct"] = True
    if given.has("--mpiio.preallocate"):
        parameters["preallocate"] = True
    if hints := _hints(given, environment, read_file):
        parameters["hints"] = hints
    return Named(name=name, parameters=parameters)


def _hints(given: Given, environment: Mapping[str, str], read_file: Callable[[Path], str]) -> dict[str, Scalar]:
    """Those of the hints file, then those of the environment, which win."""
    hints: dict[str, Scalar] = {}
    if given.has("--mpiio.hintsFileName"):
        place = given.text("--mpiio.hintsFileName")
        for number, line in enumerate(read_file(Path(place)).splitlines(), start=1):
            text = line.partition("#")[0].strip()
            name, joined, value = (part.strip() for part in text.partition("="))
            if text and not joined:
                raise UserError("is no hint", f"{place}:{number}", "write IOR_HINT__MPI__KEY = VALUE")
            if text:
                hints[_hint(name)] = value
    for name, value in environment.items():
        if not name.startswith("IOR_HINT__"):
            raise UserError(
                f"{name} before the command is not carried to the ranks", _TOOL, "export it for `ullage run`"
            )
        hints[_hint(name)] = value
    return hints


def _hint(name: str) -> str:
    match = _HINT_WORD.fullmatch(name)
    if match is not None and match[1] == "GPFS":
        raise UserError(f"{name}: only MPI hints have an equivalent", _TOOL, "leave it out")
    return name if match is None else match[2]
