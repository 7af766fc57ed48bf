# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the I/O of a job: evidence from its log, what to change, and the seconds that it costs.

The seconds are the difference of two works at rates that were measured, as it is and as it would be, or where the log
itself has them, those. A group of files is looked at where at least a twentieth of the time of I/O went into it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ullage.analysis.findings.phrasing import finding
from ullage.importers.darshan.job import ACCESSES, SMALL, Facts, Group
from ullage.importers.darshan.log import BOUNDS
from ullage.importers.darshan.rates import NOTHING, Rates, Span, UnknownRateError, Work
from ullage.model.summary import Finding, Gain
from ullage.quantity import format_quantity, percent, plural, show, times
from ullage.units import format_bytes

_PAGE: Final = 4096
_LARGE: Final = 4 << 20
_FEWEST: Final = 100
_LEAST_SHARE: Final = 0.1
_IN_ORDER: Final = 0.75
_LEAST_TIME: Final = 0.05
_LEAST_SECONDS: Final = 0.1
_MANY_FILES: Final = 1000
_ALMOST_ALL: Final = 0.9


@dataclass(frozen=True)
class Cause:
    """One finding: ``now`` and ``then`` are the work as it is and after the ``change``; ``lost``: seconds that the log
    states itself.
    """

    kind: str
    title: str
    evidence: str
    change: str
    now: Sequence[Work] = ()
    then: Sequence[Work] = ()
    lost: float | None = None
    numbers: dict[str, int | float | str] = field(default_factory=dict[str, int | float | str])


def works_of(group: Group, facts: Facts, *, is_even: bool = False) -> list[Work]:
    """Return what a group did, by access, size of operations and order.

    The rank with most bytes decides how long it takes, unless they ``is_even``.
    """
    ranks = facts.ranks_of(group)
    skew = 1.0
    if group.ranks and group.moved() and not is_even:
        skew = max(moved for moved, _ in group.ranks.values()) * len(group.ranks) / group.moved()
    is_between = group.is_shared and group.share("CONSEC") < 0.5
    alike = Work("", 0.0, file_mode=group.file_mode, ranks=ranks, is_between=is_between, is_synced=group.is_synced)
    found: list[Work] = []
    for access in ACCESSES:
        in_order = 1 - _jumps(group, facts, access) / max(1, group.operations(access))
        for size, moved in _sizes(group, access):
            for order, share in (("sequential", in_order), ("random", 1 - in_order)):
                if share * group.operations(access) >= 1:
                    amount = moved * share * skew
                    found.append(replace(alike, access=access, amount=amount, block_bytes=size, order=order))
    return found


def _jumps(group: Group, facts: Facts, access: str) -> float:
    """Return the operations that begin before the end of the one before; the first one on a file follows none."""
    first = len(group.files) * (facts.job.ranks if group.is_shared else 1)
    jumps = group.operations(access) * (1 - group.share("SEQ", access)) - first
    return max(0.0, jumps) if group.backend == "posix" else 0.0


