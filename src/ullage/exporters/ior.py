# SPDX-License-Identifier: Apache-2.0
"""Cases of transfers in the forms of IOR, its JSON (``summaryFormat=JSON``) and its tables, for scripts that read them.

Names and units are IOR's. Every number is made by the formulas of this page, not by the tool's: ``iops`` and ``OPs``
are both operations over the total time, ``latency`` is the mean time of an operation, ``Stonewall(MiB)`` is the rate of
all ranks at the wall. The tables show the numbers of the JSON. There these are not rounded, texts are escaped, and what
has no meaning here is left out rather than invented; ``Path`` is the target's name.

Cases of metadata in the form of mdtest's summary: a rate is the items of all ranks over the time from the first rank's
start to the last rank's stop, sync included, and the standard deviation is that of a sample.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev, stdev
from typing import Final

import ullage
from ullage.analysis.metrics.arithmetic import NS_PER_S, stage_span_ns
from ullage.errors import UserError
from ullage.exporters import Exporter, warning_lines
from ullage.grouping import grouped
from ullage.model.record import PhaseRecord
from ullage.parameters import count_of
from ullage.report.data import ReportData
from ullage.results.rows import Measured

TRANSFERS: Final = ("transfer", "mixed-transfer")
Object = dict[str, object]
Groups = Mapping[tuple[str, str], Sequence[Measured]]
_APIS: Final[Mapping[str, str]] = {"null": "DUMMY"}
_MIB: Final = 1 << 20
_KIB: Final = 1 << 10


def ior_json(data: ReportData) -> str:
    """Write one JSON object; raise ``UserError`` for a result without transfers."""
    groups = _groups(data, "--format ior-json", "--format json takes every result")
    cases = list(dict.fromkeys(case for case, _ in groups))
    whole: Object = {
        "Version": f"ullage-{ullage.__version__}",
        "Began": next(iter(groups.values()))[0].run.started,
        "Command line": shlex.join(data.summary.command),
        "tests": [_test(number, case, groups) for number, case in enumerate(cases)],
        "summary": [_summary(items, cases.index(case)) for (case, _), items in groups.items()],
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _groups(data: ReportData, asked: str, right: str) -> Groups:
    groups = _transfers(data.measured)
    if not groups:
        raise UserError("the result contains no case of the workload transfer", asked, right)
    return groups


def _transfers(measured: Sequence[Measured]) -> Groups:
    return grouped(((item.case.case, item.phase.phase), item) for item in measured if item.case.workload in TRANSFERS)


def _test(number: int, case: str, groups: Groups) -> Object:
    of_case = [items for (name, _), items in groups.items() if name == case]
    first = of_case[0][0]
    return {
        "TestID": number,
        "StartTime": first.run.started,
        "Path": first.case.target,
        "Parameters": _parameters(number, of_case),
        "Options": _options(of_case[0]),
        "Results": [_result(item, iteration) for items in of_case for iteration, item in enumerate(items)],
    }


def _parameters(number: int, groups: Sequence[Sequence[Measured]]) -> Object:
    first, given = groups[0][0], groups[0][0].case.workload_parameters
    accesses = {_access(items[0].phase) for items in groups}
    return {
        "testID": number,
        **_layout(first),
        "repetitions": len(groups[0]),
        "deadlineForStonewall": given.get("stonewall_s", 0),
        "stoneWallingWearOut": int(given.get("wear_out", False) is True),
        "fsync": int(given.get("sync") == "close"),
        "fsyncperwrite": int(given.get("sync") == "every"),
        "uniqueDir": int(given.get("directory_per_process", False) is True),
        "readFile": int(bool(accesses & {"read", "reread"})),
        "writeFile": int(bool(accesses & {"write", "rewrite"})),
        "randomOffset": int(given.get("order") == "random" or given.get("pick") == "random"),
        "checkRead": int(given.get("verify") == "full"),
        "collective": int(first.case.backend_parameters.get("collective", False) is True),
        **_sizes(first),
    }


def _options(items: Sequence[Measured]) -> Object:
    """Return what IOR says of a test in words; only here does it say how many ranks there were."""
    first = items[0]
    parameters = _parameters(0, [items])
    found: Object = {
        "api": parameters["api"],
        "access": "file-per-process" if parameters["filePerProc"] else "single-shared-file",
        "type": "collective" if parameters["collective"] else "independent",
        "segments": parameters["segmentCount"],
        "ordering in a file": "random" if parameters["randomOffset"] else "sequential",
        "tasks": first.run.layout.ranks,
        "clients per node": parameters["tasksPerNode"],
        "repetitions": len(items),
    }
    return found if first.run.layout.nodes is None else {**found, "nodes": first.run.layout.nodes}


def _layout(item: Measured) -> Object:
    given, layout = item.case.workload_parameters, item.run.layout
    reordered = given.get("read_back", "own") != "own"
    found: Object = {
        "api": _APIS.get(item.case.backend, item.case.backend.upper()),
        "numTasks": layout.ranks,
        "tasksPerNode": layout.ranks_per_node or item.run.pinning.most_ranks_on_a_node,
        "filePerProc": int(given.get("file_mode") == "per-process"),
        "reorderTasks": int(reordered),
        "taskPerNodeOffset": count_of(given, "read_shift") if reordered else 0,
        "reorderTasksRandom": int(given.get("read_back") == "other-rank"),
    }
    return found if layout.nodes is None else {**found, "nodes": layout.nodes}


def _sizes(item: Measured) -> Object:
    given = item.case.workload_parameters
    transfer = count_of(given, "transfer_bytes")
    # Random positions have no block, so there it is one transfer.
    block = count_of(given, "block_bytes") or transfer
    return {"segmentCount": count_of(given, "segments") or 1, "transferSize": transfer, "blockSize": block}


def _result(item: Measured, iteration: int) -> Object:
    phase, latency, sizes = item.phase, item.phase.latency, _sizes(item)
    mean_s = latency.sum_ns / latency.operations / NS_PER_S if latency is not None and latency.operations else None
    # IOR counts the fsync as part of writing.
    moving = [stage for name in ("transfer", "sync") if (stage := phase.stages.get(name)) is not None]
    moving_ns = max(s.last_stop_ns for s in moving) - min(s.first_start_ns for s in moving) if moving else 0
    return {
        "access": _access(phase),
        "bwMiB": _mib_per_s(phase),
        "blockKiB": count_of(sizes, "blockSize") / _KIB,
        "xferKiB": count_of(sizes, "transferSize") / _KIB,
        "iops": _operations_per_s(phase),
        "latency": mean_s,
        "openTime": stage_span_ns(phase.stages.get("open")) / NS_PER_S,
        "wrRdTime": moving_ns / NS_PER_S,
        "closeTime": stage_span_ns(phase.stages.get("close")) / NS_PER_S,
        "totalTime": phase.elapsed_ns / NS_PER_S,
        "numTasks": item.run.layout.ranks,
        "iter": iteration,
    }


def _summary(items: Sequence[Measured], test: int) -> Object:
    last, sizes = items[-1], _sizes(items[-1])
    layout = {("API" if key == "api" else key): value for key, value in _layout(last).items()}
    return {
        "operation": _access(last.phase),
        **layout,
        "TestID": test,
        "ReferenceNumber": 0,
        **{name: sizes[name] for name in ("segmentCount", "blockSize", "transferSize")},
        "repetitions": len(items),
        **_spread("bw{}MIB", "Std", [_mib_per_s(item.phase) for item in items]),
        **_spread("OPs{}", "SD", [_operations_per_s(item.phase) for item in items]),
        "MeanTime": fmean(item.phase.elapsed_ns for item in items) / NS_PER_S,
        "xsizeMiB": max(item.phase.bytes for item in items) / _MIB,
    }


def _spread(name: str, deviation: str, values: Sequence[float]) -> Object:
    found = {"Max": max(values), "Min": min(values), "Mean": fmean(values), deviation: pstdev(values)}
    return {name.format(word): value for word, value in found.items()}


def _access(phase: PhaseRecord) -> str:
    """Return IOR's word for the access: write or read; a second pass over the same data keeps its own name."""
    return phase.phase if phase.phase in ("write", "rewrite", "read", "reread") else phase.access


