# SPDX-License-Identifier: Apache-2.0
"""Datasets that go from launch to launch, and what is found when somebody changed them in between."""

import os
from pathlib import Path

import pytest
from tests.e2e.launching import MIB, Document, case, plan, run, run_while_filling, untouched

EASY: Document = {"transfer_bytes": 2 * MIB, "block_bytes": 8 * MIB, "file_mode": "per-process"}
HARD: Document = {"items": 300, "write_bytes": 3901, "read_bytes": 3901}


def on(dataset: str, made: Document) -> Document:
    """The case on a dataset it shares."""
    return made | {"dataset": dataset}


def metadata(*phases: str, **words: object) -> Document:
    """A case of workload ``metadata`` on dataset ``hard``."""
    workload = {"name": "metadata", "parameters": {**HARD, "phases": list(phases), **words}}
    return on("hard", case() | {"workload": workload})


def launches(
    engine: Path, tmp_path: Path, target: Path, first: list[Document], second: list[Document]
) -> tuple[Document, Document]:
    """A launch that leaves its datasets, and one that goes on with them."""
    writes = plan(tmp_path, first, f"posix:{target}", order="listed", keep=True)
    assert run(engine, tmp_path, writes).code == 0
    reads = writes | {"cases": second, "keep": False, "continues": True, "records": str(tmp_path / "second.ndjson")}
    return writes, reads


def folder(target: Path, document: Document) -> Path:
    """The run folder."""
    return target / f"ullage-{document['run_id']}"


@pytest.mark.fault(
    "swapped files and blocks", "exit 4; the record says whose block was found; target empty but for what was there"
)
@pytest.mark.parametrize("verify", ["kept", "full"])
def test_two_swapped_blocks_are_found(engine: Path, tmp_path: Path, target: Path, verify: str) -> None:
    first = [on("easy", case(phases=["write"], **EASY))]
    second = [on("easy", case(phases=["read"], verify=verify, cache="none", **EASY))]
    written, document = launches(engine, tmp_path, target, first, second)
    with (folder(target, written) / "easy" / "data.00000001").open("r+b") as file:
        one, two = file.read(2 * MIB), file.read(2 * MIB)
        file.seek(0)
        file.write(two + one)
    done = run(engine, tmp_path, document)
    assert done.code == 4
    failure = done.phase("read").failures[0]
    assert (failure.rank, failure.offset_bytes) == (1, 0)
    assert "block of rank 1, offset 2097152" in (failure.found or "")
    assert done.phase("read").bad_blocks == 2 * 2 * MIB // 512
    assert untouched(target)


def test_what_was_left_is_used_and_removed(engine: Path, tmp_path: Path, target: Path) -> None:
    first = [on("easy", case(phases=["write"], **EASY)), metadata("tree-create", "create")]
    second = [
        on("easy", case(phases=["read"], read_back="other-rank", verify="full", **EASY)),
        metadata("read", stride=1),
        metadata("unlink", "tree-remove", stride=1),
    ]
    _, document = launches(engine, tmp_path, target, first, second)
    done = run(engine, tmp_path, document)
    assert done.code == 0, done.stderr
    assert done.phase("read").verified_bytes == 16 * MIB
    assert done.phase("unlink").operations == 600
    assert untouched(target)


@pytest.mark.fault(
    "truncated and missing files", "exit 4; the record names rank and file; target empty but for what was there"
)
@pytest.mark.parametrize("harm", ["truncated", "missing"])
def test_a_file_that_others_have_cut_or_removed_fails_the_case(
    engine: Path, tmp_path: Path, target: Path, harm: str
) -> None:
    first = [on("easy", case(phases=["write"], **EASY))]
    second = [on("easy", case(phases=["read"], verify="full", cache="none", **EASY))]
    written, document = launches(engine, tmp_path, target, first, second)
    file = folder(target, written) / "easy" / "data.00000001"
    if harm == "missing":
        file.unlink()
    else:
        os.truncate(file, 3 * MIB)
    done = run(engine, tmp_path, document)
    assert done.code == 4
    failure = done.phase("read").failures[0]
    assert failure.rank == 1
    assert "data.00000001" in failure.path
    assert untouched(target)


@pytest.mark.fault("files overwritten by others", "exit 4, every file counted; target empty but for what was there")
def test_every_corrupted_file_is_counted(engine: Path, tmp_path: Path, target: Path) -> None:
    written, document = launches(engine, tmp_path, target, [metadata("tree-create", "create")], [metadata("read")])
    for file in folder(target, written).rglob("file.mdtest.*"):
        file.write_bytes(b"?" * 3901)
    done = run(engine, tmp_path, document)
    assert (done.code, done.phase("read").bad_blocks) == (4, 600)
    assert untouched(target)


def test_a_read_in_another_layout_is_refused(engine: Path, tmp_path: Path, target: Path) -> None:
    other = EASY | {"block_bytes": 4 * MIB}
    first, second = ([on("easy", case(phases=[phase], **words))] for phase, words in (("write", EASY), ("read", other)))
    _, document = launches(engine, tmp_path, target, first, second)
    done = run(engine, tmp_path, document)
    assert done.code == 4
    assert "was made as" in next(event.text for event in done.of("event") if event.severity == "error")


WRITES: dict[str, Document] = {
    "ior-easy": case(phases=["write"], block_bytes=6 * MIB),
    "ior-hard": case(phases=["write"], file_mode="shared", transfer_bytes=47008, block_bytes=47008, segments=130),
    "mdtest-hard": case()
    | {
        "workload": {
            "name": "metadata",
            "parameters": {"items": 1500, "write_bytes": 3901, "phases": ["tree-create", "create"]},
        }
    },
}


@pytest.mark.fault(
    "ENOSPC in the middle of each kind of write",
    "the case fails with errno 28, the plan goes on; nothing of ours is left",
)
@pytest.mark.parametrize("write", WRITES)
def test_full_in_the_middle_of_each_write(engine: Path, tmp_path: Path, small: Path, write: str) -> None:
    document = plan(tmp_path, [WRITES[write]], f"posix:{small}", limits={"space_fraction": 1.0, "reserve_bytes": 0})
    document["stop_rule"]["parameters"]["count"] = 500
    document["time_budget_s"] = 20
    done = run_while_filling(engine, tmp_path, document, small, 15 * MIB)
    assert done.code == 4, done.stderr
    failures = [failure for record in done.of("phase") for failure in record.failures]
    assert failures[0].errno == 28
    assert failures[0].path
    assert [path.name for path in small.iterdir()] == ["filler"]
