# SPDX-License-Identifier: Apache-2.0
"""Disk runs on a simulated engine, with a simulated fio beside it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SimulatedEngine, as_of_engine
from support.suite_world import SuiteWorld
from ullage.model.describe import Describe, Registered
from ullage.model.request import Request
from ullage.peers import Installed, PeerError
from ullage.peers.fio import PEER, FioJob
from ullage.runs.cells.direct import DirectIo
from ullage.runs.inputs import EngineContext
from ullage.runs.session import Session
from ullage.suites.disk.options import DiskOptions
from ullage.suites.disk.suite import PreparedDisk, prepare_disk

URING = as_of_engine("uring", "path", "data", "queue_depth=4096")


def describe(uring: Registered | None = URING) -> Describe:
    """The simulated engine with that backend ``uring`` or without one."""
    return DESCRIBE.model_copy(update={"backends": [*DESCRIBE.backends, *([] if uring is None else [uring])]})


@dataclass
class SimulatedFio:
    """Takes ``seconds`` a job and moves its bytes in them; fails where ``fails`` says why."""

    clock: Clock
    seconds: float = 0.3
    jobs: list[FioJob] = field(default_factory=list[FioJob])
    found: list[list[str]] = field(default_factory=list[list[str]])
    fails: Callable[[FioJob], str] = lambda _job: ""

    def __call__(self, program: Installed, job: FioJob, file_folder: Path, *, limit_s: float) -> dict[str, float]:
        assert program.version == "3.33"
        assert limit_s > 0
        self.jobs.append(job)
        self.found.append(sorted(path.name for path in file_folder.iterdir()))
        self.clock.at += self.seconds
        if reason := self.fails(job):
            raise PeerError(reason)
        if job.direction == "write":
            for index in range(job.jobs):
                (file_folder / f"data.{index:08}").write_bytes(b"x")
        rate = job.volume_bytes / self.seconds
        return {"bandwidth": rate, "operation_rate": rate / job.block_bytes, "latency_p50": 1e-4}


@dataclass
class World(SuiteWorld[PreparedDisk]):
    """It has fio too."""

    suite, model = "disk", DiskOptions
    fio: SimulatedFio = field(kw_only=True)

    def usual(self) -> dict[str, object]:
        sizes = {"threads": "1,2", "block": "1M,4M", "depth": "1,8", "small": "4K"}
        return {"target": [f"here={self.target}"], **sizes}

    def prepare_request(self, request: Request) -> PreparedDisk:
        return prepare_disk(request, self.engine_context)

    def start(self, prepared: PreparedDisk, session: Session) -> int:
        return super().start(replace(prepared, fio=self.fio), session)

    def with_mmap(self) -> None:
        """An engine that has mappings."""
        found = self.engine_context.description
        others = [one for one in found.backends if one.name != "mmap"]
        mmap = Registered(name="mmap", doc="mappings", available=True, capabilities=["path", "data"])
        self.engine_context = EngineContext(
            self.engine_context.engine, found.model_copy(update={"backends": [*others, mmap]})
        )

    def with_threads(self) -> None:
        """An engine whose `posix` serves several threads of a rank."""
        found = self.engine_context.description
        backends = [
            one.model_copy(update={"capabilities": [*one.capabilities, "threads=1024"]}) if one.name == "posix" else one
            for one in found.backends
        ]
        changed = found.model_copy(update={"backends": backends})
        self.engine_context = EngineContext(self.engine_context.engine, changed)

    def without_uring(self, uring: Registered | None) -> None:
        self.engine_context = replace(self.engine_context, description=describe(uring))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    (tmp_path / "here").mkdir()
    there = replace(PEER, installed=lambda: Installed(Path("/usr/bin/fio"), "3.33"))
    monkeypatch.setattr("ullage.peers.fio.PEER", there)
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: DirectIo(True, 512))
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 4)
    engine = SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1)
    return World(tmp_path, engine, EngineContext(Path("/engine"), describe()), fio=SimulatedFio(engine.clock))
