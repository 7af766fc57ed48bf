# SPDX-License-Identifier: Apache-2.0
"""From the records of a cpu run to rows, and to what they say of the cores and of the libraries in sentences."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ullage.analysis.contests import compare_rows
from ullage.analysis.findings import find_all
from ullage.analysis.findings.enough import ENOUGH, Enough, enough_of
from ullage.analysis.findings.phrasing import finding, gain_of, least_gain, level_of_part, with_gain
from ullage.analysis.statistics.comparison import level_of_each
from ullage.analysis.verdicts.grades import is_sound
from ullage.analysis.verdicts.physics import with_thread_flags
from ullage.grouping import grouped
from ullage.model.flags import Flag
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, percent, plural, times
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, with_peers
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import launches_of
from ullage.suites.cpu.libraries import GEMM, SOLVE, place_of_type
from ullage.suites.cpu.options import CpuOptions
from ullage.suites.cpu.ratios import CLOCK_RATIO, RATE_RATIO, ratio_rows
from ullage.suites.cpu.rows import CHOSEN, Measurement, best_of, best_of_types, measurements, with_ceilings, with_rows
from ullage.units import format_operations

# A clock that falls by less is noise of two readings.
_LEAST_PENALTY: Final = 0.02
# Kinds of sentences that compare: threads, and kernels of a library.
COMPARING: Final = 2
_CORETYPE: Final = "OPENBLAS_CORETYPE"


def findings_of(
    found: Sequence[Measurement], ratios: Sequence[Row], missing: Mapping[str, str], level: float
) -> list[Finding]:
    """Return all findings but those on libraries with kernels for another CPU.

    ``missing`` gives the instruction sets that do not run here, with the reason; ``level`` is that of comparisons.
    """
    kernels = [one for one in found if one.is_kernel]
    return [
        *_fastest(kernels),
        *_threads(kernels, level_of_part(level, COMPARING)),
        *_solve(found),
        *_penalty(ratios),
        *_special(ratios),
        *_missing(missing),
    ]


def _fastest(kernels: Sequence[Measurement]) -> list[Finding]:
    best, double = best_of(kernels), best_of(one for one in kernels if one.params["type"] == "fp64")
    if best is None or best.rate is None:
        return []
    text = f"The kernel with the highest median is {best.name}: {_said(best)}{_of_ceiling(best)}."
    if double is not None and double.name != best.name:
        text += f" In double precision it is {double.name}: {_said(double)}{_of_ceiling(double)}."
    return [
        finding(
            "fastest",
            f"Kernels reach {format_operations(best.rate.median)}",
            text,
            kernel=best.name,
            threads=best.threads,
            op_s=best.rate.median,
            share=best.rate.share,
            fp64_kernel=None if double is None else double.name,
            fp64_op_s=None if double is None else double.value("compute_rate"),
        )
    ]


def _threads(kernels: Sequence[Measurement], level: float) -> list[Finding]:
    """Tell how many threads are enough for each type's best kernel; group the types with the same answer."""
    lines: dict[str, list[Row]] = {}
    for best in best_of_types(kernels):
        line = sorted((one for one in kernels if one.name == best.name), key=lambda one: one.threads)
        rates = [one.rate for one in line if one.rate is not None]
        if len(rates) > 1:
            lines[str(best.params["type"])] = rates
    own = level_of_each(level, map(len, lines.values()))
    found = {name: enough_of(lines[name], own) for name in sorted(lines, key=place_of_type)}
    groups = grouped(
        ((0 if one.is_open else one.row.count("threads"), one.last.count("threads")), (type_, one))
        for type_, one in found.items()
    )
    return [_thread_finding(*key, dict(pairs), own) for key, pairs in sorted(groups.items(), reverse=True)]


def _thread_finding(enough: int, most: int, found: Mapping[str, Enough], level: float) -> Finding:
    types, gains = list(found), [one.row.median / one.first.median for one in found.values()]
    low, high = times(min(gains)), times(max(gains))
    over = f"{low} the rate of 1 thread" if low == high else f"{low} to {high} the rate of 1 thread"
    need = "need" if len(types) > 1 else "needs"
    text = f"{listing(types)} {need} {plural(enough, 'thread')}{f': {over}' if enough > 1 else ''}."
    title = f"{listing(types, 3)} {need} {plural(enough, 'thread')}"
    if not enough:
        title = f"How many threads {listing(types, 3)} {need} cannot be told"
        text = f"{title}. Repeat more often on an idle machine."
    elif enough < most:
        text += f" More reach no more than {times(1 / ENOUGH)} of that."
    severity = "advice" if 0 < enough < most else "info"
    said = finding("threads", title, text, severity, types=types, enough=enough or None, most=most, gain=gains)
    fewer = [gain_of(compare_rows(one.row, one.last, level, None)) for one in found.values()]
    return with_gain(said, least_gain(fewer) if enough else None, f"OMP_NUM_THREADS={enough}")


