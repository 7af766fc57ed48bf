# SPDX-License-Identifier: Apache-2.0
"""Every workload with one rank that is short of something, killed or stopped: the case fails, the next one runs."""

import os
import re
import resource
import secrets
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.launching import KIB, MIB, Document, Finished, cleaned, finish, plan, run, start, untouched
from tests.e2e.test_engine_ends import rank_pids, wait_for_phase
from tests.e2e.test_engine_hangs import rank_of

from ullage.engine import describe
from ullage.errors import EXIT_CASE_FAILED

if TYPE_CHECKING:
    import subprocess

LIMITED = 1
WATCHDOG_S = 30.0
# More than a rank needs for what is not a buffer of its workload, and less than HUNGRY.
MARGIN = 96 * MIB
HUNGRY = 256 * MIB
SHORT: Document = {"windows": 2, "window_s": 0.001, "warm_up_s": 0.001}


@dataclass(frozen=True)
class Work:
    """A workload, as small as it can be, and how each of its resources is made too large for a rank."""

    words: Document
    backend: str = "null"  # which moves no data: the workload has no files
    hungry: Document | None = None  # more memory than the limit leaves; None: its memory does not grow
    threads: Document | None = None  # more threads than the limit leaves; None: it has none of its own
    large: Document | None = None  # a larger file than the limit allows; None: it writes none
    ranks: int = 2
    made_by: Document | None = None  # of workload `transfer`, which writes the dataset it works on

    @property
    def opens(self) -> Document | None:
        return None if self.backend == "null" else {}


