# SPDX-License-Identifier: Apache-2.0
"""IOR's command lines as cases of the workload ``transfer``. Pure, but for the files that flags name.

Lines that only read use what an earlier line with the same ``-o`` wrote and kept; where there is none, their case
writes it first.

Of IOR's scripts (``-f FILE``), a line of directives after the other, each test begun by ``run`` is a command line. It
has what the tests before it have set; what stands on the command line beside ``-f`` holds for all of them.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final, cast

from ullage.command_lines import translation
from ullage.command_lines.flags import ParsedFlags
from ullage.command_lines.options import LineOptions
from ullage.errors import UserError
from ullage.model.plan import Named, Parameters
from ullage.parameters import count_of
from ullage.reading import read_text
from ullage.runs.options.declared import Change
from ullage.runs.room import SECTOR_BYTES
from ullage.suites.from_ior.parameters import (
    A_FILE,
    COLLECTIVE,
    LAYOUT,
    NULL,
    TABLE,
    backend_of,
    random_picks,
    workload_of,
)

_TOOL: Final = "ior"
_SCRIPT: Final = "-f"
_DIRECTIVES: Final = "-O"


def expanded(texts: Sequence[str]) -> list[str]:
    """Return ``texts`` with a command line for each test of a script instead of the line that names it."""
    return [line for text in texts for line in _lines(text)]


def _lines(text: str) -> list[str]:
    line = translation.split_line(text, _TOOL)
    words, script = _without_script(line)
    if not script:
        return [text]
    before = shlex.split(text)[: -len(line.words) or None]
    tests = list(_tests(read_text(Path(script), A_FILE), script))
    if not tests:
        raise UserError("contains no test", script, "write IOR START, directives, RUN, IOR STOP")
    return [shlex.join([*before, *words, *directives]) for directives in tests]


def _without_script(line: translation.CommandLine) -> tuple[list[str], str]:
    """Return the words without the flag, and the file that it names; empty text without one."""
    kept: list[str] = []
    script = ""
    words = iter(line.words)
    for word in words:
        if word == _SCRIPT:
            script = next(words, "")
            if not script:
                raise UserError(f"{_SCRIPT} needs a value", _TOOL, f"write {_SCRIPT} FILE")
        elif word.startswith(f"{_SCRIPT}="):
            script = word.partition("=")[2]
        else:
            kept.append(word)
    return kept, script


def _tests(text: str, name: str) -> Iterator[list[str]]:
    """Yield the words of each test; raise ``UserError`` with the line of what is no directive."""
    said: list[str] = []
    is_open = False
    for number, whole in enumerate(text.splitlines(), start=1):
        line, place = whole.partition("#")[0].strip(), f"{name}:{number}"
        match line.lower().split():
            case []:
                continue
            case ["ior", "start"]:
                is_open = True
            case ["ior", "stop"]:
                return
            case ["run"] if is_open:
                yield list(said)
            case _ if is_open:
                said += [_DIRECTIVES, _directive(line, place)]
            case _:
                raise UserError("stands before IOR START", place, "begin the tests with a line IOR START")
    raise UserError("has no line IOR STOP", name, "end the tests with it")


def _directive(line: str, place: str) -> str:
    """Return ``NAME=VALUE`` without the blanks around the sign; refuse what has no equivalent, with its place."""
    name, joined, value = (part.strip() for part in line.partition("="))
    text = f"{name}={value}" if joined else name
    try:
        TABLE.read([_DIRECTIVES, text])
    except UserError as error:
        raise UserError(error.what, place, error.right, error.code) from error
    return text


_FILE: Final = "testFile"


@dataclass(frozen=True)
class Job:
    """One command line, read. ``number`` counts from 1."""

    number: int
    given: ParsedFlags
    backend: Named
    path: str
    notes: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """IOR's rule: without any of -w -r -W -R it writes and reads."""
        return self.given.has("-w") or not any(self.given.has(key) for key in ("-r", "-W", "-R"))

    @property
    def reads(self) -> bool:
        """A check reads too."""
        asked = any(self.given.has(key) for key in ("-r", "-W", "-R"))
        return asked or not self.given.has("-w")

    @property
    def keeps(self) -> bool:
        """Whether its file is there when it has ended."""
        return self.given.has("-k")

    @property
    def picks_randomly(self) -> bool:
        """``-z -z``: independent random positions, not a permutation."""
        return self.given.times("-z") > 1


def translate(lines: Sequence[translation.CommandLine], wanted: translation.WantedLayout) -> translation.Translation:
    """See ``Translator``."""
    jobs = [_read(number, line) for number, line in enumerate(lines, start=1)]
    layout = _layout(jobs, lines, wanted)
    ranks = layout.ranks or 1
    notes = dict.fromkeys(note for line in lines for note in line.notes)
    drafts: list[translation.Draft] = []
    books = _Books(jobs)
    for job in jobs:
        said = list(job.notes)
        drafts += books.drafts_of(job, workload_of(job.given, ranks, said), said)
        notes.update(dict.fromkeys(said))
    translation.check_shared(_TOOL, drafts, LAYOUT)
    keep = any((job.keeps and books.is_last(job)) or job.given.has("-K") for job in jobs)
    minutes = translation.one_of(_TOOL, "-T", [job.given.count("-T", 0) for job in jobs])
    return translation.Translation(
        drafts=tuple(drafts),
        ranks=ranks,
        repetitions=translation.one_of(_TOOL, "-i", [job.given.count("-i", 1, least=1) for job in jobs]) or 1,
        nodes=layout.nodes,
        ranks_per_node=layout.ranks_per_node,
        time_s=minutes * 60.0 if minutes else None,
        keep=keep,
        notes=tuple(notes) + (("-k or -K: the data stays; `ullage clean TARGET` removes it",) if keep else ()),
    )


