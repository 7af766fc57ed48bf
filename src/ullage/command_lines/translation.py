# SPDX-License-Identifier: Apache-2.0
"""What a translator makes of command lines: cases that are not yet bound to a machine."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from ullage.command_lines.splitting import CommandLine
from ullage.errors import UserError
from ullage.model.plan import Named

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


Translator: TypeAlias = Callable[[Sequence[CommandLine], WantedLayout, Callable[[Path], str]], Translation]
"""The last argument reads a text file that a flag names. ``UserError`` for what has no equivalent."""


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
    """Raise ``UserError`` when a line uses a dataset otherwise than it was made.

    ``layout`` has the parameters whose values have to be the same, with their flags.
    """
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
