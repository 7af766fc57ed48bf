# SPDX-License-Identifier: Apache-2.0
"""The sizes, options, cases and sentences of flash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.make_records import plain_row
from support.simulated_engine import DESCRIBE, as_of_engine, built_engine, cells_of
from support.suite_words import options_of
from ullage.analysis.metrics import load_metrics
from ullage.engine import needs_of
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Named
from ullage.model.summary import Row
from ullage.report.headlines import headlines
from ullage.runs.cells.planning import Cell
from ullage.runs.options.declared import settable_by
from ullage.suites.flash.report import runs_of
from ullage.suites.flash.suite import HEADER_BYTES, FlashOptions, blocks_of, findings_of, prepare

MIB = 1 << 20


def describe() -> Describe:
    """The simulated engine with workload ``flash``, and both backends that transfer collectively."""
    backends = [one for one in DESCRIBE.backends if one.name not in ("mpiio", "hdf5")]
    backends.append(as_of_engine("mpiio", "path", "data"))
    backends.append(as_of_engine("hdf5", "path", "data", "arrays"))
    workloads = [*DESCRIBE.workloads, as_of_engine("flash")]
    return DESCRIBE.model_copy(update={"workloads": workloads, "backends": backends})


def options(**words: object) -> FlashOptions:
    return options_of(FlashOptions, **{"target": ["a=/a"], "ranks": "2", **words})


def sizes_asked(cell: Cell) -> tuple[object, object]:
    return cell.values["file"], cell.values["cells"]


def cells(**words: object) -> list[Cell]:
    return cells_of(prepare, options(**words), {"a": "posix:/a"}, describe())


def file_bytes(file: str, cells: int, ranks: int, real: int = 4) -> int:
    """What the engine keeps for a file without header, in whole blocks of 4 KiB."""
    work = Named(name="flash", parameters={"file": file, "cells": cells, "plot_real_bytes": real})
    (needs,) = needs_of(built_engine(), [(Layout(ranks=ranks), work)])
    return needs.bytes - HEADER_BYTES


@pytest.mark.parametrize(
    ("file", "real", "mib"),
    [
        ("checkpoint", 4, 31_109.74),
        ("plot-centred", 4, 2_596.5),
        ("plot-corner", 4, 3_113.5),
        ("plot-centred", 8, 5_190.36),
        ("plot-corner", 8, 6_224.35),
    ],
)
def test_sizes_are_those_that_were_published_for_512_ranks(file: str, real: int, mib: float) -> None:
    assert file_bytes(file, 16, 512, real) / MIB == pytest.approx(mib, abs=0.05)


def test_sizes_of_two_ranks_are_those_that_were_printed() -> None:
    # The port to PnetCDF made these files: its own header is what they have more than 15.119, 1.276 and 1.809 MiB.
    printed = {
        "checkpoint": (15.119, 15_856_420),
        "plot-centred": (1.276, 1_339_124),
        "plot-corner": (1.809, 1_898_116),
    }
    for file, (mib, made) in printed.items():
        found = file_bytes(file, 8, 2)
        assert found / MIB == pytest.approx(mib, abs=4096 / MIB)
        assert abs(made - found) < HEADER_BYTES


@given(st.integers(1, 64), st.integers(0, 9), st.integers(1, 5000))
def test_every_byte_of_an_array_has_one_owner(ranks: int, given_blocks: int, row_bytes: int) -> None:
    runs = runs_of(ranks, given_blocks, row_bytes)
    assert [begin for begin, _ in runs] == [0, *(end for _, end in runs[:-1])]
    assert all(begin < end for begin, end in runs)
    assert runs[-1][1] == sum(blocks_of(rank, given_blocks) for rank in range(ranks)) * row_bytes


def test_cases_are_all_combinations() -> None:
    found = cells(format="raw,hdf5")
    assert len(found) == 3 * 2 * 2 * 2
    assert len({cell.case.id for cell in found}) == len(found)
    formats = {(cell.case.backend.name, cell.parameters.get("format", "raw")) for cell in found}
    assert formats == {("mpiio", "raw"), ("hdf5", "arrays")}
    assert {cell.is_collective for cell in found} == {True, False}
    first = next(cell for cell in found if sizes_asked(cell) == ("checkpoint", 8))
    assert first.dataset_bytes == -(-(HEADER_BYTES + 15_853_348) // 4096) * 4096
    assert first.block_bytes == 80 * 512 * 8
    assert first.needs_one_folder
    again = prepare.sizing.by(built_engine())([Cell(first.case, first.target, first.layout)])
    assert again == [first]


def test_parameters_of_hdf5_are_those_of_its_cases() -> None:
    given = ["hdf5.chunk_bytes=1M", "hdf5.alignment_bytes=4K", "hdf5.collective_metadata=true"]
    found = cells(format="raw,hdf5", cells="8", file="checkpoint", param=given)
    own = {"chunk_bytes": MIB, "alignment_bytes": 4096, "collective_metadata": True}
    parameters = [(cell.case.backend.name, cell.is_collective, cell.case.backend.parameters) for cell in found]
    assert sorted(parameters, key=str) == [
        ("hdf5", False, own),
        ("hdf5", True, {**own, "collective": True}),
        ("mpiio", False, {}),
        ("mpiio", True, {"collective": True}),
    ]


@pytest.mark.parametrize(
    ("param", "expected"),
    [
        ("hdf5.chunk=1M", "hdf5.chunk: 'hdf5' has no parameter 'chunk'"),
        ("hdf5.chunk_bytes=many", "not a value of 'chunk_bytes'"),
        ("hdf5.collective=true", "hdf5.collective: has an option of its own; use --access"),
        ("hdf.chunk_bytes=1M", "hdf.chunk_bytes: this run uses no backend or workload 'hdf'"),
        ("chunk_bytes", "not a parameter"),
    ],
)
def test_a_parameter_that_is_none_is_refused(param: str, expected: str) -> None:
    with pytest.raises(UserError) as caught:
        cells(format="hdf5", param=[param])
    assert expected in str(caught.value)


def test_quick_is_the_small_checkpoint_alone() -> None:
    assert [sizes_asked(cell) for cell in cells(quick=True, access="collective")] == [("checkpoint", 8)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"file": "chk"}, "--file: unknown word 'chk'"),
        ({"format": "netcdf"}, "--format: unknown word 'netcdf'"),
        ({"access": "both"}, "--access: unknown word 'both'"),
        ({"cells": "0"}, "--cells: 0 is not allowed"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)


def row(median: float, **params: str) -> Row:
    samples = [median * (1 + 0.001 * step) for step in (-3, -2, -1, 0, 1, 2, 3, -1.5)]
    usual = {"access": "write", "ranks": 2, "nodes": 1, "backend": "mpiio", "file": "checkpoint", "cells": 8}
    usual |= {"blocks": 0, "format": "raw", "transfers": "independent"}
    case = "-".join(params.values()) or "c"
    return plain_row(samples, {**usual, **params}, target="a", case=case, verdict="warm")


def test_what_is_faster_is_said_and_what_is_not_decided_is_not() -> None:
    rows = [row(1e9), row(2e9, transfers="collective"), row(1.0005e9, format="hdf5", backend="hdf5")]
    access, form = findings_of(rows, 0.95)
    assert access.kind == "flash-access"
    assert access.gain is not None
    assert "2.00 GB/s" in access.text
    assert form.gain is None
    assert form.text.endswith("Which is faster cannot be told.")
    assert access.title == "a: raw checkpoint writes of 8^3 cells are faster with collective transfers"
    assert access.text.endswith("Collective transfers reach 2.00 x the rate of independent transfers.")
    assert "(independent checkpoint writes of 8^3 cells)" in form.title, (
        "what is alike is named, and not what is compared"
    )
    (line,) = headlines(rows)
    assert line.what == "a: flash checkpoint file written, raw, 2 ranks"


def test_what_a_cache_answered_is_not_compared_with_the_storage_nor_single_samples_with_each_other() -> None:
    cold, warm = row(1e9).model_copy(update={"verdict": "cold"}), row(4e9, transfers="collective")
    assert findings_of([cold, warm], 0.95) == []
    few = [one.model_copy(update={"repetitions": one.repetitions[:2]}) for one in (row(1e9), warm)]
    (found,) = findings_of(few, 0.95)
    assert found.gain is None
    assert found.text.endswith("Which is faster cannot be told.")


def test_advice_on_transfers_names_the_option_that_sets_them() -> None:
    """Rows name the way of transfers ``transfers``; their ``access`` is what was done, which no option sets."""
    by_parameter = settable_by(FlashOptions).by_parameter
    assert by_parameter["transfers"] == "--access"
    assert "access" not in by_parameter


def test_metrics_have_names_of_their_own() -> None:
    assert load_metrics().keys() >= {"metadata_time", "unknowns_time", "flash_bandwidth"}
