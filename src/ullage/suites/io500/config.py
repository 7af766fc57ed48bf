# SPDX-License-Identifier: Apache-2.0
"""What the official configuration file means here. Each of its keys is honoured, refused, or answered with a note."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from pydantic import Field, ValidationError

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.base import Strict
from ullage.model.plan import Target
from ullage.parameters import suggest
from ullage.reading import read_text
from ullage.suites.io500.ini import Api, Entry, parse_api, read_entries
from ullage.suites.io500.phases import BY_NAME, PHASES
from ullage.suites.io500.validity import COMPETITION_STONEWALL_S, STONEWALL_S
from ullage.uri import target_path

Positive: TypeAlias = Annotated[int, Field(ge=1)]


class OfficialConfig(Strict):
    """What the official configuration file says, in SI units. Null: not said, so a probe or a default decides.

    ``apis``, ``collective`` and ``skipped`` go by official phase; ``notes``: what the file says and this suite does
    otherwise, in sentences. ``result_folder``: absolute, empty where the official files go into the result only.
    """

    file: str = ""
    text: str = ""
    apis: dict[str, Api] = {}
    collective: list[str] = []
    skipped: list[str] = []
    transfer_bytes: Annotated[int, Field(gt=0, multiple_of=8)] = 2 << 20
    block_bytes: Positive | None = None
    file_per_process: bool = True
    directory_per_process: bool = False
    segments: Positive | None = None
    easy_items: Positive | None = None
    hard_items: Positive | None = None
    files_per_directory: Annotated[int, Field(ge=0)] = 0
    waiting_factor: Annotated[float, Field(ge=0)] = 0.0
    workbench_objects: Positive | None = None
    workbench_rounds: Positive | None = None
    stonewall_s: Annotated[float, Field(gt=0)] | None = None
    competition: bool = False
    drop_caches: bool = False
    pause_folder: str = ""
    data_folder: str = ""
    result_folder: str = ""
    timestamp_result_folder: bool = True
    find_ranks: dict[str, int] = {}
    notes: list[str] = []

    @property
    def sizes_are_given(self) -> bool:
        """Whether nothing is left for a probe to choose."""
        return None not in (self.block_bytes, self.segments, self.easy_items, self.hard_items)


def default_stonewall_s(config: OfficialConfig) -> float:
    """Return the stonewall of the file, else that of the rules."""
    if config.stonewall_s is not None:
        return config.stonewall_s
    return COMPETITION_STONEWALL_S if config.competition else STONEWALL_S


def check_against(official: OfficialConfig, targets: Sequence[Target], ranks: int) -> None:
    """Raise ``UserError`` where the file was made for another place, or for find on other ranks than all."""
    asked = Path(official.data_folder).expanduser().absolute()
    if official.data_folder and all(target_path(target) != asked for target in targets):
        right = f"write --target NAME={official.data_folder}, or leave datadir out"
        raise UserError(f"datadir {official.data_folder} is not among the targets", official.file, right)
    for section, count in official.find_ranks.items():
        if count != ranks:
            what = f"[{section}] nproc {count}: find runs on all {ranks} ranks"
            raise UserError(what, official.file, f"leave it out, or run with --ranks {count}")


def check_result_folder(official: OfficialConfig) -> None:
    """Raise ``UserError`` (exit code 3) when the copy of the official files could not be made after the run."""
    if not official.result_folder:
        return
    nearest = next(
        path for path in (Path(official.result_folder), *Path(official.result_folder).parents) if path.exists()
    )
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        what = f"resultdir {official.result_folder}: {nearest} is not a folder that can be written to"
        raise UserError(what, official.file, "name another, or leave it out", EXIT_ENVIRONMENT)


_DATA_KINDS: Final = ("timestamp", "offset", "incompressible", "random")
# Which phases a section speaks for, besides the one of its own name.
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "ior-easy": ("ior-easy-write", "ior-easy-read", "ior-rnd4K-easy-read"),
    "ior-hard": ("ior-hard-write", "ior-hard-read"),
    "mdtest-easy": ("mdtest-easy-write", "mdtest-easy-stat", "mdtest-easy-delete"),
    "mdtest-hard": ("mdtest-hard-write", "mdtest-hard-stat", "mdtest-hard-read", "mdtest-hard-delete"),
    "mdworkbench": ("mdworkbench-create", "mdworkbench-bench", "mdworkbench-delete"),
}


@dataclass
class _Reading:
    """The file as far as it was read. ``said`` are members of ``OfficialConfig`` by name."""

    folder: Path
    said: dict[str, object] = field(default_factory=dict[str, object])
    notes: dict[str, None] = field(default_factory=dict[str, None])
    apis: dict[str, Api] = field(default_factory=dict[str, Api])
    runs: dict[str, bool] = field(default_factory=dict[str, bool])
    collective: dict[str, bool] = field(default_factory=dict[str, bool])
    find_ranks: dict[str, int] = field(default_factory=dict[str, int])


def read_config(path: Path) -> OfficialConfig:
    """Read the file at ``path``; raise ``UserError`` with file and line for what cannot be done."""
    return parse_config(read_text(path, "name an INI file of the official tool"), str(path), path.parent)


def parse_config(text: str, name: str = "config", folder: Path | None = None) -> OfficialConfig:
    """Parse ``text``; files that it names are looked for in ``folder``."""
    entries, former = read_entries(text, name)
    reading = _Reading(folder or Path())
    for section in former:
        reading.notes[f"[{section}] is a phase of earlier releases and is not run"] = None
    # What a phase says of itself wins over what its group says, and that over [global].
    for entry in sorted(entries, key=lambda entry: 2 if entry.section in BY_NAME else int(entry.section in GROUPS)):
        _take(entry, reading)
    workbench = {entry.key for entry in entries if entry.section == "mdworkbench"}
    if len(workbench & {"precreatePerSet", "filesPerProc"}) == 1:
        raise UserError("gives one of precreatePerSet and filesPerProc", f"{name} [mdworkbench]", "give both or none")
    if reading.said.get("directory_per_process") and not reading.said.get("file_per_process", True):
        what = "needs a file for each process: a shared file has one folder"
        raise UserError(what, f"{name} [ior-easy] uniqueDir", "write uniqueDir = FALSE")
    skipped = [phase.name for phase in PHASES if not reading.runs.get(phase.name, True)]
    members = {
        **reading.said,
        "file": name,
        "text": text,
        "apis": reading.apis,
        "collective": [phase for phase, on in reading.collective.items() if on],
        "skipped": _with_dependants(skipped, reading.notes),
        "find_ranks": reading.find_ranks,
        "notes": list(reading.notes),
    }
    try:
        return OfficialConfig.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = next((f"[{one.section}] {one.key}" for one in entries if one.known.member == first["loc"][0]), "")
        raise UserError(f"{first['input']}: {first['msg']}", f"{name} {place}") from error


def _with_dependants(skipped: list[str], notes: dict[str, None]) -> list[str]:
    """Return ``skipped`` with the phases that use a dataset whose making phase is skipped; note each of them."""
    makers = {phase.makes: phase.name for phase in PHASES if phase.makes}
    found = list(skipped)
    for phase in PHASES:
        maker = makers.get(phase.dataset, "")
        if phase.name not in found and maker != phase.name and maker in skipped:
            notes[f"{phase.name} is not run: it needs what {maker} makes"] = None
            found.append(phase.name)
    return found


def _take(entry: Entry, reading: _Reading) -> None:
    known = entry.known
    if known.enough and entry.value == known.enough:
        what = f"[{entry.section}] {entry.key} {entry.value:,} is the official default, which only means enough"
        reading.notes[f"{what}: a probe chooses"] = None
    elif known.member:
        # For a count of 0 the official tool would do nothing and say so nowhere.
        if entry.value == 0 and known.kind in {"count", "size"} and known.member != "files_per_directory":
            raise UserError("is 0", entry.place, "give at least 1, or leave it out: a probe chooses")
        reading.said[known.member] = entry.value
    elif known.note:
        reading.notes[f"[{entry.section}] {entry.key} has no effect: {known.note}"] = None
    elif entry.key in {"API", "api", "run", "collective", "nproc"}:
        _take_of_phases(entry, reading)
    else:
        _take_of_run(entry, reading)
    if entry.key == "pause-dir":
        reading.notes["pause-dir pauses nothing here, and voids the run as the rules say"] = None


def _take_of_phases(entry: Entry, reading: _Reading) -> None:
    all_phases = [phase.name for phase in PHASES]
    for name in [entry.section] if entry.section in BY_NAME else GROUPS.get(entry.section, all_phases):
        match entry.key:
            case "run":
                reading.runs[name] = bool(entry.value) and reading.runs.get(name, True)
            case "collective":
                reading.collective[name] = bool(entry.value)
            case "nproc":
                reading.find_ranks[entry.section] = int(entry.value)
            case _ if BY_NAME[name].workload != "find":
                is_own = entry.section != "global"
                reading.apis[name] = parse_api(entry.text, entry.place, BY_NAME[name], reading.folder, is_own=is_own)
            case _:
                pass


def _take_of_run(entry: Entry, reading: _Reading) -> None:
    match entry.key:
        case "dataPacketType":
            if entry.text not in _DATA_KINDS:
                raise UserError(f"unknown kind '{entry.text}'", entry.place, suggest(entry.text, _DATA_KINDS))
            note = "incompressible, and keyed in every 512 bytes so that a misplaced or stale block is found"
            reading.notes[f"dataPacketType {entry.text} has no effect: the payload is always {note}"] = None
        case "resultdir":
            folder = Path(entry.text).expanduser().absolute()
            reading.said["result_folder"] = str(folder)
            note = f"the official files are copied to {folder}; the result itself is where --result says"
            reading.notes[f"resultdir: {note}"] = None
        case "drop-caches-cmd":
            if "/proc/sys/vm/drop_caches" not in entry.text:
                right = "leave it out: with drop-caches TRUE each node writes to /proc/sys/vm/drop_caches (root)"
                raise UserError("commands of your own are not run", entry.place, right)
            reading.notes["drop-caches-cmd is not run: each node writes to /proc/sys/vm/drop_caches itself"] = None
        case "io-buffers-on-gpu":
            if entry.value:
                raise UserError("buffers on a GPU are not supported", entry.place, "write FALSE")
        case _:
            raise UserError(f"'{entry.text}' is not run: find is built in", entry.place, "leave it out")
