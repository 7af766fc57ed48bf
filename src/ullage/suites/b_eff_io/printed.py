# SPDX-License-Identifier: Apache-2.0
"""What the original b_eff_io program prints, read as it stands: its short summary, the file with its tables, and JSON.

MB are 10^6 bytes, MBytes are MiB, as the program has them. A number keeps how far rounding may have moved it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from pydantic import Field

from ullage.errors import UserError, one_line
from ullage.importers.printed import Printed, printed
from ullage.importers.rows import document_of
from ullage.model.base import Strict
from ullage.suites.b_eff_io.patterns import ACCESSES, TYPES, Access, PatternType

Cell = tuple[Access, PatternType, int]
"""Consists of access, pattern type and position in the table. 8 is pattern 2, 0 the total of the type."""
TOTAL: Final = 0
PATTERN_2: Final = 8

_NUMBER: Final = r"(-?\d{1,15}(?:\.\d{1,9})?)"
_COUNT: Final = r"(\d{1,12})"
_ACCESS: Final = r"(write|rewrite|read)"
_AVERAGE: Final = re.compile(rf"weighted average bandwidth for {_ACCESS}\s*:\s*{_NUMBER} MB/s on {_COUNT} processes")
_BEGIN: Final = re.compile(rf"Summary of file I/O bandwidth accumulated on\s+{_COUNT} processes with\s+{_COUNT} MByte")
_LINE: Final = re.compile(rf"\s*{_COUNT} PEs (\d)\s+{_COUNT} {_ACCESS}\s+(\S.*)")
_TOTALS: Final = re.compile(rf"\s*{_COUNT} PEs\s+total-{_ACCESS}\s+(\S.*)")
_PATTERN_2: Final = re.compile(rf"bw_pat2=\s*{_NUMBER} MB/s write,\s*{_NUMBER} MB/s rewrite,\s*{_NUMBER} MB/s read")
_VOLUME: Final = re.compile(rf"data written/read with each access method:\s*{_NUMBER} MBytes")
_PERCENT: Final = re.compile(rf"=\s*{_NUMBER} percent of the total memory \({_COUNT} MBytes\)")
_VALUE: Final = re.compile(rf"b_eff_io of these measurements =\s*{_NUMBER} MB/s")
_PLACE: Final = re.compile(
    rf"on {_COUNT} processes with\s+{_COUNT} MByte/PE(?:,| and) scheduled time={_NUMBER} min", re.IGNORECASE
)
_MINUTES: Final = re.compile(rf"total memory / b_eff_io =.*=\s*{_NUMBER} min")
_MACHINE: Final = re.compile(r"(?:^|, )on (?!\d+ processes)(\S.*?)(?:, NOT VALID|, with \d+ ERRORS|$)")
_ERRORS: Final = re.compile(rf"with {_COUNT} ERRORS")
_VERDICT: Final = re.compile(r"(NOT )?VALID for comparison")
_RELEASE: Final = re.compile(r"b_eff_io\.c, Revision (\S+)")
_LMAX: Final = re.compile(rf"Maximum chunk size\s*=\s*{_NUMBER} MBytes")
_OPTIONS: Final = re.compile(r"-N\s.*T=\d+")
_MAXIMUM: Final = re.compile(r"\s*b_eff_io =\s*\d")
# The table shows this for a pattern in which data came back wrong.
_WRONG: Final = "-999.999"
_BY_NAME: Final[dict[str, Access]] = {access: access for access in ACCESSES}


@dataclass(slots=True)
class PrintedPartition:
    """What was printed of one number of processes. ``cells``: MB/s. ``wrong``: cells whose data came back wrong.

    ``rewrites``: whether all types were rewritten; ``shared``: whether shared file pointers were used; None: not said.
    ``minutes``: of the memory over b_eff_io. ``verdict``: VALID, NOT VALID or empty.
    """

    processes: int = 0
    averages: dict[Access, Printed] = field(default_factory=dict[Access, Printed])
    cells: dict[Cell, Printed] = field(default_factory=dict[Cell, Printed])
    wrong: set[Cell] = field(default_factory=set[Cell])
    value: Printed | None = None
    volume_mib: Printed | None = None
    percent: Printed | None = None
    memory_mib: int | None = None
    scheduled_min: Printed | None = None
    minutes: Printed | None = None
    lmax_mib: float | None = None
    machine: str = ""
    errors: int = 0
    rewrites: bool | None = None
    shared: bool | None = None
    verdict: str = ""


def recognises(text: str) -> bool:
    """Tell whether the text has the headline, or a line of the averages above it, or both as JSON."""
    return _is_published(text) or _VALUE.search(text) is not None or _AVERAGE.search(text) is not None


def _is_published(text: str) -> bool:
    return text.lstrip().startswith("{") and '"b_eff_io_mb_s"' in text and '"weighted_average_mb_s"' in text


def read_partitions(text: str, name: str) -> tuple[Sequence[PrintedPartition], str]:
    """Read either form, all known lines of the printed one; raise ``UserError`` for what is missing or wrong.

    Return all partitions of one output, and the release, which is empty where it was not printed.
    """
    if _is_published(text):
        return [_published(text, name)], ""
    reader = _Reader(name)
    for number, line in enumerate(text.splitlines(), start=1):
        reader.read(line.rstrip(), number)
    return reader.run()


class _Reader:
    """Goes through the lines; those of one partition stand together."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: list[PrintedPartition] = []
        self._release = ""
        self._lmax_mib: float | None = None
        self._options = ""

    def run(self) -> tuple[Sequence[PrintedPartition], str]:
        """Return what was found, each partition with what the head says of all.

        ``UserError`` where the value or an average of a partition is missing.
        """
        known = [one for one in self._found if one.value is not None]
        if not known:
            raise UserError(
                "contains no value of b_eff_io", self._name, "a line 'b_eff_io of these measurements = ...'"
            )
        for one in self._found:
            if one.value is None or "read" not in one.averages or "write" not in one.averages:
                what = f"the summary of {one.processes} processes lacks its value or its average for write or read"
                raise UserError(what, self._name, "import the whole summary")
            one.lmax_mib = self._lmax_mib
            if self._options:
                one.rewrites = "-rewrite" in self._options
                one.shared = "-noshared" not in self._options
        return known, self._release

    def read(self, line: str, number: int) -> None:
        """Take from ``line`` what is known."""
        self._head(line)
        if _MAXIMUM.match(line):
            # This line is of the maximum over all partitions, and only the machine is new in it.
            if (found := _MACHINE.search(line)) is not None:
                for partition in self._found:
                    partition.machine = one_line(found[1])
        elif (found := _BEGIN.search(line)) is not None:
            self._begin(int(found[1]))
        elif (found := _LINE.match(line)) is not None:
            self._cells(_BY_NAME[found[4]], int(found[2]), self._of(int(found[1])), found[5], number)
        elif (found := _TOTALS.match(line)) is not None:
            self._cells(_BY_NAME[found[2]], TOTAL, self._of(int(found[1])), found[3], number)
        elif (found := _AVERAGE.search(line)) is not None:
            self._average(found)
        elif self._found:
            self._rest(line, self._found[-1])

    def _head(self, line: str) -> None:
        if (found := _RELEASE.search(line)) is not None:
            self._release = found[1][:32]
        elif (found := _LMAX.search(line)) is not None:
            self._lmax_mib = float(found[1])
        elif not self._found and _OPTIONS.search(line):
            self._options = line

    def _begin(self, processes: int) -> PrintedPartition:
        self._found.append(PrintedPartition(processes))
        return self._found[-1]

    def _of(self, processes: int) -> PrintedPartition:
        """Return the partition that is being read; another number of processes begins the next one."""
        if self._found and self._found[-1].processes == processes:
            return self._found[-1]
        return self._begin(processes)

    def _average(self, found: re.Match[str]) -> None:
        partition, access = self._of(int(found[3])), _BY_NAME[found[1]]
        if access in partition.averages:
            partition = self._begin(int(found[3]))
        partition.averages[access] = printed(found[2])

    def _cells(self, access: Access, position: int, partition: PrintedPartition, text: str, number: int) -> None:
        words = text.split()
        if len(words) != len(TYPES):
            right = f"write {len(TYPES)}, one for each pattern type"
            raise UserError(f"has {len(words)} values", f"{self._name}:{number}", right)
        for type_, word in zip(TYPES, words, strict=True):
            cell = (access, type_, position)
            if word == _WRONG:
                partition.wrong.add(cell)
            elif re.fullmatch(_NUMBER, word) and float(word) > 0:
                partition.cells[cell] = printed(word)
            elif word == "-" and access == "rewrite":
                partition.rewrites = False

    def _rest(self, line: str, partition: PrintedPartition) -> None:
        if (found := _PATTERN_2.search(line)) is not None:
            for access, word in zip(ACCESSES, found.groups(), strict=True):
                if float(word) > 0:
                    partition.cells[access, TYPES[0], PATTERN_2] = printed(word)
        elif (found := _VOLUME.search(line)) is not None:
            partition.volume_mib = printed(found[1])
        elif (found := _PERCENT.search(line)) is not None:
            partition.percent, partition.memory_mib = printed(found[1]), int(found[2])
        elif (found := _MINUTES.search(line)) is not None:
            partition.minutes = printed(found[1])
        elif (found := _VERDICT.match(line)) is not None:
            partition.verdict = "NOT VALID" if found[1] else "VALID"
        elif "workaround for type 1" in line:
            partition.shared = False
        else:
            _value(line, partition)


