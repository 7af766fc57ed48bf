# SPDX-License-Identifier: Apache-2.0
"""Runs that measure every node by itself: what they were asked, and their summary, from documents alone.

A row is for each number, over the nodes, and says how each node stands in it. Its value is the median of the nodes'
medians, its repetitions are those medians: what a usual node reaches. Each node's own rows are in its own result.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from ullage.analysis.acceptance import NodeRows, judge
from ullage.analysis.findings.nodes import OTHER_WORK, findings_on_floors, findings_on_nodes
from ullage.analysis.statistics.intervals import median_interval
from ullage.analysis.statistics.outlying import FEWEST_NODES, Measure, NodeSamples, Standing, margin_of, standings
from ullage.analysis.verdicts.grades import is_sound
from ullage.errors import EXIT_CANNOT_TELL, EXIT_CASE_FAILED, EXIT_OK, UserError
from ullage.model.acceptance import Floor, Judged
from ullage.model.flags import Flag, interval_below
from ullage.model.nodes import NodeCell, NodeNumber, Nodes, NodeState, OneNode
from ullage.model.plan import Scalar
from ullage.model.request import Request, read_option
from ullage.model.summary import PartOutcome, Row, Summary
from ullage.quantity import plural
from ullage.results.folder import ResultFolder, write_atomically
from ullage.runs.options.each_node import EACH_NODE, REQUIRE
from ullage.system.allocation import Scheduler
from ullage.system.node_lists import words_against, words_for

_FLAG, _OF, _BY, SKIP_REFUSING, STRICT, NODES = EACH_NODE
_LONGEST_ID: Final = 64


def is_of_each_node(request: Request) -> bool:
    """Tell whether every node is measured by itself."""
    return bool(request.options.get(_FLAG))


def nodes_of(request: Request) -> list[str]:
    """Return the nodes of the run, in their order."""
    return read_option(list[str], request, _OF) or []


def with_nodes(request: Request, names: Sequence[str], system: Scheduler | None) -> Request:
    """Return ``request`` with the nodes in it, which stay the same when the run is gone on with."""
    found = {_OF: list(names), _BY: system or ""}
    return request.model_copy(update={"options": {**request.options, **found}})


def request_of_node(request: Request, index: int) -> Request:
    """Return what one node is asked for: the same, of it alone, with a run folder of its own."""
    end = f".n{index}"
    left_out = {*EACH_NODE, REQUIRE}
    options = {name: value for name, value in request.options.items() if name not in left_out}
    run_id = request.run_id[: _LONGEST_ID - len(end)] + end
    return request.model_copy(update={"run_id": run_id, "hosts": [], "options": options})


Build = Callable[[ResultFolder], Summary]
_LEVEL: Final = 0.95
_OF_TIME: Final = "of time"
# Extremes differ by far between equal nodes, and from one minute to the next.
_EXTREMES: Final = frozenset({"latency_max", "latency_p999", "latency_p99", "longest_detour", "worst_noise_share"})
_CLEAN: Final = ("A", "B", None)
_Key = tuple[str, str, str, frozenset[tuple[str, Scalar]]]
T = TypeVar("T")


@dataclass(frozen=True)
class _Node:
    name: str
    outcome: PartOutcome | None
    said: Summary | None
    began: str

    @property
    def rows(self) -> Sequence[Row]:
        """Its own rows."""
        return [] if self.said is None else self.said.rows


def floors_of(request: Request) -> list[Floor]:
    """Return the floors that a run was asked to judge by."""
    return read_option(list[Floor], request, REQUIRE) or []


def with_floors(request: Request, floors: Sequence[Floor]) -> Request:
    """Return ``request`` as if it had been asked to judge by ``floors``."""
    said = [floor.model_dump(mode="json") for floor in floors]
    return request.model_copy(update={"options": {**request.options, REQUIRE: said}})


def code_of_floors(summary: Summary) -> int:
    """Return the exit code of the worst verdict on the rows."""
    verdicts = {one.verdict for one in summary.judged}
    return EXIT_CASE_FAILED if "fail" in verdicts else EXIT_CANNOT_TELL if "cannot tell" in verdicts else EXIT_OK


def judged_by_floors(summary: Summary, request: Request) -> Summary:
    """Return the summary of one node with its rows under the floors of the request, if that has any."""
    judged = judge(floors_of(request), [NodeRows("", summary.rows)], request.suite)
    if not judged:
        return summary
    return summary.model_copy(update={"judged": judged, "findings": [*findings_on_floors(judged), *summary.findings]})


def summary_of_nodes(result: ResultFolder, request: Request, build: Build) -> Summary:
    """Summarise a result with one of each node; ``build`` makes the summary of one."""
    outcomes = {outcome.suite: outcome for outcome in result.read_outcomes()}
    nodes = [_node(result.part(name), name, outcomes.get(name), build) for name in nodes_of(request)]
    by_key = _by_key([node.rows for node in nodes], request.suite)
    rows = [_across(cells) for cells in by_key.values()]
    numbers = _numbers(list(by_key.values()))
    judged = judge(floors_of(request), [NodeRows(node.name, node.rows) for node in nodes if node.rows], request.suite)
    measured = sum(bool(node.rows) for node in nodes)
    found = Nodes(
        nodes=[
            _state(node, index, numbers, judged, is_alone=measured < FEWEST_NODES) for index, node in enumerate(nodes)
        ],
        numbers=numbers,
        level=_LEVEL,
        margin=margin_of(measured),
        batch_system=read_option(str, request, _BY) or "",
    )
    system, first = result.read_system(), next((node.said for node in nodes if node.said is not None), None)
    return Summary(
        suite=request.suite,
        run_id=request.run_id,
        created=request.created,
        command=request.command,
        versions={**request.versions, **({} if first is None else first.versions)},
        rows=rows,
        findings=[*findings_on_floors(judged), *findings_on_nodes(found, rows)],
        system={} if system is None else system.model_dump(mode="json"),
        nodes=found,
        judged=judged,
    )


def _node(part: ResultFolder, name: str, outcome: PartOutcome | None, build: Build) -> _Node:
    if not (part.path / "request.json").is_file():
        return _Node(name, outcome, None, "")
    try:
        said = build(part)
    except UserError:
        said = None
    starts = [file.run.started for file in part.read_records() if file.run is not None]
    return _Node(name, outcome, said, min(starts, default=""))


def _by_key(rows: Sequence[Sequence[Row]], suite: str) -> dict[_Key, list[Row | None]]:
    """Return for each number the row of each node; of several that say the same the first counts."""
    found: dict[_Key, list[Row | None]] = {}
    for index, own in enumerate(rows):
        for row in own:
            key = (row.suite or suite, row.metric, row.target, frozenset(row.params.items()))
            cells = found.setdefault(key, [None] * len(rows))
            if cells[index] is None:
                cells[index] = row
    return found


def _across(cells: Sequence[Row | None]) -> Row:
    rows = [row for row in cells if row is not None]
    medians = [row.median for row in rows]
    first, interval = rows[0], median_interval(medians, _LEVEL)
    usual = _most_common([row.ceiling for row in rows])
    share = None
    if usual is not None and first.share is not None and interval.median > 0:
        share = interval.median / usual.value if first.better == "more" else usual.value / interval.median
    flags = [flag for flag in _common_flags(rows) if not flag.is_below_level]
    if interval.below_level:
        flags.append(Flag(code=interval_below(_LEVEL), reason=f"of {len(rows)} nodes no interval of 95 % exists"))
    return first.model_copy(
        update={
            "case": first.case if all(row.case == first.case for row in rows) else "",
            "median": interval.median,
            "low": interval.low if len(rows) > 1 else None,
            "high": interval.high if len(rows) > 1 else None,
            "repetitions": medians,
            "ceiling": usual,
            "share": share,
            "verdict": _most_common([row.verdict for row in rows]),
            "grade": _most_common([row.grade for row in rows]),
            "flags": flags,
            "notes": [],
            "peer": None,
        }
    )


def _most_common(values: Sequence[T]) -> T:
    """Return the value that is met most often, the first of equals; values need not be hashable."""
    counts = [sum(other == value for other in values) for value in values]
    return values[counts.index(max(counts))]


def _common_flags(rows: Sequence[Row]) -> list[Flag]:
    """Return the flags that more than half of the rows have."""
    counts = Counter(code for row in rows for code in set(row.flag_codes))
    known = {flag.code: flag for row in rows for flag in row.flags}
    return [flag for code, flag in known.items() if 2 * counts[code] > len(rows)]


def _numbers(cells: Sequence[Sequence[Row | None]]) -> list[NodeNumber]:
    valid = [[row for row in of_nodes if row is not None and not row.is_invalid] for of_nodes in cells]
    tested = [len(rows) > 1 and rows[0].metric not in _EXTREMES for rows in valid]
    measures = [_measure(of_nodes) for of_nodes, counts in zip(cells, tested, strict=True) if counts]
    stands = iter(standings(measures, _LEVEL))
    return [
        _number(place, of_nodes, next(stands) if counts else None)
        for place, (of_nodes, counts) in enumerate(zip(cells, tested, strict=True))
    ]


def _measure(cells: Sequence[Row | None]) -> Measure:
    """Return a number of all nodes for the test.

    A node that other work disturbed is not named for it, unless hardly any is known to be undisturbed: then it is no
    mark of one. Of a share of time that is lost, what is left of the time is compared, since equal nodes lose 0.1 % or
    0.3 %.
    """
    rows = [row for row in cells if row is not None]
    all_disturbed = 2 * sum(row.grade in _CLEAN for row in rows) < len(rows)
    better = "more" if rows[0].unit == _OF_TIME else rows[0].better
    return Measure([_samples(row, all_disturbed=all_disturbed) for row in cells], better)


def _samples(row: Row | None, *, all_disturbed: bool) -> NodeSamples | None:
    if row is None or row.is_invalid:
        return None
    values = [1 - value for value in row.repetitions] if row.unit == _OF_TIME else row.repetitions
    return NodeSamples(tuple(values), all_disturbed or is_sound(row))


def _number(place: int, cells: Sequence[Row | None], stands: Sequence[Standing | None] | None) -> NodeNumber:
    found = [None] * len(cells) if stands is None else stands
    made = [None if row is None else _cell(row, standing) for row, standing in zip(cells, found, strict=True)]
    return NodeNumber(row=place, tested=stands is not None, cells=made)


def _cell(row: Row, standing: Standing | None) -> NodeCell:
    return NodeCell(
        median=row.median,
        low=row.low,
        high=row.high,
        grade=row.grade,
        worse=None if standing is None else standing.worse,
        named=standing is not None and standing.is_named,
    )


def _state(
    node: _Node, index: int, numbers: Sequence[NodeNumber], judged: Sequence[Judged], *, is_alone: bool
) -> OneNode:
    """Return how a node stands: good once it has shown it. ``is_alone``: too few nodes were measured to compare it."""
    seconds = None if node.outcome is None else node.outcome.seconds
    part = f"parts/{node.name}"
    failure = "" if node.outcome is None or node.outcome.code == EXIT_OK else node.outcome.reason or "it ended early"
    if not node.rows:
        why = failure or "it has no numbers"
        return OneNode(name=node.name, state="not measured", reason=why, part=part, seconds=seconds, began=node.began)
    own = _grades(index, numbers)
    named = sum(cell.named for number in numbers if (cell := number.cells[index]) is not None)
    tested = sum(number.tested and number.cells[index] is not None for number in numbers)
    verdicts = Counter(one.verdict for one in judged if one.node == node.name)
    failed, untold = verdicts["fail"], verdicts["cannot tell"]
    reasons = [
        *([f"worse than the others in {named} of {tested} numbers"] if named else []),
        *([f"below the floor in {failed} rows"] if failed else []),
        *([f"{OTHER_WORK} while it was measured (grade C), and not on the others"] if _is_busy(index, numbers) else []),
        *([failure] if failure else []),
    ]
    doubts = [
        *([f"{untold} of {plural(verdicts.total(), 'floor')} cannot be told"] if untold else []),
        *(
            ["other programs disturbed all its numbers (grade C)"]
            if own and own == ["C"] * len(own) and not verdicts
            else []
        ),
        *(["fewer than 4 nodes are not compared, and it had no floors"] if is_alone and not verdicts else []),
    ]
    state: NodeState = "suspect" if reasons else "unknown" if doubts else "good"
    why = "; ".join(reasons or doubts)
    return OneNode(name=node.name, state=state, reason=why, part=part, seconds=seconds, began=node.began)


def _grades(index: int, numbers: Sequence[NodeNumber]) -> list[str | None]:
    return [cell.grade for number in numbers if (cell := number.cells[index]) is not None]


def _is_busy(index: int, numbers: Sequence[NodeNumber]) -> bool:
    """Tell whether most numbers of a node are disturbed, and most of those of the others are not."""
    own = _grades(index, numbers)
    others = [cell.grade for number in numbers for at, cell in enumerate(number.cells) if cell and at != index]
    return 2 * own.count("C") > len(own) and 2 * sum(grade in _CLEAN for grade in others) > len(others)


def write_lists(result: ResultFolder, nodes: Nodes) -> None:
    """Write the lists; those of a system that has no words for them are left out."""
    lists = {"good": nodes.named("good"), "suspect": nodes.named("suspect"), "unknown": nodes.not_told}
    texts = {f"{state}.txt": "".join(f"{name}\n" for name in names) for state, names in lists.items()}
    texts["good.args"] = words_for(nodes.batch_system, lists["good"])
    texts["suspect.args"] = words_against(nodes.batch_system, lists["suspect"])
    for name, text in texts.items():
        if text or name.endswith(".txt"):
            write_atomically(result.path / "nodes" / name, text if text.endswith("\n") or not text else f"{text}\n")
