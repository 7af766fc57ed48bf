# SPDX-License-Identifier: Apache-2.0
"""Cases of metadata in the form of mdtest's summary, for scripts that read it.

A rate is the items of all ranks over the time from the first rank's start to the last rank's stop, sync included, and
the standard deviation is that of a sample.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Final

from ullage.analysis.metrics.arithmetic import NS_PER_S
from ullage.errors import UserError
from ullage.exporters import Exporter, warning_lines
from ullage.model.record import PhaseRecord
from ullage.report.data import ReportData
from ullage.results.rows import Measured

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
    return "\n".join([*mdtest_lines(data.measured), *warning_lines(data)]) + "\n"


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
        *(_mdtest_row(name, [item.phase for item in test[name]]) for name in sorted(test, key=_rank_of)),
        "",
    ]


def _mdtest_row(name: str, phases: Sequence[PhaseRecord]) -> str:
    rates = [one.operations / (one.elapsed_ns / NS_PER_S) if one.elapsed_ns else 0.0 for one in phases]
    spread = stdev(rates) if len(rates) > 1 else 0.0
    return f"   {name:<22} {max(rates):>14.3f} {min(rates):>14.3f} {fmean(rates):>14.3f} {spread:>14.3f}"


EXPORTER: Final = Exporter(
    "mdtest", "cases of metadata as mdtest's summary, for scripts that read that", "", mdtest_summary
)
