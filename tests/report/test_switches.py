# SPDX-License-Identifier: Apache-2.0
"""The sentence on the switches of a run."""

from dataclasses import replace
from pathlib import Path

import pytest

from support.make_records import make_run
from support.recorded_results import unpack
from ullage.model.summary import Summary
from ullage.model.system import Switch
from ullage.report.contents import load_sections
from ullage.report.data import FinishedResult, Launch, ReportData, load
from ullage.report.switches import placement, switch_notes
from ullage.runs.summary import build_summary

SWITCHES = [
    Switch(name="s0", nodes=["n0", "n1"]),
    Switch(name="s1", nodes=["n2", "n3"]),
    Switch(name="top", level=1, switches=["s0", "s1"]),
]


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        (
            ["n0", "n1", "n2", "n3"],
            "The 8 ranks are on 4 nodes of 2 switches, by Slurm's topology: s0 (n0, n1), s1 (n2, n3).",
        ),
        (["n3", "n2"], "The 8 ranks are on 2 nodes of 1 switch, by Slurm's topology: s1 (n3, n2)."),
        (
            ["n0", "n2", "x"],
            "The 8 ranks are on 3 nodes. Slurm's topology has the switches of 2 of them: s0 (n0), s1 (n2).",
        ),
        (["n0"], ""),
        (["x", "y"], ""),
        ([], ""),
    ],
)
def test_ranks_are_told_by_node_and_switch(hosts: list[str], said: str) -> None:
    assert placement(SWITCHES, hosts, 8) == said


def test_many_nodes_and_switches_are_put_together() -> None:
    switches = [Switch(name=f"s{i}", nodes=[f"n{20 * i + j:03}" for j in range(20)]) for i in range(10)]
    text = placement(switches, [node for switch in switches for node in switch.nodes], 200)
    assert text.startswith(
        "The 200 ranks are on 200 nodes of 10 switches, by Slurm's topology: s0 (n[000-019]), s1 (n["
    )
    assert text.endswith("s7 (n[140-159]), 2 more.")


def test_the_largest_launch_of_the_suite_counts() -> None:
    launches = tuple(
        Launch("plans/001.json", make_run(ranks).model_copy(update={"suite": suite}), "complete", "", tuple(hosts))
        for suite, ranks, hosts in (("rings", 2, ["n0", "n1"]), ("rings", 4, ["n0", "n2"]), ("pairs", 9, ["n0", "n3"]))
    )
    system: dict[str, object] = {"switches": [switch.model_dump(mode="json") for switch in SWITCHES]}
    summary = Summary(suite="rings", run_id="r", created="now", rows=[], system=system)
    data = ReportData(summary, launches=launches)
    assert switch_notes(data, "rings") == [
        "The 4 ranks are on 2 nodes of 2 switches, by Slurm's topology: s0 (n0), s1 (n2)."
    ]
    assert switch_notes(data, "b_eff") == []


@pytest.mark.parametrize(
    ("system", "why"),
    [
        ({}, "no batch system has chosen the nodes"),
        ({"switches": "damaged", "environment": "too"}, "no batch system has chosen the nodes"),
        ({"environment": {"scheduler": "pbs"}}, "PBS is not asked for them"),
        ({"environment": {"scheduler": "lsf"}}, "LSF is not asked for them"),
        ({"environment": {"scheduler": "flux"}}, "Flux is not asked for them"),
        ({"environment": {"scheduler": "slurm"}}, "Slurm describes none (`scontrol show topology`)"),
        (
            {"environment": {"scheduler": "slurm"}, "switches": [{"name": "s9", "nodes": ["x"]}]},
            "Slurm's topology has none of these nodes",
        ),
    ],
)
def test_why_switches_are_not_known_is_said_of_several_nodes(system: dict[str, object], why: str) -> None:
    def notes(*hosts: str) -> list[str]:
        launch = Launch("plans/001.json", make_run(2).model_copy(update={"suite": "rings"}), "complete", "", hosts)
        summary = Summary(suite="rings", run_id="r", created="now", rows=[], system=system)
        return switch_notes(ReportData(summary, launches=(launch,)), "rings")

    assert notes("n0", "n1") == [f"Switches not known: {why}."]
    assert notes("n0") == []


@pytest.mark.parametrize("suite", ["pairs", "rings", "b_eff", "collectives", "congestion", "network"])
def test_every_suite_of_messages_says_it_above_its_tables(suite: str, tmp_path: Path) -> None:
    """The recorded results are of one node, so their hosts are CONSTRUCTED here."""
    result = FinishedResult(unpack(suite, tmp_path))
    data = load(result, build_summary(result))
    section = next(one for one in load_sections() if one.suite == suite)
    system = {**data.summary.system, "switches": [switch.model_dump(mode="json") for switch in SWITCHES]}
    launches = tuple(replace(launch, hosts=("n1", "n2")) for launch in data.launches)
    known = replace(data, summary=data.summary.model_copy(update={"system": system}), launches=launches)
    before, after = section.build(data), section.build(known)
    assert before is not None
    assert after is not None
    (text, *others) = after.notes
    assert text.endswith(" ranks are on 2 nodes of 2 switches, by Slurm's topology: s0 (n1), s1 (n2).")
    assert list(others) == list(before.notes)
