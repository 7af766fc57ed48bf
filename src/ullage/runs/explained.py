# SPDX-License-Identifier: Apache-2.0
"""The measured ceilings of a summary's rows, and the ladders from the ceilings down to the values of its parts."""

from ullage.analysis.ceilings import storage
from ullage.analysis.ceilings.measured import with_measured
from ullage.analysis.ladders import LEVEL, ladders_of
from ullage.analysis.storage_ladders import LADDERS
from ullage.discovery import gathered, suite_modules
from ullage.model.summary import PartValue, Summary
from ullage.report.headlines import Vessel, headlines_of, vessels
from ullage.report.ladders import rung_findings


def explained(summary: Summary) -> Summary:
    """Return ``summary`` with the bounds and ladders that the reports of its suites, and storage, have rules for."""
    modules = suite_modules("report", summary.suites)
    bounds = dict.fromkeys([*gathered(modules, "BOUNDS"), *storage.BOUNDS])
    rows = with_measured(summary.rows, bounds, summary.created)
    bounded = summary.model_copy(update={"rows": rows})
    places = {id(row): index for index, row in enumerate(rows)}
    found = vessels(bounded)
    lines = [(vessel.part, places[id(vessel.row)]) for vessel in found]
    # A benchmark of named phases has rules for some of them by name.
    phases = [(rows[line.row].word("phase"), line.row) for line in headlines_of(bounded)]
    lines += [(name, index) for name, index in dict.fromkeys(phases) if name]
    ladders = ladders_of(rows, lines, [*gathered(modules, "LADDERS"), *LADDERS])
    headline = {vessel.part.replace(" ", "_"): _value(vessel, places[id(vessel.row)]) for vessel in found}
    whole = bounded.model_copy(update={"ladders": ladders, "headline": headline})
    return whole.model_copy(update={"findings": [*whole.findings, *rung_findings(whole)]}) if ladders else whole


def _value(vessel: Vessel, index: int) -> PartValue:
    row = vessel.row
    counts = not (vessel.is_disturbed or vessel.is_invalid)
    ceiling = row.ceiling if counts and vessel.share is not None else None
    return PartValue(
        what=vessel.what,
        value=row.median,
        unit=row.unit,
        better=row.better,
        low=row.low,
        high=row.high,
        level=LEVEL if row.low is not None and not row.has_range else None,
        grade=row.grade,
        verdict=row.verdict,
        ceiling=None if ceiling is None else ceiling.value,
        kind=None if ceiling is None else ceiling.kind,
        share=vessel.share if counts else None,
        row=index,
    )