def _mib_per_s(phase: PhaseRecord) -> float:
    return phase.bytes / _MIB / (phase.elapsed_ns / NS_PER_S) if phase.elapsed_ns else 0.0


def _operations_per_s(phase: PhaseRecord) -> float:
    return phase.operations / (phase.elapsed_ns / NS_PER_S) if phase.elapsed_ns else 0.0


# Head, name of the number in the JSON and how it is written; of the results with the widths of the columns. Those of
# the summary are least widths: what does not fit makes its column wider, so that a blank stands between any two.
_RESULTS: Final = (
    *(("access", "access", "", 9), ("bw(MiB/s)", "bwMiB", ".2f", 10), ("IOPS", "iops", ".2f", 10)),
    *(("Latency(s)", "latency", ".9f", 11), ("block(KiB)", "blockKiB", ".2f", 10), ("xfer(KiB)", "xferKiB", ".2f", 10)),
    *(("open(s)", "openTime", ".6f", 10), ("wr/rd(s)", "wrRdTime", ".6f", 10), ("close(s)", "closeTime", ".6f", 10)),
    *(("total(s)", "totalTime", ".6f", 10), ("iter", "iter", "", 4)),
)
_SUMMARY: Final = (
    *(("Operation", "operation", "", 9), ("Max(MiB)", "bwMaxMIB", ".2f", 10), ("Min(MiB)", "bwMinMIB", ".2f", 10)),
    *(("Mean(MiB)", "bwMeanMIB", ".2f", 10), ("StdDev", "bwStdMIB", ".2f", 10), ("Max(OPs)", "OPsMax", ".2f", 10)),
    *(("Min(OPs)", "OPsMin", ".2f", 10), ("Mean(OPs)", "OPsMean", ".2f", 10), ("StdDev", "OPsSD", ".2f", 10)),
    *(("Mean(s)", "MeanTime", ".5f", 10), ("Stonewall(s)", "wallTime", "", 12), ("Stonewall(MiB)", "wallMiB", "", 14)),
    *(("Test#", "TestID", "", 5), ("#Tasks", "numTasks", "", 6), ("tPN", "tasksPerNode", "", 3)),
    *(("reps", "repetitions", "", 4), ("fPP", "filePerProc", "", 3), ("reord", "reorderTasks", "", 5)),
    *(("reordoff", "taskPerNodeOffset", "", 8), ("reordrand", "reorderTasksRandom", "", 9), ("seed", "seed", "", 4)),
    *(("segcnt", "segmentCount", "", 6), ("blksiz", "blockSize", "", 8), ("xsize", "transferSize", "", 8)),
    *(("aggs(MiB)", "xsizeMiB", ".1f", 9), ("API", "API", "", 5), ("RefNum", "ReferenceNumber", "", 6)),
)


