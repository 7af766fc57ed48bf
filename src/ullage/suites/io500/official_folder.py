# SPDX-License-Identifier: Apache-2.0
"""The folder that the official tool would leave: result.txt, result_summary.txt, config.ini and a text a phase.

It is the result itself; with several targets each has a folder of its own in it. A ``resultdir`` of the configuration
file gets a copy.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import ullage
from ullage.errors import one_line
from ullage.exporters.ior import TRANSFERS, ior_lines, mdtest_lines
from ullage.ini import ini_lines
from ullage.model.plan import Target
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import Measured
from ullage.runs.options.reading import read_options
from ullage.suites.io500.config import GROUPS
from ullage.suites.io500.ini import KEYS, read_entries
from ullage.suites.io500.official import SCORE_SECTIONS, OfficialRun, PhaseResult, ScoreResult, make_run, mark_short
from ullage.suites.io500.options import Io500Options
from ullage.suites.io500.phases import BY_NAME, PHASES, Mode, modes_of, phases_of, scored_phases
from ullage.suites.io500.rounds import Digest, read_rounds, stamp
from ullage.suites.io500.score import score_of_medians
from ullage.suites.io500.summarise import digest_all
from ullage.uri import target_path

_LONGEST_VALUE: Final = 4000


def summary_text(run: OfficialRun) -> str:
    """Write a run as result_summary.txt: one line a phase, then the scores."""
    lines = [f"IO500 version {run.version or 'unknown'} ({run.mode})", *map(_summary_line, run.phases)]
    for mode, section in SCORE_SECTIONS.items():
        if score := run.scores.get(mode):
            lines.append(
                f"[{section:<6}] Bandwidth {score.bandwidth.value:f} GiB/s : IOPS {score.metadata.value:f} kiops : "
                f"TOTAL {score.total.value:f}{_mark(score.invalid)}"
            )
    return "\n".join([*lines, ""])


def _summary_line(phase: PhaseResult) -> str:
    official = BY_NAME[phase.name]
    tag = "[RESULT]" if official.scored else "[      ]"
    value = 0.0 if phase.value is None else phase.value.value
    elapsed = phase.elapsed_s or 0.0
    return f"{tag} {phase.name:>20} {value:15.6f} {official.unit} : time {elapsed:.3f} seconds{_mark(phase.invalid)}"


def _mark(invalid: bool) -> str:  # noqa: FBT001
    return " [INVALID]" if invalid else ""


def ini_text(run: OfficialRun) -> str:
    """Write a run as result.txt: ``[run]``, a section a phase with its reasons as comments, then the scores."""
    head = {"procs": str(run.ranks) if run.ranks else "", "version": run.version, **run.pairs, "mode": run.mode}
    lines = ["[run]", *_pairs(head), *_stamp("START", run.started), *_reasons(run.notes), ""]
    for phase in run.phases:
        first = {key: phase.pairs.get(key, "") for key in ("t_start", "exe", *phase.pairs) if key != "t_end"}
        if phase.value is not None and BY_NAME[phase.name].scored_phase:
            first["score"] = f"{phase.value.value:f}"
        last = {"t_delta": f"{phase.elapsed_s or 0.0:.4f}", "t_end": phase.pairs.get("t_end", "")}
        lines += ["", f"[{phase.name}]", *[*_pairs(first), *_reasons(phase.notes), *_pairs(last)]]
    for mode, section in SCORE_SECTIONS.items():
        if score := run.scores.get(mode):
            numbers = {"MD": f"{score.metadata.value:f}", "BW": f"{score.bandwidth.value:f}"}
            total = f"{score.total.value:f}{_mark(score.invalid)}"
            lines += ["", f"[{section}]", *_pairs({**numbers, "SCORE": total, "hash": score_hash(run, mode, score)})]
    return "\n".join([*lines, *_stamp("END", run.ended), ""])


def _stamp(word: str, time: str) -> list[str]:
    return [f"; {word} {one_line(time)}"] if time else []


def _pairs(values: Mapping[str, str]) -> list[str]:
    """Write lines ``KEY = VALUE``; double each ``%``, as Python's reader takes a single one for a reference."""
    shown = {key: one_line(value, _LONGEST_VALUE).replace("%", "%%") for key, value in values.items() if value}
    return [f"{key:<15} = {value}" for key, value in shown.items()]


def _reasons(notes: Iterable[str]) -> list[str]:
    return [f"; ERROR INVALID {one_line(note)}" for note in notes]


