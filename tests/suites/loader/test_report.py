# SPDX-License-Identifier: Apache-2.0
"""The rows, sentences, tables and charts of suite ``loader``."""

import pytest

from support.make_records import MIB, SECOND_NS, make_case, make_latency, make_launch, make_phase, make_run, plain_row
from support.suite_words import options_of
from ullage.model.record import Gauge, Moved, PhaseRecord
from ullage.model.summary import Finding, Row, Summary
from ullage.report.contents import Content
from ullage.report.data import ReportData
from ullage.report.headlines import headlines
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, TargetFacts
from ullage.suites.loader.findings import ALL_EPOCHS, CACHED, USE, findings_of, loader_rows
from ullage.suites.loader.options import LoaderOptions
from ullage.suites.loader.report import figures, tables

METRICS = tuple(LoaderOptions.metrics.split())

WOBBLE = (0.0, 0.001, -0.001, 0.002, -0.002, 0.0, 0.001)
CONTEXT = RowContext(metrics=METRICS, targets={"disk": TargetFacts()})


def options(**words: object) -> LoaderOptions:
    return options_of(LoaderOptions, target=["disk=/a"], ranks=2, epochs=2, **words)


def epoch(number: int, accelerators: int, repetition: int, use: float, device_share: float) -> AnyRecord:
    """200 samples of 1 MiB in a second on each accelerator."""
    both = use / 2 + 0.5 if number == 2 else use
    bytes_ = 200 * MIB * accelerators
    moved = round(bytes_ * device_share)

    def gauge(value: float) -> Gauge:
        return Gauge(sum=value * accelerators, least=value, most=value)

    return make_phase(
        f"c{accelerators}",
        repetition,
        phase=f"epoch-{number}",
        bytes_=bytes_,
        access="read",
        latency=make_latency(200 * accelerators, SECOND_NS // 200),
        counters={"samples": 200 * accelerators},
        gauges={
            "compute_s": gauge(use),
            "run_s": gauge(1.0),
            "all_compute_s": gauge(both * number),
            "all_run_s": gauge(number),
            "least_use": gauge(use),
        },
        facts={"accelerators": accelerators},
        cpu_ns=SECOND_NS,
        moved=Moved(requested_bytes=bytes_, process_bytes=moved, device_bytes=moved),
        data_of="own",
    )


def launches(uses: dict[int, float], repetitions: int = 7) -> list[list[AnyRecord]]:
    found: list[list[AnyRecord]] = []
    for n, use in uses.items():
        made: list[list[AnyRecord]] = []
        for i in range(repetitions):
            first = epoch(1, n, i, use + WOBBLE[i], 1.0)
            made.append([first, epoch(2, n, i, 1.0, 0.0), make_case(f"c{n}", i, workload="loader")])
        found.append(make_launch(*made, run=make_run(n)))
    return found


def rows_of(uses: dict[int, float], repetitions: int = 7, **words: object) -> list[Row]:
    return loader_rows(launches(uses, repetitions), CONTEXT, options(**words))


def test_rows_are_of_each_epoch_and_of_all() -> None:
    rows = rows_of({1: 0.8, 2: 0.5})
    found = {(row.metric, row.params["access"], row.params["accelerators"]): row for row in rows}
    assert len(found) == len(rows)
    assert found[USE, "epoch-1", 2].median == pytest.approx(0.5, abs=0.002)
    assert found[USE, ALL_EPOCHS, 2].median == pytest.approx(1.0)  # of epoch 2 here: 1.0 / 2 + 0.5
    assert found["sample_rate", "epoch-1", 2].median == 400
    assert found["client_cores", "epoch-1", 1].median == 1
    assert found[CACHED, "epoch-1", 1].median == 0
    assert found[CACHED, "epoch-2", 1].median == 1
    assert found["bandwidth", "epoch-2", 1].ceiling is None
    assert "run_use" not in {row.metric for row in rows}
    assert not any(row.is_invalid for row in rows)


def test_shares_from_memory_are_of_the_repetitions_that_the_rates_count() -> None:
    """Two of seven repetitions of each epoch were disturbed, and came from memory. All count."""
    (records,) = launches({1: 0.8})
    from_memory = Moved(requested_bytes=200 * MIB, process_bytes=0, device_bytes=0)
    disturbed = [
        record.model_copy(update={"grade": "C", "moved": from_memory})
        if isinstance(record, PhaseRecord) and record.repetition < 2
        else record
        for record in records
    ]
    rows = loader_rows([disturbed], CONTEXT, options())
    found = {row.metric: row.repetitions for row in rows if row.params["access"] == "epoch-1"}
    assert (len(found["bandwidth"]), found[CACHED]) == (7, [1.0] * 2 + [0.0] * 5)


def row(n: int, use: float, access: str = ALL_EPOCHS, metric: str = USE, count: int = 7) -> Row:
    params = {"access": access, "accelerators": n, "ranks": n, "nodes": 1, "preset": "cosmoflow", "batch": 1}
    params |= {"limit": 0.7, "volume_bytes": 200 * MIB, "threads_each": 4, "backend": "posix", "data_of": "own"}
    samples = [use + wobble for wobble in WOBBLE[:count]]
    return plain_row(samples, params, metric=metric, unit="of time", case=f"c{n}", median=use)


def of(found: list[Finding], kind: str) -> list[Finding]:
    return [one for one in found if one.kind == kind]


@pytest.mark.parametrize(
    ("uses", "title", "said"),
    [
        ({1: 0.99, 4: 0.8, 5: 0.6}, "disk keeps 4 accelerators of cosmoflow busy, and not 5", "so they pass"),
        ({1: 0.99}, "disk keeps 1 accelerator of cosmoflow busy", "so it passes"),
        ({1: 0.3}, "disk does not keep 1 accelerator of cosmoflow busy", "so it fails"),
    ],
)
def test_what_passes_is_named_with_its_neighbour(uses: dict[int, float], title: str, said: str) -> None:
    (found,) = of(findings_of([row(n, use) for n, use in uses.items()], options(), 0.95, 2), "loader-passes")
    assert found.title == title
    assert said in found.text
    assert "at least 70 % of the time (AU)" in found.text


@pytest.mark.parametrize(("first", "said"), [(0.5, "and fails"), (0.7, "which tells neither")])
def test_what_the_storage_fails_does_not_pass_by_epochs_of_memory(first: float, said: str) -> None:
    rows = [row(2, 0.9), row(2, first, "epoch-1"), row(2, 0.99, "epoch-2")]
    (found,) = of(findings_of(rows, options(), 0.95, 2), "loader-passes")
    assert found.numbers["passes"] == 0
    assert "pass." not in found.text
    assert f"Epoch 1, which the storage answers, has {100 * first:.3g} %, {said}." in found.text


def test_what_cannot_be_told_is_said() -> None:
    (found,) = of(findings_of([row(2, 0.7), row(3, 0.4)], options(), 0.95, 2), "loader-passes")
    assert "Whether 2 accelerators pass cannot be told." in found.text
    (found,) = of(findings_of([row(1, 0.9, count=2)], options(), 0.95, 2), "loader-passes")
    assert found.title == "How many accelerators disk keeps busy cannot be told"
    assert "Use --repetitions 6 or more." in found.text


def test_no_preset_is_named_where_other_samples_were_asked_for() -> None:
    asked = options(sample="4K", compute="2ms")
    assert (asked.is_of_preset_samples, asked.is_of_preset) == (False, False)
    (found,) = of(findings_of([row(1, 0.99)], asked, 0.95, 2), "loader-passes")
    assert found.title == "disk keeps 1 accelerator busy"
    assert "Samples have 4.00 KiB, a batch has 1 sample, and an accelerator computes for 2.00 ms with it." in found.text
    rows = loader_rows(launches({2: 0.5}), CONTEXT, asked)
    assert {(one.params["preset"], one.params["sample_bytes"]) for one in rows} == {("none", 4096)}
    (line,) = headlines(rows)
    assert line.what == "disk: samples of 4.00 KiB read, 2 accelerators"
    content = tables(data(rows))
    assert content is not None
    assert content.notes[0].startswith("Accelerators take samples of 4.00 KiB in batches of 1.")


def test_another_batch_or_pace_keeps_the_samples_of_the_preset() -> None:
    asked = options(batch=3)
    assert (asked.is_of_preset_samples, asked.is_of_preset) == (True, False)
    assert options(sample=str(asked.mean_bytes)).is_of_preset
    rows = loader_rows(launches({2: 0.5}), CONTEXT, asked)
    assert [line.what for line in headlines(rows)] == ["disk: samples of cosmoflow read, 2 accelerators"]


def test_memory_that_answers_later_epochs_is_named() -> None:
    rows = [
        *(row(2, use, access) for access, use in (("epoch-1", 0.5), ("epoch-2", 0.99))),
        *(row(2, share, access, CACHED) for access, share in (("epoch-1", 0.0), ("epoch-2", 0.9))),
    ]
    (found,) = of(findings_of(rows, options(), 0.95, 2), "loader-cached")
    assert found.title == "From epoch 2 on, memory answers for disk"
    assert "90 % in epoch 2" in found.text
    assert "Epoch 1 alone, which the storage answers, fails." in found.text
    cold = [row(2, 0.0, access, CACHED) for access in ("epoch-1", "epoch-2")]
    assert of(findings_of(cold, options(), 0.95, 2), "loader-cached") == []


def test_a_client_whose_cores_are_busy_is_named() -> None:
    rows = [row(2, 1.95, "epoch-1", "client_cores")]
    (found,) = of(findings_of(rows, options(), 0.95, 2), "loader-client")
    assert "97.5 % of the cores" in found.text
    assert of(findings_of(rows, options(), 0.95, 4), "loader-client") == []


def data(rows: list[Row]) -> ReportData:
    return ReportData(Summary(suite="loader", run_id="r", created="now", command=[], versions={}, rows=rows))


def test_a_table_and_a_chart_for_each_target() -> None:
    shown = data(rows_of({1: 0.95, 2: 0.5}))
    content = tables(shown)
    assert isinstance(content, Content)
    (grid,) = content.grids
    assert [cells[0].text for cells in grid.rows] == ["1", "1", "1", "2", "2", "2"]
    assert [cells[2].text for cells in grid.rows] == ["1", "2", "all"] * 2
    assert grid.rows[2][6].text == "passes"
    (figure,) = figures(shown)
    assert "dashed line is the limit" in figure.caption
    assert headlines(shown.summary.rows)
    assert tables(data([])) is None
    assert figures(data([])) == []
