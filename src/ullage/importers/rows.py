# SPDX-License-Identifier: Apache-2.0
"""What an importer is, and the rows that it makes: without counters, their verdict is ``unknown(imported)``.

They get ceilings where what is declared of their system is given (``--machine``). Memory and processors are those of
the machine. A drive or link bounds the rows of the target that it names.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from pydantic import ValidationError

from ullage.analysis.ceilings import declared
from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.statistics.intervals import median_interval
from ullage.errors import UserError
from ullage.model.base import Strict, first_mistake
from ullage.model.flags import Flag, interval_below
from ullage.model.machine import MachineFile
from ullage.model.plan import Scalar, Target
from ullage.model.summary import Ceiling, Row, Summary

DocumentT = TypeVar("DocumentT", bound=Strict)
ValueT = TypeVar("ValueT")
IMPORT_SUITE: Final = "import"
WHOLE: Final = "give what the program has printed, whole"
_MESSAGES: Final = frozenset({"network_bandwidth", "ping_pong_bandwidth", "message_bandwidth"})
_MEMORY: Final = frozenset({"memory_bandwidth", "bus_bandwidth"})


class RefusedError(Exception):
    """A result that cannot be read: ``what`` is wrong, the ``number`` of its line, and what would be ``right``."""

    def __init__(self, what: str, number: int = 0, right: str = WHOLE) -> None:
        super().__init__(what, number, right)
        self.what, self.number, self.right = what, number, right


@contextmanager
def refusals(name: str) -> Generator[None]:
    """Turn what is wrong with the file ``name`` into ``UserError``."""
    try:
        yield
    except RefusedError as error:
        raise UserError(error.what, f"{name}:{error.number}" if error.number else name, error.right) from error
    except (OverflowError, ValueError, KeyError, TypeError, IndexError) as error:
        raise UserError(f"is damaged: {error}", name, WHOLE) from error


@dataclass(frozen=True, slots=True)
class Importer:
    """Reads the numbers of another program.

    ``recognises`` looks at a text, ``read`` turns it into a summary. ``read`` gets the text and the name to use in its
    errors, and raises ``UserError`` with line and column. ``files``: names under which such a text lies in a folder of
    results, the best one first. ``read_all`` takes several files at once, by their names, where their numbers belong
    together; a folder then stands for all of ``files``. ``kind``: what such programs measure. ``marks``: where one of
    them is in a text, it is of this importer, whatever else is in it.
    """

    name: str
    doc: str
    recognises: Callable[[str], bool]
    read: Callable[[str, str], Summary]
    files: tuple[str, ...] = ()
    read_all: Callable[[Mapping[str, str]], Summary] | None = None
    kind: str = ""
    marks: tuple[str, ...] = ()


def imported_row(
    name: str,
    metric: str,
    unit: str,
    target: str,
    params: dict[str, Scalar],
    samples: Sequence[float],
    flags: Sequence[Flag] = (),
) -> Row:
    """Make a row of what the file ``name`` says; without counters its verdict is ``unknown(imported)``."""
    interval, several = median_interval(samples), len(samples) > 1
    return Row(
        metric=metric,
        unit=unit,
        better="less" if unit == "s" else "more",
        target=target,
        params=params,
        median=interval.median,
        low=interval.low if several else None,
        high=interval.high if several else None,
        repetitions=list(samples),
        verdict="unknown(imported)",
        verdict_reasons=[f"imported from {name}, which has no counters"],
        grade=None,
        flags=[*flags, *([Flag(code=interval_below())] if interval.below_level else [])],
    )


def value_of(text: str, read: Callable[[str], ValueT | None], what: str, place: str, right: str) -> ValueT:
    """Return what ``read`` makes of a text; raise ``UserError`` that it is not ``what``, where that is None."""
    if (value := read(text)) is None:
        raise UserError(f"'{text}' is not {what}", place, right)
    return value


def document_of(model: type[DocumentT], text: str, name: str, right: str) -> DocumentT:
    """Read a document of JSON; raise ``UserError`` with the place of the first mistake, and what would be ``right``."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        place, why = first_mistake(error)
        raise UserError(f"{place}: {why}" if place else why, name, right) from error


def with_machine(rows: Sequence[Row], machine: MachineFile | None) -> list[Row]:
    """Return the rows under what ``machine`` declares, with their shares; as they are without it."""
    if machine is None:
        return list(rows)
    found = [(row, _ceiling(row, machine)) for row in rows]
    return [row if ceiling is None else with_ceiling(row, ceiling) for row, ceiling in found]


def _ceiling(row: Row, machine: MachineFile) -> Ceiling | None:
    if row.count("nodes", 1) > 1:
        return None
    if row.metric in _MEMORY and "device" not in row.params:
        return declared.memory_ceiling(machine)
    if row.metric == "compute_rate" and row.word("type") == "fp64" and machine.cpu.cores:
        return declared.compute_ceiling(machine, "fp64", machine.cpu.cores)
    if row.metric in _MESSAGES:
        return declared.network_ceiling(machine, row.target)
    return _of_drive(row, machine)


def _of_drive(row: Row, machine: MachineFile) -> Ceiling | None:
    access = "write" if "write" in row.access else "read" if "read" in row.access else None
    target = Target(name=row.target, uri="null:")
    if access and row.metric == "bandwidth":
        return declared.drive_ceiling(machine, target, access)
    if access and row.metric == "operation_rate" and row.word("order") == "random":
        return declared.drive_operations_ceiling(machine, target, access)
    return None
