# SPDX-License-Identifier: Apache-2.0
"""From the records of a network run to rows and findings."""

from collections.abc import Mapping
from typing import Final

from ullage.analysis.findings import find_all
from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped
from ullage.model.flags import INVALID_LITTLES_LAW, INVALID_NOTHING_ARRIVED, Flag
from ullage.model.plan import Scalar
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, join, with_peers
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, told_rows, usual
from ullage.suites.network.ceilings import with_ceilings
from ullage.suites.network.findings import findings_of
from ullage.suites.network.options import DEFAULTS, LINK, NetworkOptions

STREAM_METRICS: Final = ("network_bandwidth", "network_cpu", "bandwidth_per_core")
DATAGRAM_METRICS: Final = ("loss_share", "jitter")
REQUEST_METRICS: Final = (
    "latency_p50",
    "latency_p95",
    "latency_p99",
    "latency_p999",
    "latency_max",
    "message_rate",
    "network_cpu",
)
_LITTLE: Final = 0.1


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(NetworkOptions, request)
    launches = launches_of(result)
    metrics = tuple(dict.fromkeys((*STREAM_METRICS, *DATAGRAM_METRICS, *REQUEST_METRICS)))
    own = context.without_storage(LINK.name, metrics)
    phases = grouped((item.case.case, item.phase) for item in join(launches))
    told = told_rows(launches, own, _told)
    rows = with_peers([_lawful(row, phases[row.case]) for row in told], result.read_peers())
    last = {case: found[-1] for case, found in phases.items()}
    rows = with_ceilings(rows, last, options.machine)
    failed = [one for one in failed_cases(launches) if one.target == LINK.name]
    failures = find_all([], failed, context.level, context.settable)
    return SuiteSummary(rows, [*failures, *findings_of(sound_rows(rows), last, context.level, options.window)])


def _told(row: Row, source: Source) -> dict[str, Scalar] | None:
    """Tell the parameters that people ask for; what is not in a record has the engine's default."""
    found = {**DEFAULTS, **source.workload}
    params = usual(row, "access", "ranks", "nodes")
    for name in DEFAULTS:
        value = found[name]
        params[name] = value if isinstance(value, (bool, int, float, str)) else str(value)
    if params["mode"] == "request":
        # Requests have the setting of their protocol; it is not varied.
        params["no_delay"] = False
    return params if _is_wanted(row.metric, params) else None


def _is_wanted(metric: str, params: Mapping[str, Scalar]) -> bool:
    if metric == "loss_share":
        return params["protocol"] != "tcp"
    if params["mode"] == "stream":
        return metric in STREAM_METRICS or (metric == "jitter" and params["protocol"] == "udp")
    return metric in REQUEST_METRICS


def _lawful(row: Row, phases: list[PhaseRecord]) -> Row:
    """Flag a row that breaks Little's law, or whose streams of TCP were connected and delivered nothing."""
    is_of_requests = row.params["mode"] == "request"
    flag = _broken(row, phases) if is_of_requests else _silent(phases) if row.params["protocol"] == "tcp" else None
    return row if flag is None else row.model_copy(update={"flags": [*row.flags, flag]})


def _broken(row: Row, phases: list[PhaseRecord]) -> Flag | None:
    """Flag latencies that add up to more time than there was: a stream of requests has one in flight at any time."""
    worst = max(_busy(phase, row.count("streams")) for phase in phases)
    if worst <= 1 + _LITTLE:
        return None
    return Flag(code=INVALID_LITTLES_LAW, reason=f"the round trips add up to {worst:.2f} times the time there was")


def _silent(phases: list[PhaseRecord]) -> Flag | None:
    """Flag windows of TCP without a byte: datagrams may be lost, but a connection that delivers nothing has no rate."""
    rates = [phase.gauges.get("goodput_bytes_per_s") for phase in phases if "unavailable" not in phase.facts]
    silent = sum(rate is not None and rate.sum == 0 for rate in rates)
    if not silent:
        return None
    reason = f"no byte arrived in the measured time of {silent} of {len(phases)} repetitions; use a larger --seconds"
    return Flag(code=INVALID_NOTHING_ARRIVED, reason=reason)


def _busy(phase: PhaseRecord, streams: int) -> float:
    """Return the share of the time in which requests were under way.

    The last one of each stream may end after the time, however long it takes, so it is left out.
    """
    window, pairs = phase.gauges.get("window_s"), phase.gauges.get("pairs")
    if phase.latency is None or window is None or pairs is None or window.most <= 0 or pairs.sum <= 0:
        return 0.0
    slots = pairs.sum * streams
    spent_ns = max(0.0, phase.latency.sum_ns - slots * phase.latency.max_ns)
    return spent_ns / 1e9 / (window.most * slots)
