# SPDX-License-Identifier: Apache-2.0
"""From the plans and records of a b_eff_io run to rows, scores and sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ullage.analysis.findings.phrasing import level_of_part
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, TargetFacts
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.b_eff_io import findings as sentences
from ullage.suites.b_eff_io.measured import BEffIoRun, read_run
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.pattern_findings import COMPARING, ignored, pattern_findings, sets_compared
from ullage.suites.b_eff_io.rows import SpotRows, time_rows
from ullage.suites.b_eff_io.scores import SpotScores, b_eff_io_scores, best
from ullage.suites.b_eff_io.validity import is_look, reasons_against
from ullage.suites.b_eff_io.values import spots_of


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(BEffIoOptions, request)
    io_run = read_run(result, options, [target.name for target in request.targets])
    by_target = digest(io_run, context)
    rows: list[Row] = []
    findings = _Sentences(io_run, by_target, context).all()
    for target, found in by_target.items():
        rows += [row for one in found for row in one.rows]
        rows += time_rows(io_run, target, context.level)
    findings += failures_of((file.records for file in result.read_records()), context.level)
    scores = b_eff_io_scores(by_target)
    looks = [one.model_copy(update={"look": is_look(one.reasons, options)}) for one in scores]
    return SuiteSummary(rows, findings, looks)


def digest(io_run: BEffIoRun, context: RowContext) -> dict[str, list[SpotScores]]:
    """Return by target each partition with each set of hints: its rows, and what voids its value."""
    spots = spots_of(io_run)
    found: dict[str, list[SpotScores]] = {}
    for spot in spots:
        facts = context.targets.get(spot.target, TargetFacts())
        alike = [one for one in spots if (one.target, one.hints) == (spot.target, spot.hints)]
        own = reasons_against(io_run, [spot], holds_data=facts.holds_data)
        whole = reasons_against(io_run, alike, holds_data=facts.holds_data)
        rows = SpotRows(io_run, spot, own, context).all()
        found.setdefault(spot.target, []).append(SpotScores(spot, io_run.hint_set(spot.hints), rows, own, whole))
    return found


def _sound(one: SpotScores) -> SpotScores:
    """Leave out the rows that others disturbed (grade C).

    What is not valid by the rules of the list may still be compared.
    """
    return replace(one, rows=[row for row in one.rows if row.grade != "C"])


@dataclass(frozen=True)
class _Sentences:
    """Everything that is said, what voids the value first."""

    io_run: BEffIoRun
    by_target: Mapping[str, Sequence[SpotScores]]
    context: RowContext

    @property
    def _level(self) -> float:
        """The level of each kind of sentence that compares, for each target."""
        return level_of_part(self.context.level, COMPARING * len(self.by_target))

    def all(self) -> list[Finding]:
        found: list[Finding] = []
        for target, spots in self.by_target.items():
            label = f"{target}: " if len(self.by_target) > 1 else ""
            sets = dict.fromkeys(one.hint_set for one in spots)
            for hint_set in sets:
                found += self._set([one for one in spots if one.hint_set == hint_set], several=len(sets) > 1)
            found += sets_compared([_sound(one) for one in spots], label, self._level)
            if self.context.targets.get(target, TargetFacts()).holds_data:
                found += ignored(self.io_run, target, label)
            found += sentences.time_kept(self.io_run, target, label)
        return [*found, *sentences.set_apart(self.io_run)]

    def _set(self, spots: Sequence[SpotScores], *, several: bool) -> list[Finding]:
        """Return the findings on one set of hints on one target."""
        first = spots[0]
        label = sentences.lead(first, several_sets=several, several_targets=len(self.by_target) > 1)
        found = sentences.invalid(first.whole, first.spot.target, first.hint_set, label)
        found += sentences.losses(self.io_run, spots, label)
        top = best(spots)
        if top is not None:
            found += sentences.headline(top, label, len(spots))
            found += pattern_findings(_sound(top), label, self._level)
            if self.context.targets.get(first.spot.target, TargetFacts()).holds_data:
                found += sentences.cache(self.io_run, top, label)
                found += sentences.memory_time(self.io_run, top, label)
        return found
