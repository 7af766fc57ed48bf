# SPDX-License-Identifier: Apache-2.0
"""The texts that a b_eff_io run leaves beside its result, in the order of the original's: for people's scripts.

The .prot file has the run pattern by pattern: one line each, in the order in which they ran. Times in s are of the
slowest process: io (calls), barrier, bcast (agreeing to go on) and sync together are t, as far as the slowest in one
are the slowest in the others.

The .sum file has for each partition a table of accesses, chunks and types, the line of pattern 2, the means, the
volume, the value and whether it counts; then the maximum over partitions. Medians where rounds were repeated. Tables
and rates are in 10^6 bytes, volumes and memory in 2^20.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import ullage
from ullage.analysis.settings import select
from ullage.errors import one_line
from ullage.grouping import grouped
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.model.system import SystemFacts
from ullage.quantity import percent, processes
from ullage.results.folder import ResultFolder, write_atomically
from ullage.runs.options.reading import read_options
from ullage.suites.b_eff_io import patterns
from ullage.suites.b_eff_io.measured import Attempt, BEffIoRun, bandwidth_of, end_of, fact, read_run, seconds_of
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.rows import ACCESS, MEGA, PATTERN, TYPE, VOLUME, WRITE_SIDE, SpotScores, best
from ullage.suites.b_eff_io.summarise import digest
from ullage.suites.b_eff_io.values import criteria, memory_bytes, outcomes_of, spots_of

SUMMARY_FILE: Final = "b_eff_io.sum.txt"
PROTOCOL_FILE: Final = "b_eff_io.prot.txt"


def write_texts(result: ResultFolder) -> None:
    """Write both texts, as far as the run has come; write none where nothing has run."""
    for name, text in make_texts(result).items():
        write_atomically(result.path / name, text)


def make_texts(result: ResultFolder) -> dict[str, str]:
    """Return the contents of both texts by file name; empty where nothing has run."""
    from ullage.runs.summary import row_context

    request, system = result.read_request(), result.read_system()
    io_run = read_run(result, read_options(BEffIoOptions, request))
    by_target = digest(io_run, row_context(request, system))
    if not by_target:
        return {}
    parts = [
        summary_text(io_run, alike, _head(io_run, target, system))
        for target, found in by_target.items()
        for alike in grouped((one.hint_set, one) for one in found).values()
    ]
    return {SUMMARY_FILE: "\n".join(parts), PROTOCOL_FILE: _protocol_text(io_run)}


def _head(io_run: BEffIoRun, target: str, system: SystemFacts | None) -> list[str]:
    run = io_run.launches[-1].run
    host = system.host if system is not None and system.host else "a machine that is not known"
    facts = [] if system is None else [system.kernel.system, system.kernel.release]
    kernel = "".join(f" {fact}" for fact in facts if fact)
    io = f", MPI-IO by {run.mpi_io}" if run.mpi_io else ""
    return [
        f"b_eff_io as release 2.1 defines it, by Ullage {ullage.__version__}; the original has not seen this run.",
        f"on {target} of {host}{kernel}, {run.engine.mpi.library}{io}, {io_run.launches[0].run.started}",
    ]


_HEADS: Final = (
    f"{'n':>5} {'access':<8}{'type':<10}{'p':>3} {'Tp':>8} {'l':>11} {'L':>11} {'r':>9} {'MByte':>12} "
    f"{'t':>10} = {'io':>10} {'barrier':>10} {'bcast':>10} {'sync':>10} {'last io':>10} {'last barr':>10} {'MB/s':>11}"
    "  end"
)


def _protocol_text(io_run: BEffIoRun) -> str:
    lines: list[str] = []
    for launch in io_run.launches:
        said = f"{one_line(launch.target)}, {launch.ranks} processes, {', '.join(launch.accesses)}"
        lines += [f"# launch {launch.number}: round {launch.round + 1}, {said}", _HEADS]
        for attempt in launch.attempts:
            lines += _case(io_run, attempt)
        lines.append("")
    for spot in spots_of(io_run):
        where = f"{one_line(spot.target)}, hints {one_line(io_run.hint_set(spot.hints))}"
        for lost in outcomes_of(io_run, [spot]):
            text = f" ({one_line(lost.said)})" if lost.said else ""
            lines += [] if lost.is_cut else [f"# {ERROR_VALUE}: {where}, {lost.text}{text}"]
    return "\n".join([*lines, ""])


def _case(io_run: BEffIoRun, attempt: Attempt) -> Iterator[str]:
    """Yield a line for each pattern of a case, one for the case itself, and the hints in use.

    Opening and closing stand in the first and the last of its patterns.
    """
    for phase in attempt.phases:
        yield _line(attempt, phase)
    total, found = attempt.total, list(attempt.good.values())
    mean = patterns.unit_weighted_mean(
        (bandwidth_of(phase) or 0.0, patterns.BY_PHASE[phase.phase].units) for phase in found
    )
    views, payload = (sum(seconds_of(phase, f"{part}_s") for phase in found) for part in ("view", "payload"))
    times = f"open {total.open_s:.6f} + patterns {total.patterns_s:.6f} + close {total.close_s:.6f} s"
    weighted = "" if mean is None else f", by units {mean / MEGA:.3f} MB/s (for information)"
    where = f"{attempt.key.access} {attempt.key.type}, hints {one_line(io_run.hint_set(attempt.key.hints))}"
    yield (
        f"#     {where}: {attempt.case.status}, {total.bytes / patterns.MIB:.3f} MByte, {times}, "
        f"views {views:.6f} s and payload {payload:.6f} s beside: {total.bandwidth / MEGA:.3f} MB/s{weighted}"
    )
    in_use = grouped(
        (tuple(sorted(phase.hints_granted.items())), patterns.BY_PHASE[phase.phase].number)
        for phase in found
        if phase.hints_given
    )
    for granted, numbers in in_use.items():
        said = ", ".join(f"{key}={value}" for key, value in granted) or "none"
        yield f"#     hints in use, patterns {', '.join(map(str, numbers))}: {one_line(said)}"


def _line(attempt: Attempt, phase: PhaseRecord) -> str:
    pattern, rate = patterns.BY_PHASE.get(phase.phase), bandwidth_of(phase)
    is_good = pattern is not None and pattern.number in attempt.good and rate is not None
    shown = rate / MEGA if is_good and rate is not None else ERROR_VALUE
    times = " ".join(f"{seconds_of(phase, f'{name}_s'):10.6f}" for name in ("calls", "barrier", "agree", "sync"))
    lasts = " ".join(f"{seconds_of(phase, f'last_{name}_s'):10.6f}" for name in ("call", "barrier"))
    chunk, call, calls = (round(fact(phase, name)) for name in ("chunk_bytes", "call_bytes", "repetitions"))
    number = "?" if pattern is None else str(pattern.number)
    return (
        f"{phase.ranks:>5} {attempt.key.access:<8}{attempt.key.type:<10}{number:>3} "
        f"{fact(phase, 'scheduled_s'):8.3f} {chunk:>11} {call:>11} {calls:>9} {phase.bytes / patterns.MIB:12.3f} "
        f"{seconds_of(phase, 'pattern_s'):10.6f} = {times} {lasts} {shown:11.3f}  {end_of(phase) or phase.status}"
    )


# The original prints this where a pattern met an error.
ERROR_VALUE: Final = -999.999
_MINUTE_S: Final = 60.0


def summary_text(io_run: BEffIoRun, found: Sequence[SpotScores], head: Sequence[str]) -> str:
    """Return the summary of the partitions of one set of hints on one target. ``head``: what made it, and where."""
    lines: list[str] = []
    for one in found:
        lines += [*map(one_line, head), *_options(io_run.options, one), "", *table(io_run, one), ""]
        second = ", ".join(
            f"{_reached(io_run, one, access, patterns.PATTERNS[2]).strip()} MB/s {access}"
            for access in patterns.ACCESSES
        )
        lines += [f"Not in the table: pattern 2 (scatter, l = 1 MByte, L = 2 MBytes): {second}", ""]
        lines += [*_means(io_run, one), *_value(io_run, one), "", *_validity(io_run, one), "", ""]
    if (top := best(found)) is not None and top.value is not None:
        value = f"{top.value.median / MEGA:.3f} MB/s on {processes(top.spot.ranks)}"
        lines.append(f"maximum over partitions: b_eff_io = {value} ({'NOT ' if top.whole else ''}VALID)")
    return "\n".join([*lines, ""])


def _options(options: BEffIoOptions, one: SpotScores) -> list[str]:
    lmax, whole = options.lmax or 0, memory_bytes(options)
    memory = f"{options.memory / patterns.MIB:.0f} MBytes/PE" if options.memory else "memory not given"
    in_total = "memory" if whole is None else f"{whole / patterns.MIB:.0f} MBytes"
    chosen = "" if options.memory is not None and lmax == patterns.lmax_of(options.memory) else " (chosen)"
    shared, rewrite = "" if options.shared_pointer else ", -noshared", ", -rewrite" if options.rewrite else ""
    sizes = f"{memory}, {in_total} in total, Lmax = {lmax / patterns.MIB:.3f} MBytes{chosen}"
    times = f"T = {options.time_s:g} s over {len(options.partitions)} partitions = {options.partition_s:g} s each"
    rules = f"rule {options.rule}{shared}{rewrite}, hints {one_line(one.hint_set)}"
    return [
        f"{sizes}   [1 MByte = 2^20 bytes, 1 MB = 10^6 bytes]",
        f"N = {one.spot.ranks} of {options.ranks}, {times}, {rules}",
    ]


def table(io_run: BEffIoRun, one: SpotScores) -> list[str]:
    """Return the table of access and chunk by type, with a total row for each access."""
    lines = [
        f"{'processes':>10} {'pos':>3} {'chunk':>10}  {'access':<13}"
        + "".join(f"{name:>11}" for name in patterns.TYPES),
        f"{'':>10} {'':>3} {'l [bytes]':>10}  {'':<13}" + f"{'[MB/s]':>11}" * len(patterns.TYPES),
        "-" * 94,
    ]
    for access in patterns.ACCESSES:
        kinds = patterns.types_of(access, rewrite=io_run.options.rewrite)
        for position, size in enumerate(patterns.ROWS, start=1):
            of_size = {pattern.type: pattern for pattern in patterns.PATTERNS if pattern.size == size}
            cells = "".join(_reached(io_run, one, access, of_size[kind]) for kind in kinds)
            chunk = of_size[patterns.TYPES[0]].chunk(io_run.options.lmax or 0) or 0
            lines.append(f"{one.spot.ranks:>7} PE {position:>3} {chunk:>10}  {access:<13}{cells}")
        totals = "".join(_mb(select(one.rows, TYPE, access=access, pattern_type=kind)) for kind in kinds)
        lines += [f"{one.spot.ranks:>7} PE {'':>3} {'':>10}  {f'total-{access}':<13}{totals}", ""]
    return lines[:-1]


def _reached(io_run: BEffIoRun, one: SpotScores, access: patterns.Access, pattern: patterns.Pattern) -> str:
    was_tried = bool(io_run.attempts(one.spot.key(access, pattern.type)))
    rows = select(one.rows, PATTERN, access=access, pattern=pattern.number)
    return _mb(rows, str(ERROR_VALUE) if was_tried else "-")


def _mb(rows: Sequence[Row], without: str = "-") -> str:
    return f"{rows[0].median / MEGA:11.3f}" if rows else f"{without:>11}"


def _means(io_run: BEffIoRun, one: SpotScores) -> list[str]:
    lines = [
        f"weighted average bandwidth for {access:<7} : {row.median / MEGA:.3f} MB/s on {one.spot.ranks} processes"
        for access in patterns.ACCESSES
        for row in select(one.rows, ACCESS, access=access)
    ]
    memory = memory_bytes(io_run.options)
    for access in patterns.ACCESSES:
        for row in select(one.rows, VOLUME, access=access):
            share = f" = {percent(row.median / memory, 1)} of the total memory" if memory else ""
            lines.append(f"Total amount of data moved with {access:<7} : {row.median / patterns.MIB:.3f} MBytes{share}")
    return lines


def _value(io_run: BEffIoRun, one: SpotScores) -> list[str]:
    row, memory = one.value, memory_bytes(io_run.options)
    if row is None:
        return ["b_eff_io of these measurements: none, since not everything has run"]
    value, side = row.median / MEGA, select(one.rows, WRITE_SIDE)[0].median / MEGA
    scheduled = f"scheduled time = {io_run.options.partition_s / _MINUTE_S:.1f} Min"
    lines = [
        f"W' (first writes, with the rewrite of scatter for its second weight) = {side:.3f} MB/s",
        f"b_eff_io of these measurements = {value:.3f} MB/s on {one.spot.ranks} processes, {scheduled}",
    ]
    if memory and row.median > 0:
        minutes = memory / row.median / _MINUTE_S
        lines.append(f"total memory / b_eff_io = {memory / MEGA:.0f} MB / {value:.3f} MB/s = {minutes:.1f} min")
    return lines


def _validity(io_run: BEffIoRun, one: SpotScores) -> list[str]:
    if not one.own:
        return ["This result is VALID."]
    found = criteria(io_run, [one.spot]).items()
    marks = [f"  {'reached    ' if is_reached else 'NOT reached'} : {what}" for what, is_reached in found]
    return ["This result is NOT VALID. Criteria:", *marks, *(f"  because {one_line(reason)}" for reason in one.own)]