def check_sum(pairs: Iterable[tuple[str, str]]) -> int:
    """Return the official check sum of pairs of words, in whatever order they come.

    Each byte is added to 32 bits rotated left by two; the words of the pairs are combined by exclusive or. It
    tells that a file was changed by accident, and nothing of who has written it.
    """
    total = 0
    for key, value in pairs:
        word = 0
        for byte in f"{key}{value}".encode():
            word = (((word << 2) | (word >> 30)) + byte) & 0xFFFFFFFF
        total ^= word
    return total


def score_hash(run: OfficialRun, mode: Mode, score: ScoreResult) -> str:
    """Return the check sum of a score: over phases that count in this mode only, the scores, and if they are void.

    In the standard mode the version is counted, too.
    """
    names = {phase.name for phase in scored_phases(mode) if phase.mode == mode}
    pairs = [(phase.name, f"{phase.value.value:f}") for phase in run.phases if phase.name in names and phase.value]
    pairs += [("MD", f"{score.metadata.value:f}"), ("BW", f"{score.bandwidth.value:f}")]
    pairs += [("SCORE", f"{score.total.value:f}"), *([("valid", "NO")] if score.invalid else [])]
    return f"{check_sum([*pairs, *([('version', run.version)] if mode == 'standard' else [])]):X}"


def read_digests(result: ResultFolder) -> list[Digest]:
    """Return the digest of every target of ``result``."""
    from ullage.runs.summary import row_context

    request = result.read_request()
    options = read_options(Io500Options, request)
    failed = failed_cases(file.records for file in result.read_records())
    return digest_all(request, options, read_rounds(result), failed, row_context(request, result.read_system()))


def official_folders(digests: Sequence[Digest], options: Io500Options, place: Path) -> dict[Path, dict[str, str]]:
    """Return contents by folder and file name, without targets at which nothing has run. ``place``: of the result."""
    found: dict[Path, dict[str, str]] = {}
    for number, one in enumerate(digests, start=1):
        if not one.elapsed_s:
            continue
        part = f"target-{number}" if len(digests) > 1 else ""
        found[place / part] = _official_files(one, options, place / part)
        if options.config.result_folder:
            found[_copy(options, one) / part] = found[place / part]
    return found


def _copy(options: Io500Options, found: Digest) -> Path:
    """Return where the official tool puts its files: ``resultdir``, or a folder in it named by the start time."""
    folder = Path(options.config.result_folder)
    if not options.config.timestamp_result_folder:
        return folder
    began = next((stamp(attempt.run) for one in found.rounds for attempt in one.attempts), "")
    return folder / began.replace("-", ".").replace(" ", "-").replace(":", ".")


def _official_files(found: Digest, options: Io500Options, folder: Path) -> dict[str, str]:
    config = config_text(options, found.target, folder)
    run = make_run(
        found.values,
        found.elapsed_s,
        {one: score_of_medians(found.samples, one) for one in modes_of(options.mode)},
        found.validity,
        mode=options.mode,
        version=f"ullage-{ullage.__version__}",
        ranks=options.ranks,
        pairs=found.pairs,
    )
    attempts = [attempt for one in found.rounds for attempt in one.attempts]
    run = replace(
        mark_short(run, options.conditions.required_s),
        pairs={"config-hash": config_hash(config), "result-dir": str(folder)},
        started=stamp(attempts[0].run) if attempts else "",
        ended=stamp(attempts[-1].run, attempts[-1].ended_ns) if attempts and attempts[-1].phases else "",
    )
    files = {"result_summary.txt": summary_text(run), "result.txt": ini_text(run), "config.ini": config}
    if options.config.text:
        files["config-orig.ini"] = options.config.text
    counted = [one.counted() for one in found.rounds]
    texts: dict[str, str] = {}
    for phase in phases_of(options.mode):
        attempts = [attempts[phase.name] for attempts in counted if phase.name in attempts]
        measured = [Measured(a.run, a.case, record) for a in attempts for record in a.phases if a.is_whole]
        if measured and phase.workload in (*TRANSFERS, "metadata"):
            lines = ior_lines(measured) if phase.workload in TRANSFERS else mdtest_lines(measured)
            texts[f"{phase.name}.txt"] = "\n".join([*lines, ""])
    return {**files, **texts}


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
        keys = KEYS[section]
        for key in ["run"] if section.startswith("mdworkbench-") else list(keys):
            value = done.get((section, key), written.get((section, key), keys[key].default))
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
