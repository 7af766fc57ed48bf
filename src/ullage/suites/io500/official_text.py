# SPDX-License-Identifier: Apache-2.0
"""A run as the official tool writes it: the lines of result_summary.txt, and the INI result.txt with all its fields."""

from collections.abc import Iterable, Mapping
from typing import Final

from ullage.errors import one_line
from ullage.suites.io500.official import RUN_SECTION, SCORE_SECTIONS, OfficialRun, PhaseResult, ScoreResult
from ullage.suites.io500.phases import BY_NAME, Mode, scored_phases

_LONGEST_VALUE: Final = 4000
# Between these keys stand score and time of a phase.
_FIRST_KEYS: Final = ("t_start", "exe")
_LAST_KEYS: Final = ("t_end",)


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
    lines = [f"[{RUN_SECTION}]", *_pairs(head), *_stamp("START", run.started), *_reasons(run.notes), ""]
    for phase in run.phases:
        lines += ["", f"[{phase.name}]", *_section(phase)]
    for mode, section in SCORE_SECTIONS.items():
        if score := run.scores.get(mode):
            numbers = {"MD": f"{score.metadata.value:f}", "BW": f"{score.bandwidth.value:f}"}
            total = f"{score.total.value:f}{_mark(score.invalid)}"
            lines += ["", f"[{section}]", *_pairs({**numbers, "SCORE": total, "hash": score_hash(run, mode, score)})]
    return "\n".join([*lines, *_stamp("END", run.ended), ""])


def _section(phase: PhaseResult) -> list[str]:
    ordered = (*_FIRST_KEYS, *(key for key in phase.pairs if key not in {*_FIRST_KEYS, *_LAST_KEYS}))
    score = {} if phase.value is None or not BY_NAME[phase.name].scored_phase else {"score": f"{phase.value.value:f}"}
    return [
        *_pairs({key: phase.pairs.get(key, "") for key in ordered}),
        *_pairs(score),
        *_reasons(phase.notes),
        *_pairs({"t_delta": f"{phase.elapsed_s or 0.0:.4f}"}),
        *_pairs({key: phase.pairs.get(key, "") for key in _LAST_KEYS}),
    ]


def _stamp(word: str, time: str) -> list[str]:
    return [f"; {word} {one_line(time)}"] if time else []


def _pairs(values: Mapping[str, str]) -> list[str]:
    """Write lines ``KEY = VALUE``; double each ``%``, as Python's reader takes a single one for a reference."""
    shown = {key: one_line(value, _LONGEST_VALUE).replace("%", "%%") for key, value in values.items() if value}
    return [f"{key:<15} = {value}" for key, value in shown.items()]


def _reasons(notes: Iterable[str]) -> list[str]:
    return [f"; ERROR INVALID {one_line(note)}" for note in notes]


# -- the check sum against accidents -----------------------------------------------------------------------------------


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
