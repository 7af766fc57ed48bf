# SPDX-License-Identifier: Apache-2.0
"""Plans written by hand and run on the real engine under its real launcher."""

import contextlib
import json
import os
import secrets
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ullage.engine import describe
from ullage.launch import choose_launcher
from ullage.model.plan import Plan
from ullage.model.record import PhaseRecord
from ullage.results.records import AnyRecord, read_records

Document: TypeAlias = dict[str, Any]

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True)
class Finished:
    """A launch that has ended."""

    code: int
    stderr: str
    records: list[AnyRecord]
    path: Path

    def of(self, kind: str) -> list[Any]:
        """Its records of one kind."""
        return [record for record in self.records if record.kind == kind]

    def phase(self, name: str) -> PhaseRecord:
        """The first record of a phase."""
        return next(record for record in self.of("phase") if record.phase == name)

    def codes(self) -> list[str]:
        """Codes of its events."""
        return [event.code for event in self.of("event")]


def case(backend: str = "posix", parameters: Document | None = None, **workload: object) -> Document:
    """A case of workload ``transfer``: a mebibyte a rank in transfers of 64 KiB unless told otherwise."""
    words: Document = {"transfer_bytes": 64 * KIB, "block_bytes": MIB, "file_mode": "per-process", **workload}
    return {
        "id": secrets.token_hex(8),
        "target": "t",
        "backend": {"name": backend, "parameters": parameters or {}},
        "workload": {"name": "transfer", "parameters": words},
    }


def plan(tmp_path: Path, cases: list[Document], target: str, ranks: int = 2, **members: object) -> Document:
    """A plan for one target called ``t``, which repeats nothing only because other tests are at work.

    ``members`` replace its own.
    """
    document: Document = {
        "schema": "ullage.plan/1",
        "run_id": "test-" + secrets.token_hex(4),
        "suite": "test",
        "records": str(tmp_path / "records.ndjson"),
        "layout": {"ranks": ranks},
        "targets": [{"name": "t", "uri": target}],
        "stop_rule": {"name": "fixed", "parameters": {"count": 1}},
        "limits": {"reserve_bytes": 0},
        "cases": cases,
    }
    return document | members


def write(tmp_path: Path, document: Document) -> Path:
    """The plan as a file."""
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))
    return path


def command(engine: Path, path: Path, ranks: int) -> tuple[list[str], dict[str, str]]:
    """Argument list and environment that start the plan under the engine's own launcher."""
    launcher = choose_launcher(describe(engine))
    layout = Plan.model_validate_json(path.read_text()).layout.model_copy(update={"ranks": ranks})
    return launcher.argv(engine, path, layout), {**launcher.environment(layout), **os.environ}


def start(engine: Path, tmp_path: Path, document: Document, ranks: int | None = None) -> "subprocess.Popen[str]":
    """Start a plan and do not wait."""
    path = write(tmp_path, document)
    words, environment = command(engine, path, ranks or document["layout"]["ranks"])
    return popen(words, environment)


def popen(words: list[str], environment: dict[str, str]) -> "subprocess.Popen[str]":
    """A process whose output is kept."""
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: "subprocess.Popen[str]", document: Document, timeout_s: float = 120) -> Finished:
    """Wait for a started plan."""
    try:
        _, stderr = process.communicate(timeout=timeout_s)
    finally:
        process.kill()
    path = Path(document["records"])
    return Finished(process.returncode, stderr, list(read_records(path).records) if path.exists() else [], path)


def run(engine: Path, tmp_path: Path, document: Document, ranks: int | None = None, timeout_s: float = 120) -> Finished:
    """Run a plan to its end."""
    return finish(start(engine, tmp_path, document, ranks), document, timeout_s)


def run_until(
    engine: Path, tmp_path: Path, make: Callable[[Path], Document], is_seen: Callable[[Finished], bool], tries: int = 5
) -> Finished:
    """Run the plans that ``make`` makes in folders of their own, until one shows what is looked for, or the last one.

    On a busy machine a rank may stand still for as long as a plan gives it.
    """
    number = 0
    while True:
        number += 1
        folder = tmp_path / f"try-{number}"
        folder.mkdir()
        done = run(engine, folder, make(folder))
        if is_seen(done) or number == tries:
            return done


def run_while_filling(engine: Path, tmp_path: Path, document: Document, target: Path, size: int) -> Finished:
    """Run a plan to its end while somebody else takes up to ``size`` bytes of its target, in a file ``filler``.

    ``target`` is a file system of its own, and the plan has begun to write its data there.
    """
    process = start(engine, tmp_path, document)
    deadline = time.monotonic() + 60
    while used_bytes(target) < 256 * KIB and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    with (target / "filler").open("wb", buffering=0) as filler:
        for _ in range(size // MIB):
            with contextlib.suppress(OSError):  # as much of it as there is
                filler.write(bytes(MIB))
    return finish(process, document)


def used_bytes(file_system: Path) -> int:
    """How much of a file system is taken."""
    status = os.statvfs(file_system)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def code_of(words: list[str]) -> int:
    """Exit code of a program."""
    return subprocess.run(words, check=False, capture_output=True).returncode


def cleaned(engine: Path, folder: Path) -> bool:
    """Whether `clean` removes the folder of a run, which its last rank may hold a moment longer than the launcher."""
    deadline = time.monotonic() + 60
    while code_of([str(engine), "clean", str(folder)]) != 0:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def untouched(target: Path) -> bool:
    """Whether the target holds what it held before, and nothing else."""
    return [path.name for path in target.iterdir()] == ["precious"] and (
        target / "precious"
    ).read_text() == "do not touch"
