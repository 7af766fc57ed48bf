# SPDX-License-Identifier: Apache-2.0
"""A device of stated bandwidth and latency, measured by the whole chain from words to summary, must be found again."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from support.darshan_log import made, record, transfers
from support.data import some
from ullage.analysis.ladders import ladders_of
from ullage.analysis.storage_ladders import LADDERS
from ullage.analysis.verdicts.grades import is_sound
from ullage.cli.app import run
from ullage.cli.diagnose import read_rates
from ullage.importers.darshan import facts_at
from ullage.importers.darshan.causes import time_of
from ullage.model.summary import Row, Summary

pytestmark = [pytest.mark.undisturbed]

BANDWIDTH = 50e6
LATENCY_S = 0.002
MIB = 1 << 20
TOLERANCE = 0.01


@pytest.fixture(scope="module")
def summary(engine: Path, tmp_path_factory: pytest.TempPathFactory) -> Summary:
    """Phases last half a second, so that a late wake-up is far below the tolerance; three of each."""
    result = tmp_path_factory.mktemp("known") / "result"
    words = ["run", "sweep", "--target", "device=model:", "--engine", str(engine), "--result", str(result)]
    words += ["--param", f"model.bandwidth={BANDWIDTH:g}", "--param", f"model.latency_s={LATENCY_S}"]
    words += ["--ranks", "1,2", "--block", "256K,1M", "--volume", "16M", "--time", "60s"]
    words += ["--min-repetitions", "3", "--max-repetitions", "3", "--ceiling", f"device={BANDWIDTH:g}"]
    assert run(words) == 0
    return Summary.model_validate_json((result / "summary.json").read_bytes())


def expected_latency_s(ranks: int, block: int) -> float:
    """All ranks share the bandwidth evenly, so each has its part of it; the latency is that of every operation."""
    return LATENCY_S + block * ranks / BANDWIDTH


def expected_bandwidth(ranks: int, block: int) -> float:
    return ranks * block / expected_latency_s(ranks, block)


def place(row: Row) -> tuple[Any, ...]:
    return row.params["access"], row.params["ranks"], row.params["block_bytes"]


def rows_of(summary: Summary, metric: str) -> dict[tuple[Any, ...], Row]:
    return {place(row): row for row in summary.rows if row.metric == metric}


def test_every_cell_is_there(summary: Summary) -> None:
    cells = {(access, ranks, block) for access in ("write", "read") for ranks in (1, 2) for block in (MIB // 4, MIB)}
    assert rows_of(summary, "bandwidth").keys() == cells
    assert all(len(row.repetitions) >= 2 for row in summary.rows)


def test_bandwidth_is_that_of_the_device(summary: Summary) -> None:
    for (_, ranks, block), row in some(rows_of(summary, "bandwidth").items()):
        assert max(row.repetitions) == pytest.approx(expected_bandwidth(ranks, block), rel=TOLERANCE)
        # On a busy machine repetitions may be slower than the device, none is faster.
        assert 0 < row.median <= expected_bandwidth(ranks, block) * (1 + TOLERANCE)


def test_latency_is_that_of_the_device(summary: Summary) -> None:
    for (_, ranks, block), row in some(rows_of(summary, "latency_p50").items()):
        expected = expected_latency_s(ranks, block)
        # The device goes on without a rank that got no core for a whole phase, which then finds all operations done.
        least = min(value for value in row.repetitions if value >= expected * (1 - TOLERANCE))
        assert least == pytest.approx(expected, rel=TOLERANCE)
        # On a busy machine repetitions may be slower than the device; most of them are not faster.
        assert row.median >= expected * (1 - TOLERANCE)


def test_the_declared_ceiling_stands_beside_it(summary: Summary) -> None:
    for row in some(rows_of(summary, "bandwidth").values()):
        assert row.ceiling is not None
        assert (row.ceiling.value, row.ceiling.kind) == (BANDWIDTH, "declared")
        assert row.share is not None
        assert math.isclose(row.share, row.median / BANDWIDTH)


def test_the_findings_say_so_too(summary: Summary) -> None:
    """Take each access of which at least one cell was measured without others on the machine."""
    clean = {str(access) for (access, _, _), row in rows_of(summary, "bandwidth").items() if is_sound(row)}
    best = [finding for finding in summary.findings if finding.kind == "best"]
    assert {(finding.numbers["target"], finding.numbers["access"]) for finding in best} == {
        ("device", access) for access in clean
    }
    assert json.loads(summary.model_dump_json())["schema"] == "ullage.summary/2"


@pytest.mark.parametrize("access", ["write", "read"])
def test_every_rung_of_a_ladder_holds_what_the_device_costs(summary: Summary, access: str) -> None:
    """From one rank and small blocks over two ranks and large ones to the declared rate of the device."""
    index = next(
        index
        for index, row in enumerate(summary.rows)
        if row.metric == "bandwidth" and place(row) == (access, 1, MIB // 4)
    )
    (ladder,) = ladders_of(summary.rows, [(f"disk {access}s", index)], LADDERS)
    expected = {
        "drive": expected_bandwidth(2, MIB) / BANDWIDTH,
        "block": expected_bandwidth(2, MIB // 4) / expected_bandwidth(2, MIB),
        "ranks": expected_bandwidth(1, MIB // 4) / expected_bandwidth(2, MIB // 4),
    }
    product = math.prod(rung.factor for rung in [*ladder.rungs, ladder.unexplained])
    assert product == pytest.approx(ladder.share)
    if not all(is_sound(row) for row in summary.rows if row.metric == "bandwidth"):
        return  # others disturbed rows, which are then no steps
    assert [rung.kind for rung in ladder.rungs] == ["drive", "block", "ranks"]
    for rung in ladder.rungs:
        assert (rung.low or 0) <= expected[rung.kind] * (1 + TOLERANCE)
        assert (rung.high or math.inf) >= expected[rung.kind] * (1 - TOLERANCE)


def test_the_predicted_time_of_a_log_is_that_of_the_run_beside_it(engine: Path, tmp_path: Path) -> None:
    """The rates are those of the device at two sizes; the log has others. What disturbs a run only makes it slower.

    Reads alone are looked at, since the data of writes is made by processors that may be busy.
    """
    log, table, result = tmp_path / "app.darshan", tmp_path / "rates.csv", tmp_path / "result"
    reads = {393216: 400, 2 * MIB: 100}
    files = [(rank, size, count) for size, count in reads.items() for rank in range(2)]
    records = [
        record("POSIX", file, rank, transfers("read", count, size)) for file, (rank, size, count) in enumerate(files)
    ]
    log.write_bytes(made({"POSIX": records}, ranks=2))
    lines = [f"sim,read,2,{size},1000" for size in (65536, 4 * MIB)]
    table.write_text("\n".join(["target,access,ranks,block_bytes,bandwidth_mb_per_s", *lines]) + "\n")
    assert run(["import", str(table), "--result", str(tmp_path / "rates")]) == 0
    predicted, _ = time_of(facts_at(log), read_rates([tmp_path / "rates"], ""))
    words = ["run", "from-darshan", str(log), "--target", "sim=model:", "--engine", str(engine), "--quiet"]
    assert run([*words, "--result", str(result)]) == 0
    rows = Summary.model_validate_json((result / "summary.json").read_bytes()).rows
    rates = [row for row in rows if row.metric == "bandwidth" and row.access == "read"]
    best = {row.count("block_bytes"): max(row.repetitions) for row in rates}
    assert predicted.value == pytest.approx(
        sum(2 * count * size / best[size] for size, count in reads.items()), rel=0.05
    )