def ior_tables(data: ReportData) -> str:
    """Write results, maxima and summary; raise ``UserError`` for a result without transfers."""
    _groups(data, "--format ior", "--format csv takes every result")
    return "\n".join([*ior_lines(data.measured), *warning_lines(data)]) + "\n"


def ior_lines(measured: Sequence[Measured]) -> list[str]:
    """Write results, maxima and summary of the transfers among ``measured``."""
    groups = _transfers(measured)
    numbers = {id(item): number for items in groups.values() for number, item in enumerate(items)}
    results = [_result(item, numbers[id(item)]) for item in measured if id(item) in numbers]
    heads = [head for head, *_ in _RESULTS]
    rows = [heads, ["-" * len(head) for head in heads]]
    rows += [[format(one[name] or 0 if form else one[name], form) for _, name, form, _ in _RESULTS] for one in results]
    lines = [" ".join(cell.ljust(column[3]) for cell, column in zip(row, _RESULTS, strict=True)) for row in rows]
    rates = grouped((_access(one.phase), _mib_per_s(one.phase)) for items in groups.values() for one in items)
    maxima = [
        f"{head} {max(rates[access]):.2f} MiB/sec ({max(rates[access]) * _MIB / 1e6:.2f} MB/sec)"
        for access, head in (("write", "Max Write:"), ("read", "Max Read: "))
        if access in rates
    ]
    return [
        *("Results: ", "", *(line.rstrip() for line in lines)),
        *maxima,
        *("", "Summary of all tests:", *_summary_lines(groups)),
    ]


