# SPDX-License-Identifier: Apache-2.0
"""The official configuration file as text: its sections and keys, the types of their values, and the words of API.

Sections and keys are the official tool's, in any case. A key without a value is as good as absent.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ullage.errors import UserError
from ullage.ini import ini_lines
from ullage.model.base import Strict
from ullage.model.plan import Parameters
from ullage.parameters import suggest
from ullage.reading import read_text
from ullage.suites.io500.phases import PHASES, OfficialPhase
from ullage.units import parse_size

Kind: TypeAlias = Literal["flag", "count", "size", "number", "text"]
IniValue: TypeAlias = bool | int | float | str

_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the file: of which kind its value is, and what is in effect when nothing is said (empty: nothing).

    ``member``: of ``OfficialConfig``, which it sets; ``enough``: the official value that only means more than any run
    gets through before the wall; ``note``: why it has no effect here.
    """

    kind: Kind
    default: str = ""
    member: str = ""
    enough: int = 0
    note: str = ""


_IN_RECORDS: Final = "everything is in the records, whatever it says"
_VERBOSITY: Final = Key("count", note=_IN_RECORDS)
_API: Final = {"API": Key("text"), "run": Key("flag", "TRUE")}
_FIND: Final = {
    "external-script": Key("text"),
    "external-mpi-args": Key("text"),
    "external-extra-args": Key("text"),
    "nproc": Key("count"),
    "run": Key("flag", "TRUE"),
    "pfind-queue-length": Key("count", "10000", note="find keeps no queue whose length could be set"),
    "pfind-steal-next": Key("flag", "FALSE", note="a rank without work takes half of what another has"),
    "pfind-parallelize-single-dir-access-using-hashing": Key(
        "flag", "FALSE", note="a directory is read by the rank that takes it"
    ),
}
_TIMESTAMP: Final = (
    "each run works in ior-easy, ior-hard, mdtest-easy and mdtest-hard of its own folder ullage-TIME-ID below the "
    "target, and folders of these names at the target give them their layout"
)
_GROUPS: Final[dict[str, dict[str, Key]]] = {
    "global": {
        "datadir": Key("text", member="data_folder"),
        "timestamp-datadir": Key("flag", "TRUE", note=_TIMESTAMP),
        "resultdir": Key("text"),
        "timestamp-resultdir": Key("flag", "TRUE", "timestamp_result_folder"),
        "api": Key("text", "POSIX"),
        "drop-caches": Key("flag", "FALSE", "drop_caches"),
        "drop-caches-cmd": Key("text", 'sudo -n bash -c "echo 3 > /proc/sys/vm/drop_caches"'),
        "io-buffers-on-gpu": Key("flag", "FALSE"),
        "verbosity": Key("count", "1", note=_IN_RECORDS),
        "scc": Key("flag", "FALSE", "competition"),
        "dataPacketType": Key("text", "timestamp"),
    },
    "debug": {"stonewall-time": Key("count", member="stonewall_s"), "pause-dir": Key("text", member="pause_folder")},
    "ior-easy": {
        **_API,
        "transferSize": Key("size", member="transfer_bytes"),
        "blockSize": Key("size", member="block_bytes", enough=9920000 << 20),
        "filePerProc": Key("flag", "TRUE", "file_per_process"),
        "uniqueDir": Key("flag", "FALSE", "directory_per_process"),
        "verbosity": _VERBOSITY,
    },
    "ior-hard": {
        **_API,
        "segmentCount": Key("count", member="segments", enough=10_000_000),
        "collective": Key("flag"),
        "verbosity": _VERBOSITY,
    },
    "mdtest-easy": {**_API, "n": Key("count", member="easy_items", enough=1_000_000)},
    "mdtest-hard": {
        **_API,
        "n": Key("count", member="hard_items", enough=1_000_000),
        "files-per-dir": Key("count", member="files_per_directory"),
    },
    "mdworkbench": {
        **_API,
        "waitingTime": Key("number", "0.0", "waiting_factor"),
        "precreatePerSet": Key("count", member="workbench_objects"),
        "filesPerProc": Key("count", member="workbench_rounds"),
        "verbosity": _VERBOSITY,
    },
    "timestamp": {},
}
# Phases and keys of earlier releases, which still stand in files people have; how a value of a key is said today, by
# how the section begins.
_FORMER_SECTION: Final = re.compile(r"ior-rnd(?:4k|1mb)?(?:-write|-read)?", re.IGNORECASE | re.ASCII)
_FORMER_KEYS: Final[Mapping[str, Mapping[str, str]]] = {
    "posix.odirect": {
        "ior-easy": "write API = POSIX --posix.odirect",
        "": "leave it out: O_DIRECT moves no part of a sector, and no names",
    },
    "hintsfilename": {"ior-": "write API = MPIIO --mpiio.hintsFileName={}", "": "leave it out: names go through POSIX"},
    "norun": {"": "write run = FALSE"},
    "external-args": {"": "leave it out: find is built in"},
}


