# SPDX-License-Identifier: Apache-2.0
"""The sentences, tables and charts of suite ``sar``."""

import pytest

from support.make_records import around, plain_row
from ullage.model.summary import Finding, Row, Summary
from ullage.report.data import ReportData
from ullage.report.headlines import headlines
from ullage.suites.sar.report import figures, tables
from ullage.suites.sar.suite import findings_of

CLEAR = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01]
SECONDS = {"k1": 0.8, "k2": 1.6, "k3": 3.2, "k4": 0.4}


def row(access: str, metric: str, value: float, unit: str = "s", layout: str = "files", **fields: object) -> Row:
    params = {"access": access, "ranks": 2, "nodes": 1, "backend": "posix", "layout": layout, "image_bytes": 3_459_456}
    params |= {"grid": 4, "depth": 2, "raw": "shared", "sync": "close"}
    own = {"metric": metric, "unit": unit, "case": layout, "verdict": "synced" if access == "k2" else "cold"}
    return plain_row(around(value), params, **{**own, **fields})


def case(layout: str = "files", **seconds: float) -> list[Row]:
    """All kernels of a case, the last first."""
    took = {**SECONDS, **seconds}
    rows = [
        one
        for kernel in reversed(took)
        for one in (
            row(kernel, "bandwidth", 1e9 / took[kernel], "B/s", layout),
            row(kernel, "phase_time", took[kernel], layout=layout),
            row(kernel, "image_rate", 32 / took[kernel], "image/s", layout),
        )
    ]
    rows += [row("k3", "image_transfer", 2e-3, layout=layout), row("k3", "subimage_read", 5e-4, layout=layout)]
    return [*rows, row("pipeline", "pipeline_rate", 32 / max(took.values()), "image/s", layout)]


def of(found: list[Finding], kind: str) -> list[Finding]:
    return [one for one in found if one.kind == kind]


def test_the_kernel_that_bounds_the_pipeline_is_named_where_that_is_proved() -> None:
    (found,) = of(findings_of(case(), 0.95), "sar-pipeline")
    assert found.title == "The pipeline reaches 10.0 image/s on disk, bounded by K3 (read pairs of images)"
    assert "K3 takes longest. K1 reads raw data, K2 stores images," in found.text
    assert "K1 25.0 ms, K2 50.0 ms, K3 100 ms and K4 12.5 ms" in found.text
    assert found.numbers["slowest"] == ["k3"]
    (alike,) = of(findings_of(case(k2=3.19), 0.95), "sar-pipeline")
    assert "Which of K2 and K3 takes longest cannot be told." in alike.text
    assert alike.title == "The pipeline reaches 10.0 image/s on disk"


def test_layouts_are_compared_only_where_the_intervals_decide() -> None:
    rows = [*case(), *case("containers", k2=0.8, k3=3.19)]
    (found,) = of(findings_of(rows, 0.95), "sar-layout")
    assert found.title == "K2 stores images faster with containers on disk"
    assert found.change == "--layout containers"
    assert found.gain is not None
    assert found.gain.factor == pytest.approx(2.0, rel=0.01)
    assert not of(findings_of([*case(), *case("containers")], 0.95), "sar-layout")
    warm = [one.model_copy(update={"verdict": "warm"}) for one in case("containers", k2=0.8)]
    assert not of(findings_of([*case(), *warm], 0.95), "sar-layout")


def test_sub_images_are_told_beside_their_pair() -> None:
    (found,) = of(findings_of(case(), 0.95), "sar-rows")
    assert found.title == "Sub-images take 0.25 x the time of their pair of images on disk"
    assert "2.00 ms, that is 3.46 GB/s on a rank" in found.text


def test_memory_that_served_reads_is_a_warning() -> None:
    rows = [one.model_copy(update={"verdict": "warm"}) if one.params["access"] == "k1" else one for one in case()]
    (found,) = of(findings_of(rows, 0.95), "sar-cached")
    assert found.severity == "warning"
    assert found.title == "Memory served a part of the reads of K1 on disk"
    assert "Use more --raw-files." in found.text
    assert not of(findings_of(case(), 0.95), "sar-cached")


def data_of(rows: list[Row]) -> ReportData:
    return ReportData(Summary(suite="sar", run_id="r", created="now", command=[], versions={}, rows=rows))


def test_a_table_for_the_pipeline_and_each_kernel() -> None:
    content = tables(data_of([*case("containers"), *case()]))
    assert content is not None
    assert [grid.title.partition(",")[0] for grid in content.grids] == ["Pipeline", "K1", "K2", "K3", "K4"]
    assert content.notes == ["32 images of 3.30 MiB: 4 x 4 locations with 2 images each."]
    assert [line[3].text for line in content.grids[0].rows] == ["files", "containers"]


def test_the_chart_has_a_bar_for_each_kernel_and_layout() -> None:
    (figure,) = figures(data_of([*case(), *case("containers")]))
    values = figure.spec["data"]["values"]
    assert [(value["kernel"], value["layout"]) for value in values][:2] == [("K1", "files"), ("K1", "containers")]
    assert {value["text"] for value in values} == {"25.0 ms", "50.0 ms", "100 ms", "12.5 ms"}


def test_headlines_are_of_images_that_no_cache_answered() -> None:
    rows = [one.model_copy(update={"verdict": "warm"}) if one.params["access"] == "k3" else one for one in case()]
    assert [one.what for one in headlines(rows)] == ["disk: images stored, 2 ranks"]
    assert len(headlines(case())) == 2
