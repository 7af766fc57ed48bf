# SPDX-License-Identifier: Apache-2.0
"""What an importer is, and the rows that it makes: without counters, their verdict is ``unknown(imported)``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from pydantic import ValidationError

from ullage.analysis.statistics import median_interval
from ullage.errors import UserError
from ullage.model.base import Strict, first_mistake
from ullage.model.flags import Flag, interval_below
from ullage.model.plan import Scalar
from ullage.model.summary import Row, Summary

DocumentT = TypeVar("DocumentT", bound=Strict)
IMPORT_SUITE: Final = "import"


@dataclass(frozen=True, slots=True)
class Importer:
    """Reads the numbers of another program.

    ``recognises`` looks at a text, ``read`` turns it into a summary.

    ``read`` gets the text and the name to use in its errors, and raises ``UserError`` with line and column. ``files``:
    names under which such a text lies in a folder of results, the best one first. ``read_all`` takes several files at
    once, by their names, where their numbers belong together; a folder then stands for all of ``files``. ``kind``: what
    such programs measure. ``marks``: where one of them is in a text, it is of this importer, whatever else is in it.
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


def document_of(model: type[DocumentT], text: str, name: str, right: str) -> DocumentT:
    """Read a document of JSON; raise ``UserError`` with the place of the first mistake, and what would be ``right``."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        place, why = first_mistake(error)
        raise UserError(f"{place}: {why}" if place else why, name, right) from error