def _read(number: int, line: translation.CommandLine) -> Job:
    given = TABLE.read(line.words)
    if "@" in given.text("-o"):
        raise UserError("several paths with @ have no equivalent: all ranks use one target", _TOOL, "give -o one path")
    backend, path, notes = backend_of(given, line.environment), given.text("-o"), list(given.notes)
    if backend.name in COLLECTIVE:
        path = translation.without_file_system(path, _TOOL, "-o", notes)
    return Job(number, given, backend, path, tuple(notes))


def _layout(
    jobs: Sequence[Job], lines: Sequence[translation.CommandLine], wanted: translation.WantedLayout
) -> translation.WantedLayout:
    """Return the layout: ``-N`` uses fewer ranks than the launcher starts, and 0 uses all."""
    layout = translation.agreed_layout(lines, wanted)
    used = translation.one_of(_TOOL, "-N", [job.given.count("-N", 0) or None for job in jobs], "--ranks")
    if used is None or wanted.ranks is not None:
        return layout
    if any(line.ranks is not None and line.ranks < used for line in lines):
        raise UserError(f"-N {used} is more than the launcher starts", _TOOL, "raise its -np, or lower -N")
    return translation.WantedLayout(used, layout.nodes, layout.ranks_per_node)


class _Books:
    """Which dataset each job makes and uses."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        self._names = translation.DatasetNames()
        self._left: dict[str, tuple[str, Parameters]] = {}

    def is_last(self, job: Job) -> bool:
        """Tell whether no later job uses the file of ``job``."""
        return not any(other.path == job.path for other in self._jobs[job.number :])

    def drafts_of(self, job: Job, workload: Parameters, notes: list[str]) -> list[translation.Draft]:
        """Return the cases of ``job`` in their order; add to the ``notes`` for the reader."""
        if job.writes:
            return [self._writing(job, workload, notes)]
        left = self._left.get(job.path)
        if left is not None:
            if not job.keeps:
                del self._left[job.path]
            return [self._reading(job, workload, *left)]
        notes.append(f"line {job.number} only reads, and no line before it leaves that file: it is written first")
        if not job.picks_randomly:
            return [self._transfer(job, {**workload, "phases": ["write", "read"]})]
        name = self._names.make(job.path, _FILE)
        first = self._transfer(job, {**workload, "phases": ["write"], "order": "sequential"}, name)
        return [first, self._draft(job, random_picks(job.given, workload), name)]

    def _reading(self, job: Job, workload: Parameters, dataset: str, made: Parameters) -> translation.Draft:
        """Read what is there, also in transfers of another size: the blocks of the file begin at the same bytes.

        What a wall has left of a file is known by the order of its writes, so another random order picks from it.
        """
        asked, there = count_of(workload, "transfer_bytes"), count_of(made, "transfer_bytes")
        is_cut = bool(made["stonewall_s"]) and made.get("order") != workload.get("order")
        picks = job.picks_randomly or (is_cut and job.given.has("-z"))
        is_odd = asked > there if picks else there % SECTOR_BYTES
        if asked != there and (is_odd or asked % SECTOR_BYTES):
            what = f"line {job.number} reads in -t {asked} what was written in -t {there}"
            other = "a smaller multiple" if picks else "in both lines a multiple"
            raise UserError(what, _TOOL, f"write the same -t, or {other} of {SECTOR_BYTES}")
        if picks:
            return self._draft(job, random_picks(job.given, workload), dataset)
        return self._transfer(job, {**workload, "phases": ["read"]}, dataset)

    def _writing(self, job: Job, workload: Parameters, notes: list[str]) -> translation.Draft:
        if job.picks_randomly:
            what = "-z -z with -w has no equivalent: it leaves holes that a later read would count as data"
            raise UserError(what, _TOOL, "write -z once for a permutation")
        phases = ["write"]
        if job.given.has("-E"):
            phases.append("rewrite")
            notes.append("-E: the existing file is one that the case writes first; the phase `rewrite` overwrites it")
        if job.reads:
            phases.append("read")
        if not job.given.has("-r") and (job.given.has("-W") or job.given.has("-R")):
            notes.append("-W or -R without -r: the check comes after a phase `read`, outside every timer")
        self._left.pop(job.path, None)
        dataset = ""
        if job.keeps and not self.is_last(job):
            dataset = self._names.make(job.path, _FILE)
            self._left[job.path] = dataset, workload
        return self._transfer(job, {**workload, "phases": phases}, dataset)

    def _transfer(self, job: Job, parameters: Parameters, dataset: str = "") -> translation.Draft:
        return self._draft(job, Named(name="transfer", parameters=parameters), dataset)

    def _draft(self, job: Job, workload: Named, dataset: str) -> translation.Draft:
        is_null = job.backend.name == NULL
        parameters = {**workload.parameters, "verify": "none"} if is_null else workload.parameters
        folder = str(PurePath(job.path).parent) if job.path else ""
        named = Named(name=workload.name, parameters=parameters)
        return translation.Draft(job.number, job.backend, named, "" if is_null else folder, dataset, not is_null)


class FromIorOptions(LineOptions):
    """The options of all suites that measure command lines."""

    tool = "ior"
    translate = staticmethod(translate)
    changes = {
        "lines": Change('Measure what these command lines do. Put each in quotes: "ior ..." or "mpirun -np 8 ior ...".')
    }

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Replace a script by the command lines of its tests, so that it is read once and the request holds them."""
        lines = said.get("lines")
        return super().settle({**said, "lines": expanded(cast("list[str]", lines))} if lines else said)
