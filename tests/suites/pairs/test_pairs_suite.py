# SPDX-License-Identifier: Apache-2.0
"""From records to rows, sentences, tables and maps."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.make_records import make_phase, make_row
from support.pairs_world import exchange_repetition, matrix_repetition, write_result
from ullage.analysis.metrics import metric_named
from ullage.arrays import np
from ullage.model.summary import Summary
from ullage.report.data import FinishedResult, ReportData, load
from ullage.report.soundness import disturbed
from ullage.report.vega import to_svg, with_config
from ullage.results.folder import ResultFolder
from ullage.runs.summary import build_summary
from ullage.suites.pairs.effects import end_names
from ullage.suites.pairs.report import MOST_CELLS, tables
from ullage.suites.pairs.report import figures as build_charts
from ullage.suites.pairs.summarise import exchange_findings

if TYPE_CHECKING:
    from ullage.results.records import AnyRecord

MIB = 1 << 20
HOSTS = ("n0", "n1", "n2", "n3")


def even(index: int, _sender: int, _receiver: int) -> float:
    """1 GiB/s everywhere."""
    return (1 + 0.01 * index) * MIB / (1 << 30)


def slow_third(index: int, sender: int, receiver: int) -> float:
    """A tenth of it with the last."""
    return even(index, sender, receiver) * (10 if 3 in (sender, receiver) else 1)


def reported(result: ResultFolder) -> tuple[Summary, ReportData]:
    summary = build_summary(result)
    return summary, load(FinishedResult(result.path), summary)


def test_rows_are_of_the_median_and_the_slowest_pair(tmp_path: Path) -> None:
    repetitions: list[list[AnyRecord]] = []
    for index in range(6):
        repetitions.append(matrix_repetition("m", index, slow_third, hosts=HOSTS))
        latency = matrix_repetition(
            "l", index, lambda _r, i, j: 2e-6 if (i, j) == (0, 1) else 1e-6, size=8, traffic="ping-pong", hosts=HOSTS
        )
        repetitions.append(latency)
        repetitions.append(exchange_repetition("e", index, "best-bisection", 3e9))
    summary, _ = reported(write_result(tmp_path / "r", repetitions, nodes=4))
    rows = {(row.metric, row.params["message_bytes"]): row for row in summary.rows}
    assert set(rows) == {
        ("pair_bandwidth", MIB),
        ("worst_pair_bandwidth", MIB),
        ("pair_latency", 8),
        ("worst_pair_latency", 8),
        ("exchange_bandwidth", MIB),
    }
    assert rows["pair_latency", 8].median == pytest.approx(1e-6)
    assert rows["worst_pair_latency", 8].median == pytest.approx(2e-6)
    assert rows["worst_pair_bandwidth", MIB].median == pytest.approx((1 << 30) / 10, rel=0.05)
    assert rows["exchange_bandwidth", MIB].median == pytest.approx(3e9)
    assert rows["exchange_bandwidth", MIB].params["pattern"] == "best-bisection"
    assert "seed" not in rows["exchange_bandwidth", MIB].params


def test_a_slow_node_is_one_sentence_with_its_rates(tmp_path: Path) -> None:
    result = write_result(
        tmp_path / "r", [matrix_repetition("m", i, slow_third, hosts=HOSTS) for i in range(6)], nodes=4
    )
    summary, data = reported(result)
    (finding,) = [one for one in summary.findings if one.severity == "warning"]
    assert finding.kind == "slow-end"
    assert finding.text.startswith(
        "n3 is a slow node: with messages of 1M it sends at 105 MB/s and receives at 105 MB/s, where 1.05 GB/s is"
    )
    assert finding.numbers["sends"] == pytest.approx((1 << 30) / 10, rel=0.05)
    assert finding.numbers["usual"] == pytest.approx(1 << 30, rel=0.05)
    content = tables(data)
    assert content is not None
    (ends,) = [grid for grid in content.grids if grid.title.startswith("each node")]
    assert [row[0].text for row in ends.rows] == ["n3", "n0", "n1", "n2"]
    assert ends.rows[0][-1].text == "slow"
    assert not any(grid.title.startswith("links") for grid in content.grids)


def test_a_slow_link_and_its_direction_are_named(tmp_path: Path) -> None:
    def time(index: int, sender: int, receiver: int) -> float:
        return even(index, sender, receiver) * (4 if (sender, receiver) == (2, 0) else 1)

    result = write_result(tmp_path / "r", [matrix_repetition("m", i, time, ends=5) for i in range(6)], ranks=5)
    summary, data = reported(result)
    (finding,) = [one for one in summary.findings if one.severity == "warning"]
    assert finding.kind == "slow-link"
    assert "from rank 2 to rank 0" in finding.text
    content = tables(data)
    assert content is not None
    (links,) = [grid for grid in content.grids if grid.title.startswith("links")]
    assert [cell.text for cell in links.rows[0]][:2] == ["rank 2", "rank 0"]
    (figure,) = build_charts(data)
    framed = [cell for cell in figure.spec["data"]["values"] if cell["best"]]
    assert [(cell["line"], cell["column"]) for cell in framed] == [("rank 2", "rank 0")]
    assert "framed" in figure.caption


def test_two_that_differ_by_direction_are_an_asymmetric_pair(tmp_path: Path) -> None:
    def time(index: int, sender: int, receiver: int) -> float:
        return even(index, sender, receiver) * (2 if sender == 1 else 1)

    summary, _ = reported(
        write_result(tmp_path / "r", [matrix_repetition("m", i, time, ends=2) for i in range(6)], ranks=2)
    )
    found = {one.kind: one.text for one in summary.findings}
    assert found["asymmetric-pair"].startswith(
        "rank 1 and rank 0 are an asymmetric pair. Messages of 1M go at 524 MB/s"
    )
    assert "cannot be told from a slow link" in found["pairs"]


def test_that_nothing_is_slow_is_said(tmp_path: Path) -> None:
    summary, _ = reported(write_result(tmp_path / "r", [matrix_repetition("m", i, even) for i in range(6)]))
    (finding,) = summary.findings
    assert finding.severity == "info"
    assert finding.text.startswith("No rank or link is slow with messages of 1M")
    assert "a slow link would be found from 1.30 x on. The slowest pair is " in finding.text


def test_in_much_noise_it_is_said_how_little_can_be_seen(tmp_path: Path) -> None:
    random = np.random.default_rng(3)

    def time(index: int, sender: int, receiver: int) -> float:
        return even(index, sender, receiver) * float(np.exp(0.5 * random.standard_normal()))

    summary, _ = reported(
        write_result(tmp_path / "r", [matrix_repetition("m", i, time, ends=6) for i in range(6)], ranks=6)
    )
    (finding,) = summary.findings
    assert finding.severity == "advice"
    assert "This noise hides" in finding.text


@pytest.mark.parametrize("worst", [[1e9], [3e9, 1e9, 6e9, 2e9, 1.5e9, 5e9]])
def test_distance_is_no_advice_by_noise_or_single_repetitions(worst: list[float]) -> None:
    rows = [
        make_row(rates, metric="exchange_bandwidth", launches=[], params={"pattern": pattern, "message_bytes": MIB})
        for pattern, rates in (("best-bisection", [value * 1.3 for value in worst[::-1]]), ("worst-bisection", worst))
    ]
    (finding,) = exchange_findings(rows, [], 0.95)
    assert finding.severity == "info"
    assert "Distant ranks" not in finding.text


def test_bisections_are_held_against_each_other_and_against_pairs_that_were_alone(tmp_path: Path) -> None:
    repetitions = [matrix_repetition("m", i, lambda _r, _i, _j: MIB / 2e9) for i in range(6)]
    for index in range(6):
        repetitions.append(exchange_repetition("b", index, "best-bisection", 4e9))
        repetitions.append(exchange_repetition("w", index, "worst-bisection", 1e9))
        repetitions += [
            exchange_repetition(f"r{seed}", index, "random-bisection", seed * 1e9, seed=seed) for seed in (1, 2, 3)
        ]
    summary, data = reported(write_result(tmp_path / "r", repetitions))
    (finding,) = [one for one in summary.findings if one.kind == "bisection"]
    assert finding.severity == "advice"
    assert "2.00 GB/s between random pairs" in finding.text
    assert "Each pair of neighbours has 100 % of what a pair alone reaches" in finding.text
    assert "Distant ranks reach 25 %" in finding.text
    content = tables(data)
    assert content is not None
    (grid,) = [grid for grid in content.grids if grid.title == "all ranks active"]
    assert [row[0].text for row in grid.rows] == [
        "best-bisection",
        "worst-bisection",
        *(f"random-bisection, seed {seed}" for seed in (1, 2, 3)),
    ]


def test_a_named_slow_rank_silences_the_sentence_on_distance(tmp_path: Path) -> None:
    """What one slow end does to a bisection looks like distance."""

    def time(_index: int, sender: int, receiver: int) -> float:
        return MIB / (0.5e9 if 2 in (sender, receiver) else 2e9)

    repetitions = [matrix_repetition("m", i, time) for i in range(6)]
    for index in range(6):
        repetitions.append(exchange_repetition("b", index, "best-bisection", 4e9))
        repetitions.append(exchange_repetition("w", index, "worst-bisection", 1e9))
    summary, _ = reported(write_result(tmp_path / "r", repetitions))
    assert [one.numbers["end"] for one in summary.findings if one.kind == "slow-end"] == ["rank 2"]
    (finding,) = [one for one in summary.findings if one.kind == "bisection"]
    assert "far apart get" not in finding.text
    assert finding.severity == "info"


def test_what_is_slow_in_disturbed_repetitions_is_named_with_that_caveat(tmp_path: Path) -> None:
    def time(_index: int, sender: int, receiver: int) -> float:
        return MIB / (0.5e9 if 2 in (sender, receiver) else 2e9)

    repetitions = [matrix_repetition("m", i, time, grade="C") for i in range(6)]
    summary, _ = reported(write_result(tmp_path / "r", repetitions))
    (slow,) = summary.findings
    assert slow.kind == "slow-end"
    assert "no finding uses" not in disturbed(summary)
    assert slow.text.endswith("(grade C), and may be the cause. Measure again on idle nodes.")
    calm = [matrix_repetition("m", i, even, grade="C") for i in range(6)]
    found, _ = reported(write_result(tmp_path / "calm", calm))
    (told,) = (one for one in found.findings if one.kind != "contamination")
    assert told.title == "Other programs disturbed the pairs with messages of 1M"
    assert "cannot be told. The slowest pair is " in told.text
    assert "which no finding uses" in disturbed(found)


def test_what_is_slow_in_disturbed_repetitions_alone_is_not_named(tmp_path: Path) -> None:
    def time(index: int, sender: int, receiver: int) -> float:
        return slow_third(index, sender, receiver) if index >= 3 else even(index, sender, receiver)

    found = [matrix_repetition("m", i, time, hosts=HOSTS, grade="A" if i < 3 else "C") for i in range(8)]
    summary, _ = reported(write_result(tmp_path / "r", found, nodes=4))
    assert {one.kind for one in summary.findings if one.severity == "warning"} <= {"contamination"}


def test_every_pair_is_in_the_map_and_many_are_drawn_as_blocks(tmp_path: Path) -> None:
    few, many = [
        write_result(tmp_path / str(ends), [matrix_repetition("m", 0, even, ends=ends)], ranks=ends)
        for ends in (4, MOST_CELLS + 2)
    ]
    (figure,) = build_charts(reported(few)[1])
    assert len(figure.spec["data"]["values"]) == 12
    assert "<svg" in to_svg(with_config(figure.spec, figure.title, figure.caption))
    (figure,) = build_charts(reported(many)[1])
    assert "2 by 2 ranks" in figure.caption
    names = {cell["line"] for cell in figure.spec["data"]["values"]}
    assert len(names) == (MOST_CELLS + 2) // 2
    assert "rank 0 to rank 1" in names


def test_other_suites_have_no_pairs(tmp_path: Path) -> None:
    _, data = reported(write_result(tmp_path / "r", [matrix_repetition("m", 0, even)]))
    foreign = ReportData(Summary(suite="noise", run_id="r", created="now", rows=[]), data.phases, measured=())
    assert tables(foreign) is None
    assert build_charts(foreign) == []


def test_ends_are_called_by_what_tells_them_apart() -> None:
    ends = ["node0:rank0", "node0:rank1", "node1:rank2"]
    assert end_names({"ends": ends, "hosts": ["a", "b", "c"]}) == ("a", "b", "c")
    assert end_names({"ends": ends, "hosts": ["a", "a", "a"]}) == ("rank 0", "rank 1", "rank 2")
    assert end_names({"ends": ends, "hosts": ["a", "a", "b"]}) == ("a:0", "a:1", "b:2")
    assert end_names({}) == ()


def test_metrics_say_nothing_of_other_phases() -> None:
    other = make_phase(phase="exchange")
    for name in ("pair_latency", "worst_pair_latency", "pair_bandwidth", "worst_pair_bandwidth", "exchange_bandwidth"):
        assert metric_named(name).sample(other) is None
    phase, _ = matrix_repetition("m", 0, even)
    assert metric_named("pair_latency").sample(phase) is None  # type: ignore[arg-type]
    assert np.isclose(metric_named("pair_bandwidth").sample(phase), 1 << 30)  # type: ignore[arg-type]
