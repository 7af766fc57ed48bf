# SPDX-License-Identifier: Apache-2.0
"""Results of the original b_eff_io program: the summary it prints, and the published sample as JSON.

The program's three averages do not determine its headline; the summary says so, and what W' it needs.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from ullage.importers import IMPORT_SUITE, Importer, imported_row
from ullage.model.flags import Flag, interval_below
from ullage.model.plan import Scalar
from ullage.model.summary import Row, Score, Summary
from ullage.quantity import processes
from ullage.suites.b_eff_io.importer.findings import (
    MEGA,
    findings_of,
    memory_bytes,
    memory_time_s,
    needed_write_side,
    printed_write_side,
    target_of,
)
from ullage.suites.b_eff_io.importer.reading import (
    TOTAL,
    PrintedPartition,
    PrintedRun,
    read_printed,
    read_published,
    recognises_printed,
    recognises_published,
)
from ullage.suites.b_eff_io.patterns import ACCESSES, MIB, PATTERNS, POSITIONS, Pattern
from ullage.suites.b_eff_io.rows import ACCESS, B_EFF_IO, MEMORY_TIME, PATTERN, SUITE, TYPE, VOLUME, WRITE_SIDE
from ullage.suites.b_eff_io.validity import NOT_VALID
from ullage.units import format_time

_VALID_MIN: Final = 30.0
_UNIT: Final = "MB/s"


def summary_of(run: PrintedRun, name: str) -> Summary:
    """Make the summary of all partitions. ``name``: the file, which the rows name as their source."""
    rows: list[Row] = []
    for partition in run.partitions:
        rows += _Rows(partition, name).all()
    return Summary(
        suite=IMPORT_SUITE,
        run_id="imported",
        created="",
        versions={"b_eff_io": run.release} if run.release else {},
        rows=rows,
        findings=[found for partition in run.partitions for found in findings_of(partition)],
        scores=_scores(run.partitions),
    )


def reasons_against(partition: PrintedPartition) -> list[str]:
    """Return why the value does not count, as far as the printed form says; empty where nothing is against it."""
    found: list[str] = []
    scheduled = partition.scheduled_min
    if scheduled is not None and scheduled.high < _VALID_MIN:
        found.append(f"scheduled for {format_time(scheduled.value * 60)}, below 30 min for a partition")
    if partition.shared is False:
        found.append("shared file pointers were not used for pattern type shared (-noshared)")
    if partition.errors or partition.wrong:
        found.append(f"{partition.errors or len(partition.wrong)} errors: data that came back wrong")
    if partition.verdict == "NOT VALID" and not found:
        found.append("the program that wrote it says NOT VALID")
    return found


class _Rows:
    """Makes all rows of one partition."""

    def __init__(self, partition: PrintedPartition, name: str) -> None:
        self._partition = partition
        self._name = name
        self._target = target_of(partition)
        lmax = {} if partition.lmax_mib is None else {"lmax_bytes": round(partition.lmax_mib * MIB)}
        self._place: dict[str, Scalar] = {"ranks": partition.processes, **lmax}

    def all(self) -> list[Row]:
        """Return all rows, in the order of the rows of our own runs."""
        partition = self._partition
        value, against = partition.value, reasons_against(partition)
        side = printed_write_side(partition) or needed_write_side(partition)
        found: list[Row] = []
        if value is not None and value.value > 0:
            found.append(self._row(B_EFF_IO, self._schedule(), value.value * MEGA, against=against))
        if side is not None:
            found.append(self._row(WRITE_SIDE, {}, side.value * MEGA))
        for access, mean in partition.averages.items():
            found.append(self._row(ACCESS, {"access": access}, mean.value * MEGA))
        return [*found, *self._cells(), *self._sizes()]

    def _schedule(self) -> dict[str, Scalar]:
        """Return the parameters that our own runs have in their request: scheduled time, and no shared pointers."""
        scheduled = self._partition.scheduled_min
        known: dict[str, Scalar] = {} if scheduled is None else {"scheduled_s": scheduled.value * 60}
        return {**known, **({"no_shared_pointer": True} if self._partition.shared is False else {})}

    def _cells(self) -> Iterator[Row]:
        cells = self._partition.cells
        for (access, kind, position), shown in cells.items():
            if position == TOTAL:
                yield self._row(TYPE, {"access": access, "pattern_type": kind}, shown.value * MEGA)
        for access in ACCESSES:
            for pattern in PATTERNS:
                shown = cells.get((access, pattern.type, POSITIONS.get(pattern.size, -1)))
                if shown is not None:
                    own = {"access": access, **self._own(pattern)}
                    yield self._row(PATTERN, own, shown.value * MEGA)

    def _own(self, pattern: Pattern) -> dict[str, Scalar]:
        lmax = round((self._partition.lmax_mib or 0) * MIB)
        sizes = {"chunk_bytes": pattern.chunk(lmax), "call_bytes": pattern.call(lmax)}
        known = {key: bytes_ for key, bytes_ in sizes.items() if bytes_}
        return {"pattern_type": pattern.type, "pattern": pattern.number, "size": pattern.size, **known}

    def _sizes(self) -> Iterator[Row]:
        volume, seconds = self._partition.volume_mib, memory_time_s(self._partition)
        if volume is not None and volume.value > 0:
            for access in self._partition.averages:
                yield self._row(VOLUME, {"access": access}, volume.value * MIB, "B")
        if seconds is not None:
            yield self._row(MEMORY_TIME, {}, seconds, "s", memory=memory_bytes(self._partition))

    def _row(
        self,
        metric: str,
        own: dict[str, Scalar],
        value: float,
        unit: Literal["B/s", "s", "B"] = "B/s",
        *,
        against: Sequence[str] = (),
        memory: float | None = None,
    ) -> Row:
        voids = [Flag(code=NOT_VALID, reason="; ".join(against))] if against else []
        more: dict[str, Scalar] = {} if memory is None else {"memory_bytes": round(memory)}
        row = imported_row(self._name, metric, unit, self._target, {**own, **self._place, **more}, [value])
        flags = [*voids, Flag(code=interval_below(), reason="one sample")]
        verdict = row.verdict if unit == "B/s" else "none"
        return row.model_copy(update={"verdict": verdict, "flags": flags, "suite": SUITE})


def _scores(partitions: Sequence[PrintedPartition]) -> list[Score]:
    """Return the maximum over the partitions, then the value of each partition with its parts."""
    known = [partition for partition in partitions if partition.value is not None]
    best = max(known, key=lambda partition: partition.value.value if partition.value else 0.0, default=None)
    found: list[Score] = []
    if best is not None and best.value is not None:
        found.append(_score("b_eff_io", best.value.value, reasons_against(best)))
    for partition in known:
        against, count = reasons_against(partition), processes(partition.processes)
        side = printed_write_side(partition) or needed_write_side(partition)
        values = {"b_eff_io": partition.value.value if partition.value else None, "W'": side.value if side else None}
        values |= {f"B_{access}": mean.value for access, mean in partition.averages.items()}
        found += [_score(f"{name} of {count}", value, against) for name, value in values.items() if value is not None]
    return found


def _score(name: str, value: float, reasons: Sequence[str]) -> Score:
    return Score(name=name, unit=_UNIT, value=value, valid=not reasons, reasons=list(reasons))


# -- the two forms -----------------------------------------------------------------------------------------------------


def recognises(text: str) -> bool:
    """Tell whether the text is in either form: printed, or published as JSON."""
    return recognises_published(text) or recognises_printed(text)


def read(text: str, name: str) -> Summary:
    """Read a file in either form; raise ``UserError`` for what is missing or wrong, with its place."""
    if recognises_published(text):
        return summary_of(read_published(text, name), name)
    return summary_of(read_printed(text, name), name)


IMPORTER: Final = Importer(
    "b_eff_io", "what the original b_eff_io prints (.sum), or its sample as JSON", recognises, read
)


IMPORTERS: Final = (IMPORTER,)
