# SPDX-License-Identifier: Apache-2.0
"""The measured ceilings of a summary's rows, and the ladders from the ceilings down to the values of its parts."""

from ullage.analysis.ceilings import storage
from ullage.analysis.ceilings.measured import with_measured
from ullage.analysis.ladders import ladders_of
from ullage.analysis.storage_ladders import LADDERS
from ullage.discovery import gathered, suite_modules
from ullage.model.summary import Summary
from ullage.report.headlines import vessels
from ullage.report.ladders import rung_findings


def explained(summary: Summary) -> Summary:
    """Return ``summary`` with the bounds and ladders that the reports of its suites, and storage, have rules for."""
    modules = suite_modules("report", summary.suites)
    bounds = dict.fromkeys([*gathered(modules, "BOUNDS"), *storage.BOUNDS])
    rows = with_measured(summary.rows, bounds, summary.created)
    bounded = summary.model_copy(update={"rows": rows})
    places = {id(row): index for index, row in enumerate(rows)}
    lines = [(vessel.part, places[id(vessel.row)]) for vessel in vessels(bounded)]
    ladders = ladders_of(rows, lines, [*gathered(modules, "LADDERS"), *LADDERS])
    whole = bounded.model_copy(update={"ladders": ladders})
    return whole.model_copy(update={"findings": [*whole.findings, *rung_findings(whole)]}) if ladders else whole
