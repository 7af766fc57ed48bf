# SPDX-License-Identifier: Apache-2.0
"""Rows that say where the time of a b_eff_io run went, by access and partition. Pure."""

from ullage.model.summary import Row
from ullage.suites.b_eff_io.measured import Course
from ullage.suites.b_eff_io.overheads import PARTS, SCHEDULED, TOTAL, Spent, overheads
from ullage.suites.b_eff_io.row_basis import Basis, Made, common_params
from ullage.suites.b_eff_io.rows import ALL_SETS, TIME


def time_rows(course: Course, target: str, level: float) -> list[Row]:
    """Over the rounds; all sets of hints together, since they share launches."""
    mine = {place: spent for place, spent in overheads(course).items() if place.target == target}
    cells = dict.fromkeys((place.access, place.ranks) for place in mine)
    runs = {launch.ranks: launch.run for launch in course.launches}
    rows: list[Row] = []
    for access, ranks in cells:
        found = [spent for place, spent in mine.items() if (place.access, place.ranks) == (access, ranks)]
        common = common_params(ranks, runs[ranks], course.options.lmax, ALL_SETS)
        for part, values in _samples(found).items():
            made = Made(TIME, "s", target, {"access": access, "part": part, **common}, Basis())
            if values:
                rows.append(made.row(values, level))
    return rows


def _samples(found: list[Spent]) -> dict[str, list[float]]:
    """One a round, of each part that is known."""
    samples: dict[str, list[float]] = {
        part: [spent.parts[part] for spent in found if part in spent.parts] for part in PARTS
    }
    return {**samples, SCHEDULED: [spent.scheduled for spent in found], TOTAL: [spent.total for spent in found]}
