# SPDX-License-Identifier: Apache-2.0
"""The folder of one run. Everything a report needs lies in it, and nothing else does.

request.json          what was asked                    plans/NNN.json       one plan a launch
system.json           facts of the machine              records/NNN.ndjson   what the engine wrote
summary.json          what the suite says of it         engine/NNN.stderr    what launcher and engine said
peers.ndjson          what other tools measured beside it
beside/               an imported result to show beside it, where one was named
parts/SUITE/          of a suite that is made of others: a result like this one for each
parts/outcomes.json   how each of them ended
report.html tables/   made again from the rest at will
"""

import contextlib
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, TypeVar

from pydantic import BaseModel, ValidationError

from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError
from ullage.harmless import harmless_json, is_plain_line
from ullage.identity import plan_bytes
from ullage.model.base import first_mistake
from ullage.model.plan import Plan
from ullage.model.record import PeerRecord
from ullage.model.request import Request
from ullage.model.summary import PartOutcome, PartOutcomes, Summary
from ullage.model.system import SystemFacts
from ullage.reading import read_bytes
from ullage.results.records import RecordFile, read_records

DEFAULT_PARENT: Final = Path("ullage-results")
ModelT = TypeVar("ModelT", bound=BaseModel)
_PARTS: Final = "parts"
BESIDE: Final = "beside"
PROBE: Final = "probe"
"""The folder of launches that are no part of what is measured."""
_COMPLETE: Final = "name a complete result"
_COPY: Final = "take it from a copy of the result"
_PART: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NUMBERED: Final = re.compile(r"(\d{3,})\.(?:json|ndjson|stderr)")


def _refused(error: OSError, what: str, path: Path, right: str, code: int = EXIT_ENVIRONMENT) -> UserError:
    """Return an error with what the system says of ``path``, or ``what`` where it says nothing."""
    return UserError(error.strerror or what, str(path), right, code)


def append_line(path: Path, line: bytes) -> None:
    """Add ``line``, on the disk when this returns, on a line of its own also after one that a crash cut short.

    Raise ``UserError`` when there is no room for all of it: the file is then as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+", buffering=0) as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - 1))
            _append(stream.fileno(), (b"\n" if size and stream.read(1) != b"\n" else b"") + line + b"\n", size)
    except OSError as error:
        raise _refused(error, "cannot be written", path, "make room for the result") from error


def _append(handle: int, data: bytes, size: int) -> None:
    """Write and sync ``data``; after a failure cut the file back to ``size``, the bytes it had before, and raise."""
    try:
        while data:
            data = data[os.write(handle, data) :]
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace ``path`` as a whole: a reader, or a crash, sees the old or the new content and never a part."""
    data = content.encode() if isinstance(content, str) else content
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with scratch.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        scratch.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise _refused(error, "cannot be written", path, "choose another folder") from error


def is_result(path: Path) -> bool:
    """Tell whether ``path`` is the folder of a result, which holds request.json."""
    return (path / "request.json").is_file()


def _to_json(model: BaseModel) -> str:
    return model.model_dump_json(indent=1) + "\n"


