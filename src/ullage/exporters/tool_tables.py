# SPDX-License-Identifier: Apache-2.0
"""Cases of our workloads in the form of IOR's tables and of mdtest's summary, for scripts that read those.

Every number is made by the formulas of this page, not by the tools'. Of IOR ``IOPS`` and ``OPs`` are both operations
over the total time, ``Latency(s)`` is the mean time of an operation, ``Stonewall(MiB)`` is the rate of all ranks at the
wall. Of mdtest a rate is the items of all ranks over the time from the first rank's start to the last rank's stop, sync
included, and the standard deviation is that of a sample.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev, stdev
from typing import Final

from ullage.analysis.metrics.arithmetic import NS_PER_S, stage_span_ns
from ullage.errors import UserError, one_line
from ullage.exporters import Exporter
from ullage.grouping import grouped
from ullage.model.record import PhaseRecord
from ullage.parameters import count_of
from ullage.report.data import ReportData
from ullage.results.rows import Measured

TRANSFERS: Final = ("transfer", "mixed-transfer")
APIS: Final[Mapping[str, str]] = {"null": "DUMMY"}
_MIB: Final = 1 << 20
_KIB: Final = 1 << 10
_WIDTHS: Final = (9, 10, 10, 11, 10, 10, 10, 10, 10, 10, 4)
_HEADS: Final = (
    *("access", "bw(MiB/s)", "IOPS", "Latency(s)", "block(KiB)", "xfer(KiB)"),
    *("open(s)", "wr/rd(s)", "close(s)", "total(s)", "iter"),
)
_SUMMARY_HEADS: Final = (
    *("Operation", "Max(MiB)", "Min(MiB)", "Mean(MiB)", "StdDev", "Max(OPs)", "Min(OPs)", "Mean(OPs)", "StdDev"),
    *("Mean(s)", "Stonewall(s)", "Stonewall(MiB)", "Test#", "#Tasks", "tPN", "reps", "fPP", "reord", "reordoff"),
    *("reordrand", "seed", "segcnt", "blksiz", "xsize", "aggs(MiB)", "API", "RefNum"),
)
# These are least widths: what does not fit makes its column wider, so that a blank stands between any two.
_SUMMARY_WIDTHS: Final = (9, *(10,) * 9, 12, 14, 5, 6, 3, 4, 3, 5, 8, 9, 4, 6, 8, 8, 9, 5, 6)


def ior_tables(data: ReportData) -> str:
    """Write results, maxima and summary; raise ``UserError`` for a result without transfers."""
    if not transfer_groups(data.measured):
        raise UserError(
            "the result contains no case of the workload transfer", "--format ior", "--format csv takes every result"
        )
    return "\n".join([*ior_lines(data.measured), *_warnings(data)]) + "\n"


def _warnings(data: ReportData) -> list[str]:
    return [f"WARNING: {one_line(event.text, 2000)}" for event in data.summary.events if event.severity == "warning"]


def ior_lines(measured: Sequence[Measured]) -> list[str]:
    """Write results, maxima and summary of the transfers among ``measured``."""
    groups = transfer_groups(measured)
    items = [item for item in measured if item.case.workload in TRANSFERS]
    lines = ["Results: ", "", _ior_row(_HEADS), _ior_row(["-" * len(head) for head in _HEADS])]
    lines += [_ior_row(_iteration(item, number)) for item, number in _numbered(items)]
    return [*lines, *_maxima(groups), "", "Summary of all tests:", *_summary(groups)]


def transfer_groups(measured: Sequence[Measured]) -> dict[tuple[str, str], list[Measured]]:
    """Group the repetitions of each phase of each case of transfers, by case and phase."""
    return grouped(((item.case.case, item.phase.phase), item) for item in measured if item.case.workload in TRANSFERS)


def _numbered(items: Sequence[Measured]) -> list[tuple[Measured, int]]:
    seen: dict[tuple[str, str], int] = {}
    numbered: list[tuple[Measured, int]] = []
    for item in items:
        key = item.case.case, item.phase.phase
        numbered.append((item, seen.get(key, 0)))
        seen[key] = seen.get(key, 0) + 1
    return numbered


def _ior_row(cells: Sequence[str]) -> str:
    return " ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()


def _iteration(item: Measured, number: int) -> list[str]:
    phase = item.phase
    latency = phase.latency
    mean_s = latency.sum_ns / latency.operations / NS_PER_S if latency is not None and latency.operations else 0.0
    return [
        access_word(phase),
        f"{mib_per_s(phase):.2f}",
        f"{operations_per_s(phase):.2f}",
        f"{mean_s:.9f}",
        f"{block_of(item) / _KIB:.2f}",
        f"{number_of(item, 'transfer_bytes') / _KIB:.2f}",
        f"{stage_span_ns(phase.stages.get('open')) / NS_PER_S:.6f}",
        f"{moving_ns(phase) / NS_PER_S:.6f}",
        f"{stage_span_ns(phase.stages.get('close')) / NS_PER_S:.6f}",
        f"{phase.elapsed_ns / NS_PER_S:.6f}",
        str(number),
    ]


def access_word(phase: PhaseRecord) -> str:
    """Return IOR's word for the access: write or read; a second pass over the same data keeps its own name."""
    return phase.phase if phase.phase in ("write", "rewrite", "read", "reread") else phase.access


