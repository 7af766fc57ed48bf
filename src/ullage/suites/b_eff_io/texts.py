# SPDX-License-Identifier: Apache-2.0
"""The texts that a b_eff_io run leaves beside its result, in the order of the original's: for people's scripts."""

from collections.abc import Sequence
from typing import Final

import ullage
from ullage.model.system import SystemFacts
from ullage.results.folder import ResultFolder, write_atomically
from ullage.runs.options.reading import read_options
from ullage.suites.b_eff_io.measured import Course, read_course
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.scores import SpotScores
from ullage.suites.b_eff_io.summarise import digest
from ullage.suites.b_eff_io.text_protocol import protocol_text
from ullage.suites.b_eff_io.text_summary import summary_text

SUMMARY_FILE: Final = "b_eff_io.sum.txt"
PROTOCOL_FILE: Final = "b_eff_io.prot.txt"


def write_texts(result: ResultFolder) -> None:
    """Both, as far as the run has come; nothing where nothing has run."""
    for name, text in make_texts(result).items():
        write_atomically(result.path / name, text)


def make_texts(result: ResultFolder) -> dict[str, str]:
    """Contents by file name."""
    from ullage.runs.summary import row_context

    request, system = result.read_request(), result.read_system()
    course = read_course(result, read_options(BEffIoOptions, request), [target.name for target in request.targets])
    by_target = digest(course, row_context(request, system))
    if not by_target:
        return {}
    parts = [
        summary_text(course, alike, _head(course, target, system))
        for target, found in by_target.items()
        for alike in _by_set(found)
    ]
    return {SUMMARY_FILE: "\n".join(parts), PROTOCOL_FILE: protocol_text(course)}


def _by_set(found: Sequence[SpotScores]) -> list[list[SpotScores]]:
    names = dict.fromkeys(one.hint_set for one in found)
    return [[one for one in found if one.hint_set == name] for name in names]


def _head(course: Course, target: str, system: SystemFacts | None) -> list[str]:
    run = course.launches[-1].run
    host = system.host if system is not None and system.host else "a machine that is not known"
    facts = [] if system is None else [system.kernel.system, system.kernel.release]
    kernel = "".join(f" {fact}" for fact in facts if fact)
    io = f", MPI-IO by {run.mpi_io}" if run.mpi_io else ""
    return [
        f"b_eff_io as release 2.1 defines it, by Ullage {ullage.__version__}; the original has not seen this run.",
        f"on {target} of {host}{kernel}, {run.engine.mpi.library}{io}, {course.launches[0].run.started}",
    ]
