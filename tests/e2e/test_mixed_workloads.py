# SPDX-License-Identifier: Apache-2.0
"""Workloads that mix operations, on datasets that go from case to case of one plan."""

import secrets
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.launching import KIB, MIB, Document, Finished

from ullage.model.plan import Plan

RANKS = 2
OPERATIONS = 2000
SETS, OBJECTS, OBJECT_BYTES = 3, 20, 3901


def on_dataset(name: str, workload: str, **parameters: object) -> Document:
    """A case on a named dataset."""
    return {
        "id": secrets.token_hex(8),
        "target": "t",
        "dataset": name,
        "backend": {"name": "posix"},
        "workload": {"name": workload, "parameters": parameters},
    }


def mdworkbench(*phases: str, **parameters: object) -> Document:
    """A case of md-workbench's loop."""
    words = {"sets": SETS, "objects": OBJECTS, "object_bytes": OBJECT_BYTES, "rounds": OBJECTS, **parameters}
    return on_dataset("mdworkbench", "mixed-metadata", phases=phases, **words)


@pytest.fixture(scope="module")
def finished(engine: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One launch: data, reads and writes anywhere in it, all of it again; and the three cases of md-workbench."""
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "target").mkdir()
    size: Document = {"transfer_bytes": 64 * KIB, "block_bytes": MIB, "file_mode": "per-process"}
    cases = [
        on_dataset("ior-easy", "transfer", phases=["write"], **size),
        on_dataset("ior-easy", "mixed-transfer", operations=OPERATIONS, read_share=0.7, read_back="other-rank"),
        on_dataset("ior-easy", "transfer", phases=["read"], verify="full", **size),
        mdworkbench("precreate"),
        mdworkbench("bench", stride=1),
        mdworkbench("cleanup"),
    ]
    document = launching.plan(folder, cases, f"posix:{folder / 'target'}", ranks=RANKS, order="listed")
    Plan.model_validate(document)
    return launching.run(engine, folder, document)


def test_all_cases_end_well_and_leave_nothing(finished: Finished) -> None:
    assert finished.code == 0, finished.stderr
    assert list((finished.path.parent / "target").iterdir()) == []


def test_reads_and_writes_have_their_shares(finished: Finished) -> None:
    phase = finished.phase("mixed")
    assert phase.operations == OPERATIONS * RANKS
    assert phase.counters["reads"] == OPERATIONS * RANKS * 7 // 10
    assert phase.counters["writes"] == OPERATIONS * RANKS * 3 // 10
    parts = {name: part.operations for name, part in phase.latency_parts.items() if part is not None}
    assert parts == {"read": phase.counters["reads"], "write": phase.counters["writes"]}
    assert phase.access == "write"
    assert phase.data_of == "other-rank"
    assert phase.syncs == RANKS


def test_data_is_still_what_the_first_case_wrote(finished: Finished) -> None:
    assert finished.phase("mixed").bad_blocks == 0
    assert finished.phase("read").verified_bytes == MIB * RANKS


def test_bench_does_the_same_number_of_every_operation(finished: Finished) -> None:
    phase = finished.phase("bench")
    each = SETS * OBJECTS * RANKS
    assert phase.operations == 4 * each
    assert phase.counters == {"stats": each, "reads": each, "deletes": each, "creates": each}
    assert {name: part and part.operations for name, part in phase.latency_parts.items()} == dict.fromkeys(
        ("stat", "read", "delete", "create"), each
    )
    assert phase.verified_bytes == each * OBJECT_BYTES
    assert (phase.access, phase.data_of) == ("metadata", "other-rank")


def test_sets_are_filled_and_emptied(finished: Finished) -> None:
    objects = SETS * OBJECTS * RANKS
    assert finished.phase("precreate").operations == objects
    assert finished.phase("precreate").bytes == objects * OBJECT_BYTES
    assert finished.phase("cleanup").operations == objects
