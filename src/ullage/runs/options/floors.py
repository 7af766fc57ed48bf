# SPDX-License-Identifier: Apache-2.0
"""The file of ``--require``, held against the words that rows can have before anything runs."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from ullage.analysis.acceptance import read_floors
from ullage.discovery import SUITES, modules_in
from ullage.errors import UserError
from ullage.model.acceptance import Floor
from ullage.parameters import suggest
from ullage.runs.options.declared import declared
from ullage.runs.options.engine import every_parameter
from ullage.runs.options.model import SuiteOptions

# Rows have these besides the parameters of the engine and of suites.
_OF_ROWS: Final = (
    *("access", "phase", "backend", "pattern_type", "call_bytes", "state", "threads_each", "iozone", "level"),
    *("locality", "cores_of_rank", "use", "scheduled_s", "memory_bytes", "workload", "case", "measure"),
)


def read_checked_floors(path: Path) -> list[Floor]:
    """Read floors; raise ``UserError`` also for a suite and a parameter that there is none of."""
    floors, suites = read_floors(path), _options_of_suites()
    for number, floor in enumerate(floors, start=1):
        place = f"{path}: require {number}"
        if floor.suite and floor.suite not in suites:
            raise UserError(f"unknown suite '{floor.suite}'", place, suggest(floor.suite, suites))
        if unknown := next((key for key in floor.where if key not in row_words()), None):
            raise UserError(f"no row has a parameter '{unknown}'", f"{place}: where", suggest(unknown, row_words()))
    return floors


@cache
def _options_of_suites() -> Mapping[str, type[SuiteOptions]]:
    """Return the options of all suites by name; they are found and not imported, since they are made of these."""
    every = [getattr(module, name, None) for module in modules_in(SUITES) for name in ("SUITE", "SUITE_OF_VERB")]
    return {suite.name: suite.options for suite in every if suite is not None}


@cache
def row_words() -> frozenset[str]:
    """Return the names of all parameters that rows may have."""
    options = [one for model in _options_of_suites().values() for one in declared(model).values()]
    said = {name for one in options for name in (one.field, one.keyword, *one.option.sets)}
    return frozenset({*_OF_ROWS, *said, *every_parameter()})
