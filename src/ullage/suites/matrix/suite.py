# SPDX-License-Identifier: Apache-2.0
"""Suite ``matrix``: its options, IOzone's tests, and a job for every file and record, on one rank."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Annotated, Final, Literal, cast

from pydantic import Field

from ullage.engine import find_registered
from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError
from ullage.launch.base import place_ranks
from ullage.model.describe import Describe
from ullage.model.plan import Parameters, Target
from ullage.model.request import Request
from ullage.runs.cells.direct import DirectIo, direct_at
from ullage.runs.cells.planning import Cell, each_once, make_cell, way_of
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import Blocks, QuickOnCommandLine, RunOptions
from ullage.runs.options.kinds import ALL, Kind, RawValue, Share
from ullage.runs.options.model import OptionError
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_paths, checked_machine
from ullage.runs.session import Note
from ullage.units import format_bytes

Labels = Mapping[str, str]
POSIX: Final = "posix"
STDIO: Final = "stdio"
FIRST: Final = "write"


@dataclass(frozen=True)
class Job:
    """What one case does for tests of IOzone.

    ``labels``: of each test, what its phases are called by IOzone's users, in the order of execution.

    ``backend`` and ``workload``: parameters besides sizes, caches and the phases.
    """

    backend_name: str
    labels: Mapping[int, Labels]
    backend: Parameters
    workload: Parameters

    @property
    def tests(self) -> tuple[int, ...]:
        """Numbers as IOzone's ``-i`` has them."""
        return tuple(self.labels)

    def phases(self, tests: Sequence[int]) -> list[str]:
        """Return the phases of a case that does this job's part of ``tests``: the file is made first."""
        wanted = [phase for test in self.labels if test in tests for phase in self.labels[test]]
        return list(dict.fromkeys([FIRST, *wanted]))

    def label(self, phase: str, tests: Sequence[int]) -> str:
        """Return what a phase measures; empty for one that only makes the file, or is none of ``tests``."""
        return next(
            (self.labels[test][phase] for test in self.labels if test in tests and phase in self.labels[test]), ""
        )

    def test_of(self, label: str) -> int:
        """Return the number of the test whose phase is called ``label``."""
        return next(test for test, labels in self.labels.items() if label in labels.values())


def jobs(stride: int, read_share: float, pieces: int) -> list[Job]:
    """Return all jobs. ``stride`` in records, ``read_share`` of the random mix, ``pieces`` of a transfer by pwritev."""
    seeking: Parameters = {"positioned": False}
    whole: Parameters = {"write_order": "sequential"}
    streams: dict[int, Labels] = {
        6: {"write": "fwrite", "rewrite": "refwrite"},
        7: {"read": "fread", "reread": "refread"},
    }
    plain: dict[int, Labels] = {0: {"write": "write", "rewrite": "rewrite"}, 1: {"read": "read", "reread": "reread"}}
    at: dict[int, Labels] = {
        9: {"write": "pwrite", "rewrite": "re-pwrite"},
        10: {"read": "pread", "reread": "re-pread"},
    }
    vectors: dict[int, Labels] = {
        11: {"write": "pwritev", "rewrite": "re-pwritev"},
        12: {"read": "preadv", "reread": "re-preadv"},
    }
    return [
        Job(POSIX, plain, seeking, {}),
        Job(POSIX, {2: {"read": "random read", "rewrite": "random write"}}, seeking, {"order": "random", **whole}),
        Job(POSIX, {3: {"read": "backward read"}}, seeking, {"order": "backward", **whole}),
        Job(POSIX, {4: {"rewrite": "record rewrite"}}, seeking, {"order": "repeat", **whole}),
        Job(POSIX, {5: {"read": "stride read"}}, seeking, {"order": "strided", "stride": stride, **whole}),
        Job(STDIO, streams, {}, {}),
        Job(POSIX, {8: {"mixed": "random mix"}}, {}, {"read_share": read_share}),
        Job(POSIX, at, {}, {}),
        Job(POSIX, vectors, {"vector_pieces": pieces}, {}),
    ]


TESTS: Final = tuple(range(13))
LABELS: Final = tuple(label for job in jobs(17, 0.5, 16) for names in job.labels.values() for label in names.values())
"""The labels of all tests, in the order of a report."""


METRIC: Final = "file_bandwidth"
# IOzone's rule: from this size of file on, records below the least one of a large file need ``--all-records``.
LARGE_FILE: Final = 16 << 20
LEAST_RECORD_OF_LARGE: Final = 64 << 10


@dataclass(frozen=True)
class TestNumbers(Kind):
    """Numbers of IOzone's tests, or ``all``."""

    _: KW_ONLY
    metavar: str = "NUMBERS"

    def parse(self, raw: RawValue) -> object:
        """Read the numbers of tests, in rising order; raise ``UserError`` for what is no test, or given twice."""
        if raw == ALL:
            return list(TESTS)
        known = {str(test): test for test in TESTS}
        texts = [text.strip() for text in str(raw).split(",")]
        for text in texts:
            if text not in known:
                raise UserError("not a test of IOzone", f"'{text}'", "write all, or numbers of 0 to 12 like 0,1,5")
            if texts.count(text) > 1:
                raise UserError("is given twice", f"'{text}'", "write each number once")
        return sorted(known[text] for text in texts)

    def format(self, value: object) -> str:
        """Write the numbers separated by commas, or ``all``."""
        return ALL if value == list(TESTS) else ",".join(str(test) for test in cast("list[int]", value))


