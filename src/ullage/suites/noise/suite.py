# SPDX-License-Identifier: Apache-2.0
"""Suite ``noise``: its options, its cases, its rows, and what should be done about what they show."""

from collections.abc import Iterable, Sequence
from typing import Final

from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.phrasing import columns, finding
from ullage.analysis.findings.study import make_study
from ullage.engine import find_registered
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import percent, plural
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, join
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.options import CPU, KernelOptions
from ullage.runs.kernels.prepared import PreparedKernels, kernel_case
from ullage.runs.kernels.resources import read_resources
from ullage.runs.options.declared import Change
from ullage.runs.options.each_node import EachNodeOptions
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import launches_of, told_rows, usual
from ullage.units import format_time


class NoiseOptions(EachNodeOptions, KernelOptions):
    """The options of suite ``noise``: those of all kernels."""

    at = (CPU,)
    changes = {"quick": Change("Measure with 1 thread and with all threads, each 3 times.")}


WORKLOAD: Final = "fixed-work"
HEADERS: Final = ("workload", "threads")
_DEFAULTS: Final = {"quantum_s": 1e-4, "quanta": 3000.0, "watch_s": 0.0, "warm_up_s": 0.0}
_AROUND_S: Final = 0.1
METRICS: Final = ("noise_share", "worst_noise_share", "turbo_share", "detour_share", "longest_detour")
# The grades of contamination have the same limits: A below 1 %, C from 5 % on.
LITTLE: Final = 0.01
MUCH: Final = 0.05
_NOTABLE_TURBO: Final = 0.02


def prepare_noise(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """Plan a case for each number of threads; raise ``UserError`` where the engine has no such workload."""
    options = read_options(NoiseOptions, request)
    description = engine_context.description
    stated = find_registered(description, "workload", WORKLOAD).parameters
    times = _DEFAULTS | {one.name: float(one.default) for one in stated if isinstance(one.default, (int, float))}
    seconds = times["quantum_s"] * times["quanta"] + times["watch_s"] + times["warm_up_s"] + _AROUND_S
    cases = [
        kernel_case(WORKLOAD, {"threads": count}, CPU, (WORKLOAD, str(count)), description, seconds=seconds)
        for count in options.threads
    ]
    return PreparedKernels(request, options, HEADERS, cases, notes=read_resources().notes())


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    launches = launches_of(result)
    own = context.without_storage(CPU.name, METRICS)
    told = told_rows(launches, own, lambda row, source: {**usual(row, "access"), **source.values.some("threads")})
    findings = find_failures(make_study(told, failed_cases(launches), context.level))
    findings += findings_of(told, [item.phase for item in join(launches)])
    return SuiteSummary(told, findings, uses_disturbed=True)


def findings_of(rows: Sequence[Row], phases: Sequence[PhaseRecord]) -> list[Finding]:
    """Return the findings on the case with the most threads: time lost to others, and effects of turbo clocks."""
    if not rows:
        return []
    most = max(row.count("threads") for row in rows)
    by_metric = {row.metric: row for row in rows if row.params["threads"] == most}
    return [*_lost(by_metric, most, phases), *_turbo(by_metric, most)]


def _lost(rows: dict[str, Row], threads: int, phases: Sequence[PhaseRecord]) -> list[Finding]:
    noise = rows.get("noise_share")
    if noise is None:
        return []
    worst, longest = rows.get("worst_noise_share"), rows.get("longest_detour")
    whose = "threads'" if threads > 1 else "thread's"
    title = f"Other work takes {percent(noise.median, 2)} of the {whose} time"
    text = title
    if worst is not None and threads > 1:
        text += f". The worst of {threads} threads loses {percent(worst.median, 2)}"
    if longest is not None:
        text += f". The longest interruption took {format_time(longest.median)}"
    severity = "info" if noise.median < LITTLE else "advice" if noise.median < MUCH else "warning"
    advice = f" {advice_on(phases)}" if severity != "info" else ""
    return [finding("noise", title, f"{text}.{advice}", severity, threads=threads, noise_share=noise.median)]


def advice_on(phases: Iterable[PhaseRecord]) -> str:
    """Give advice by what the kernel counted during the work: the hypervisor, other programs, or neither."""
    found = [phase.contamination for phase in phases if phase.contamination is not None]
    counted = [(one.steal_ppm, one.foreign_cpu_ppm, one.pressure_cpu_ppm or 0) for one in found]
    steal, foreign, pressure = (max(values) / 1e6 for values in zip((0, 0, 0), *counted, strict=True))
    if steal >= max(LITTLE, foreign):
        return f"The hypervisor took up to {percent(steal, 1)} (steal). Ask for dedicated cores."
    if foreign >= LITTLE:
        taken = f"up to {percent(foreign, 1)} of the cores' time, CPU pressure {percent(pressure, 1)}"
        return f"Other programs were running ({taken}). Measure on an exclusive node, or when it is idle."
    if pressure >= LITTLE:
        seen = f"CPU pressure {percent(pressure, 1)}, other programs' time {percent(foreign, 1)}"
        return f"Kernel threads or short-lived programs share the cores ({seen}). Leave one core without a rank."
    return "No program can be seen that took it. Move interrupts and daemons to a core without a rank."


def _turbo(rows: dict[str, Row], threads: int) -> list[Finding]:
    both, noise = rows.get("turbo_share"), rows.get("noise_share")
    if both is None or noise is None or both.median - noise.median < _NOTABLE_TURBO:
        return []
    clock = both.median - noise.median
    text = (
        f"Changes of the clock make fixed work {percent(clock, 1)} longer with {plural(threads, 'thread')}. "
        "This is not noise. Compare rates by the clock that is measured beside them."
    )
    title = f"Changes of the clock make fixed work {percent(clock, 1)} longer"
    return [Finding(kind="turbo", title=title, text=text, numbers=columns(threads=threads, clock_share=clock))]
