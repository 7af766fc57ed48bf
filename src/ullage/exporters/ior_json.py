# SPDX-License-Identifier: Apache-2.0
"""Cases of transfers in the form of IOR's JSON (``summaryFormat=JSON``), for scripts that read it.

Names and units are IOR's; the formulas are those of ``tool_tables``. Numbers are not rounded, and texts are escaped.
What has no meaning here is left out rather than invented; ``Path`` is the target's name.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import Final

import ullage
from ullage.analysis.metrics.arithmetic import NS_PER_S, stage_span_ns
from ullage.errors import UserError
from ullage.exporters import Exporter
from ullage.exporters.tool_tables import (
    APIS,
    access_word,
    block_of,
    mib_per_s,
    moving_ns,
    number_of,
    operations_per_s,
    transfer_groups,
)
from ullage.report.data import ReportData
from ullage.results.rows import Measured

Object = dict[str, object]
Groups = Mapping[tuple[str, str], Sequence[Measured]]
_MIB: Final = 1 << 20
_KIB: Final = 1 << 10


def ior_json(data: ReportData) -> str:
    """Write one JSON object; raise ``UserError`` for a result without transfers."""
    groups = transfer_groups(data.measured)
    if not groups:
        raise UserError(
            "the result contains no case of the workload transfer",
            "--format ior-json",
            "--format json takes every result",
        )
    cases = list(dict.fromkeys(case for case, _ in groups))
    first = next(iter(groups.values()))[0]
    whole: Object = {
        "Version": f"ullage-{ullage.__version__}",
        "Began": first.run.started,
        "Command line": shlex.join(data.summary.command),
        "tests": [_test(number, case, groups) for number, case in enumerate(cases)],
        "summary": [_summary(items, cases.index(case)) for (case, _), items in groups.items()],
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


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
    accesses = {access_word(items[0].phase) for items in groups}
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
        "segmentCount": number_of(first, "segments") or 1,
        "transferSize": number_of(first, "transfer_bytes"),
        "blockSize": block_of(first),
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
    """Return what parameters and summary both say."""
    given, layout = item.case.workload_parameters, item.run.layout
    reordered = given.get("read_back", "own") != "own"
    found: Object = {
        "api": APIS.get(item.case.backend, item.case.backend.upper()),
        "numTasks": layout.ranks,
        "tasksPerNode": layout.ranks_per_node or item.run.pinning.most_ranks_on_a_node,
        "filePerProc": int(given.get("file_mode") == "per-process"),
        "reorderTasks": int(reordered),
        "taskPerNodeOffset": number_of(item, "read_shift") if reordered else 0,
        "reorderTasksRandom": int(given.get("read_back") == "other-rank"),
    }
    return found if layout.nodes is None else {**found, "nodes": layout.nodes}


def _result(item: Measured, iteration: int) -> Object:
    phase, latency = item.phase, item.phase.latency
    mean_s = latency.sum_ns / latency.operations / NS_PER_S if latency is not None and latency.operations else None
    return {
        "access": access_word(phase),
        "bwMiB": mib_per_s(phase),
        "blockKiB": block_of(item) / _KIB,
        "xferKiB": number_of(item, "transfer_bytes") / _KIB,
        "iops": operations_per_s(phase),
        "latency": mean_s,
        "openTime": stage_span_ns(phase.stages.get("open")) / NS_PER_S,
        "wrRdTime": moving_ns(phase) / NS_PER_S,
        "closeTime": stage_span_ns(phase.stages.get("close")) / NS_PER_S,
        "totalTime": phase.elapsed_ns / NS_PER_S,
        "numTasks": item.run.layout.ranks,
        "iter": iteration,
    }


def _summary(items: Sequence[Measured], test: int) -> Object:
    last = items[-1]
    layout = {("API" if key == "api" else key): value for key, value in _layout(last).items()}
    return {
        "operation": access_word(last.phase),
        **layout,
        "TestID": test,
        "ReferenceNumber": 0,
        "segmentCount": number_of(last, "segments") or 1,
        "blockSize": block_of(last),
        "transferSize": number_of(last, "transfer_bytes"),
        "repetitions": len(items),
        **_spread("bw{}MIB", "Std", [mib_per_s(item.phase) for item in items]),
        **_spread("OPs{}", "SD", [operations_per_s(item.phase) for item in items]),
        "MeanTime": fmean(item.phase.elapsed_ns for item in items) / NS_PER_S,
        "xsizeMiB": max(item.phase.bytes for item in items) / _MIB,
    }


def _spread(name: str, deviation: str, values: Sequence[float]) -> Object:
    found = {"Max": max(values), "Min": min(values), "Mean": fmean(values), deviation: pstdev(values)}
    return {name.format(word): value for word, value in found.items()}


EXPORTERS: Final = (Exporter("ior-json", "cases of transfer as IOR's JSON, for scripts that read it", "", ior_json),)