def moving_ns(phase: PhaseRecord) -> int:
    """Return the ns from the first transfer to the end of the fsync, or 0 without these stages.

    IOR counts the fsync as part of writing.
    """
    stages = [stage for name in ("transfer", "sync") if (stage := phase.stages.get(name)) is not None]
    if not stages:
        return 0
    return max(stage.last_stop_ns for stage in stages) - min(stage.first_start_ns for stage in stages)


def mib_per_s(phase: PhaseRecord) -> float:
    """Return bytes over the whole time, in MiB/s, or 0 without a time."""
    return phase.bytes / _MIB / (phase.elapsed_ns / NS_PER_S) if phase.elapsed_ns else 0.0


def operations_per_s(phase: PhaseRecord) -> float:
    """Return operations over the whole time, or 0 without a time."""
    return phase.operations / (phase.elapsed_ns / NS_PER_S) if phase.elapsed_ns else 0.0


def number_of(item: Measured, name: str) -> int:
    """Return a parameter of the workload, or 0 where it is no number."""
    return count_of(item.case.workload_parameters, name)


def block_of(item: Measured) -> int:
    """Return the bytes of a rank in a segment; random positions have no block, so there it is one transfer."""
    return number_of(item, "block_bytes") or number_of(item, "transfer_bytes")


def _maxima(groups: Mapping[tuple[str, str], Sequence[Measured]]) -> list[str]:
    lines: list[str] = []
    for access, head in (("write", "Max Write:"), ("read", "Max Read: ")):
        rates = [mib_per_s(i.phase) for items in groups.values() for i in items if access_word(i.phase) == access]
        if rates:
            lines.append(f"{head} {max(rates):.2f} MiB/sec ({max(rates) * _MIB / 1e6:.2f} MB/sec)")
    return lines