def _sizes(group: Group, access: str) -> list[tuple[int, float]]:
    """Return the sizes of operations with the bytes in them: known ones where they are common, else of their range."""
    known: dict[int, int] = {}
    for size, _ in group.sizes.most_common():
        known.setdefault(next((index for index, bound in enumerate(BOUNDS) if size <= bound), len(BOUNDS)), size)
    found: list[tuple[int, float]] = []
    for index, count in enumerate(group.histogram(access)):
        if count:
            low, high = (BOUNDS[index - 1] if index else 1), BOUNDS[min(index, len(BOUNDS) - 1)]
            size = known.get(index) or round((low * high) ** 0.5)
            found.append((size, float(count * size)))
    if not found and group.operations(access):
        found = [(max(1, group.moved(access) // group.operations(access)), 1.0)]
    total = sum(moved for _, moved in found)
    return [(size, moved * group.moved(access) / total) for size, moved in found if total]


def name_works(group: Group, facts: Facts) -> list[Work]:
    """Return the operations on names: a file that was written counts as created, all else as looked up."""
    ranks = facts.ranks_of(group)
    created = min(len(group.files), int(group.sums["OPENS"])) if group.operations("write") else 0
    rest = max(0, group.names - created)
    return [Work("create", created, ranks=ranks), Work("stat", rest, ranks=ranks)]


def _bytes(count: int) -> str:
    text = format_bytes(count)
    return f"{count:,} bytes" if text.isdigit() else text


def _where(group: Group) -> str:
    files = "the files that all ranks share" if group.is_shared else "the files of single ranks"
    return f"{files}, by {group.backend}"


def _small(group: Group, facts: Facts) -> Iterator[Cause]:
    small, operations = group.small(), group.operations()
    if small < max(_FEWEST, _LEAST_SHARE * operations) or small < 10 * len(group.files):
        return
    most = next((size for size, _ in group.sizes.most_common() if 0 < size <= SMALL), 0)
    common = f", most of them {_bytes(most)}" if most else ""
    now = [work for work in works_of(group, facts) if work.block_bytes <= SMALL]
    yield Cause(
        "small-operations",
        "Operations are small",
        f"{small:,} of {operations:,} operations on {_where(group)}, move at most {format_bytes(SMALL)}{common}.",
        f"Collect data in a buffer and move {format_bytes(_LARGE)} at once",
        now,
        [replace(work, block_bytes=_LARGE) for work in now],
        numbers={"operations": small, "of": operations, "most_common_bytes": most},
    )


def _random(group: Group, facts: Facts) -> Iterator[Cause]:
    jumping = {one: _jumps(group, facts, one) for one in ACCESSES}
    worse = [one for one in ACCESSES if jumping[one] >= max(_FEWEST, (1 - _IN_ORDER) * group.operations(one))]
    if not worse:
        return
    parts = [f"{percent(jumping[one] / group.operations(one))} of {group.operations(one):,} {one}s" for one in worse]
    now = [work for work in works_of(group, facts) if work.order == "random" and work.access in worse]
    yield Cause(
        "random-access",
        "Access is not in order",
        f"{' and '.join(parts)} on {_where(group)}, begin before the end of the one before.",
        "Sort the operations by their offset, or let collective MPI-IO do so",
        now,
        [replace(work, order="sequential") for work in now],
        numbers={"operations": round(sum(jumping[one] for one in worse))},
    )


def _misaligned(group: Group, facts: Facts) -> Iterator[Cause]:
    unaligned, operations = int(group.sums["FILE_NOT_ALIGNED"]), group.operations()
    if unaligned < max(_FEWEST, _LEAST_SHARE * operations):
        return
    odd = sum(count for size, count in group.sizes.items() if size % _PAGE)
    in_row = group.share("CONSEC") >= _ALMOST_ALL
    if odd >= _LEAST_SHARE * operations and not (in_row and not group.is_shared):
        size = next(size for size, _ in group.sizes.most_common() if size % _PAGE)
        if in_row and size <= _PAGE:
            return
        whole = max(_PAGE, -(-size // _PAGE) * _PAGE)
        now = [work for work in works_of(group, facts) if work.block_bytes == size]
        yield Cause(
            "misaligned",
            "Operations begin and end within pages",
            f"{odd:,} of {operations:,} operations on {_where(group)}, have a size that is no multiple of "
            f"{_PAGE:,} bytes; the most common one is {size:,} bytes.",
            f"Pad records to {whole:,} bytes, or align them (H5Pset_alignment, nc_var_align_size)",
            now,
            [replace(work, block_bytes=whole) for work in now],
            numbers={"operations": odd, "of": operations, "size_bytes": size},
        )
    elif group.alignment > _PAGE and group.small() < operations / 2 and unaligned > operations / 2:
        yield Cause(
            "off-stripes",
            "Operations cross stripes",
            f"{unaligned:,} of {operations:,} operations on {_where(group)}, do not begin at a multiple of "
            f"{format_bytes(group.alignment)}, the stripe of the file system.",
            f"Align operations to {format_bytes(group.alignment)} (hints striping_unit and cb_buffer_size)",
            numbers={"operations": unaligned, "of": operations, "stripe_bytes": group.alignment},
        )


def _shared(group: Group, facts: Facts) -> Iterator[Cause]:
    operations = group.operations()
    if not group.is_shared or group.backend != "posix" or facts.job.ranks < 2 or operations < _FEWEST:
        return
    is_between = group.share("CONSEC") < 0.5 and group.share("SEQ") >= _IN_ORDER
    collective = sum(
        int(one.sums[f"COLL_{access.upper()}S"])
        for one in facts.groups
        if one.backend == "mpiio"
        for access in ACCESSES
    )
    if not is_between or collective or group.moved() / operations >= 1 << 20:
        return
    stride = next((stride for stride, _ in group.strides.most_common() if stride > 0), 0)
    apart = f", {_bytes(stride)} apart" if stride else ""
    now = works_of(group, facts)
    yield Cause(
        "shared-without-collectives",
        "Ranks interleave in a shared file without collective calls",
        f"{facts.job.ranks:,} ranks move pieces of {_bytes(group.moved() // operations)}{apart}, between those "
        f"of other ranks, in {operations:,} calls on {_where(group)}. None is collective.",
        "Use collective MPI-IO (MPI_File_write_all, or H5FD_MPIO_COLLECTIVE)",
        now,
        [replace(work, block_bytes=_LARGE, order="sequential", is_between=False) for work in now],
        numbers={"operations": operations, "ranks": facts.job.ranks, "stride_bytes": stride},
    )


def _names(group: Group, facts: Facts) -> Iterator[Cause]:
    names, files = group.names, len(group.files)
    each = group.moved() / max(1, files)
    is_busy = group.sums["META_TIME"] >= 0.3 * group.all_seconds and names >= max(_FEWEST, group.operations() / 2)
    if not (is_busy or (files >= _MANY_FILES and each < 1 << 20)) or names < _FEWEST:
        return
    share = percent(float(group.sums["META_TIME"]) / (group.all_seconds or 1.0))
    now = name_works(group, facts)
    fewer = min(1.0, facts.job.ranks / max(1, files))
    yield Cause(
        "many-names",
        "Much of the work is on names",
        f"{plural(files, 'file')} with {_bytes(round(each))} each on average, and {names:,} operations on names "
        f"for {group.operations():,} that move data, on {_where(group)}. They take {share} of the time of I/O there.",
        "Put the data into one file for each rank (HDF5, ADIOS, tar), and keep files open",
        now,
        [replace(work, amount=work.amount * fewer) for work in now],
        numbers={"files": files, "name_operations": names},
    )


def _redundant(group: Group, facts: Facts) -> Iterator[Cause]:
    again, read = group.redundant, group.moved("read")
    if again < 10 << 20 or again < 0.3 * read:
        return
    share = 1 - again / read
    now = [work for work in works_of(group, facts) if work.access == "read"]
    yield Cause(
        "read-again",
        "The same data is read several times",
        f"{format_quantity(read, 'B')} are read from files of {format_quantity(read - again, 'B')} in all, on "
        f"{_where(group)}.",
        "Read once and keep the data, or read on one rank and broadcast",
        now,
        [replace(work, amount=work.amount * share) for work in now],
        numbers={"read_bytes": read, "again_bytes": again},
    )


def _of_ranks(facts: Facts) -> Iterator[Cause]:
    """Find one rank that does almost all, else ranks that wait for the slowest."""
    ranks, total = facts.job.ranks, sum(group.moved() for group in facts.lowest)
    if ranks < 2 or facts.waited < max(1.0, _LEAST_TIME * facts.job.seconds) or not total:
        return
    rank, (most, _) = max(facts.of_ranks.items(), key=lambda one: one[1][0], default=(0, (0, 0.0)))
    lost = facts.waited - facts.mean_wait
    if most >= _ALMOST_ALL * total:
        yield Cause(
            "one-rank",
            "One rank does almost all I/O",
            f"Rank {rank} moves {percent(most / total)} of {format_quantity(total, 'B')}; {ranks - 1:,} ranks wait.",
            "Let all ranks write (MPI-IO, parallel HDF5), or as many as there are nodes",
            lost=lost,
            numbers={"rank": rank, "bytes": most, "of": total},
        )
    elif facts.waited >= 2 * facts.mean_wait:
        yield Cause(
            "uneven-ranks",
            "The slowest rank waits much longer than the others",
            f"The slowest of {ranks:,} ranks spends {show(facts.waited, 's')} in I/O, a rank on average "
            f"{show(facts.mean_wait, 's')}: {times(facts.waited / facts.mean_wait)}.",
            "Share bytes and files out evenly, and spread files over the servers",
            lost=lost,
            numbers={"slowest_s": facts.waited, "mean_s": facts.mean_wait},
        )


_OF_GROUP: Final[tuple[Callable[[Group, Facts], Iterator[Cause]], ...]] = (
    _small,
    _random,
    _misaligned,
    _shared,
    _names,
    _redundant,
)


def causes_of(facts: Facts) -> list[Cause]:
    """Return what is wrong, in the order of the kinds."""
    whole = sum(group.all_seconds for group in facts.lowest)
    if whole < _LEAST_SECONDS:
        return []
    looked_at = [group for group in facts.lowest if group.all_seconds >= _LEAST_TIME * whole]
    found = [cause for find in _OF_GROUP for group in looked_at for cause in find(group, facts)]
    return [*found, *_of_ranks(facts)]


def time_of(facts: Facts, rates: Rates) -> tuple[Span, list[Work]]:
    """Return how long all I/O of the job takes at ``rates``, and the works without a rate, which it leaves out."""
    total, unknown = NOTHING, list[Work]()
    for work in (one for group in facts.lowest for one in [*works_of(group, facts), *name_works(group, facts)]):
        try:
            total += rates.seconds([work])
        except UnknownRateError:
            unknown.append(work)
    return total, unknown


def diagnosed(facts: Facts, rates: Rates | None = None) -> list[Finding]:
    """Return the causes as findings, the most expensive first where ``rates`` tell."""
    whole = None if rates is None else time_of(facts, rates)[0]
    found = [(_cost(cause, rates), cause) for cause in causes_of(facts)]
    found.sort(key=lambda one: -(one[0][0].value if one[0][0] else 0.0))
    return [_finding(cause, cost, why, whole, facts) for (cost, why), cause in found]


def _cost(cause: Cause, rates: Rates | None) -> tuple[Span | None, str]:
    """Return the seconds that a cause costs, with a sentence on where they are from, or why there are none."""
    if cause.lost is not None:
        return Span(cause.lost, cause.lost, cause.lost), "in this run, by the times of the log"
    if not cause.now:
        return None, "What this costs is not known: no rate of such operations is measured."
    if rates is None:
        return None, ""
    try:
        return rates.seconds(cause.now).less(rates.seconds(cause.then)), f"at the rates of {rates.name}"
    except UnknownRateError as error:
        return None, f"What this costs is not known: the result has no rate of {error}."


def _finding(cause: Cause, cost: Span | None, why: str, whole: Span | None, facts: Facts) -> Finding:
    text, gain = f"{cause.evidence} {why}".rstrip(), None
    numbers = dict(cause.numbers)
    if cost is not None:
        between = f" ({show(cost.low, 's')} to {show(cost.high, 's')})" if cost.low != cost.high else ""
        amount = f"{show(cost.value, 's')}{between}" if cost.low > 0 else f"at most {show(cost.high, 's')}, or nothing,"
        text = f"{cause.evidence} This costs {amount} {why}."
        numbers |= {"cost_s": cost.value, "cost_low_s": cost.low, "cost_high_s": cost.high}
        total = facts.waited if cause.lost is not None else whole.value if whole else 0.0
        if 0 < cost.value < total:
            low, high = (total / max(total - one, total / 1000) for one in (cost.low, cost.high))
            gain = Gain(factor=total / (total - cost.value), low=low, high=high)
    made = finding(cause.kind, cause.title, text, "advice", **numbers)
    return made.model_copy(update={"change": cause.change, "gain": gain})


def told_job(facts: Facts) -> Iterator[Finding]:
    """Say in a few sentences what a job did, then what is wrong."""
    job = facts.job
    begin = f"{plural(job.ranks, 'rank')} ran for {show(job.seconds, 's')}"
    parts = [
        f"{past} {format_quantity(moved, 'B')} in {sum(group.operations(one) for group in facts.lowest):,} calls"
        for one, past in (("write", "wrote"), ("read", "read"))
        if (moved := sum(group.moved(one) for group in facts.lowest))
    ]
    files = len({file for group in facts.lowest for file in group.files})
    shared = sum(len(group.files) for group in facts.lowest if group.is_shared)
    did = f" They {' and '.join(parts)}." if parts else " They moved no data that Darshan has seen."
    of_files = f" They used {plural(files, 'file')}, of which all ranks shared {shared:,}." if files else ""
    share = f" A rank spent {percent(facts.mean_wait / job.seconds)} of the time in I/O." if job.seconds else ""
    text = f"{begin}.{did}{of_files}{share}"
    yield finding("job", "What the job did", text, "info", ranks=job.ranks, seconds=job.seconds, program=job.program)
    yield from diagnosed(facts)