def _value(line: str, partition: PrintedPartition) -> None:
    """Read the headline, which some releases print in one line and some in three."""
    if (found := _VALUE.search(line)) is not None:
        partition.value = printed(found[1])
    if partition.value is None:
        return
    if (found := _PLACE.search(line)) is not None:
        partition.scheduled_min = printed(found[3])
    elif (found := _MACHINE.match(line)) is not None and not partition.machine:
        partition.machine = one_line(found[1])
    if (found := _ERRORS.search(line)) is not None:
        partition.errors = int(found[1])


Amount = Annotated[float, Field(gt=0, le=1e15)]
Count = Annotated[int, Field(ge=1, le=1 << 31)]


class _Published(Strict):
    source: str = ""
    processes: Count
    mib_per_pe: Count | None = None
    scheduled_minutes: Amount | None = None
    weighted_average_mb_s: dict[Access, Amount]
    data_volume_mbytes_per_access: Amount | None = None
    percent_of_memory: Amount | None = None
    b_eff_io_mb_s: Amount
    note: str = ""


def _published(text: str, name: str) -> PrintedPartition:
    right = "write processes, weighted_average_mb_s with write and read, and b_eff_io_mb_s"
    table = document_of(_Published, text, name, right)
    missing = [access for access in ("write", "read") if access not in table.weighted_average_mb_s]
    if missing:
        raise UserError(f"weighted_average_mb_s: no {missing[0]}", name, right)
    return PrintedPartition(
        processes=table.processes,
        averages={access: printed(repr(value)) for access, value in table.weighted_average_mb_s.items()},
        value=_shown(table.b_eff_io_mb_s),
        volume_mib=_shown(table.data_volume_mbytes_per_access),
        percent=_shown(table.percent_of_memory),
        scheduled_min=_shown(table.scheduled_minutes),
    )


def _shown(value: float | None) -> Printed | None:
    """Return the number as the file shows it: one with three decimals is known to half of the last."""
    return None if value is None else printed(repr(value))