@dataclass(frozen=True)
class ResultFolder:
    """A result at ``path``; made by ``create`` or ``open``."""

    path: Path

    @classmethod
    def create(cls, path: Path | None, request: Request) -> "ResultFolder":
        """Make the new or empty folder (default ``ullage-results/RUN_ID``) with its request, or raise ``UserError``."""
        folder = (path or DEFAULT_PARENT / request.run_id).absolute()
        if not is_plain_line(str(folder)):
            what = "is not UTF-8 without control characters, as all names in results are"
            raise UserError(what, str(folder), "choose another --result")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            occupied = next(folder.iterdir(), None)
        except OSError as error:
            raise _refused(error, "cannot be made", folder, "choose another --result") from error
        if occupied is not None:
            exists = is_result(folder)
            right = "choose another --result, or `ullage resume` it" if exists else "choose an empty or new folder"
            raise UserError("is a result already" if exists else "folder is not empty", str(folder), right)
        result = cls(folder)
        result.write_request(request)
        return result

    @classmethod
    def open(cls, path: Path) -> "ResultFolder":
        """Open the existing result at ``path``; raise ``UserError`` when it is none."""
        folder = path.absolute()
        if not is_result(folder):
            what = "not a result" if folder.is_dir() else "no such folder"
            raise UserError(what, str(path), "name a folder that `ullage run` has printed (it holds request.json)")
        return cls(folder)

    @property
    def system_path(self) -> Path:
        """Facts of the machine."""
        return self.path / "system.json"

    @property
    def summary_path(self) -> Path:
        """What the suite says of the run."""
        return self.path / "summary.json"

    @property
    def peers_path(self) -> Path:
        """What other tools measured; not there when none did."""
        return self.path / "peers.ndjson"

    @property
    def outcomes_path(self) -> Path:
        """How the parts ended; not there where there are none."""
        return self.path / _PARTS / "outcomes.json"

    def part(self, name: str) -> Self:
        """Return the result of part ``name``, there or not; raise ``UserError`` for a link, which may lead out."""
        place = self.path / _PARTS / name
        if not self._is_part(name):
            raise UserError("is a link, or no name of a part", str(place), _COMPLETE)
        return type(self)(place)

    def parts(self) -> list[Self]:
        """Return the results of all parts, sorted by name; most suites have none. What ``part`` refuses is none."""
        folder = self.path / _PARTS
        names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else []
        return [self.part(name) for name in names if self._is_part(name) and is_result(folder / name)]

    def _is_part(self, name: str) -> bool:
        folder = self.path / _PARTS
        return _PART.fullmatch(name) is not None and not (folder.is_symlink() or (folder / name).is_symlink())

    @property
    def report_path(self) -> Path:
        """The report for people."""
        return self.path / "report.html"

    def plan_path(self, launch: int) -> Path:
        """Return the path of the plan of ``launch``."""
        return self.path / "plans" / f"{launch:03}.json"

    def records_path(self, launch: int) -> Path:
        """Return the path of the records that the engine writes in ``launch``."""
        return self.path / "records" / f"{launch:03}.ndjson"

    def stderr_path(self, launch: int) -> Path:
        """Return the path of what launcher and engine say on stderr in ``launch``."""
        return self.path / "engine" / f"{launch:03}.stderr"

    def launches(self) -> list[int]:
        """Return the numbers of the launches that have a plan, in rising order."""
        return self._numbers("plans")

    def check_there(self) -> None:
        """Raise ``UserError`` (exit code 3) where the folder was moved or removed since it was opened."""
        if not is_result(self.path):
            what = "the folder of the result was moved or removed during the run"
            raise UserError(what, str(self.path), "`ullage resume` it where it is now", EXIT_ENVIRONMENT)

    def next_launch(self) -> int:
        """Return the first number above all that any file of the folder carries, from 1."""
        used = [number for name in ("plans", "records", "engine") for number in self._numbers(name)]
        return max(used, default=0) + 1

    def _numbers(self, name: str) -> list[int]:
        folder = self.path / name
        entries = folder.iterdir() if folder.is_dir() else ()
        return sorted(int(match.group(1)) for entry in entries if (match := _NUMBERED.fullmatch(entry.name)))

    def prepare_launch(self, launch: int, plan: Plan) -> Path:
        """Write the plan of ``launch`` and make the folders its engine writes to; returns the plan's path."""
        for path in (self.records_path(launch), self.stderr_path(launch)):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise _refused(error, "cannot be made", path.parent, "make room for the result") from error
        write_atomically(self.plan_path(launch), plan_bytes(plan))
        return self.plan_path(launch)

    def write_request(self, request: Request) -> None:
        """Replace request.json."""
        write_atomically(self.path / "request.json", _to_json(request))

    def write_system(self, facts: SystemFacts) -> None:
        """Replace system.json."""
        write_atomically(self.system_path, _to_json(facts))

    def write_summary(self, summary: Summary) -> None:
        """Replace summary.json."""
        write_atomically(self.summary_path, _to_json(summary))

    def read_request(self) -> Request:
        """Read what was asked."""
        return _read(self.path / "request.json", Request)

    def read_system(self) -> SystemFacts | None:
        """Read the facts of the machine; return None when the run ended before they were written."""
        return _read(self.system_path, SystemFacts) if self.system_path.exists() else None

    def read_summary(self) -> Summary:
        """Read what the suite said; raise ``UserError`` when it has not said anything yet."""
        return _read(self.summary_path, Summary)

    def read_plan(self, launch: int) -> Plan:
        """Read the plan of ``launch``."""
        return _read(self.plan_path(launch), Plan)

    def read_records(self) -> list[RecordFile]:
        """Read the record file of every launch that left one, in the order of the launches, then those of the parts."""
        own = [read_records(self.records_path(number)) for number in self._numbers("records")]
        return [*own, *(file for part in self.parts() for file in part.read_records())]

    def read_outcomes(self) -> list[PartOutcome]:
        """Read how the parts that were run ended, in the order in which they did."""
        return _read(self.outcomes_path, PartOutcomes).outcomes if self.outcomes_path.exists() else []

    def write_outcomes(self, outcomes: Sequence[PartOutcome]) -> None:
        """Replace outcomes.json."""
        write_atomically(self.outcomes_path, _to_json(PartOutcomes(outcomes=list(outcomes))))

    def append_peer(self, record: PeerRecord) -> None:
        """Add a line to peers.ndjson, on the disk when this returns. What a crash cut short does not swallow it."""
        append_line(self.peers_path, record.model_dump_json().encode())

    def read_peers(self) -> list[PeerRecord]:
        """Read what other tools measured, in order, without cut lines, or none; raise ``UserError`` if unreadable."""
        try:
            lines = read_bytes(self.peers_path).splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _refused(error, "cannot be read", self.peers_path, _COMPLETE, EXIT_BAD_INPUT) from error
        found: list[PeerRecord] = []
        for line in lines:
            with contextlib.suppress(ValidationError):
                found.append(PeerRecord.model_validate_json(harmless_json(line)))
        return found


def check_plans(result: ResultFolder) -> None:
    """Raise ``UserError`` where request.json is not that of the plans: what goes on with it would measure elsewhere."""
    request, place = result.read_request(), str(result.path / "request.json")
    known = {target.name for target in request.targets}
    for number in result.launches():
        plan = result.read_plan(number)
        name = f"plans/{number:03}.json"
        missing = next((target.name for target in plan.targets if target.name not in known), None)
        if plan.suite != request.suite or plan.run_id != request.run_id:
            raise UserError(f"is damaged: {name} is of suite {plan.suite}, run {plan.run_id}", place, _COPY)
        if missing is not None:
            raise UserError(f"is damaged: /targets has no '{missing}', where {name} measures", place, _COPY)


def _read(path: Path, model: type[ModelT]) -> ModelT:
    try:
        return model.model_validate_json(harmless_json(read_bytes(path)))
    except OSError as error:
        raise _refused(error, "cannot be read", path, _COMPLETE, EXIT_BAD_INPUT) from error
    except ValidationError as error:
        place, why = first_mistake(error)
        what = f"is damaged: {place}: {why}"
        raise UserError(what, str(path), _COPY) from error
