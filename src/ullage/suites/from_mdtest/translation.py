# SPDX-License-Identifier: Apache-2.0
"""mdtest's command lines as cases of the workload ``metadata``. Pure.

Lines without ``-C`` use what an earlier line with the same ``-d`` made and left; where there is none, their case makes
it first. ``-W`` walls only the creation of files, so what follows it is a case of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal, TypeAlias

from ullage.command_lines.flags import ParsedFlags
from ullage.command_lines.options import LineOptions
from ullage.command_lines.splitting import CommandLine
from ullage.command_lines.translation import (
    DatasetNames,
    Draft,
    Translation,
    WantedLayout,
    agreed_layout,
    check_shared,
    one_of,
)
from ullage.errors import UserError
from ullage.model.plan import Named, Parameters
from ullage.runs.options.declared import Change
from ullage.suites.from_mdtest.flags import TABLE
from ullage.suites.from_mdtest.parameters import LAYOUT, TOOL, backend_of, conditional, workload_of

Item: TypeAlias = Literal["directory", "file"]
# Each phase is listed under the flag that selects it; mdtest reads no directories and renames no files.
_PHASES: Final[dict[Item, dict[str, str]]] = {
    "directory": {"-C": "mkdir", "-T": "stat", "-U": "rename", "-r": "rmdir"},
    "file": {"-C": "create", "-T": "stat", "-E": "read", "-r": "unlink"},
}
_SELECT: Final = ("-C", "-T", "-E", "-U", "-r")


@dataclass(frozen=True)
class Job:
    """One command line, read, for one kind of item. ``number`` counts from 1."""

    number: int
    item: Item
    given: ParsedFlags

    @property
    def asked(self) -> list[str]:
        """Phases over items, in mdtest's order."""
        chosen = [flag for flag in _SELECT if self.given.has(flag)] or list(_SELECT)
        phases = _PHASES[self.item]
        return [phases[flag] for flag in phases if flag in chosen]

    @property
    def makes(self) -> str:
        """The phase that makes items."""
        return _PHASES[self.item]["-C"]

    @property
    def removes(self) -> bool:
        """Whether nothing is left behind."""
        return _PHASES[self.item]["-r"] in self.asked

    @property
    def key(self) -> tuple[str, Item]:
        """What later lines find it by."""
        return self.given.text("-d"), self.item


def translate(lines: Sequence[CommandLine], wanted: WantedLayout, _read_file: Callable[[Path], str]) -> Translation:
    """See ``Translator``."""
    layout = agreed_layout(lines, wanted)
    for name in (name for line in lines for name in line.environment):
        raise UserError(f"{name} before the command is not carried to the ranks", TOOL, "export it for `ullage run`")
    read = [TABLE.read(line.words) for line in lines]
    jobs = [job for number, given in enumerate(read, start=1) for job in _jobs(number, given)]
    books = _Books(jobs)
    drafts = [draft for job in jobs for draft in books.drafts_of(job)]
    check_shared(TOOL, drafts, LAYOUT)
    said = [
        note
        for line, given in zip(lines, read, strict=True)
        for note in (*line.notes, *given.notes, *conditional(given, layout.ranks or 1))
    ]
    return Translation(
        drafts=tuple(drafts),
        ranks=layout.ranks or 1,
        repetitions=one_of(TOOL, "-i", [given.count("-i", 1, least=1) for given in read]) or 1,
        nodes=layout.nodes,
        ranks_per_node=layout.ranks_per_node,
        notes=tuple(dict.fromkeys([*said, *books.notes])),
    )


def _jobs(number: int, given: ParsedFlags) -> list[Job]:
    if "@" in given.text("-d"):
        raise UserError("several paths with @ have no equivalent: all ranks use one target", TOOL, "give -d one path")
    if given.has("-D") and given.has("-F"):
        raise UserError("-D and -F exclude each other", TOOL, "leave both out for directories and files")
    items: list[Item] = ["directory"] if given.has("-D") else ["file"] if given.has("-F") else ["directory", "file"]
    jobs = [Job(number, item, given) for item in items]
    asking = [job for job in jobs if job.asked]
    if not asking:
        what = "renames only directories" if given.has("-U") else "reads only files"
        raise UserError(f"line {number} requests no work: mdtest {what}", TOOL, "add -C, -T or -r")
    return asking


class _Books:
    """Which dataset each job makes and uses. ``notes``: what a reader must know of the cases made so far."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        self._names = DatasetNames()
        self._left: dict[tuple[str, Item], str] = {}
        self.notes: list[str] = []

    def drafts_of(self, job: Job) -> list[Draft]:
        """Return the cases of ``job`` in their order."""
        workload, said = workload_of(job.given, job.item, job.asked)
        self.notes.extend(said)
        phases = self._phases(job)
        dataset = self._left.pop(job.key, "")
        stays = not job.removes and self._is_used_later(job)
        wall = job.given.seconds("-W") if job.item == "file" else 0.0
        made, rest = _split_at_wall(phases) if wall else (phases, [])
        if not dataset and (stays or rest):
            dataset = self._names.make(job.given.text("-d"), f"{job.item}s")
        if stays:
            self._left[job.key] = dataset
        elif not job.removes:
            self.notes.append("what mdtest would leave is removed at the end of the run, unless --keep is given")
        walled: Parameters = {"stonewall_s": wall, "wear_out": True} if wall else {}
        drafts = [self._draft(job, {**workload, **walled, "phases": made}, dataset)] if made else []
        return [*drafts, self._draft(job, {**workload, "phases": rest}, dataset)] if rest else drafts

    def _first(self, job: Job) -> list[str]:
        """Return the phase that has to come before those asked for, if any: the making of the items."""
        return [] if job.makes in job.asked or job.key in self._left else [job.makes]

    def _phases(self, job: Job) -> list[str]:
        first = self._first(job)
        if first:
            self.notes.append(
                f"line {job.number} makes no {_plural(job.item)}, and no line before it leaves any: they are made first"
            )
        makes = bool(first) or job.makes in job.asked
        head = ["tree-create"] if makes else []
        return [*head, *first, *job.asked, *(["tree-remove"] if job.removes else [])]

    def _is_used_later(self, job: Job) -> bool:
        later = [other for other in self._jobs if other.number > job.number and other.key == job.key]
        return bool(later) and later[0].makes not in later[0].asked

    def _draft(self, job: Job, parameters: Parameters, dataset: str) -> Draft:
        workload = Named(name="metadata", parameters={**parameters, "item": job.item})
        return Draft(job.number, backend_of(job.given), workload, job.given.text("-d"), dataset)


def _split_at_wall(phases: list[str]) -> tuple[list[str], list[str]]:
    """Split phases behind the creation of files; a job that makes none has nothing before the wall."""
    end = phases.index("create") + 1 if "create" in phases else 0
    return phases[:end], phases[end:]


def _plural(item: Item) -> str:
    return "directories" if item == "directory" else "files"


class FromMdtestOptions(LineOptions):
    """The options of all suites that measure command lines."""

    tool = TOOL
    metrics = "operation_rate latency_p50 latency_p99"
    translate = staticmethod(translate)
    changes: ClassVar[Mapping[str, Change]] = {
        "lines": Change(
            'Measure what these command lines do. Put each in quotes: "mdtest ..." or "mpirun -np 8 mdtest ...".'
        )
    }