@dataclass(frozen=True)
class Thousandths(Share):
    """A share in the steps that the engine has."""

    def parse(self, raw: RawValue) -> object:
        """Read a share in steps of a thousandth."""
        share = cast("float", super().parse(raw))
        if abs(1000 * share - round(1000 * share)) > 1e-6:
            raise UserError("is not a multiple of 0.1%", f"'{raw}'", "write 50% or 0.5")
        return round(share, 3)


class MatrixOptions(QuickOnCommandLine, RunOptions):
    """The options of suite ``matrix``.

    Sizes in bytes. ``stride`` in records; ``pieces`` of a transfer by pwritev and preadv.
    """

    metrics = METRIC
    changes = {
        "targets": Change("Measure in this folder. Repeat the option to measure in several folders."),
        "time_s": Change(usual="30m", quick="30s"),
        "quick": Change("Take a first look in 30 s: files 256K:16M:x4, records 4K:1M:x16."),
    }

    files: Annotated[
        Blocks,
        Option(
            "Use files of these sizes.",
            name="--file",
            usual="64K:512M:x2",
            quick="256K:16M:x4",
            sets=("file_bytes", "volume"),
        ),
    ]
    records: Annotated[
        Blocks, Option("Transfer records of these sizes.", name="--record", usual="4K:16M:x2", quick="4K:1M:x16")
    ]
    tests: Annotated[
        list[Annotated[int, Field(ge=0, le=max(TESTS))]],
        TestNumbers(),
        Option("Run these tests of IOzone (0 to 12), for example 0,1,5 or all.", usual=ALL),
    ]
    all_records: Annotated[bool, Option("Also combine records below 64K with files of 16M and more.")] = False
    direct: Annotated[bool, Option("Bypass the page cache (O_DIRECT), except in tests 6 and 7.")] = False
    cache: Annotated[
        Literal["none", "advise", "drop"],
        Field(description="before reads; not with direct"),
        Option(
            "Treat the page cache before reads: none, advise (fsync, then drop the file), or drop "
            "(all caches, root only).",
            unsaid="advise",
        ),
    ] = "advise"
    sync: Annotated[
        Literal["none", "close"],
        Option("Include an fsync before close in the time of writes (close), or do not (none)."),
    ] = "close"
    stride: Annotated[int, Field(ge=1), Option("Move this many records from one strided read to the next.")] = 17
    read_share: Annotated[
        float,
        Field(ge=0, le=1),
        Thousandths("no share between 0 and 1"),
        Option("Read in this share of the random mix.", name="--mix"),
    ] = 0.5
    pieces: Annotated[
        int, Field(ge=2, le=1024), Option("Split a record into this many pieces for pwritev and preadv.")
    ] = 16

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Refuse ``--cache`` with ``--direct``, which bypasses the cache."""
        if said.get("direct") and "cache" in said:
            raise OptionError("cache", "has no effect with --direct, which bypasses the cache", "leave one of them out")
        return super().settle(said)


# Plans leave out these defaults of the engine (docs/contract.md).
_DEFAULTS: Final[Mapping[str, object]] = {"phases": ["write", "read"], "read_share": 0.5, "stride": 2}


def shapes(options: MatrixOptions) -> list[tuple[int, int]]:
    """Return the sizes of file and record of every cell. A file has a whole number of records.

    IOzone's rule leaves out small records of large files, which would take all the time, unless all are asked for.
    """
    fitting = [(file, record) for file in options.files for record in options.records if file % record == 0]
    return [
        (file, record)
        for file, record in fitting
        if options.all_records or file < LARGE_FILE or record >= LEAST_RECORD_OF_LARGE
    ]


def jobs_of(options: MatrixOptions) -> list[Job]:
    """Return the jobs that do at least one of the tests asked for."""
    found = jobs(options.stride, options.read_share, options.pieces)
    return [job for job in found if set(job.tests) & set(options.tests)]


def job_of(options: MatrixOptions, backend: str, parameters: tuple[Parameters, Parameters]) -> Job | None:
    """Return the job of a case by its backend and the parameters of both, or None for none of this matrix.

    ``parameters``: of backend and workload.
    """
    of_backend, of_workload = parameters

    def fits(job: Job) -> bool:
        has_phases = of_workload.get("phases", _DEFAULTS["phases"]) == job.phases(options.tests)
        has_own = _within(job.backend, of_backend) and _within(job.workload, of_workload)
        return job.backend_name == backend and has_phases and has_own

    # The job with the most parameters fits: those of the plain ones are shared by the others.
    ranked = sorted(jobs_of(options), key=lambda job: -len(job.backend) - len(job.workload))
    return next(filter(fits, ranked), None)


def _within(wanted: Mapping[str, object], given: Mapping[str, object]) -> bool:
    return all(given.get(name, _DEFAULTS.get(name)) == value for name, value in wanted.items())


@dataclass(frozen=True)
class Planner:
    """Makes cells. ``cores``: usable ones of this node, None when not known. ``directs``: by target."""

    options: MatrixOptions
    targets: Sequence[Target]
    directs: Mapping[str, DirectIo]
    description: Describe
    cores: int | None

    def cells(self) -> list[Cell]:
        """Return a cell for every target, job, file and record; raise ``UserError`` where there is none."""
        found = shapes(self.options)
        if not found:
            what = "no record of these fits into a file of these a whole number of times"
            raise UserError(what, "--file, --record", "name files that are multiples of a record", EXIT_BAD_INPUT)
        for target in self.targets:
            self._check_direct(target, {record for _, record in found})
        cells = [
            self._cell(target, job, file, record)
            for target in self.targets
            for job in jobs_of(self.options)
            for file, record in found
        ]
        return each_once(cells)

    def _check_direct(self, target: Target, records: Iterable[int]) -> None:
        direct = self.directs[target.name]
        if not self.options.direct:
            return
        if not direct.served:
            what = f"target '{target.name}' refuses direct I/O (O_DIRECT)"
            raise UserError(what, "--direct", "leave it out, and read the verdict of each row", EXIT_ENVIRONMENT)
        odd = [record for record in sorted(records) if record % direct.alignment_bytes]
        if odd:
            unit = format_bytes(direct.alignment_bytes)
            what = f"a record of {format_bytes(odd[0])} is not a multiple of {unit}, as direct I/O needs it here"
            raise UserError(what, f"--record at target '{target.name}'", f"name multiples of {unit}", EXIT_ENVIRONMENT)

    def _cell(self, target: Target, job: Job, file: int, record: int) -> Cell:
        name = job.backend_name
        is_direct = self.options.direct and name != STDIO
        own: Parameters = {**job.backend, **({"direct": True} if is_direct else {})}
        if name == STDIO:
            own["buffer_bytes"] = record
        workload: Parameters = {
            "phases": job.phases(self.options.tests),
            "file_mode": "per-process",
            "cache": "none" if is_direct else self.options.cache,
            "sync": self.options.sync,
            **job.workload,
        }
        way = way_of(target, (name, own), workload, self.description)
        cell = make_cell(way, place_ranks(1, 1, 1, self.cores), record, file)
        return replace(cell, kind=kind_of(job))


def kind_of(job: Job) -> str:
    """Say what the cost of a cell depends on besides target, backend and file."""
    return f"test {' and '.join(map(str, job.tests))}"


def with_kinds(cells: Iterable[Cell], options: MatrixOptions) -> list[Cell]:
    """Add the kind to cells read back from plans, which do not state it."""
    return [replace(cell, kind="" if (job := _job(cell, options)) is None else kind_of(job)) for cell in cells]


def _job(cell: Cell, options: MatrixOptions) -> Job | None:
    return job_of(options, cell.case.backend.name, (cell.case.backend.parameters, cell.case.workload.parameters))


def left_out(options: MatrixOptions) -> int:
    """Count the pairs of a file and a record that fits into it which are not measured."""
    fitting = sum(record <= file for file in options.files for record in options.records)
    return fitting - len(shapes(options))


def prepare_matrix(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(MatrixOptions, request)
    check_paths(request.targets)
    for name in ("posix", STDIO):
        find_registered(engine_context.description, "backend", name)
    if options.cache == "drop" and not options.direct and os.geteuid() != 0:
        raise UserError("only root may drop all caches", "--cache drop", "use --cache advise", EXIT_BAD_INPUT)
    machine = checked_machine(request.targets)
    directs = {
        target.name: direct_at(target) if options.direct else DirectIo(served=False) for target in request.targets
    }
    planner = Planner(options, request.targets, directs, engine_context.description, machine.cores)
    kinds, text = partial(with_kinds, options=options), "files and records as asked"
    return PreparedCells(
        request, options, machine, planner.cells(), kinds, text, _lines(options), _notes(options)
    ).checked()


def _lines(options: MatrixOptions) -> list[str]:
    lines = ["One rank with a file of its own; each case makes its file, in sequential order, and removes it."]
    missing = left_out(options)
    if missing:
        lines.append(
            f"{missing} pairs of file and record are left out: records that do not divide their file"
            + (
                "."
                if options.all_records
                else f", and with files of {format_bytes(LARGE_FILE)} and more those below "
                f"{format_bytes(LEAST_RECORD_OF_LARGE)} (--all-records measures them)."
            )
        )
    if options.cache == "none" and not options.direct:
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    return lines


def _notes(options: MatrixOptions) -> list[Note]:
    if not options.direct or not {6, 7} & set(options.tests):
        return []
    text = "tests 6 and 7 go through the C library's buffer and the page cache: they know no direct I/O"
    return [Note("page-cache", text, "read the verdict of their rows")]
