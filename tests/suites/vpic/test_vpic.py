# SPDX-License-Identifier: Apache-2.0
"""The options, cases, rows and sentences of both suites of particle files."""

import pytest

from support.make_records import plain_row
from support.simulated_engine import DESCRIBE, as_of_engine, built_engine
from support.suite_words import options_of
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.plan import Parameters, Target
from ullage.model.summary import Row
from ullage.report.headlines import headlines
from ullage.runs.cells.planning import Cell
from ullage.runs.particles.suite import SIZING, findings_of, layout_name, make_cells
from ullage.suites.bdcats.suite import BdcatsOptions, reads_of
from ullage.suites.vpic.suite import VpicOptions

# The header of our own format, before the particles.
HEADER_BYTES = 4096
WRITES: Parameters = {"phases": ["write"]}


def describe() -> Describe:
    """The simulated engine with workload ``vpic``, and both backends that convert."""
    backends = [one for one in DESCRIBE.backends if one.name not in ("mpiio", "hdf5")]
    backends.append(as_of_engine("mpiio", "path", "data", "scattered"))
    backends.append(as_of_engine("hdf5", "path", "data", "arrays"))
    workloads = [*DESCRIBE.workloads, as_of_engine("vpic")]
    return DESCRIBE.model_copy(update={"workloads": workloads, "backends": backends})


def writing(**words: object) -> VpicOptions:
    return options_of(VpicOptions, **{"target": ["a=/a"], "ranks": "2", **words})


def reading(**words: object) -> BdcatsOptions:
    return options_of(BdcatsOptions, **{"target": ["a=/a"], "ranks": "2", **words})


def cells(uri: str = "posix:/a", **words: object) -> list[Cell]:
    return SIZING.by(built_engine())(make_cells(writing(**words), WRITES, [Target(name="a", uri=uri)], describe(), 4))


def test_cases_are_all_combinations() -> None:
    found = cells(format="raw,hdf5")
    assert len(found) == 4 * 2 * 2
    assert {layout_name(cell.values) for cell in found} == {"CC", "CI", "IC", "II"}
    assert {cell.is_collective for cell in found} == {True, False}
    assert {(cell.case.backend.name, cell.parameters.get("format", "raw")) for cell in found} == {
        ("mpiio", "raw"),
        ("hdf5", "arrays"),
    }
    assert SIZING.by(built_engine())([Cell(found[0].case, found[0].target, found[0].layout)]) == found[:1]


def test_the_usual_file_has_the_bytes_of_h5bench() -> None:
    first = cells()[0]
    assert (first.values["particles"], first.values["steps"]) == (8 << 20, 5)
    assert first.dataset_bytes == HEADER_BYTES + 2560 * (1 << 20)
    assert (first.files, first.phases) == (1, ["write"])


def test_quick_is_small() -> None:
    first = cells(quick=True)[0]
    assert (first.values["particles"], first.values["steps"]) == (1 << 16, 3)
    assert first.dataset_bytes == HEADER_BYTES + 2 * 3 * (1 << 16) * 32


def test_a_target_without_a_path_converts_nothing() -> None:
    assert {layout_name(cell.values) for cell in cells("model:")} == {"CC", "II"}
    with pytest.raises(UserError, match="only backends mpiio and hdf5 convert"):
        cells("model:", layout="CI")


def test_reads_are_cases_of_their_own() -> None:
    options = reading(read="full,partial,strided", particles=1000, run=10, stride=40, part="25%")
    given: Parameters = {"phases": ["write", "read"], "read_back": options.source}
    found = make_cells(options, given, [Target(name="a", uri="posix:/a")], describe(), 4, reads_of(options))
    assert len(found) == 4 * 2 * 3
    partial = next(cell for cell in found if cell.parameters.get("read") == "partial")
    assert partial.parameters["read_particles"] == 250
    assert partial.phases == ["write", "read"]
    strided = next(cell for cell in found if cell.parameters.get("read") == "strided")
    assert (strided.parameters["run"], strided.parameters["stride"]) == (10, 40)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"layout": "CX"}, "--layout: unknown word 'CX'"),
        ({"format": "netcdf"}, "--format: unknown word 'netcdf'"),
        ({"access": "both"}, "--access: unknown word 'both'"),
        ({"particles": 0}, "--particles"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        writing(**words)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"read": "corner"}, "--read: unknown word 'corner'"),
        ({"read": "strided", "run": 20, "stride": 10}, "--stride 10: a run has 20 particles"),
        ({"read": "strided", "run": 20, "stride": 20, "particles": 10}, "--run 20: a rank has 10 particles"),
    ],
)
def test_a_mistake_of_a_read_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        reading(**words)
    assert expected in str(caught.value)


def row(median: float, metric: str = "observed_bandwidth", **params: str) -> Row:
    samples = [median * (1 + 0.001 * step) for step in (-3, -2, -1, 0, 1, 2, 3, -1.5)]
    usual = {"access": "write", "ranks": 2, "nodes": 1, "backend": "mpiio", "particles": 100, "steps": 3}
    usual |= {"layout": "CC", "format": "raw", "transfers": "independent", "compute_s": 0.1}
    unit, case = "s" if metric.endswith("_time") else "B/s", "-".join(params.values()) or "c"
    return plain_row(samples, {**usual, **params}, metric=metric, unit=unit, case=case, target="a", verdict="warm")


def test_what_is_faster_is_said_and_what_is_not_decided_is_not() -> None:
    rows = [
        row(2e9),
        row(1e9, layout="CI"),
        row(0.5e9, layout="IC"),
        row(1.0005e9, layout="CI", transfers="collective"),
    ]
    layout, access = findings_of(rows, "vpic", 0.95)
    assert layout.kind == "vpic-layout"
    assert layout.gain is not None
    assert layout.change == "--layout CC"
    assert layout.title == "a: independent raw writes of particles are faster with layout CC"
    assert "2.00 GB/s (layout CC), 1.00 GB/s (layout CI) and 500 MB/s (layout IC)" in layout.text
    assert "Layout CC is contiguous in memory and contiguous in the file." in layout.text
    assert access.kind == "vpic-access"
    assert access.gain is None
    assert access.text.endswith("Which is faster cannot be told.")
    assert access.title == "a: no gain of collective transfers is shown (raw writes of particles in layout CI)"


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({}, "a: particles written, raw, contiguous"),
        ({"layout": "CI"}, "a: particles written, raw, contiguous to interleaved"),
        ({"access": "read", "read": "full", "layout": "CI"}, "a: all particles read, raw, interleaved to contiguous"),
        ({"access": "read", "read": "strided", "format": "hdf5"}, "a: runs of particles read, hdf5, contiguous"),
    ],
)
def test_headlines_say_what_was_moved_and_in_which_order(params: dict[str, str], what: str) -> None:
    """A read goes from the file to memory."""
    (found,) = headlines([row(1e9, **params)])
    assert (found.part, found.what) == ("disk", what)


def test_the_observed_rate_is_set_beside_the_raw_one() -> None:
    rows = [row(1e9), row(4e9, "raw_bandwidth"), row(0.25, "sync_time"), row(0.001, "open_time")]
    (found,) = findings_of(rows, "bdcats", 0.95)
    assert found.kind == "bdcats-observed"
    assert found.numbers["share"] == 0.25
    assert "4.00 GB/s in the calls alone (RAW)" in found.text
    assert "sync 250 ms" in found.text
