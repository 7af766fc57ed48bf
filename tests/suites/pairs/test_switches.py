# SPDX-License-Identifier: Apache-2.0
"""What pairs say of switches, and that they say nothing of equal ones. All times are CONSTRUCTED."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.switches_simulation import (
    EQUAL,
    SIZES,
    Draw,
    about_switches,
    between,
    false_reports,
    made,
    plain,
    said_of,
)

from support.make_records import plain_row
from support.pairs_world import matrix_repetition, write_result
from ullage.arrays import np
from ullage.model.summary import Row, Summary
from ullage.model.system import Switch, SystemFacts
from ullage.report.data import FinishedResult, ReportData, load
from ullage.runs.summary import build_summary
from ullage.suites.pairs.effects import PairMatrix
from ullage.suites.pairs.report import tables
from ullage.suites.pairs.summarise import MOST_SWITCHES, switch_rows
from ullage.suites.pairs.switches import switch_pairs

MIB = 1 << 20


@pytest.mark.parametrize("sizes", [(3, 3), (4, 4), (2, 2, 2), (3, 3, 3), (2, 2, 2, 2), (6, 3)])
def test_slow_messages_between_switches_are_said_with_their_factor(sizes: Sequence[int]) -> None:
    found = {one.kind: one for one in said_of(made(sizes, between(sizes, 2.0)))}
    finding = found["between-switches"]
    assert finding.severity == "advice"
    assert finding.numbers["factor"] == pytest.approx(2.0, rel=0.1)
    assert finding.text.startswith("Messages of 1M go at ")
    assert finding.text.endswith("Place ranks that communicate on one switch.")
    assert "slow-link" not in found
    assert "pairs" not in found, "it would say that nothing is slow"


def test_one_slow_switch_of_several_is_named() -> None:
    sizes = (4, 4, 4, 4)
    (finding,) = said_of(made(sizes, between(sizes, 2.0, 1)))
    assert (finding.kind, finding.numbers["switch"]) == ("slow-switch", "s1")
    assert finding.numbers["factor"] == pytest.approx(2.0, rel=0.1)
    assert finding.text.endswith("Check the links from s1 to the others.")


def test_slow_links_between_two_of_many_switches_are_said_together() -> None:
    sizes = (4, 4, 4, 4)
    found = said_of(made(sizes, between(sizes, 2.0, 0, 2)))
    assert found[0].kind == "switch-links"
    assert (
        found[0].text
        == "All 32 slow links with messages of 1M are between switches s0 and s2. 32 links between switches were "
        "measured there."
    )
    assert {one.kind for one in found[1:]} == {"slow-link", "slow-links"}
    assert found[1].text.startswith(f"The link from {found[1].numbers['sender']} (switch s")


def test_two_slow_links_may_be_at_the_same_switches_by_chance() -> None:
    sizes = (4, 4, 4, 4)
    logs = plain(sizes)
    logs[0, 4] = logs[4, 0] = logs[1, 5] = 1.0
    found = said_of(made(sizes, logs))
    assert {one.kind for one in found} == {"slow-link"}


def test_a_switch_whose_nodes_are_all_slow_is_one_sentence() -> None:
    sizes = (4, 4, 4)
    logs = plain(sizes)
    logs[8:, :] += np.log(3)
    logs[:8, 8:] += np.log(3)
    (finding,) = said_of(made(sizes, logs))
    assert (finding.kind, finding.numbers["switch"], finding.numbers["ends"]) == (
        "slow-switch",
        "s2",
        ["n8", "n9", "n10", "n11"],
    )
    assert finding.numbers["factor"] == pytest.approx(3.0, rel=0.1)
    assert finding.text.startswith("All 4 nodes at switch s2 are slow: n8, n9, n10 and n11. Messages of 1M go at ")
    assert finding.text.endswith(" is usual. Check switch s2 and its links.")


def test_where_few_nodes_are_slow_at_one_switch_each_is_said() -> None:
    """Two slow nodes among 8 are those of one switch in 1 of 7 cases."""
    sizes = (2, 2, 2, 2)
    logs = plain(sizes)
    logs[6:, :] += np.log(3)
    logs[:6, 6:] += np.log(3)
    found = said_of(made(sizes, logs))
    assert [one.kind for one in found] == ["slow-end", "slow-end"]
    assert all(
        "All nodes here at switch s3 are slow, so the cause is the node or the switch." in one.text for one in found
    )


def test_a_slow_node_that_is_alone_at_its_switch_is_not_told_from_it() -> None:
    sizes = (3, 3, 1)
    logs = plain(sizes)
    logs[6, :] = logs[:, 6] = np.log(4)
    (finding,) = said_of(made(sizes, logs))
    assert finding.kind == "slow-end"
    assert finding.text.startswith("n6 (switch s2) is a slow node")
    assert "No other node here is at switch s2, so the cause is the node or the switch." in finding.text
    logs = plain(sizes)
    logs[5, :] = logs[:, 5] = np.log(4)
    (finding,) = said_of(made(sizes, logs))
    assert "so the cause is the node itself" in finding.text


@pytest.mark.parametrize("seed", range(3))
def test_a_slow_node_does_not_make_its_switch_slow(seed: int) -> None:
    for sizes in ((2, 2), (4, 4), (3, 3, 3)):
        logs = plain(sizes)
        logs[0, :] += np.log(8)
        logs[:, 0] += np.log(8)
        assert about_switches(made(sizes, logs, seed=seed)) == []


def test_without_switches_and_within_one_nothing_is_said_of_them() -> None:
    sizes = (4, 4)
    logs = between(sizes, 2.0)
    matrix = made(sizes, logs)
    for leaves in ((), ("",) * 8, ("s0",) * 8):
        bare = replace(matrix, leaves=leaves)
        assert about_switches(bare) == []
        assert switch_pairs(bare) == []
    assert about_switches(made(sizes, logs, repetitions=2)) == [], "two repetitions are too few"


def test_pairs_within_a_node_pass_no_switch() -> None:
    """Two ranks a node, of which those of a node are 5 times as fast to one another."""
    sizes = (4, 4)
    matrix = made(sizes, plain(sizes))
    hosts = tuple(f"h{end // 2}" for end in range(8))
    times = matrix.times.copy()
    for end in range(8):
        times[:, end, end ^ 1] /= 5
    ranks = replace(matrix, times=times, hosts=hosts, of_nodes=False)
    assert about_switches(ranks) == []
    assert [one.pairs for one in switch_pairs(ranks)] == [16, 32, 8, 16, 16, 8]


@pytest.mark.parametrize("draw", EQUAL[1:], ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("sizes", SIZES[1:4], ids=str)
def test_of_equal_switches_at_most_1_in_20_reports_says_anything(draw: Draw, sizes: Sequence[int]) -> None:
    """The full simulation is benchmarks/switches_simulation.py; these are its first 10 reports."""
    assert false_reports(draw, sizes, 10) <= 1


SWITCHES = [
    Switch(name="s0", nodes=["n0", "n1", "n2"]),
    Switch(name="s1", nodes=["n3", "n4", "n5"]),
    Switch(name="top", level=1, switches=["s0", "s1"]),
]


def reported(
    folder: Path, time: Callable[[int, int, int], float], switches: list[Switch], ends: int = 6
) -> tuple[Summary, ReportData]:
    hosts = tuple(f"n{end}" for end in range(ends))
    repetitions = [matrix_repetition("m", i, time, ends=ends, hosts=hosts) for i in range(6)]
    result = write_result(folder, repetitions, ranks=ends, nodes=ends)
    result.write_system(SystemFacts(taken="now", switches=switches))
    summary = build_summary(result)
    return summary, load(FinishedResult(result.path), summary)


def slow_between(index: int, sender: int, receiver: int) -> float:
    return (1 + 0.01 * index) * MIB / (1 << 30) * (2 if sender // 3 != receiver // 3 else 1)


def test_a_report_names_the_switch_of_every_end(tmp_path: Path) -> None:
    summary, data = reported(tmp_path / "r", slow_between, SWITCHES)
    (finding,) = summary.findings
    assert finding.kind == "between-switches"
    assert finding.text.startswith(
        "Messages of 1M go at 524 MB/s between switches. The same nodes reach 1.05 GB/s within their switch (2.00 x ["
    )
    content = tables(data)
    assert content is not None
    grids = {grid.title.partition(":")[0]: grid for grid in content.grids}
    by_switch = [[cell.text for cell in row][:5] for row in grids["pairs by switch"].rows]
    assert by_switch == [
        ["one switch", "the same", "", "12", "1.05 GB/s"],
        ["one switch", "another", "", "18", "524 MB/s"],
        ["s0", "s1", "top", "9", "524 MB/s"],
        ["s1", "s0", "top", "9", "524 MB/s"],
        ["s0", "s0", "s0", "6", "1.05 GB/s"],
        ["s1", "s1", "s1", "6", "1.05 GB/s"],
    ]
    assert [heading.heading for heading in grids["each node"].columns][:2] == ["node", "switch"]
    assert [row[1].text for row in grids["each node"].rows] == ["s0"] * 3 + ["s1"] * 3


def test_the_pairs_of_two_switches_are_rows_with_intervals(tmp_path: Path) -> None:
    summary, _ = reported(tmp_path / "r", slow_between, SWITCHES)
    rows = [row for row in summary.rows if row.metric == "switch_pair_bandwidth"]
    (base,) = [row for row in summary.rows if row.metric == "pair_bandwidth"]
    assert [(row.params["from_switch"], row.params["to_switch"], row.params["pairs"]) for row in rows] == [
        ("one switch", "the same", 12),
        ("one switch", "another", 18),
        ("s0", "s0", 6),
        ("s0", "s1", 9),
        ("s1", "s0", 9),
        ("s1", "s1", 6),
    ]
    for row in rows:
        rate = (1 << 30) / (1 if row.params["from_switch"] == row.params["to_switch"] else 2)
        rate = 1 << 30 if row.params["to_switch"] == "the same" else rate
        assert row.repetitions == pytest.approx([rate / (1 + 0.01 * index) for index in range(6)])
        assert row.low is not None
        assert row.high is not None
        assert row.low < row.median < row.high
        assert {name: row.params[name] for name in base.params} == base.params
        assert (row.case, row.unit, row.better, row.verdict, row.grade) == (
            base.case,
            "B/s",
            "more",
            base.verdict,
            base.grade,
        )


def test_of_many_switches_only_all_pairs_together_are_rows() -> None:
    matrix = matrix_of(MOST_SWITCHES + 1)
    base = row_of(matrix.case)
    assert len(switch_rows([matrix], [base], 0.95)) == 1
    fewer = matrix_of(MOST_SWITCHES)
    assert len(switch_rows([fewer], [base], 0.95)) == 1 + MOST_SWITCHES * (MOST_SWITCHES - 1)
    assert switch_rows([fewer], [], 0.95) == []


def matrix_of(switches: int) -> PairMatrix:
    """A node at each switch, so no pair is within one."""
    times = np.full((6, switches, switches), 1e-3)
    times[:, range(switches), range(switches)] = np.nan
    names = tuple(f"n{index}" for index in range(switches))
    leaves = tuple(f"s{index}" for index in range(switches))
    return PairMatrix("c", MIB, False, True, True, names, times, hosts=names, leaves=leaves)


def row_of(case: str) -> Row:
    return plain_row(
        1e9, {"ranks": 8}, metric="pair_bandwidth", target="mpi", case=case, low=None, high=None, verdict=""
    )


def test_blocks_are_called_so(tmp_path: Path) -> None:
    summary, data = reported(tmp_path / "r", slow_between, [s.model_copy(update={"kind": "block"}) for s in SWITCHES])
    content = tables(data)
    assert content is not None
    said = f"{[f.text for f in summary.findings]} {[f.title for f in summary.findings]} {content}"
    assert "Messages between blocks are slow" in said
    assert "pairs by block" in said
    assert "switch" not in said.replace("cable and switch", "")


def test_four_nodes_are_too_few_and_their_medians_are_said(tmp_path: Path) -> None:
    """With 4 nodes at 2 switches, all slow pairs are those between the switches once in 15 times by chance."""

    def time(index: int, sender: int, receiver: int) -> float:
        return (1 + 0.01 * index) * MIB / (1 << 30) * (2 if sender // 2 != receiver // 2 else 1)

    switches = [Switch(name="s0", nodes=["n0", "n1"]), Switch(name="s1", nodes=["n2", "n3"])]
    summary, _ = reported(tmp_path / "r", time, switches, ends=4)
    (finding,) = summary.findings
    assert finding.kind == "pairs"
    assert finding.numbers["within_switch"] == pytest.approx(2 * float(str(finding.numbers["between_switches"])))
    assert finding.text.endswith(" The median pair reaches 1.05 GB/s within a switch and 524 MB/s between switches.")


def test_hosts_that_are_not_those_of_the_ends_have_no_switches(tmp_path: Path) -> None:
    """As a damaged record may have it."""
    repetitions = [matrix_repetition("m", i, slow_between, ends=4, hosts=("n0",)) for i in range(6)]
    result = write_result(tmp_path / "r", repetitions, nodes=4)
    result.write_system(SystemFacts(taken="now", switches=SWITCHES))
    summary = build_summary(result)
    assert "switch" not in " ".join(one.text.replace("cable and switch", "") for one in summary.findings)
    assert tables(load(FinishedResult(result.path), summary)) is not None


def test_without_a_topology_nothing_names_a_switch(tmp_path: Path) -> None:
    summary, data = reported(tmp_path / "r", slow_between, [])
    content = tables(data)
    assert content is not None
    assert "switch" not in f"{summary.model_dump_json()} {content}".replace("cable and switch", "")
