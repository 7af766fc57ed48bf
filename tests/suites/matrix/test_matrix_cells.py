# SPDX-License-Identifier: Apache-2.0
"""Which cells a matrix has, what each of IOzone's tests is in our words, and how a record finds back to its test."""

import pytest

from suites.matrix.conftest import World, describe
from ullage.errors import UserError
from ullage.runs.cells.planning import Cell
from ullage.suites.matrix.suite import LABELS, TESTS, MatrixOptions, job_of, jobs, jobs_of, shapes, with_kinds

KIB, MIB = 1 << 10, 1 << 20


def options(**more: object) -> MatrixOptions:
    usual = {"files": [64 * KIB, 16 * MIB], "records": [4 * KIB, 64 * KIB, 128 * KIB], "tests": list(TESTS)}
    return MatrixOptions.model_validate({**usual, **more})


def cells(world: World, **words: object) -> dict[str, Cell]:
    """One cell for each job."""
    found = world.prepare(**{"file": "1M", "record": "64K", "tests": "all", **words}).cells
    return {cell.kind: cell for cell in found}


def test_records_fit_and_small_ones_are_left_out_of_large_files() -> None:
    assert shapes(options()) == [(64 * KIB, 4 * KIB), (64 * KIB, 64 * KIB), (16 * MIB, 64 * KIB), (16 * MIB, 128 * KIB)]
    assert (16 * MIB, 4 * KIB) in shapes(options(all_records=True))
    assert shapes(options(files=[100 * KIB], records=[64 * KIB])) == [], "a file is a whole number of records"


def test_every_test_is_in_one_job_and_every_phase_has_a_name_of_its_own() -> None:
    found = jobs(17, 0.5, 16)
    assert sorted(test for job in found for test in job.tests) == list(TESTS)
    assert len(set(LABELS)) == len(LABELS) == 22
    for job in found:
        for test, labels in job.labels.items():
            for phase, label in labels.items():
                assert (job.label(phase, [test]), job.test_of(label)) == (label, test)


def test_a_job_makes_its_file_even_where_that_is_not_asked_for() -> None:
    first = jobs(17, 0.5, 16)[0]
    assert first.phases([0, 1]) == ["write", "rewrite", "read", "reread"]
    assert first.phases([1]) == ["write", "read", "reread"]
    assert (first.label("write", [1]), first.label("reread", [1])) == ("", "reread")


def test_what_each_test_is_for_the_engine(world: World) -> None:
    found = cells(world)
    own = {
        kind: {
            **{k: v for k, v in cell.case.workload.parameters.items() if k not in ("transfer_bytes", "block_bytes")},
            **cell.case.backend.parameters,
        }
        for kind, cell in found.items()
    }
    whole = {"file_mode": "per-process"}
    seek = {**whole, "positioned": False}
    four = {"phases": ["write", "rewrite", "read", "reread"]}
    laid = {"write_order": "sequential"}
    assert own == {
        "test 0 and 1": {**seek, **four},
        "test 2": {**seek, "phases": ["write", "read", "rewrite"], "order": "random", **laid},
        "test 3": {**seek, "order": "backward", **laid},
        "test 4": {**seek, "phases": ["write", "rewrite"], "order": "repeat", **laid},
        "test 5": {**seek, "order": "strided", "stride": 17, **laid},
        "test 6 and 7": {**whole, **four, "buffer_bytes": 64 * KIB},
        "test 8": {**whole, "phases": ["write", "mixed"]},
        "test 9 and 10": {**whole, **four},
        "test 11 and 12": {**whole, **four, "vector_pieces": 16},
    }
    assert found["test 6 and 7"].case.backend.name == "stdio"
    assert {(cell.dataset_bytes, cell.block_bytes, cell.layout.ranks) for cell in found.values()} == {
        (MIB, 64 * KIB, 1)
    }


@pytest.mark.parametrize("tests", [list(TESTS), [1], [10, 12], [2, 8], [7]])
def test_a_case_finds_back_to_its_job(world: World, tests: list[int]) -> None:
    prepared = world.prepare(tests=",".join(map(str, tests)), mix="25%", file="1M", record="64K")
    asked = MatrixOptions.model_validate(prepared.request.options)
    bare = [Cell(cell.case, cell.target, cell.layout) for cell in prepared.cells]
    assert [cell.kind for cell in with_kinds(bare, asked)] == [cell.kind for cell in prepared.cells]
    assert len(prepared.cells) == len(jobs_of(asked))


def test_a_case_of_another_suite_is_no_job() -> None:
    assert job_of(options(), "mpiio", ({}, {})) is None
    assert job_of(options(tests=[3]), "posix", ({}, {"phases": ["write", "read"]})) is None


def test_direct_io_is_asked_of_all_but_the_c_library(world: World) -> None:
    found = cells(world, direct=True)
    assert [kind for kind, cell in found.items() if not cell.case.backend.parameters.get("direct")] == ["test 6 and 7"]
    caches = {kind: cell.case.workload.parameters.get("cache", "advise") for kind, cell in found.items()}
    assert {kind for kind, cache in caches.items() if cache == "advise"} == {"test 6 and 7"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"file": "64K", "record": "1M"}, "--file, --record: no record of these fits"),
        ({"direct": True, "record": "6000"}, "no record of these fits"),
        ({"direct": True, "file": "20K", "record": "2K"}, "a record of 2K is not a multiple of 4K"),
    ],
)
def test_what_cannot_be_is_one_line(world: World, words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        world.prepare(**words)
    assert expected in str(caught.value)


def test_a_target_without_a_place_and_an_engine_without_the_backend_are_refused(world: World) -> None:
    with pytest.raises(UserError, match="target 'm' has no place for files"):
        world.prepare(target=["m=model:"])
    world.engine_context = type(world.engine_context)(
        world.engine_context.engine,
        describe().model_copy(update={"backends": [one for one in describe().backends if one.name != "stdio"]}),
    )
    with pytest.raises(UserError, match="stdio"):
        world.prepare()
