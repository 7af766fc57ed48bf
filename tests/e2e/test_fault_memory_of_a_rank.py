# SPDX-License-Identifier: Apache-2.0
"""One rank of several without memory: its case fails for all, in a line that names it, and the next one is run."""

import errno
import secrets
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.launching import MIB, Document

from ullage.errors import EXIT_CASE_FAILED

WATCHDOG_S = 60
# Address space that a rank needs for MPI and for small messages, and much less than any of the cases below takes.
ENOUGH_KIB = 800_000
# One of its ranks has little memory.
LITTLE = f'case "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" in %d) ulimit -v {ENOUGH_KIB};; esac; exec "$@"'

WITH_MESSAGES = [
    ("ping-pong", {"pairs": "sampled", "message_bytes": 450 * MIB, "loops": 1, "measurements": 1}),
    ("ping-pong", {"pairs": "all", "message_bytes": 450 * MIB, "loops": 1, "measurements": 1}),
    ("ring", {"message_bytes": 180 * MIB, "loops": 1, "measurements": 1}),
    ("collective", {"operation": "allreduce", "message_bytes": 350 * MIB, "windows": 1, "window_s": 0.01}),
    ("exchange", {"pattern": "ring", "message_bytes": 350 * MIB, "windows": 1, "window_s": 0.01}),
    ("one-sided", {"operation": "put", "message_bytes": 700 * MIB, "windows": 1, "window_s": 0.01}),
]
ON_STORAGE = [
    ("transfer", {"transfer_bytes": 700 * MIB, "block_bytes": 700 * MIB, "verify": "none"}),
    ("metadata", {"phases": ["tree-create", "create"], "items": 1, "write_bytes": 700 * MIB}),
]


def case(workload: str, backend: str, parameters: Document) -> Document:
    """A case of any workload."""
    return {
        "id": secrets.token_hex(8),
        "target": "t",
        "backend": {"name": backend},
        "workload": {"name": workload, "parameters": parameters},
    }


def fails_alone(
    engine: Path, folder: Path, large: Document, fine: Document, target: str, ranks: int = 2, short: int = 1
) -> None:
    """``large`` fails by rank ``short``'s lack of memory, and ``fine``, which comes after it, ends well."""
    document = launching.plan(folder, [large, fine], target, ranks, watchdog_s=WATCHDOG_S, order="listed")
    words, environment = launching.command(engine, launching.write(folder, document), ranks)
    at = words.index(str(engine))
    limited = [*words[:at], "sh", "-c", LITTLE % short, "sh", *words[at:]]
    done = launching.finish(launching.popen(limited, environment), document)
    assert done.code == EXIT_CASE_FAILED, done.stderr
    assert [(record.case, record.status) for record in done.of("case")] == [
        (large["id"], "failed"),
        (fine["id"], "ok"),
    ], done.stderr
    told = [failure for record in done.of("phase") for failure in record.failures]
    assert [(failure.rank, failure.errno) for failure in told] + [
        (event.rank, errno.ENOMEM) for event in done.of("event") if f"(errno {errno.ENOMEM})" in event.text
    ] == [(short, errno.ENOMEM)]
    assert done.of("end")[0].status == "failed"


@pytest.mark.fault("one rank short of memory, messages", "the case fails with ENOMEM and its rank, the next is run")
@pytest.mark.parametrize(("workload", "parameters"), WITH_MESSAGES)
def test_a_rank_without_memory_for_its_messages(
    engine: Path, tmp_path: Path, workload: str, parameters: Document
) -> None:
    fine = case("ping-pong", "null", {"pairs": "all"})
    fails_alone(engine, tmp_path, case(workload, "null", parameters), fine, "mpi:")


@pytest.mark.fault("one rank short of memory, congestion", "the case fails with ENOMEM and its rank, the next is run")
def test_a_victim_of_congestion_without_memory(engine: Path, tmp_path: Path) -> None:
    small = {"rings": 1, "test_s": 0.001, "victim_share": 0.5}
    document = launching.plan(tmp_path, [case("congestion", "null", small)], "mpi:", ranks=4)
    victims = launching.run(engine, tmp_path, document).of("phase")[0].facts["victims"]
    large = case("congestion", "null", {**small, "bulk_bytes": 16 * MIB, "outstanding": 14})
    fine = case("ping-pong", "null", {"pairs": "all"})
    (tmp_path / "records.ndjson").unlink()
    fails_alone(engine, tmp_path, large, fine, "mpi:", ranks=4, short=victims[-1])


@pytest.mark.fault("one rank short of memory, storage", "the case fails with ENOMEM and its rank, nothing is left")
@pytest.mark.parametrize(("workload", "parameters"), ON_STORAGE)
def test_a_rank_without_memory_for_its_data(
    engine: Path, tmp_path: Path, target: Path, workload: str, parameters: Document
) -> None:
    fails_alone(engine, tmp_path, case(workload, "posix", parameters), launching.case(), f"posix:{target}")
    assert launching.untouched(target)