def _solve(found: Sequence[Measurement]) -> list[Finding]:
    best = best_of(one for one in found if one.name == SOLVE)
    if best is None or best.rate is None:
        return []
    text = f"The linear solve (HPL's count) reaches {_said(best)} at n = {best.params['n']}{_of_ceiling(best)}."
    peer = best.rate.peer
    if peer is not None and peer.median > 0:
        ratio = best.rate.median / peer.median
        text += f" {peer.tool} reaches {format_operations(peer.median)}: our solve reaches {times(ratio)} of that."
    title = f"The linear solve reaches {format_operations(best.rate.median)}"
    numbers = {"threads": best.threads, "n": best.params["n"], "op_s": best.rate.median, "share": best.rate.share}
    return [finding("solve", title, text, **numbers, peer_op_s=None if peer is None else peer.median)]


def _penalty(ratios: Iterable[Row]) -> list[Finding]:
    """Tell by how much AVX-512 surely lowers the clock with the most threads; nothing where no ratio is known."""
    rows = [row for row in ratios if row.metric == CLOCK_RATIO]
    if not rows:
        return []
    row = max(rows, key=lambda one: int(one.params["threads"]))
    threads, low, high = row.count("threads"), _bound(row.low), _bound(row.high)
    how = f"With {plural(threads, 'thread')} it runs at {times(row.median)} the clock of scalar instructions."
    is_notable = high < 1 - _LEAST_PENALTY
    title = "Whether AVX-512 lowers the clock cannot be told"
    if is_notable:
        title = f"AVX-512 lowers the clock by {percent(1 - row.median)}"
    elif low > 1 - _LEAST_PENALTY:
        title = "AVX-512 does not lower the clock"
    severity = "advice" if is_notable else "info"
    return [finding("clock-penalty", title, f"{title}. {how}", severity, threads=threads, ratio=row.median)]


def _bound(value: float | None) -> float:
    """Return a bound of a ratio; of one that has none, a number on neither side of anything."""
    return math.nan if value is None else value


def _special(ratios: Iterable[Row]) -> list[Finding]:
    rows = [row for row in ratios if row.metric == RATE_RATIO and (_bound(row.low) > 1 or _bound(row.high) < 1)]
    found: list[Finding] = []
    for type_ in dict.fromkeys(row.word("type") for row in rows):
        row = max((r for r in rows if r.params["type"] == type_), key=lambda one: int(one.params["threads"]))
        isa, over = row.word("isa"), row.word("over").partition(" ")[0]
        title = f"{type_} dot products by {isa} do {times(row.median)} the operations of {over}"
        severity = "advice" if row.median < 1 else "info"
        numbers = {"type": type_, "isa": isa, "threads": row.count("threads"), "ratio": row.median}
        found.append(finding("special-unit", title, f"{title} in the same time.", severity, **numbers))
    return found


def _missing(missing: Mapping[str, str]) -> list[Finding]:
    if not missing:
        return []
    reasons = grouped((reason, isa) for isa, reason in missing.items())
    text = "; ".join(f"{listing(isas)} ({reason})" for reason, isas in reasons.items())
    title = f"{listing(list(missing), 4)} cannot be measured on this CPU"
    return [finding("missing", title, f"Not available: {text}.", isa=list(missing))]


def _said(one: Measurement) -> str:
    return f"{format_operations(_rate(one))} with {plural(one.threads, 'thread')}"


def _of_ceiling(one: Measurement) -> str:
    rate = one.rate
    if rate is None or rate.share is None or rate.ceiling is None:
        return ""
    of = {"empirical": "our own kernels' rate", "declared": "the declared peak", "detected": "its ceiling"}
    return f", {percent(rate.share)} of {of[rate.ceiling.kind]}"


FLAG: Final = "blas-kernel-mismatch"
# The least share of the roof in double precision; a library with the right kernels reaches 80 % and more of it.
LEAST_SHARE: Final = 0.6


