# SPDX-License-Identifier: Apache-2.0
"""Flags for numbers that cannot be, or that stand on too little. A flag that starts with INVALID is no speed at all."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final

from ullage.analysis.metrics.arithmetic import stage_span_ns
from ullage.model.flags import (
    ABOVE_THREADS,
    BUFFERS_IN_TURN,
    CLOCK_STOPPED,
    IDLE_RANKS,
    INVALID_ABOVE_CEILING,
    INVALID_LITTLES_LAW,
    INVALID_VERIFICATION,
    NOT_PERSISTENT,
    PAYLOAD_IN_TIME,
    PREPARATION_IN_TIME,
    REMOVED_LATELY,
    STAMPED_IN_GROUPS,
    TOO_SHORT,
    VERIFIED_IN_TIME,
    Flag,
)
from ullage.model.plan import Parameters
from ullage.model.record import PhaseRecord
from ullage.model.summary import Ceiling, Row
from ullage.quantity import percent, times
from ullage.units import format_bytes, format_time

ABOVE_CEILING: Final = 1.05
_MOST_BUSY: Final = 1.1
_LEAST_BUSY: Final = 0.5
_CLOCK_READS: Final = 1000
_SHORTEST_NS: Final = 10_000_000
_MOST_PREPARATION: Final = 0.01
_SLOWED: Final = 3
_SLOWED_CREATE: Final = 10
_PREPARED: Final = {True: "payload", False: "our own preparation of names and buffers"}


def above_ceiling(share: float, ceiling: Ceiling) -> Flag | None:
    """Flag a share above 1.05 of what the part can do: the measurement or the ceiling is wrong.

    What was measured in a run is no limit of what a part can do, so no row breaks it.
    """
    if ceiling.kind in ("empirical", "measured") or share <= ABOVE_CEILING:
        return None
    return Flag(code=INVALID_ABOVE_CEILING, reason=f"the value is {share:.2f} times the ceiling")


def littles_law(phase: PhaseRecord, parameters: Parameters) -> Flag | None:
    """Compare the operations' times, added up, with the time the ranks had (Little 1961: L = lambda W).

    Above 1.1 the latencies or the elapsed time are wrong. Below 0.5 the ranks did something else for most of the phase,
    unless they waited for a core.
    Up to ``queue_depth`` times ``threads`` operations of a rank can be under way at once, or one of each accelerator.
    Phases that move no bytes to or from anywhere have windows in the place of operations, and no such law.
    """
    if phase.access == "none":
        return None
    span_ns = stage_span_ns(phase.stages.get("transfer"))
    if phase.latency is None or phase.latency.operations == 0 or span_ns <= 0:
        return None
    busy = phase.latency.sum_ns / (span_ns * _at_once(phase, parameters))
    if busy > _MOST_BUSY:
        return Flag(code=INVALID_LITTLES_LAW, reason=f"the operations add up to {busy:.2f} times the time of the ranks")
    waited_ppm = 0 if phase.contamination is None else phase.contamination.run_delay_ppm or 0
    if busy + waited_ppm / 1e6 >= _LEAST_BUSY:
        return None
    reason = f"the ranks spent {percent(busy)} of the transfer time in operations"
    if phase.prepare_ns > 0 and not phase.clock_stops:
        reason += f"; {format_time(phase.prepare_ns / 1e9)} went into {_PREPARED[_keys_payload(phase)]}"
    return Flag(code=IDLE_RANKS, reason=reason)


def _at_once(phase: PhaseRecord, parameters: Parameters) -> int:
    """Return how many operations of all ranks can be under way at once."""
    accelerators = phase.facts.get("accelerators")
    if isinstance(accelerators, int) and accelerators > 0:
        return accelerators
    return max(1, phase.ranks) * _count(parameters, "queue_depth") * _count(parameters, "threads")


def _count(parameters: Parameters, name: str) -> int:
    value = parameters.get(name, 1)
    return value if isinstance(value, int) and value > 0 else 1


def payload_in_time(phase: PhaseRecord) -> Flag | None:
    """Flag preparation between batches that stands in the phase's time, though in no operation's: fast targets show it.

    Only what is written has a payload; other phases make names and clear buffers.
    """
    if phase.clock_stops or phase.elapsed_ns <= 0 or phase.prepare_ns <= _MOST_PREPARATION * phase.elapsed_ns:
        return None
    share, of_payload = phase.prepare_ns / phase.elapsed_ns, _keys_payload(phase)
    code = PAYLOAD_IN_TIME if of_payload else PREPARATION_IN_TIME
    return Flag(code=code, reason=f"{percent(share, 1)} of the phase went into {_PREPARED[of_payload]}")


def _keys_payload(phase: PhaseRecord) -> bool:
    return phase.access == "write"


def clock_stopped(phase: PhaseRecord) -> Flag | None:
    """Flag ranks whose clock stops while they make names and payload: meanwhile they leave the target to the others."""
    whole_ns = phase.elapsed_ns + phase.prepare_ns
    if not phase.clock_stops or phase.ranks < 2 or phase.prepare_ns <= _MOST_PREPARATION * whole_ns:
        return None
    share = phase.prepare_ns / whole_ns
    return Flag(
        code=CLOCK_STOPPED,
        reason=f"data or names were made during {percent(share, 1)} of a rank's time, with its clock stopped",
    )


def verified_in_time(phase: PhaseRecord, parameters: Parameters) -> Flag | None:
    """Flag reads that are checked within the measured time, as by mdtest's -X: a choice, and the rate is of both."""
    if parameters.get("verify") != "timed" or phase.verified_bytes == 0:
        return None
    return Flag(code=VERIFIED_IN_TIME, reason="reads are verified within the measured time")


