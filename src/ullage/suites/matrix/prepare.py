# SPDX-License-Identifier: Apache-2.0
"""A matrix that was checked against engine and machine: a job for every file and record, on one rank."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

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
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_paths, checked_machine
from ullage.runs.session import Note
from ullage.suites.matrix.options import LARGE_FILE, LEAST_RECORD_OF_LARGE, STDIO, Job, MatrixOptions, jobs
from ullage.units import format_bytes

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

    def kinds(cells: Iterable[Cell]) -> list[Cell]:
        return with_kinds(cells, options)

    text = "files and records as asked"
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
