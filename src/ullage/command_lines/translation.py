# SPDX-License-Identifier: Apache-2.0
"""Command lines split into the tool's own words, and what a translator makes of them: cases not yet bound to a machine.

What the launcher before the tool says of the layout is taken from it. Pure.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final, TypeAlias

from ullage.errors import UserError
from ullage.model.plan import Named

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
# Words that make another measurement, for each program: where memory lies, and what storage thinks of a process.
_PLACING: Final[Mapping[str, re.Pattern[str]]] = {
    "numactl": re.compile(r"(?:-[mipPw]|--(?:membind|(?:weighted-)?interleave|preferred(?:-many)?))(?:=.*)?"),
    "srun": re.compile(r"--mem-bind(?:=.*)?"),
    "ionice": re.compile(r"-.*"),
}


@dataclass(frozen=True)
class CommandLine:
    """A split command line. ``words``: behind the tool's name. Counts are None where the line does not say them."""

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
    # A word behind an option that takes a name may be the tool's.
    places = (index for index, word in enumerate(words) if PurePath(word).name == tool)
    place = next((index for index in places if index == 0 or words[index - 1] not in ("-J", "--job-name")), None)
    if place is None:
        right = f'write "{tool} ..." or "mpirun -np 8 {tool} ..."'
        raise UserError(f"not a command line of {tool}", f"'{text}'", right)
    said, exported, notes = _read_launcher(words[:place], tool)
    own, environment = tuple(words[place + 1 :]), {**environment, **exported}
    ranks, nodes, on_a_node = (said.get(name) for name in ("ranks", "nodes", "ranks_per_node"))
    if ranks is None and nodes is not None and on_a_node is not None:
        ranks = nodes * on_a_node
    return CommandLine(text, tool, own, environment, ranks, nodes, on_a_node, notes)


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


def _read_launcher(words: Sequence[str], tool: str) -> tuple[dict[str, int], dict[str, str], tuple[str, ...]]:
    """Return the layout, the tool's variables and a note on other words; refuse those that change what is measured."""
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
        # As -n8.
        glued = next((name for name in meanings if len(name) == 2 and re.fullmatch(rf"{name}\d+", word)), None)
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
    """Return the words without those that set variables of ``tool``, and these; refuse those that steer MPI-IO."""
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
        elif word in ("--mca", "-mca", "--gmca", "-gmca"):
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


def _count(text: str, option: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,8}", text, re.ASCII):
        raise UserError(f"'{text}' is not a number of ranks or nodes", option, "write a whole number from 1")
    return int(text)


_ODD: Final = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME: Final = 48


@dataclass(frozen=True)
class Draft:
    """A case of command line ``line`` (from 1) at the folder ``place`` (as written; empty: not said).

    ``dataset``: its name where another case uses it too. ``needs_path``: whether it works on files at all. ``leaves``:
    bytes of its dataset, one file; None where segments, blocks or items say how many.
    """

    line: int
    backend: Named
    workload: Named
    place: str
    dataset: str = ""
    needs_path: bool = True
    leaves: int | None = None


@dataclass(frozen=True)
class Translation:
    """Cases in the order in which a round goes through them. ``time_s``: what the whole may take; None: no limit."""

    drafts: tuple[Draft, ...]
    ranks: int
    repetitions: int = 1
    nodes: int | None = None
    ranks_per_node: int | None = None
    time_s: float | None = None
    keep: bool = False
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class WantedLayout:
    """What the options beside the command lines say; None: what the lines say."""

    ranks: int | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None


Translator: TypeAlias = Callable[[Sequence[CommandLine], WantedLayout], Translation]
"""``UserError`` for what has no equivalent."""


def one_of(tool: str, what: str, values: Iterable[int | None], option: str = "") -> int | None:
    """Return the value that all lines which say any agree in, or None; raise ``UserError`` where they differ."""
    said = sorted({value for value in values if value is not None})
    if len(said) > 1:
        right = f"give {option} for all" if option else "run them apart"
        raise UserError(f"the command lines differ in {what}: {', '.join(map(str, said))}", tool, right)
    return said[0] if said else None


def agreed_layout(lines: Sequence[CommandLine], wanted: WantedLayout) -> WantedLayout:
    """Return the layout of all lines, by the options where they say one. Without any there is one rank."""
    tool = lines[0].tool
    ranks = wanted.ranks or one_of(tool, "ranks", [line.ranks for line in lines], "--ranks")
    nodes = wanted.nodes or one_of(tool, "nodes", [line.nodes for line in lines], "--nodes")
    on_a_node = wanted.ranks_per_node
    if on_a_node is None and wanted.ranks is None and wanted.nodes is None:
        on_a_node = one_of(tool, "ranks per node", [line.ranks_per_node for line in lines], "--ranks-per-node")
    return WantedLayout(ranks or 1, nodes, on_a_node)


def check_shared(tool: str, drafts: Iterable[Draft], layout: Mapping[str, str]) -> None:
    """Raise ``UserError`` when a line uses a dataset otherwise than it was made, by the flags in ``layout``."""
    first: dict[tuple[str, str], Draft] = {}
    for draft in drafts:
        maker = first.setdefault((draft.dataset, draft.workload.name), draft)
        if not draft.dataset:
            continue
        made, used = maker.workload.parameters, draft.workload.parameters
        for name, flag in layout.items():
            if made.get(name) != used.get(name):
                what = f"line {draft.line} uses what line {maker.line} made with another {flag}"
                raise UserError(what, tool, f"write the same {flag} in both lines")


# The file systems that ROMIO may be told before a path; its test driver moves nothing.
_ROMIO: Final = re.compile(
    r"(ufs|nfs|lustre|panfs|gpfs|pvfs2|piofs|xfs|sfs|daos|dfs|quobyte|ime|bb|beegfs|gridftp|testfs):(.+)", re.DOTALL
)


def without_file_system(path: str, tool: str, option: str, notes: list[str]) -> str:
    """Return a path of MPI-IO without ROMIO's prefix, which is said in ``notes``; refuse the driver for tests."""
    match = _ROMIO.fullmatch(path)
    if match is None:
        return path
    if match[1] == "testfs":
        raise UserError(
            f"'{path}' moves no data: testfs: is ROMIO's driver for tests", f"{tool} {option}", "leave testfs: out"
        )
    notes.append(f"{option}: the prefix {match[1]}: is not carried; the MPI library sees which file system it is")
    return match[2]


class DatasetNames:
    """Names for datasets that cases share, made from the paths that people wrote; each is given once."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def make(self, path: str, default: str) -> str:
        """Make a name that was not given before."""
        stem = _ODD.sub("-", Path(path).name).strip("-")[:_LONGEST_NAME] or default
        name, number = stem, 1
        while name in self._given:
            number += 1
            name = f"{stem}-{number}"
        self._given.add(name)
        return name