def mismatches(found: Iterable[Measurement]) -> list[Measurement]:
    """Return the product with the most threads of each library whose own kernels stay under 60 % of the roof in it."""
    chosen = grouped((one.label, one) for one in found if one.name == GEMM and one.params["core"] == CHOSEN)
    most = [max(some, key=lambda one: one.threads) for some in chosen.values()]
    return [
        one
        for one in most
        if (rate := one.rate) is not None
        and rate.ceiling is not None
        # Not even the least disturbed repetition may reach that share.
        and max(rate.repetitions) < LEAST_SHARE * rate.ceiling.value
    ]


def better_core(found: Sequence[Measurement], library: str) -> str:
    """Return the OPENBLAS_CORETYPE with which a library that chose wrong does best.

    Return an empty word where it chose well, or where no other kernels are faster.
    """
    wrong = next((one for one in mismatches(found) if one.label == library), None)
    best = None if wrong is None else max(_tried(wrong, found), key=_rate, default=None)
    return "" if wrong is None or best is None or _rate(best) <= _rate(wrong) else str(best.params["core"])


def _tried(wrong: Measurement, found: Sequence[Measurement]) -> list[Measurement]:
    same = (one for one in found if one.name == GEMM and one.label == wrong.label and one.threads == wrong.threads)
    return [one for one in same if one.params["core"] != CHOSEN]


def _mismatch_finding(wrong: Measurement, found: Sequence[Measurement], level: float) -> Finding:
    others, core = _tried(wrong, found), wrong.fact("core")
    best = max(others, key=_rate, default=None)
    chose = f"chose kernels for {core}" if core else "chose its own kernels"
    text = f"The BLAS {wrong.label} ({wrong.library}) {chose}. They reach {_said(wrong)}, {_share(wrong)} of "
    text += "what the cores can do."
    gain = None
    if best is not None and best.rate is not None and wrong.rate is not None:
        own = level_of_each(level_of_part(level, COMPARING), [len(others) + 1])
        gain = gain_of(compare_rows(best.rate, wrong.rate, own))
    if best is not None and gain is not None:
        text += f" With {_CORETYPE}={best.params['core']} it reaches {_said(best)}, {times(gain.factor)} of that."
    elif others:
        text += f" None of {listing([str(one.params['core']) for one in others])} is shown to reach more."
    said = finding(
        FLAG,
        f"The BLAS {wrong.label} uses kernels for another CPU",
        text,
        "warning",
        library=wrong.library,
        core=core or None,
        default_op_s=_rate(wrong),
        best_core=None if best is None else str(best.params["core"]),
        best_op_s=None if best is None else _rate(best),
    )
    return with_gain(said, gain, f"{_CORETYPE}={'' if best is None else best.params['core']}")


def _rate(one: Measurement) -> float:
    return one.value("compute_rate") or 0.0


def _share(wrong: Measurement) -> str:
    return "a part" if wrong.rate is None or wrong.rate.share is None else percent(wrong.rate.share)


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    options, peers = read_options(CpuOptions, request), result.read_peers()
    # Findings name the peers, so these are joined first.
    found = with_rows(measured(result, options, context), lambda rows: with_peers(rows, peers))
    texts = {
        one.label: f"the library chose {one.fact('core') or 'its kernels'}: its product reaches {_share(one)} of its "
        "ceiling"
        for one in mismatches(found)
    }

    def flagged(one: Measurement) -> Measurement:
        if one.label not in texts or one.params.get("core") != CHOSEN:
            return one
        return one.flagged([Flag(code=FLAG, reason=texts[one.label])], "compute_rate")

    found = [flagged(one) for one in found]
    sound = [one for one in found if all(map(is_sound, one.rows.values()))]
    files = result.read_records()
    # A library may not have the kernels that it was told to take.
    tries = {case.case for file in files for case in file.cases if case.workload_parameters.get("core")}
    failed = [one for one in failed_cases([file.records for file in files]) if one.case not in tries]
    findings = [
        *find_all([], failed, context.level, context.settable),
        *findings_of(sound, ratio_rows(sound), options.missing, context.level),
        *(_mismatch_finding(one, sound, context.level) for one in mismatches(sound)),
    ]
    return SuiteSummary([row for one in found for row in one.rows.values()] + ratio_rows(found), findings)


def measured(result: ResultFolder, options: CpuOptions, context: RowContext) -> list[Measurement]:
    """Return the measurements that the records hold so far, under their ceilings."""
    system = result.read_system()
    quota = None if system is None else system.limits.cpu_quota
    found = with_rows(measurements(launches_of(result), context, options.libraries, quota), with_thread_flags)
    return with_ceilings(found, options.machine, None if system is None else system.cpu.usable_cores)