def _keys_of(phase: str) -> dict[str, Key]:
    return _FIND if phase.startswith("find") else _API | ({"collective": Key("flag")} if "ior-hard" in phase else {})


KEYS: Final[Mapping[str, Mapping[str, Key]]] = {**{phase.name: _keys_of(phase.name) for phase in PHASES}, **_GROUPS}
_SECTIONS: Final = {name.lower(): name for name in KEYS}


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of the file; ``place`` says where it stands: ``FILE:LINE [SECTION] KEY``."""

    section: str
    key: str
    value: IniValue
    place: str

    @property
    def text(self) -> str:
        """The value as words."""
        return str(self.value)

    @property
    def known(self) -> Key:
        """What is known of its key."""
        return KEYS[self.section][self.key]


def read_entries(text: str, name: str) -> tuple[list[Entry], list[str]]:
    """Return all values that are set, and the sections of former phases, which are skipped.

    Raise ``UserError`` with file and line for what the official tool would not take either: an unknown section or key,
    a value of another type, a line that is neither.
    """
    entries: dict[tuple[str, str], Entry] = {}
    former: list[str] = []
    section: str | None = None
    for line in ini_lines(text, name, trailing_comments=True):
        if line.section is not None:
            section = _section(line.section, line.place)
            former += [line.section] if section == "" else []
        elif line.comment:
            continue
        elif line.pair is None:
            raise UserError("is neither a section nor a value", line.place, "write [SECTION] or KEY = VALUE")
        elif section is None:
            raise UserError(f"'{line.pair[0]}' stands before the first section", line.place, "begin with [global]")
        elif section and (entry := _entry(section, *line.pair, line.place)) is not None:
            if (section, entry.key) in entries:
                raise UserError("is set twice", entry.place, "write it once")
            entries[section, entry.key] = entry
    return list(entries.values()), former


def _section(word: str, place: str) -> str:
    """Return the section's own spelling, empty for a former phase; raise ``UserError`` for an unknown one."""
    if _FORMER_SECTION.fullmatch(word):
        return ""
    if word.lower() not in _SECTIONS:
        raise UserError(f"unknown section '{word}'", place, suggest(word, KEYS))
    return _SECTIONS[word.lower()]


def _entry(section: str, word: str, text: str, place: str) -> Entry | None:
    by_lower = {key.lower(): key for key in KEYS[section]}
    key = by_lower.get(word.lower())
    if key is None and word.lower() in _FORMER_KEYS and "run" in KEYS[section]:
        if text and _FLAGS.get(text.lower()) is not False:
            ways = _FORMER_KEYS[word.lower()]
            right = next(way for begin, way in ways.items() if section.startswith(begin)).format(text)
            raise UserError(f"'{word}' is a key of earlier releases", f"{place} [{section}]", right)
        return None
    if key is None:
        raise UserError(f"unknown key '{word}' in [{section}]", place, suggest(word, KEYS[section]))
    if not text:
        return None
    where = f"{place} [{section}] {key}"
    form, read, what, right = _FORMS[KEYS[section][key].kind]
    if re.fullmatch(form, text, re.IGNORECASE | re.ASCII) is None:
        raise UserError(f"'{text}' is not {what}", where, right)
    return Entry(section, key, read(text), where)


