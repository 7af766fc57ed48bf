# SPDX-License-Identifier: Apache-2.0
"""Cases of the workload ``metadata`` in the form of mdtest's summary, for scripts that read that.

A rate is the items of all ranks over the time from the first rank's start to the last rank's stop, sync included. The
standard deviation is that of a sample, as in mdtest.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Final

from ullage.analysis.metrics.arithmetic import NS_PER_S
from ullage.errors import UserError
from ullage.exporters import Exporter
from ullage.report.data import ReportData
from ullage.results.rows import Measured

_WORKLOAD: Final = "metadata"
# What makes two cases parts of one test: the same items in the same tree.
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


def render(data: ReportData) -> str:
    """One table a test; ``UserError`` for a result without such cases."""
    tests = _tests(data.measured)
    if not tests:
        raise UserError(
            "the result holds no case of the workload metadata", "--format mdtest", "--format csv takes all"
        )
    parts = [line for test in tests for line in _table(test)]
    warnings = [f"WARNING: {event.text}" for event in data.summary.events if event.severity == "warning"]
    return "\n".join([*parts, *warnings]) + "\n"


def _tests(measured: Sequence[Measured]) -> list[Test]:
    """The repetitions of each test by the operation's name."""
    tests: dict[tuple[object, ...], Test] = {}
    for item in measured:
        if item.case.workload == _WORKLOAD:
            parameters = item.case.workload_parameters
            shape = (item.case.target, item.run.layout.ranks, *(parameters.get(name, 0) for name in _SHAPE))
            tests.setdefault(shape, {}).setdefault(operation_name(item), []).append(item)
    return list(tests.values())


def operation_name(item: Measured) -> str:
    """As mdtest writes it; phases it has not are named alike."""
    phase = item.phase.phase
    if phase in _TREE_WORDS:
        return _TREE_WORDS[phase]
    kind = "Directory" if item.case.workload_parameters.get("item") == "directory" else "File"
    return f"{kind} {_ITEM_WORDS.get(phase, phase)}"


def _rank_of(name: str) -> tuple[int, int, str]:
    """Directories, files, trees; each in the order in which mdtest goes through its phases."""
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
    return [*lines, *(_row(name, [_rate(i) for i in test[name]]) for name in sorted(test, key=_rank_of)), ""]


def _rate(item: Measured) -> float:
    return item.phase.operations / (item.phase.elapsed_ns / NS_PER_S) if item.phase.elapsed_ns else 0.0


def _row(name: str, rates: Sequence[float]) -> str:
    spread = stdev(rates) if len(rates) > 1 else 0.0
    return f"   {name:<22} {max(rates):>14.3f} {min(rates):>14.3f} {fmean(rates):>14.3f} {spread:>14.3f}"


EXPORTER = Exporter("mdtest", "cases of metadata as mdtest's summary, for scripts that read that", "", render)
