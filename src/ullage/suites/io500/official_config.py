# SPDX-License-Identifier: Apache-2.0
"""The official configuration file of a run: every key in the official order, with the value that was in effect."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ullage.errors import one_line
from ullage.ini import ini_lines
from ullage.model.plan import Target
from ullage.suites.io500.config import GROUPS
from ullage.suites.io500.ini import KEYS, read_entries
from ullage.suites.io500.official_text import check_sum
from ullage.suites.io500.options import Io500Options
from ullage.suites.io500.phases import PHASES
from ullage.uri import target_path

# What the official tool takes when nothing is said. Keys that are not here are then empty.
_DEFAULTS: Final[Mapping[tuple[str, str], str]] = {
    ("global", "timestamp-datadir"): "TRUE",
    ("global", "timestamp-resultdir"): "TRUE",
    ("global", "api"): "POSIX",
    ("global", "drop-caches"): "FALSE",
    ("global", "drop-caches-cmd"): 'sudo -n bash -c "echo 3 > /proc/sys/vm/drop_caches"',
    ("global", "io-buffers-on-gpu"): "FALSE",
    ("global", "verbosity"): "1",
    ("global", "scc"): "FALSE",
    ("global", "dataPacketType"): "timestamp",
    ("ior-easy", "filePerProc"): "TRUE",
    ("ior-easy", "uniqueDir"): "FALSE",
    ("mdworkbench", "waitingTime"): "0.0",
}
_OF_FIND: Final = {
    "pfind-queue-length": "10000",
    "pfind-steal-next": "FALSE",
    "pfind-parallelize-single-dir-access-using-hashing": "FALSE",
}
# Keys that the official check sum counts also when they are empty.
_COUNTED_EMPTY: Final = ("external-mpi-args", "external-extra-args")


def config_text(options: Io500Options, target: Target, folder: Path) -> str:
    """Write a config.ini: the file of ``--config``, completed by defaults and by what was done at ``target``."""
    said = {(e.section, e.key): e.value for e in read_entries(options.config.text, options.config.file)[0]}
    written = {key: ("TRUE" if v else "FALSE") if isinstance(v, bool) else str(v) for key, v in said.items()}
    done = _done(options, target, folder)
    lines: list[str] = []
    for section in _sections():
        lines.append(f"[{section}]")
        # The official tool knows fewer keys for md-workbench, and refuses a file with others.
        for key in ["run"] if section.startswith("mdworkbench-") else list(KEYS[section]):
            value = done.get((section, key), written.get((section, key), _default(section, key)))
            lines.append(f"{key} = {one_line(value)}")
        lines.append("")
    return "\n".join([*lines, ""])


def _sections() -> list[str]:
    """Return the sections in the official order; that of a group stands before its first phase."""
    found = dict.fromkeys(("global", "debug"))
    for phase in PHASES:
        found |= dict.fromkeys(group for group, names in GROUPS.items() if phase.name in names)
        found[phase.name] = None
    return list(found)


def _default(section: str, key: str) -> str:
    if key == "run":
        return "TRUE"
    return _DEFAULTS.get((section, key), _OF_FIND.get(key, ""))


def _done(options: Io500Options, target: Target, folder: Path) -> dict[tuple[str, str], str]:
    sizes = options.sizes.get(target.name)
    found = {
        ("global", "datadir"): str(target_path(target) or ""),
        ("global", "resultdir"): str(folder),
        ("global", "timestamp-resultdir"): "FALSE",
        ("global", "drop-caches"): "TRUE" if options.cache == "drop" else "FALSE",
        ("debug", "stonewall-time"): f"{options.stonewall_s:g}",
        ("ior-easy", "transferSize"): str(options.config.transfer_bytes),
    }
    if sizes is not None:
        found |= {
            ("ior-easy", "blockSize"): str(sizes.block_bytes),
            ("ior-hard", "segmentCount"): str(sizes.segments),
            ("mdtest-easy", "n"): str(sizes.easy_items),
            ("mdtest-hard", "n"): str(sizes.hard_items),
        }
    return found


def config_hash(text: str) -> str:
    """Return the official check sum of a config.ini, over the keys that have a value."""
    pairs = [line.pair for line in ini_lines(text, "", trailing_comments=True) if line.pair is not None]
    return f"{check_sum(pair for pair in pairs if pair[1] or pair[0] in _COUNTED_EMPTY):X}"