def _summary(groups: Mapping[tuple[str, str], Sequence[Measured]]) -> list[str]:
    tests = list(dict.fromkeys(case for case, _ in groups))
    rows = [_SUMMARY_HEADS, *(_summary_row(items, tests.index(case)) for (case, _), items in groups.items())]
    widths = [max(least, *(len(row[column]) for row in rows)) for column, least in enumerate(_SUMMARY_WIDTHS)]
    return [
        " ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _summary_row(items: Sequence[Measured], test: int) -> tuple[str, ...]:
    last = items[-1]
    parameters, layout = last.case.workload_parameters, last.run.layout
    rates, operations = [mib_per_s(item.phase) for item in items], [operations_per_s(item.phase) for item in items]
    reordered = parameters.get("read_back", "own") != "own"
    return (
        access_word(last.phase),
        *_spread(rates),
        *_spread(operations),
        f"{fmean(item.phase.elapsed_ns for item in items) / NS_PER_S:.5f}",
        *_stonewall([item.phase for item in items]),
        str(test),
        str(layout.ranks),
        str(layout.ranks_per_node or last.run.pinning.most_ranks_on_a_node),
        str(len(items)),
        str(int(parameters.get("file_mode") == "per-process")),
        str(int(reordered)),
        str(number_of(last, "read_shift") if reordered else 0),
        str(int(parameters.get("read_back") == "other-rank")),
        str(number_of(last, "order_seed") if parameters.get("order") == "random" else 0),
        str(number_of(last, "segments") or 1),
        str(block_of(last)),
        str(number_of(last, "transfer_bytes")),
        f"{max(item.phase.bytes for item in items) / _MIB:.1f}",
        APIS.get(last.case.backend, last.case.backend.upper()),
        "0",
    )


def _spread(values: Sequence[float]) -> list[str]:
    return [f"{value:.2f}" for value in (max(values), min(values), fmean(values), pstdev(values))]


def _stonewall(phases: Sequence[PhaseRecord]) -> tuple[str, str]:
    """Return the mean time of the wall in s and the rate of all ranks until then in MiB/s; NA without a wall."""
    walls = [phase.stonewall.at_wall for phase in phases if phase.stonewall is not None]
    walls = [wall for wall in walls if wall.elapsed_ns]
    if not walls:
        return "NA", "NA"
    rates = [wall.bytes / _MIB / (wall.elapsed_ns / NS_PER_S) for wall in walls]
    return f"{fmean(wall.elapsed_ns for wall in walls) / NS_PER_S:.2f}", f"{fmean(rates):.2f}"


IOR = Exporter("ior", "cases of transfer as IOR's tables, for scripts that read those", "", ior_tables)


# -- mdtest's summary --------------------------------------------------------------------------------------------------


_WORKLOAD: Final = "metadata"
# Cases that agree in these are parts of one test: the same items in the same tree.
_SHAPE: Final = ("items", "items_per_directory", "depth", "branching", "leaf_only", "unique_directory")
_ITEM_WORDS: Final[Mapping[str, str]] = {
    "mkdir": "creation",
    "create": "creation",
    "stat": "stat",
    "rename": "rename",
    "read": "read",
    "rmdir": "removal",
    "unlink": "removal",
}
_TREE_WORDS: Final[Mapping[str, str]] = {"tree-create": "Tree creation", "tree-remove": "Tree removal"}
_ORDER: Final = ("creation", "stat", "rename", "read", "removal")
_HEAD: Final = "   Operation                     Max            Min           Mean        Std Dev"
_RULE: Final = "   ---------                     ---            ---           ----        -------"

Test = dict[str, list[Measured]]


def mdtest_summary(data: ReportData) -> str:
    """Write one table a test; raise ``UserError`` for a result without cases of metadata."""
    if not _tests(data.measured):
        raise UserError(
            "the result contains no case of the workload metadata", "--format mdtest", "--format csv takes every result"
        )
    return "\n".join([*mdtest_lines(data.measured), *_warnings(data)]) + "\n"


def mdtest_lines(measured: Sequence[Measured]) -> list[str]:
    """Write a table for each test among ``measured``."""
    return [line for test in _tests(measured) for line in _table(test)]


def _tests(measured: Sequence[Measured]) -> list[Test]:
    """Group the repetitions of each test by the operation's name."""
    tests: dict[tuple[object, ...], Test] = {}
    for item in measured:
        if item.case.workload == _WORKLOAD:
            parameters = item.case.workload_parameters
            shape = (item.case.target, item.run.layout.ranks, *(parameters.get(name, 0) for name in _SHAPE))
            tests.setdefault(shape, {}).setdefault(operation_name(item), []).append(item)
    return list(tests.values())


def operation_name(item: Measured) -> str:
    """Return the operation's name as mdtest writes it; phases it does not have are named alike."""
    phase = item.phase.phase
    if phase in _TREE_WORDS:
        return _TREE_WORDS[phase]
    kind = "Directory" if item.case.workload_parameters.get("item") == "directory" else "File"
    return f"{kind} {_ITEM_WORDS.get(phase, phase)}"


def _rank_of(name: str) -> tuple[int, int, str]:
    """Return the key that sorts directories, files and trees, each in the order of mdtest's phases."""
    kind, _, word = name.partition(" ")
    place = _ORDER.index(word) if word in _ORDER else len(_ORDER) - 1
    return ("Directory", "File", "Tree").index(kind), place, word


def _table(test: Test) -> list[str]:
    first = next(iter(test.values()))[0]
    items = first.case.workload_parameters.get("items", 0)
    ranks = first.run.layout.ranks
    total = ranks * items if isinstance(items, int) else 0
    # Directories and files have a tree each, so its rows may hold two samples an iteration.
    iterations = min(len(found) for found in test.values())
    lines = [
        f"{ranks} tasks, {total} files/directories",
        "",
        f"SUMMARY rate (in ops/sec): (of {iterations} iterations)",
        _HEAD,
        _RULE,
    ]
    return [
        *lines,
        *(_mdtest_row(name, [_mdtest_rate(i) for i in test[name]]) for name in sorted(test, key=_rank_of)),
        "",
    ]


def _mdtest_rate(item: Measured) -> float:
    return item.phase.operations / (item.phase.elapsed_ns / NS_PER_S) if item.phase.elapsed_ns else 0.0


def _mdtest_row(name: str, rates: Sequence[float]) -> str:
    spread = stdev(rates) if len(rates) > 1 else 0.0
    return f"   {name:<22} {max(rates):>14.3f} {min(rates):>14.3f} {fmean(rates):>14.3f} {spread:>14.3f}"


MDTEST = Exporter("mdtest", "cases of metadata as mdtest's summary, for scripts that read that", "", mdtest_summary)


EXPORTERS: Final = (IOR, MDTEST)
