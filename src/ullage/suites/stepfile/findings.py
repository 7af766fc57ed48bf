# SPDX-License-Identifier: Apache-2.0
"""Sentences on a stepfile: what is exposed, what the computation demands of the storage, and which layout is faster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.alike import Faster
from ullage.analysis.findings.phrasing import finding, level_of_part
from ullage.analysis.metrics.programs import exposed_s, io_seconds_of_a_state
from ullage.analysis.statistics import median, median_interval
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Row
from ullage.quantity import format_quantity, percent, plural, times
from ullage.suites.stepfile.suite import recomputations
from ullage.units import format_operations, format_rate

_FAMILIES: Final = 2
_FORWARD: Final = "forward"
_NOUNS: Final[Mapping[str, str]] = {_FORWARD: "forward phase", "adjoint": "adjoint phase"}


@dataclass(frozen=True)
class Demand:
    """One repetition of a phase. ``io_s``: the mean time of a rank for one state, over all its calls."""

    ranks: int
    elapsed_s: float
    exposed_s: float
    io_s: float
    state_bytes: float

    @staticmethod
    def of(phase: PhaseRecord) -> "Demand | None":
        """Return what ``phase`` did; None where it moved no state."""
        exposed, io_s, states = exposed_s(phase), io_seconds_of_a_state(phase), phase.counters.get("states", 0)
        if exposed is None or not io_s or not states:
            return None
        return Demand(phase.ranks, phase.elapsed_ns / 1e9, exposed, io_s, phase.bytes / states)


def findings_of(
    rows: Sequence[Row], demands: Mapping[tuple[str, str], Sequence[Demand]], compute_s: float, level: float
) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones."""
    walls = [row for row in rows if row.metric == "phase_time"]
    measured = [(row, demands[row.case, row.access]) for row in walls if (row.case, row.access) in demands]
    own = level_of_part(level, _FAMILIES)
    exposed = [row for row in rows if row.metric == "exposed_io" and not row.is_invalid]
    asked = [one for one in measured if compute_s > 0 and one[0].access == _FORWARD]
    return [
        *(_exposed(row, found) for row, found in measured),
        *(_demand(row, found, compute_s, level_of_part(own, len(asked))) for row, found in asked),
        *_revolved(walls, compute_s),
        *_LEAST_EXPOSED.findings(exposed, own, lambda row: {"noun": _NOUNS[row.access], "who": who_of(row)}),
    ]


def who_of(row: Row) -> str:
    """Return where, how and by how many ranks the states of ``row`` were kept."""
    return f"{row.target}, {row.params['layout']}, {row.params['order']}, {plural(row.ranks, 'rank')}"


def _exposed(row: Row, found: Sequence[Demand]) -> Finding:
    """State medians over the repetitions."""
    share = median(one.exposed_s / one.elapsed_s for one in found)
    exposed, io_s = median(one.exposed_s for one in found), median(one.io_s for one in found)
    noun = _NOUNS[row.access]
    text = (
        f"The {noun} ({who_of(row)}) takes {format_quantity(row.median, 's')}. Of that, "
        f"{format_quantity(exposed, 's')} ({percent(share, 1)}) is I/O that the ranks wait for. The calls for one "
        f"state take {format_quantity(io_s, 's')} on average."
    )
    title = f"{percent(share)} of the {noun} is exposed I/O on {row.target}"
    return finding(
        "stepfile-exposed",
        title,
        text,
        case=row.case,
        phase=row.access,
        phase_s=row.median,
        exposed_s=exposed,
        share=share,
        state_s=io_s,
    )


def _demand(row: Row, found: Sequence[Demand], compute_s: float, level: float) -> Finding:
    """State what hides the writes behind the computation of all ranks, and what the calls reached here.

    Whether that is enough is said where the interval of a state's time, at ``level``, lies on one side of the time
    there is for it.
    """
    first = found[0]
    needed_files = first.ranks / compute_s
    needed_bytes = needed_files * first.state_bytes
    reached_files = first.ranks / median(one.io_s for one in found)
    reached_bytes = reached_files * first.state_bytes
    state_s = median_interval([one.io_s for one in found], level)
    short = not state_s.below_level and state_s.low > compute_s
    enough = not state_s.below_level and state_s.high <= compute_s
    ratio = reached_files / needed_files
    text = (
        f"Writes need {format_rate(needed_bytes)} and {format_operations(needed_files)} to overlap with the "
        f"computation. The calls reach {format_rate(reached_bytes)} and {format_operations(reached_files)} "
        f"({who_of(row)}, verdict {row.verdict}), {times(ratio)} of that."
    )
    if row.params["layout"] != "log":
        text += " With layout log, no file is made at a step."
    if not enough and not short:
        text += " Whether that is enough cannot be told from these repetitions."
    judged = "is fast enough" if enough else "is too slow" if short else "may be too slow"
    title = f"{row.target} {judged} to overlap the writes with layout {row.params['layout']}"
    return finding(
        "stepfile-demand",
        title,
        text,
        "advice" if short else "info",
        case=row.case,
        needed_bytes_per_s=needed_bytes,
        needed_files_per_s=needed_files,
        reached_bytes_per_s=reached_bytes,
        reached_files_per_s=reached_files,
    )


def _revolved(walls: Iterable[Row], compute_s: float) -> list[Finding]:
    orders = {(row.word("order"), row.count("steps")) for row in walls if row.word("order").startswith("revolve:")}
    return [_recomputed(order, steps, compute_s) for order, steps in sorted(orders)]


def _recomputed(order: str, steps: int, compute_s: float) -> Finding:
    kept = min(int(order.partition(":")[2]), steps)
    again = recomputations(steps, kept)
    text = f"{order} keeps {kept} of {steps} states of a rank and computes {plural(again, 'step')} again."
    if compute_s > 0:
        text += f" That takes {format_quantity(again * compute_s, 's')} of computation on each rank."
    title = f"{order} computes {again / steps:.2g} x the steps again"
    return finding("stepfile-revolve", title, text, steps=steps, kept=kept, recomputed=again)


def spill_findings(tiers: Mapping[str, Mapping[str, int]], rows: Sequence[Row]) -> list[Finding]:
    """Say where the states of cases with several targets were. ``tiers``: states by target, by case."""
    by_case = {row.case: row for row in rows if row.metric == "phase_time"}
    return [_spilled(row, tiers[case]) for case, row in by_case.items() if case in tiers]


def _spilled(row: Row, states: Mapping[str, int]) -> Finding:
    whole = sum(states.values())
    first = next(iter(states))
    held = ", ".join(f"{target} {count}" for target, count in states.items())
    text = f"The targets held these numbers of states ({who_of(row)}): {held}."
    left = whole - states[first]
    text += " The run writes to a target up to its limit of space, or until the target is full." if left else ""
    title = f"{left} of {plural(whole, 'state')} found no room on {first}" if left else f"All states are on {first}"
    numbers = {"targets": list(states), "states": list(states.values())}
    return finding("stepfile-spill", title, text, "info", case=row.case, **numbers)


_LEAST_EXPOSED: Final = Faster(
    "stepfile-layout",
    "layout",
    "--layout",
    title="Layout {layout} exposes less I/O in the {noun}",
    text="In the {noun} ({who}), {value} of I/O is exposed. With layout {other_layout} it is {other_value}, {factor} "
    "as much.",
)
