# SPDX-License-Identifier: Apache-2.0
"""A whole command line into the tool's own words, and what the launcher before them says of the layout. Pure."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from ullage.errors import UserError

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_MPIEXEC: Final = ("mpirun", "mpiexec", "mpiexec.hydra", "mpiexec.openmpi", "mpiexec.mpich", "orterun")
_SRUN: Final = ("srun",)
LAUNCHERS: Final = ("mpirun", "mpiexec", "srun")
# Each launcher has its own table, because the same letter means different things to them.
_MPIEXEC_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("-n", "-np", "--np", "--n"), "ranks"),
    **dict.fromkeys(("-ppn", "--ppn", "-perhost", "-npernode", "--npernode", "-N"), "ranks_per_node"),
}
_SRUN_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("-n", "--ntasks"), "ranks"),
    **dict.fromkeys(("-N", "--nodes"), "nodes"),
    "--ntasks-per-node": "ranks_per_node",
}
# Their value is a name, which may be the tool's.
_NAMING: Final = ("-J", "--job-name")
# Variables that a tool reads, and those by which an MPI library chooses how a file is accessed.
_OWN: Final[Mapping[str, re.Pattern[str]]] = {
    "ior": re.compile(r"IOR_HINT__\w+"),
    "mpi-tile-io": re.compile(
        r"(?:NR_TILES|SZ_TILE|OVERLAP)_[XYZ]|SZ_ELEMENT|HEADER_BYTES|FILENAME|WRITE_FILE|COLLECTIVE|NR_FILES"
    ),
}
_OF_FILES: Final = re.compile(
    r"OMPI_MCA_(?:io|fs|fcoll|fbtl|sharedfp)(?:_\w+)?|ROMIO_\w+|MPICH_MPIIO_\w+|I_MPI_EXTRA_FILE\w+|HDF5_\w+|LD_PRELOAD"
)
_EXPORTING: Final = ("-x", "-genv", "--genv", "-env", "--env", "--export")
_MCA: Final = ("--mca", "-mca", "--gmca", "-gmca")
# Words that make another measurement, for each program: where memory lies, and what storage thinks of a process.
_PLACING: Final[Mapping[str, re.Pattern[str]]] = {
    "numactl": re.compile(r"(?:-[mipPw]|--(?:membind|(?:weighted-)?interleave|preferred(?:-many)?))(?:=.*)?"),
    "srun": re.compile(r"--mem-bind(?:=.*)?"),
    "ionice": re.compile(r"-.*"),
}


@dataclass(frozen=True)
class CommandLine:
    """A command line, split into words.

    ``words``: those behind the tool's name. Counts are None where the line does not say them.
    """

    text: str
    tool: str
    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    ranks: int | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None
    notes: tuple[str, ...] = ()


def split_line(text: str, tool: str) -> CommandLine:
    """Split ``[NAME=VALUE ...] [LAUNCHER ...] TOOL FLAGS`` as a POSIX shell would; raise ``UserError`` for others.

    Nothing is expanded: a variable, a redirection or a second command is an error.
    """
    words = _split(text, tool)
    environment: dict[str, str] = {}
    while words and (match := _ASSIGNMENT.fullmatch(words[0])):
        environment[match[1]] = match[2]
        words = words[1:]
    place = _place_of(tool, words)
    if place is None:
        raise UserError(
            f"not a command line of {tool}", f"'{text}'", f'write "{tool} ..." or "mpirun -np 8 {tool} ..."'
        )
    said, exported, notes = _read_launcher(words[:place], tool)
    return CommandLine(
        text=text,
        tool=tool,
        words=tuple(words[place + 1 :]),
        environment={**environment, **exported},
        ranks=said.get("ranks", _product(said.get("nodes"), said.get("ranks_per_node"))),
        nodes=said.get("nodes"),
        ranks_per_node=said.get("ranks_per_node"),
        notes=notes,
    )


def _product(nodes: int | None, ranks_per_node: int | None) -> int | None:
    return None if nodes is None or ranks_per_node is None else nodes * ranks_per_node


def _split(text: str, tool: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"cannot be split into words: {error}", f"'{text}'", "close every quote") from error
    for word in words:
        if "$" in word or "`" in word:
            raise UserError(f"'{word}' is not expanded here, because no shell reads this line", tool, "write its value")
        if word in {"|", "||", "&&", ";", "&", ">", ">>", "<", "2>&1", ":"}:
            raise UserError(f"'{word}' belongs to a shell or a launcher", tool, f"write the command line of one {tool}")
    return words


def _place_of(tool: str, words: Sequence[str]) -> int | None:
    for index, word in enumerate(words):
        if PurePath(word).name == tool and (index == 0 or words[index - 1] not in _NAMING):
            return index
    return None


def _read_launcher(words: Sequence[str], tool: str) -> tuple[dict[str, int], dict[str, str], tuple[str, ...]]:
    """Return the layout, the tool's own variables, and a note that names the other words.

    Raise ``UserError`` for words that would make another measurement.
    """
    if not words:
        return {}, {}, ()
    name = PurePath(words[0]).name
    if name not in (*_MPIEXEC, *_SRUN):
        right = f"begin with {tool}, or with one of {', '.join(LAUNCHERS)}; --ranks says how many ranks"
        raise UserError(f"'{words[0]}' before {tool} is not a known launcher", tool, right)
    meanings = _SRUN_WORDS if name in _SRUN else _MPIEXEC_WORDS
    said: dict[str, int] = {}
    ignored: list[str] = []
    _refuse_placing(words, tool)
    kept, exported = _without_exports(words[1:], tool)
    rest = iter(kept)
    for word in rest:
        option, joined, value = word.partition("=")
        glued = _glued(word, meanings)
        if option in meanings:
            said[meanings[option]] = _count(value if joined else next(rest, ""), option)
        elif glued is not None:
            said[meanings[glued]] = _count(word.removeprefix(glued), glued)
        else:
            ignored.append(word)
    note = f"words of {name} that the plan does not carry: {shlex.join(ignored)}; Ullage starts and binds its own ranks"
    return said, exported, (note,) if ignored else ()


def _refuse_placing(words: Sequence[str], tool: str) -> None:
    """Raise ``UserError`` for words of a program that decide where memory lies or how its transfers are ranked."""
    of = ""
    for word in words:
        of = PurePath(word).name if PurePath(word).name in _PLACING else of
        if of and _PLACING[of].fullmatch(word):
            what = f"'{word}' of {of} makes another measurement, and is not carried to the ranks"
            raise UserError(what, tool, f"leave it out, or start `ullage run` itself by {of}")


def _without_exports(words: Sequence[str], tool: str) -> tuple[list[str], dict[str, str]]:
    """Return the words without those that set variables of ``tool``, and these variables.

    Raise ``UserError`` for one by which an MPI library chooses how it accesses files.
    """
    kept: list[str] = []
    exported: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        option, joined, value = word.partition("=")
        if option in _EXPORTING:
            taken = [value] if joined else [next(rest, "")]
            # Hydra's words are NAME VALUE, the others' NAME=VALUE, and those of srun have commas between them.
            if option.endswith("env") and "=" not in taken[0]:
                taken.append(next(rest, ""))
            pairs = taken[0].split(",") if option == "--export" else ["=".join(taken)]
            own = [pair for pair in pairs if _is_own(pair, tool)]
            exported |= {name: text for name, _, text in (pair.partition("=") for pair in own)}
            kept += [] if own else [word, *([] if joined else taken)]
        elif word in _MCA:
            key, text = next(rest, ""), next(rest, "")
            _is_own(f"OMPI_MCA_{key}={text}", tool)
            kept += [word, key, text]
        else:
            kept.append(word)
    return kept, exported


def _is_own(pair: str, tool: str) -> bool:
    name, joined, value = pair.partition("=")
    if joined and _OF_FILES.fullmatch(name):
        what = f"{name} chooses how files are accessed, and is not carried to the ranks"
        raise UserError(what, tool, f"leave it out, and `export {name}={shlex.quote(value)}` before `ullage run`")
    return bool(joined) and tool in _OWN and _OWN[tool].fullmatch(name) is not None


def _glued(word: str, meanings: Mapping[str, str]) -> str | None:
    """Return the option of a word such as ``-n8``, or None."""
    return next((name for name in meanings if len(name) == 2 and re.fullmatch(rf"{name}\d+", word)), None)


def _count(text: str, option: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,8}", text, re.ASCII):
        raise UserError(f"'{text}' is not a number of ranks or nodes", option, "write a whole number from 1")
    return int(text)
