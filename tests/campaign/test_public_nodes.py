# SPDX-License-Identifier: Apache-2.0
"""The three nodes of SuperBench's own tests with its verdicts, judged by our rules (docs/statistics.md).

Each node has one value of each of its metrics. SuperBench judges by fixed rules against a fixed baseline.
"""

import json
import re
from pathlib import Path

import pytest

from support.public_data import unpacked
from ullage.analysis.statistics.comparison import Better
from ullage.analysis.statistics.outlying import Measure, NodeSamples, standings
from ullage.analysis.statistics.spread import Sampled, pooled_spread
from ullage.campaign.check import judge

Values = dict[str, dict[str, float]]
WORSE, ACCEPTED, FAILED = "sb-validation-01", "sb-validation-02", "sb-validation-03"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked("superbench", tmp_path_factory.mktemp("superbench"), lambda path: ".json" in path)


@pytest.fixture(scope="module")
def nodes(root: Path) -> Values:
    """Values above 0 of each node; the others are no speeds."""
    [file] = root.rglob("test_results.jsonl")
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {line.pop("node"): {name: value for name, value in line.items() if value > 0} for line in lines}


def better_of(metric: str) -> Better:
    return "less" if re.search(r"time|overhead|cost|latency", metric) else "more"


def worse_by_check(nodes: Values, name: str) -> set[str]:
    """Judge a node by the others of its class, as `ullage check --against class` does."""
    others = [values for node, values in nodes.items() if node != name]
    pasts = {(key, name): [values[key] for values in others if key in values] for key in nodes[name]}
    now = [
        {"id": key, "node": name, "median": value, "sound": True, "better": better_of(key)}
        for key, value in nodes[name].items()
    ]
    spread = pooled_spread(map(Sampled, pasts.values()))
    return {one.row["id"] for one in judge(now, pasts, spread, 0.05) if one.word == "worse"}


def test_the_verdicts_of_superbench(root: Path, nodes: Values) -> None:
    [file] = root.rglob("diagnosis_summary.json")
    expected = {one["index"]: one for one in json.loads(file.read_text(encoding="utf-8"))}
    assert [expected[name]["diagnosis/accept"] for name in (WORSE, ACCEPTED, FAILED)] == [False, True, False]
    # The metric that SuperBench names is the only one that is worse, and the accepted node has none.
    assert worse_by_check(nodes, WORSE) == {"kernel-launch/event_overhead:0"}
    assert expected[WORSE]["diagnosis/issue_details"].startswith("kernel-launch/event_overhead:0(")
    assert worse_by_check(nodes, ACCEPTED) == set()
    # A node without numbers is not worse: what it lacks is said, and it is not good.
    assert worse_by_check(nodes, FAILED) == set()
    lacks = {name for name in nodes[ACCEPTED] if name not in nodes[FAILED]}
    told = set(re.findall(r"([^,]+)_miss", expected[FAILED]["diagnosis/issue_details"]))
    assert told < lacks
    assert {name.partition(":")[0] for name in lacks - told} == {"mem-bw/D2D_Mem_BW"}


def test_three_nodes_with_a_value_each_name_no_node(nodes: Values) -> None:
    metrics = sorted(nodes[FAILED].keys() & nodes[ACCEPTED].keys())
    measures = [
        Measure([NodeSamples((values[name],)) for values in nodes.values()], better_of(name)) for name in metrics
    ]
    found = standings(measures)
    assert len(found) > 400
    assert not any(one.is_named for of_metric in found for one in of_metric if one is not None)
    [[own, *_]] = [of_metric for name, of_metric in zip(metrics, found, strict=True) if "event_overhead:0" in name]
    assert own is not None
    assert own.worse == pytest.approx(16.8, abs=0.1)
