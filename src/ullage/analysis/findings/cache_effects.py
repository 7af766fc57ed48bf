# SPDX-License-Identifier: Apache-2.0
"""How much memory of this machine changes the numbers: rereads against reads, and warm rows among cold ones."""

from collections.abc import Iterator

from ullage.analysis.findings.cache import verdict_word
from ullage.analysis.findings.study import Grid, Study
from ullage.analysis.findings.words import noun, numbers_of, setting_text
from ullage.analysis.statistics import median
from ullage.model.summary import Finding
from ullage.quantity import plural, show, times

ORDER = 90
_WORTH_SAYING = 1.5
_NO_STORAGE = frozenset({"none", "memory"})


def find(study: Study) -> list[Finding]:
    """For each target whose reads were made twice, and for each grid whose reads are partly warm."""
    return [*_rereads(study), *(found for grid in study.grids if (found := _unlike(grid)) is not None)]


def _rereads(study: Study) -> Iterator[Finding]:
    grids = {(grid.target, grid.access, grid.setting): grid for grid in study.grids}
    for (target, access, setting), first in grids.items():
        again = grids.get((target, "reread", setting))
        if access != "read" or again is None:
            continue
        shared = [cell for cell, row in first.cells.items() if cell in again.cells and row.verdict not in _NO_STORAGE]
        if not shared:
            continue
        gain = median([again.cells[cell].median / first.cells[cell].median for cell in shared])
        effect = "memory of this machine serves them" if gain >= _WORTH_SAYING else "memory hardly helps them"
        text = f"Rereads on {target}{setting_text(setting)} run at {times(gain)} the first read (median of "
        text += f"{plural(len(shared), 'cell')}): {effect}."
        yield Finding(kind="cache-effect", text=text, numbers=numbers_of(again, ratio=gain, cells=len(shared)))


def _unlike(grid: Grid) -> Finding | None:
    """Warm and cold rows in one grid: its shape may be that of the cache."""
    by_kind: dict[str, list[float]] = {}
    for row in grid.cells.values():
        by_kind.setdefault(verdict_word(row), []).append(row.median)
    cold, warm = by_kind.get("cold"), [*by_kind.get("warm", []), *by_kind.get("mixed", [])]
    if not cold or not warm:
        return None
    gain = median(warm) / median(cold)
    text = (
        f"{grid.target} {noun(grid.access)}{setting_text(grid.setting)}: {plural(len(warm), 'row')} with bytes from "
        f"memory have a median of {show(median(warm), grid.unit)}, the {len(cold)} cold ones "
        f"{show(median(cold), grid.unit)} ({times(gain)}): do not read the difference as that of ranks or blocks."
    )
    numbers = numbers_of(grid, ratio=gain, warm=len(warm), cold=len(cold))
    return Finding(kind="cache-effect", text=text, severity="warning", numbers=numbers)
