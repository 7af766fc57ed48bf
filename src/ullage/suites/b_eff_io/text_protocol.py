# SPDX-License-Identifier: Apache-2.0
"""A b_eff_io run pattern by pattern, as the original's .prot file: one line each, in the order in which they ran. Pure.

Times in s are of the slowest process: io (calls), barrier, bcast (agreeing to go on) and sync together are t, as far as
the slowest in one are the slowest in the others.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from ullage.errors import one_line
from ullage.model.record import PhaseRecord
from ullage.suites.b_eff_io.formula import unit_weighted_mean
from ullage.suites.b_eff_io.measured import Attempt, Course, bandwidth_of, facts_of, pattern_s, seconds_of
from ullage.suites.b_eff_io.patterns import BY_PHASE, MIB
from ullage.suites.b_eff_io.scores import MEGA
from ullage.suites.b_eff_io.text_summary import ERROR_VALUE
from ullage.suites.b_eff_io.validity import losses_of
from ullage.suites.b_eff_io.values import spots_of

_HEADS: Final = (
    f"{'n':>5} {'access':<8}{'type':<10}{'p':>3} {'Tp':>8} {'l':>11} {'L':>11} {'r':>9} {'MByte':>12} "
    f"{'t':>10} = {'io':>10} {'barrier':>10} {'bcast':>10} {'sync':>10} {'last io':>10} {'last barr':>10} {'MB/s':>11}"
    "  end"
)


def protocol_text(course: Course) -> str:
    """Every launch, every case in it, every pattern of that."""
    lines: list[str] = []
    for launch in course.launches:
        said = f"{one_line(launch.target)}, {launch.ranks} processes, {', '.join(launch.accesses)}"
        lines += [f"# launch {launch.number}: round {launch.round + 1}, {said}", _HEADS]
        for attempt in launch.attempts:
            lines += _case(course, attempt)
        lines.append("")
    for spot in spots_of(course):
        where = f"{one_line(spot.target)}, hints {one_line(course.hint_set(spot.hints))}"
        for lost in losses_of(course, [spot]):
            text = f" ({one_line(lost.said)})" if lost.said else ""
            lines.append(f"# {ERROR_VALUE}: {where}, {lost.text}{text}")
    return "\n".join([*lines, ""])


def _case(course: Course, attempt: Attempt) -> Iterator[str]:
    """Opening and closing stand in the first and the last of its patterns."""
    for phase in attempt.phases:
        yield _line(attempt, phase)
    total, found = attempt.total, list(attempt.good.values())
    mean = unit_weighted_mean((bandwidth_of(phase) or 0.0, BY_PHASE[phase.phase].units) for phase in found)
    views = sum(seconds_of(phase, "view_s") for phase in found)
    payload = sum(seconds_of(phase, "payload_s") for phase in found)
    times = f"open {total.open_s:.6f} + patterns {total.patterns_s:.6f} + close {total.close_s:.6f} s"
    beside = f"views {views:.6f} s and payload {payload:.6f} s beside"
    weighted = "" if mean is None else f", by units {mean / MEGA:.3f} MB/s (for information)"
    where = f"{attempt.key.access} {attempt.key.type}, hints {one_line(course.hint_set(attempt.key.hints))}"
    yield (
        f"#     {where}: {attempt.case.status}, {total.bytes / MIB:.3f} MByte, {times}, {beside}: "
        f"{total.bandwidth / MEGA:.3f} MB/s{weighted}"
    )
    yield from _hints(found)


def _line(attempt: Attempt, phase: PhaseRecord) -> str:
    facts, pattern = facts_of(phase), BY_PHASE.get(phase.phase)
    rate = bandwidth_of(phase)
    is_good = pattern is not None and pattern.number in attempt.good and rate is not None
    shown = rate / MEGA if is_good and rate is not None else ERROR_VALUE
    times = " ".join(f"{seconds_of(phase, f'{name}_s'):10.6f}" for name in ("calls", "barrier", "agree", "sync"))
    lasts = " ".join(f"{seconds_of(phase, f'last_{name}_s'):10.6f}" for name in ("call", "barrier"))
    number = "?" if pattern is None else str(pattern.number)
    return (
        f"{phase.ranks:>5} {attempt.key.access:<8}{attempt.key.type:<10}{number:>3} {facts.scheduled_s:8.3f} "
        f"{facts.chunk_bytes:>11} {facts.call_bytes:>11} {facts.repetitions:>9} {phase.bytes / MIB:12.3f} "
        f"{pattern_s(phase):10.6f} = {times} {lasts} {shown:11.3f}  {facts.end or phase.status}"
    )


def _hints(phases: Sequence[PhaseRecord]) -> Iterator[str]:
    """What the MPI said it uses, once for the patterns that have the same."""
    seen: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for phase in phases:
        if phase.hints_given:
            seen.setdefault(tuple(sorted(phase.hints_granted.items())), []).append(BY_PHASE[phase.phase].number)
    for granted, numbers in seen.items():
        said = ", ".join(f"{key}={value}" for key, value in granted) or "none"
        yield f"#     hints in use, patterns {', '.join(map(str, numbers))}: {one_line(said)}"