def _summary_lines(groups: Groups) -> list[str]:
    tests = list(dict.fromkeys(case for case, _ in groups))
    rows = [[head for head, *_ in _SUMMARY]]
    for (case, _), items in groups.items():
        given = items[-1].case.workload_parameters
        seed = count_of(given, "order_seed") if given.get("order") == "random" else 0
        whole = {**_summary(items, tests.index(case)), **_stonewall([item.phase for item in items]), "seed": seed}
        rows.append([format(whole[name], form) for _, name, form, _ in _SUMMARY])
    widths = [max(least, *(len(row[column]) for row in rows)) for column, (*_, least) in enumerate(_SUMMARY)]
    aligned = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    return [" ".join([row[0].ljust(widths[0]), *cells[1:]]) for row, cells in zip(rows, aligned, strict=True)]


def _stonewall(phases: Sequence[PhaseRecord]) -> dict[str, str]:
    """Return the mean time of the wall in s and the rate of all ranks until then in MiB/s; NA without a wall."""
    walls = [phase.stonewall.at_wall for phase in phases if phase.stonewall is not None]
    walls = [wall for wall in walls if wall.elapsed_ns]
    if not walls:
        return {"wallTime": "NA", "wallMiB": "NA"}
    rates = [wall.bytes / _MIB / (wall.elapsed_ns / NS_PER_S) for wall in walls]
    mean_s = fmean(wall.elapsed_ns for wall in walls) / NS_PER_S
    return {"wallTime": f"{mean_s:.2f}", "wallMiB": f"{fmean(rates):.2f}"}


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
    return "\n".join([*mdtest_lines(data.measured), *warning_lines(data)]) + "\n"


def mdtest_lines(measured: Sequence[Measured]) -> list[str]:
    """Write a table for each test among ``measured``."""
    return [line for test in _tests(measured) for line in _table(test)]


def _tests(measured: Sequence[Measured]) -> list[Test]:
    tests: dict[tuple[object, ...], Test] = {}
    for item in measured:
        if item.case.workload == "metadata":
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
        *(_mdtest_row(name, [item.phase for item in test[name]]) for name in sorted(test, key=_rank_of)),
        "",
    ]


def _mdtest_row(name: str, phases: Sequence[PhaseRecord]) -> str:
    rates = [one.operations / (one.elapsed_ns / NS_PER_S) if one.elapsed_ns else 0.0 for one in phases]
    spread = stdev(rates) if len(rates) > 1 else 0.0
    return f"   {name:<22} {max(rates):>14.3f} {min(rates):>14.3f} {fmean(rates):>14.3f} {spread:>14.3f}"


EXPORTERS: Final = (
    Exporter("ior", "cases of transfer as IOR's tables, for scripts that read those", "", ior_tables),
    Exporter("ior-json", "cases of transfer as IOR's JSON, for scripts that read it", "", ior_json),
    Exporter("mdtest", "cases of metadata as mdtest's summary, for scripts that read that", "", mdtest_summary),
)