_FORMS: Final[Mapping[Kind, tuple[str, Callable[[str], IniValue], str, str]]] = {
    "flag": ("true|1|false|0", lambda text: _FLAGS[text.lower()], "a truth value", "write TRUE or FALSE"),
    "count": (r"\d{1,18}", int, "a whole number", "write digits only"),
    "size": (r"\d+[kmgt]?b?", lambda text: parse_size(text.rstrip("bB")), "a size", "write 2m, 47008 or 1g"),
    "number": (r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", float, "a number", "write 0.0 or 1.5"),
    "text": (r"(?s:.*)", str, "", ""),
}
"""How a value of each kind is written and read, what it is, and what would be right."""


_HINT: Final = re.compile(r"IOR_HINT__(MPI|GPFS)__(\w+)\s*=\s*(\S+)", re.ASCII)
_BACKENDS: Final = {"POSIX": "posix", "MPIIO": "mpiio", "MMAP": "mmap", "PMDK": "pmem"}
_NAMELESS: Final = {"mpiio": "MPI-IO", "mmap": "MMAP", "pmem": "PMDK"}
_LAYOUT_OF_FILES: Final = ("--posix.lustre.", "--posix.gpfs.", "--posix.beegfs.")
_STRIPES: Final = (
    "leave it out: set it with the file system's own tool on the folder DATADIR/{} before the run, whose layout is used"
)


class Api(Strict):
    """Through which backend a phase goes, and the parameters that its words set."""

    backend: Literal["posix", "mpiio", "mmap", "pmem"] = "posix"
    parameters: Parameters = {}


def parse_api(text: str, place: str, phase: OfficialPhase, folder: Path, *, is_own: bool = True) -> Api:
    """Parse ``POSIX``, ``POSIX --posix.odirect``, ``MPIIO --mpiio.hintsFileName=FILE``, ``MMAP`` ... for ``phase``.

    Metadata goes through POSIX only. Another API is an error where it is asked of such a phase itself (``is_own``), and
    means POSIX where it is asked of all.
    """
    name, *words = _split(text, place)
    if name.upper() not in _BACKENDS:
        raise UserError(f"API '{name}' is not supported", place, suggest(name.upper(), _BACKENDS))
    backend = _BACKENDS[name.upper()]
    on_names = phase.workload in {"metadata", "mixed-metadata"}
    if backend != "posix" and on_names:
        if is_own:
            raise UserError(f"{_NAMELESS[backend]} has no metadata operations but open and delete", place, "use POSIX")
        return Api()
    if backend == "pmem" and phase.dataset == "ior-hard":
        raise UserError("PMDK needs a file for each process", place, f"{phase.name} shares a file: use MMAP or POSIX")
    parameters: Parameters = {}
    for word in (joined.removesuffix("=1") for joined in _joined(words)):
        # Small files are made and read through the cache; O_DIRECT would concern their bytes only.
        if word == "--posix.odirect" and backend == "posix" and not on_names:
            parameters["direct"] = True
        elif word.startswith("--mpiio.hintsFileName=") and backend == "mpiio":
            parameters["hints"] = dict(read_hint_file(folder / word.partition("=")[2]))
        # What is set on a folder counts for all that is made in it.
        elif word.startswith(_LAYOUT_OF_FILES):
            raise UserError(f"{name} option '{word}' is not set by a run", place, _STRIPES.format(phase.dataset))
        elif not (word == "--posix.odirect" and on_names and not is_own):
            right = "leave it out: --posix.odirect of bandwidth phases and --mpiio.hintsFileName=FILE are known"
            raise UserError(f"option '{word}' of {name} is not supported for {phase.name}", place, right)
    return Api.model_validate({"backend": backend, "parameters": parameters})


def _split(text: str, place: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UserError(f"cannot be split into words: {error}", place, "close the quotation") from error


def _joined(words: Iterable[str]) -> list[str]:
    """Join an option and its value, ``--a b``, to ``--a=b``."""
    found: list[str] = []
    for word in words:
        if not word.startswith("-") and found:
            found[-1] += f"={word}"
        else:
            found.append(word)
    return found


def read_hint_file(path: Path) -> dict[str, str]:
    """Read the MPI hints of a file of lines ``IOR_HINT__MPI__KEY=VALUE``; raise ``UserError`` for another line."""
    lines = read_text(path, "name a file of IOR_HINT__MPI__KEY=VALUE lines").splitlines()
    hints: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        bare = line.partition("#")[0].strip()
        match = _HINT.fullmatch(bare)
        if bare and (match is None or match[1] != "MPI"):
            raise UserError("is not an MPI hint", f"{path}:{number}", "write IOR_HINT__MPI__KEY=VALUE")
        if match is not None:
            hints[match[2]] = match[3]
    return hints