def buffers_in_turn(phase: PhaseRecord, parameters: Parameters) -> Flag | None:
    """Flag more memory than a buffer for each operation in flight: a choice, and what other tools do not do."""
    size = parameters.get("buffers", 0)
    if phase.access not in ("read", "write") or not isinstance(size, int) or size <= 0:
        return None
    return Flag(code=BUFFERS_IN_TURN, reason=f"transfers go through {format_bytes(size)} of buffers in turn")


def stamped_in_groups(phase: PhaseRecord) -> Flag | None:
    """Flag operations so short that several share a clock reading: a percentile is one of their means."""
    if phase.stamped_every <= 1:
        return None
    reason = f"each clock reading times {phase.stamped_every:.1f} operations, so latencies are means of so many"
    return Flag(code=STAMPED_IN_GROUPS, reason=reason)


def not_persistent(phase: PhaseRecord) -> Flag | None:
    """Flag what backend ``pmem`` did with memory that is not persistent, as the record says of the mapping."""
    match phase.hints_granted.get("persistent"):
        case "forced":
            reason = "PMEM_IS_PMEM_FORCE=1 has memory taken for persistent that is not: nothing here is durable"
        case "no":
            reason = "the file is not on persistent memory: only msync makes it durable"
        case _:
            return None
    return Flag(code=NOT_PERSISTENT, reason=reason)


def removed_lately(phase: PhaseRecord, parameters: Parameters) -> Flag | None:
    """Flag creates that looked past files which were removed in the last minutes.

    A new file must have cost three times as much in the dataset's directory as at least in the run, by the same calls
    of one rank, and the phase's own operations half of that, since others may have removed files after it; or, where
    only some of them looked past such files, twice the median time of an operation on average. Where each rank has
    directories of its own and nobody competes for them, it is enough that an operation spent ten times that least.
    """
    here_ns, least_ns = phase.facts.get("new_file_ns"), phase.facts.get("least_new_file_ns")
    if not isinstance(here_ns, int) or not isinstance(least_ns, int):
        return None
    spent_ns = phase.cpu_ns / max(1, phase.operations)
    is_tail = phase.latency is not None and spent_ns >= 2 * phase.latency.p50_ns
    is_slowed = here_ns >= _SLOWED * least_ns and (spent_ns >= here_ns / 2 or is_tail)
    is_alone = parameters.get("unique_directory") is True and parameters.get("sync") != "file" and phase.bytes == 0
    if not is_slowed and not (is_alone and spent_ns >= _SLOWED_CREATE * least_ns):
        return None
    cost_ns = here_ns if is_slowed else spent_ns
    reason = (
        f"a new file took {format_time(cost_ns / 1e9)} of a core here, and {format_time(least_ns / 1e9)} where nothing "
        "was removed lately; wait six minutes"
    )
    return Flag(code=REMOVED_LATELY, reason=reason)


def too_short(phase: PhaseRecord, read_cost_ns: int) -> Flag | None:
    """Flag a phase below 10 ms, or below 1000 clock readings, which measures start and end more than work."""
    limit_ns = max(_SHORTEST_NS, _CLOCK_READS * read_cost_ns)
    if phase.elapsed_ns >= limit_ns:
        return None
    return Flag(code=TOO_SHORT, reason=f"the phase took {format_time(phase.elapsed_ns / 1e9)}: use a larger volume")


def verification(phase: PhaseRecord) -> Flag | None:
    """Flag data that came back wrong."""
    if phase.bad_blocks == 0:
        return None
    return Flag(code=INVALID_VERIFICATION, reason=f"{phase.bad_blocks} blocks came back wrong")


MOST_OF_EACH: Final = 1.1
"""A thread among others may do this many times what one does alone before the two numbers contradict."""
# The work of a row is what is left without these: the number of nodes follows from that of the ranks.
_NOT_OF_WORK: Final = frozenset({"threads", "ranks", "nodes"})


def with_thread_flags(rows: Sequence[Row]) -> list[Row]:
    """Return ``rows`` in their order; flag each rate above 1.1 x threads x the rate of one thread.

    No sentence is built on such a row. Caches may explain it, since more cores have more of them; usually the one
    thread was disturbed.
    """
    alone = {_work(row): row.median for row in rows if _is_rate(row) and _threads(row) == 1 and not row.is_invalid}
    return [_flagged(row, alone) for row in rows]


def _flagged(row: Row, rates: Mapping[Hashable, float]) -> Row:
    """Flag ``row`` where need be; ``rates``: of one thread, by their work."""
    threads = _threads(row)
    alone = rates.get(_work(row), 0.0) if threads > 1 and _is_rate(row) else 0.0
    if alone <= 0:
        return row
    gain = row.median / alone
    if gain <= MOST_OF_EACH * threads:
        return row
    reason = f"{times(gain)} the rate of one thread, with {threads}: noise is the usual cause, caches can be"
    return row.model_copy(update={"flags": [*row.flags, Flag(code=ABOVE_THREADS, reason=reason)]})


def _is_rate(row: Row) -> bool:
    return row.better == "more" and row.unit.endswith("/s")


def _threads(row: Row) -> int:
    return int(row.params.get("ranks", 1)) * int(row.params.get("threads", 1))


def _work(row: Row) -> Hashable:
    params = frozenset(item for item in row.params.items() if item[0] not in _NOT_OF_WORK)
    return row.suite, row.target, row.metric, params