MANY = 64
WORK: dict[str, Work] = {
    "b-eff": Work(
        {"lmax_bytes": 4 * KIB, "budget_s": 0.01, "random_rings": 1, "additional": False},
        hungry={"lmax_bytes": HUNGRY // 2},
    ),
    "b-eff-io": Work(
        {"unit_s": 0.01, "lmax_bytes": 64 * KIB, "most_bytes": MIB},
        backend="mpiio",
        hungry={"lmax_bytes": HUNGRY, "most_bytes": HUNGRY},
        large={},
    ),
    "chase": Work(
        {**SHORT, "working_set_bytes": 64 * KIB}, hungry={"working_set_bytes": HUNGRY}, threads={"threads": MANY}
    ),
    "collective": Work(SHORT, hungry={"message_bytes": HUNGRY}),
    "compute": Work(SHORT, threads={"threads": MANY}),
    "congestion": Work(  # with this seed rank LIMITED is a victim: only those send what is large
        {"test_s": 0.01, "rings": 1, "victim_share": 0.5, "seed": 2},
        ranks=4,
        hungry={"bulk_bytes": 16 * MIB, "outstanding": HUNGRY // (16 * MIB)},
    ),
    "core-to-core": Work(SHORT),
    "distributed-solve": Work({"n": 128, "warm_up_s": 0.001}, hungry={"n": 11000}),
    "exchange": Work({**SHORT, "message_bytes": KIB}, hungry={"message_bytes": HUNGRY}),
    "find": Work({"phases": ["timestamp", "find"]}, backend="posix"),
    "device-compute": Work({**SHORT, "rounds": 1}),
    "device-copy": Work({**SHORT, "size_bytes": KIB}),
    "device-launch": Work(SHORT),
    "device-stream": Work({**SHORT, "working_set_bytes": 192 * KIB}),  # its memory is that of a device
    "fixed-work": Work({"quanta": 10, "watch_s": 0.01, "warm_up_s": 0.001}, threads={"threads": MANY}),
    "flash": Work({"cells": 4, "blocks": 2}, backend="posix", hungry={"cells": 64, "blocks": 12}, large={"blocks": 64}),
    "gemm": Work({"n": 64, "warm_up_s": 0.001}, hungry={"n": 5000}),
    "loaded-latency": Work(
        {**SHORT, "working_set_bytes": MIB}, hungry={"working_set_bytes": HUNGRY}, threads={"injectors": MANY}
    ),
    "loader": Work(
        {"samples": 8, "sample_bytes": 8 * KIB, "deviation_bytes": 0, "epochs": 1, "step_s": 0.001},
        backend="posix",
        hungry={"samples": 2, "sample_bytes": HUNGRY, "transfer_bytes": HUNGRY},
        threads={"samples": 2 * MANY, "threads": MANY},
        large={"sample_bytes": MIB},
    ),
    "metadata": Work(
        {"items": 10}, backend="posix", hungry={"items": 2, "write_bytes": HUNGRY}, large={"write_bytes": MIB}
    ),
    "mixed-metadata": Work(
        {"sets": 2, "objects": 2, "rounds": 1},
        backend="posix",
        hungry={"sets": 1, "object_bytes": HUNGRY},
        large={"object_bytes": MIB},
    ),
    "mixed-transfer": Work(
        {"operations": 10, "read_share": 0.5},
        backend="posix",
        made_by={"phases": ["write"], "block_bytes": MIB, "transfer_bytes": 64 * KIB},
    ),
    "one-sided": Work(SHORT, hungry={"message_bytes": HUNGRY}),
    "overlap": Work(
        {"transfer_bytes": 64 * KIB, "depth": 2, "batches": 1, "rounds": 1},
        backend="posix",
        hungry={"transfer_bytes": HUNGRY // 4, "depth": 8},
        threads={"transfer_bytes": 4 * KIB, "depth": MANY},
        large={},
    ),
    "ping-pong": Work({"loops": 1, "measurements": 1, "pairs": "sampled"}, hungry={"message_bytes": HUNGRY}),
    "pio": Work({"request_bytes": 4 * KIB}, backend="posix", hungry={"request_bytes": HUNGRY, "requests": 1}, large={}),
    "ring": Work({"loops": 1, "measurements": 1}, hungry={"message_bytes": HUNGRY}),
    "sar": Work(
        {"grid": 2, "depth": 2, "rows": 64, "columns": 64, "raw_columns": 64, "templates": 1, "subimages": 1},
        backend="posix",
        hungry={"rows": 9000, "columns": 9000, "raw_columns": 9000},
        large={"rows": 512, "columns": 512},
    ),
    "shared-memory": Work({**SHORT, "message_bytes": KIB}),
    "sockets": Work(
        {"seconds": 0.05, "warm_up_s": 0.01, "patience_s": 2.0},
        hungry={"block_bytes": HUNGRY},
        threads={"streams": MANY},
    ),
    "solve": Work({"n": 128, "warm_up_s": 0.001}, hungry={"n": 9000}),
    "stepfile": Work(
        {"steps": 2, "state_bytes": 64 * KIB, "checkpoints": 1},
        backend="posix",
        hungry={"state_bytes": HUNGRY},
        threads={"steps": 4, "write_behind": MANY, "prefetch": MANY, "state_bytes": 4 * KIB},
        large={"state_bytes": MIB},
    ),
    "stream": Work(
        {**SHORT, "working_set_bytes": 64 * KIB}, hungry={"working_set_bytes": HUNGRY}, threads={"threads": MANY}
    ),
    "tile": Work(
        {"tiles_x": 2, "tile_x": 64, "tile_y": 64},
        backend="mpiio",
        hungry={"tile_x": 16384, "tile_y": 16384},
        large={"tiles_x": 1, "tiles_y": 2, "tile_x": 512},
    ),
    "transfer": Work(
        {"transfer_bytes": 4 * KIB, "block_bytes": 64 * KIB, "file_mode": "per-process"},
        backend="posix",
        hungry={"transfer_bytes": HUNGRY, "block_bytes": HUNGRY},
        threads={"threads": MANY},
        large={"block_bytes": MIB},
    ),
    "updates": Work({**SHORT, "table_bytes": 64 * KIB}, hungry={"table_bytes": HUNGRY}, threads={"threads": MANY}),
    "vpic": Work(
        {"particles": 1000, "steps": 1}, backend="posix", hungry={"particles": 16 << 20}, large={"particles": 10000}
    ),
}


def bound(name: str, words: Document, work: Work, dataset: str = "") -> Document:
    return {
        "id": secrets.token_hex(8),
        "target": "none" if work.backend == "null" else "files",
        "dataset": dataset,
        "backend": {"name": work.backend, "parameters": {}},
        "workload": {"name": name, "parameters": words},
    }


def cases_of(name: str, more: Document | None = None) -> list[Document]:
    """The case of a workload, after the one that makes what it works on, if it needs that."""
    work = WORK[name]
    words = {**work.words, **(more or {})}
    if work.made_by is None:
        return [bound(name, words, work)]
    return [bound("transfer", work.made_by, work, "made"), bound(name, words, work, "made")]


def document_of(tmp_path: Path, target: Path, cases: list[Document], **members: object) -> Document:
    targets = [{"name": "files", "uri": f"posix:{target}"}, {"name": "none", "uri": "null:"}]
    return plan(tmp_path, cases, "null:") | {"targets": targets, "order": "listed", "watchdog_s": WATCHDOG_S, **members}


GATE: Document = {"name": "fixed-work", "parameters": {"quanta": 10, "watch_s": 1.5}}


def gate() -> Document:
    """A case during which a limit is set: nothing of it needs more memory, threads or files than it has."""
    return bound("fixed-work", {}, Work({})) | {"workload": GATE}


def set_limit(process: "subprocess.Popen[str]", engine: Path, document: Document, kind: int, room: int) -> bool:
    """Leave rank LIMITED ``room`` more of a resource than it has, while the gate is run. False: that was too late."""
    records = Path(document["records"])
    before = next(i for i, case in enumerate(document["cases"]) if case["workload"] == GATE)
    deadline = time.monotonic() + 60
    while ended_cases(records) < before or '"kind":"run"' not in records.read_text():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    pid = limited_rank(engine, records.parent / "plan.json")
    _, most = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (now_used(pid, kind) + room, most))
    return ended_cases(records) == before


def ended_cases(records: Path) -> int:
    return records.read_text().count('"kind":"case"') if records.exists() else -1


def limited_rank(engine: Path, path: Path) -> int:
    return next(pid for pid in rank_pids(engine, path) if rank_of(pid) == LIMITED)


def now_used(pid: int, kind: int) -> int:
    if kind == resource.RLIMIT_AS:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
    if kind == resource.RLIMIT_NOFILE:
        return min(set(range(4096)) - {int(link.name) for link in Path(f"/proc/{pid}/fd").iterdir()})
    return 0


def run_limited(engine: Path, tmp_path: Path, target: Path, cases: list[Document], limit: tuple[int, int]) -> Finished:
    """Run cases, of which one is the gate, with rank LIMITED limited from the gate on."""
    ranks = max(WORK[case["workload"]["name"]].ranks for case in cases)
    for attempt in range(5):
        folder = tmp_path / f"try-{attempt}"
        folder.mkdir()
        document = document_of(folder, target, cases, layout={"ranks": ranks})
        process = start(engine, folder, document)
        if set_limit(process, engine, document, *limit):
            return finish(process, document, timeout_s=240)
        process.kill()
        process.wait()
    pytest.fail("the limit came too late five times")


ENOMEM, EAGAIN, EMFILE, EFBIG = 12, 11, 24, 27
SHORTAGES: dict[str, tuple[int, int, str, set[int]]] = {
    "memory": (resource.RLIMIT_AS, MARGIN, "hungry", {ENOMEM}),
    # The stacks of the case before may have left no room for what a rank allocates ahead of its threads.
    "threads": (resource.RLIMIT_AS, MARGIN, "threads", {EAGAIN, ENOMEM}),
    "open files": (resource.RLIMIT_NOFILE, 0, "opens", {EMFILE}),
    "file size": (resource.RLIMIT_FSIZE, 64 * KIB, "large", {EFBIG}),
}
LAYERS = {
    "storage": [name for name, work in WORK.items() if work.opens is not None],
    "others": [name for name, work in WORK.items() if work.opens is None and work.ranks == 2],
    "four ranks": [name for name, work in WORK.items() if work.ranks > 2],
}
# Their calls of the MPI are those of all others: messages, windows, collectives, its files, HDF5's, and none.
EACH_MPI = ("transfer", "pio", "b-eff-io", "flash", "ping-pong", "one-sided", "collective", "sockets", "compute")
OF_ALL = [pytest.param(name, marks=pytest.mark.each_mpi if name in EACH_MPI else ()) for name in WORK]
# A rank is missed after so long; the rest is for a machine that is busy.
SILENT_S = 3.0
LONGEST_S = 90.0


def more_for(name: str, attribute: str) -> Document | None:
    """What makes a case short of it; None where the workload does not use it."""
    more: Document | None = getattr(WORK[name], attribute)
    return more


def launches() -> list[tuple[str, str]]:
    """Shortages, and the layers in which a workload knows them."""
    return [
        (shortage, layer)
        for shortage, (_, _, attribute, _) in SHORTAGES.items()
        for layer, names in LAYERS.items()
        if any(more_for(name, attribute) is not None for name in names)
    ]


@pytest.fixture(autouse=True)
def io_that_reports_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """OMPIO loses errors, and hangs where one rank has one: ROMIO says them."""
    monkeypatch.setenv("OMPI_MCA_io", "romio321")


@pytest.fixture(scope="session")  # of a module they would keep the tests together
def available(engine: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Workloads that have their libraries for this MPI: of ScaLAPACK only a case says that it was not found."""
    folder = tmp_path_factory.mktemp("available")
    done = run(engine, folder, document_of(folder, folder, cases_of("distributed-solve")))
    without = {"distributed-solve"} if "none found" in str(done.of("phase")) else set[str]()
    return {workload.name for workload in describe(engine).workloads if workload.available} - without


def test_every_workload_is_in_the_table(engine: Path) -> None:
    assert set(WORK) == {workload.name for workload in describe(engine).workloads}


def said_of(done: Finished, case: str) -> list[tuple[int | None, str]]:
    """Return the failures of a case with their ranks, in phases and outside of them."""
    phases = [one for record in done.of("phase") if record.case == case for one in record.failures]
    events = [event for event in done.of("event") if event.case == case and event.code == "case-failed"]
    inside = [(one.rank, f"{one.operation} {one.path}: {one.text} (errno {one.errno})") for one in phases]
    return inside + [(event.rank, event.text) for event in events]


@pytest.mark.fault(
    "one rank of any workload has too little memory, too few threads or open files, or a limit of its files' size",
    "its case fails in one line with errno and rank, the next one runs; nothing of ours is left",
)
@pytest.mark.parametrize(
    ("short_of", "layer"),
    [pytest.param(*launch, marks=pytest.mark.each_mpi if launch[1] == "storage" else ()) for launch in launches()],
)
def test_a_rank_that_is_short_of_something_fails_its_case_alone(
    engine: Path, available: set[str], tmp_path: Path, target: Path, short_of: str, layer: str
) -> None:
    kind, room, attribute, known = SHORTAGES[short_of]
    asked = {
        name: more for name in LAYERS[layer] if name in available and (more := more_for(name, attribute)) is not None
    }
    cases = {name: cases_of(name, more) for name, more in asked.items()}
    last = cases_of("compute") if short_of == "open files" else cases_of("transfer")
    makers = [case for made in cases.values() for case in made[:-1]]
    every = [*makers, gate(), *(made[-1] for made in cases.values()), *last]
    done = run_limited(engine, tmp_path, target, every, (kind, room))
    assert done.code == EXIT_CASE_FAILED, done.stderr
    status = {record.case: record.status for record in done.of("case")}
    said = {name: said_of(done, made[-1]["id"]) for name, made in cases.items()}
    assert {name: status.get(made[-1]["id"]) for name, made in cases.items()} == dict.fromkeys(cases, "failed"), said
    own = {name: [text for rank, text in lines if rank == LIMITED] for name, lines in said.items()}
    right = re.compile(rf"errno ({'|'.join(map(str, known))})\)")
    assert {name for name, lines in own.items() if not any(map(right.search, lines))} == set(), said
    assert not [text for lines in said.values() for _, text in lines if "\n" in text]
    assert status[last[-1]["id"]] == "ok", said
    assert done.of("end")[0].status == "failed"
    assert untouched(target)


def endless_work(
    engine: Path, tmp_path: Path, target: Path, name: str
) -> "tuple[subprocess.Popen[str], Document, int]":
    """Start a workload that is repeated for ever, and return rank LIMITED too, once a repetition has ended."""
    without_end = {"name": "fixed", "parameters": {"count": 1000000}}
    members = {"stop_rule": without_end, "watchdog_s": SILENT_S, "time_budget_s": 5400.0}
    layout = {"ranks": WORK[name].ranks}
    document = document_of(tmp_path, target, cases_of(name), layout=layout, **members)
    process = start(engine, tmp_path, document)
    wait_for_phase(document)
    return process, document, limited_rank(engine, tmp_path / "plan.json")


@pytest.mark.fault("a rank of any workload is killed (SIGKILL)", "the launch ends at once; clean empties the target")
@pytest.mark.parametrize("name", OF_ALL)
def test_a_killed_rank_ends_the_launch(
    engine: Path, available: set[str], tmp_path: Path, target: Path, name: str
) -> None:
    if name not in available:
        pytest.skip(f"{name} is not available here")
    process, document, pid = endless_work(engine, tmp_path, target, name)
    os.kill(pid, signal.SIGKILL)
    done = finish(process, document, timeout_s=LONGEST_S)
    assert done.code != 0
    assert done.of("case")
    assert emptied(engine, target, document)


@pytest.mark.fault(
    "a rank of any workload is stopped whole (SIGSTOP)",
    "end status timeout within the limit, the rank named; clean empties the target",
)
@pytest.mark.parametrize("name", OF_ALL)
def test_a_stopped_rank_is_missed(engine: Path, available: set[str], tmp_path: Path, target: Path, name: str) -> None:
    if name not in available:
        pytest.skip(f"{name} is not available here")
    process, document, pid = endless_work(engine, tmp_path, target, name)
    os.kill(pid, signal.SIGSTOP)
    done = finish(process, document, timeout_s=LONGEST_S)
    event = next(event for event in done.of("event") if event.code == "timeout")
    assert event.rank == LIMITED, event.text
    assert done.of("end")[0].status == "timeout"
    assert emptied(engine, target, document)


def emptied(engine: Path, target: Path, document: Document) -> bool:
    folder = target / f"ullage-{document['run_id']}"
    return (not folder.exists() or cleaned(engine, folder)) and untouched(target)
