# SPDX-License-Identifier: Apache-2.0
"""Reads result_summary.txt, logs that hold its lines, and result.txt, also as the first releases of IO500 wrote them.

Strictly: what claims to be a result and does not read is an error with its line. Where the first releases print GB/s
they mean GiB/s.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from ullage.errors import UserError
from ullage.importers.printed import Printed, printed
from ullage.suites.io500.ini import ini_lines
from ullage.suites.io500.official import SCORE_SECTIONS, OfficialRun, PhaseResult, ScoreResult
from ullage.suites.io500.phases import BY_NAME, MODES, Mode, find_phase

# Phases of older releases that never counted and are gone.
FORMER_PHASES: Final = frozenset(
    {"ior-rnd4K-write", "ior-rnd4K-read", "ior-rnd1MB-write", "ior-rnd1MB-read", "concurrent"}
)
_NUMBER: Final = r"\d{1,15}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?"
_BW_UNIT: Final = r"Gi?B/s"
_TAGGED: Final = re.compile(r"\s*\[(?:RESULT|SCORE| +\])", re.IGNORECASE)
_RESULT: Final = re.compile(
    rf"\s*\[(?:RESULT(?P<void>[ -]INVALID)?| +)\]\s+(?:(?:BW|IOPS)\s+phase\s+\d+\s+)?(?P<name>[\w-]+)\s+"
    rf"(?P<value>{_NUMBER})\s+(?P<unit>{_BW_UNIT}|kIOPS)\s*:\s*time\s+(?P<time>{_NUMBER})\s+s(?:econds)?"
    rf"(?P<mark>\s+\[INVALID\])?\s*",
    re.IGNORECASE | re.ASCII,
)
_SCORE: Final = re.compile(
    rf"\s*\[SCORE(?P<extended>X)?\s*(?P<void>-?INVALID)?\s*\]\s+Bandwidth\s+\**(?P<bw>{_NUMBER})\**\s+{_BW_UNIT}\s*:\s*"
    rf"IOPS\s+\**(?P<md>{_NUMBER})\**\s+kIOPS\s*:\s*TOTAL\s+\**(?P<total>{_NUMBER})\**(?P<mark>\s+\[INVALID\])?\s*",
    re.IGNORECASE | re.ASCII,
)
_VERSION: Final = re.compile(r"IO500 version (?P<version>\S+) \((?P<mode>standard|extended)\)\s*")
_VERDICT: Final = re.compile(r"^(?:ERROR )?INVALID:?\s*")


def is_ini(text: str) -> bool:
    """Whether ``text`` looks like result.txt: it has a section named like a phase, or that of the score."""
    names = {line.section for line in ini_lines(text, "", trailing_comments=False) if line.section is not None}
    return any(name in SCORE_SECTIONS.values() or find_phase(name) is not None for name in names)


def has_result_lines(text: str) -> bool:
    """Whether a line of ``text`` is a result, as in result_summary.txt or in what the tool prints while it runs."""
    return any(_RESULT.fullmatch(line) for line in text.splitlines())


def read_lines(text: str, name: str) -> list[OfficialRun]:
    """The runs of result_summary.txt, or of a log that holds such lines: a phase that comes again begins another run.

    Lines without one of the tags are somebody else's; one with a tag that does not read is a ``UserError`` with its
    number.
    """
    runs: list[OfficialRun] = []
    run = OfficialRun(())
    for number, line in enumerate(text.splitlines(), start=1):
        place = f"{name}:{number}"
        if match := _VERSION.fullmatch(line):
            run = replace(run, version=match.group("version"), mode=_mode(match.group("mode"), place))
        elif match := _SCORE.fullmatch(line):
            run = _with_score(run, match, place)
        elif match := _RESULT.fullmatch(line):
            phase = _phase_of_line(match, place)
            if run.scores or (phase is not None and run.phase(phase.name) is not None):
                runs, run = [*runs, run], OfficialRun(())
            run = run if phase is None else replace(run, phases=(*run.phases, phase))
        elif _TAGGED.match(line):
            right = "write '[RESULT] PHASE VALUE GiB/s|kIOPS : time SECONDS seconds' as the official tool does"
            raise UserError("is no result line", place, right)
    found = [one for one in (*runs, run) if one.phases]
    if not found:
        raise UserError("holds no phase", name, "name a result_summary.txt, or a log with its [RESULT] lines")
    return found


def _mode(word: str, place: str) -> Mode:
    for mode in MODES:
        if word == mode:
            return mode
    raise UserError(f"unknown mode '{word}'", place, f"write {' or '.join(MODES)}")


def _with_score(run: OfficialRun, match: re.Match[str], place: str) -> OfficialRun:
    mode: Mode = "extended" if match.group("extended") else "standard"
    if mode in run.scores:
        raise UserError("gives the score once more", place, "remove one of the two lines")
    bandwidth, metadata, total = (printed(match.group(part)) for part in ("bw", "md", "total"))
    found = ScoreResult(bandwidth, metadata, total, bool(match.group("void") or match.group("mark")))
    return replace(run, scores={**run.scores, mode: found}, mode=_higher(run.mode, mode))


def _higher(one: Mode, other: Mode) -> Mode:
    return "extended" if "extended" in {one, other} else "standard"


def _phase_of_line(match: re.Match[str], place: str) -> PhaseResult | None:
    """None for a phase that is gone."""
    name = _phase_name(match.group("name"), place)
    if name not in BY_NAME:
        return None
    if BY_NAME[name].is_bandwidth == match.group("unit").lower().startswith("kiops"):
        raise UserError(f"{name} is in {match.group('unit')}", place, f"write it in {BY_NAME[name].unit}")
    invalid = bool(match.group("void") or match.group("mark"))
    return PhaseResult(name, printed(match.group("value")), float(match.group("time")), invalid)


def _phase_name(text: str, place: str) -> str:
    """As it is called today."""
    phase, dashed = find_phase(text), text.replace("_", "-")
    if phase is None and dashed not in FORMER_PHASES:
        raise UserError(f"unknown phase '{text}'", place, f"the phases are {', '.join(BY_NAME)}")
    return dashed if phase is None else phase.name


def read_ini(text: str, name: str) -> OfficialRun:
    """The run of a result.txt. A line is a section, a pair, a comment or empty; else ``UserError`` with its number."""
    sections = _sections(text, name)
    head = sections.pop("", _Section(name))
    phases = tuple(_phase_of_section(key, found) for key, found in sections.items() if key in BY_NAME)
    if not phases:
        raise UserError("holds no phase", name, "name a result.txt as the official tool writes it")
    scores: dict[Mode, ScoreResult] = {
        mode: _score_of_section(sections[key]) for mode, key in SCORE_SECTIONS.items() if key in sections
    }
    ranks = head.take("procs", _count)
    mode = _mode(*head.values.get("mode", ("standard", name)))
    version = head.values.get("version", ("", ""))[0]
    return OfficialRun(phases, scores, version, mode, int(ranks or 0), tuple(head.notes))


@dataclass(slots=True)
class _Section:
    """Values of one section with the place each stands at, and what its comments say of validity."""

    place: str
    values: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    notes: list[str] = field(default_factory=list[str])

    def take(self, key: str, parse: Callable[[str], float]) -> float | None:
        """The number of ``key``; None without one."""
        if key not in self.values:
            return None
        text, place = self.values[key]
        try:
            return parse(text)
        except ValueError as error:
            raise UserError(f"'{text}' is no {key}", place, "write a number, 0 or more") from error


def _count(text: str) -> float:
    if re.fullmatch(r"\d{1,9}", text, re.ASCII) is None:
        raise ValueError(text)
    return int(text)


def _number(text: str) -> float:
    if re.fullmatch(_NUMBER, text, re.ASCII) is None:
        raise ValueError(text)
    return float(text)


def _sections(text: str, name: str) -> dict[str, _Section]:
    found, current = {"": _Section(name)}, ""
    for line in ini_lines(text, name, trailing_comments=False):
        if line.comment:
            if "INVALID" in line.comment:
                found[current].notes.append(_VERDICT.sub("", line.comment.lstrip(";# ")))
        elif line.section is not None:
            is_score = line.section in SCORE_SECTIONS.values()
            current = line.section if is_score else _phase_name(line.section, line.place)
            if current in found:
                raise UserError(f"section [{current}] stands twice", line.place, "keep one of them")
            found[current] = _Section(line.place)
        elif line.pair is not None:
            key, value = line.pair
            if key in found[current].values:
                raise UserError(f"'{key}' stands twice in its section", line.place, "keep one of them")
            found[current].values[key] = (value, line.place)
        else:
            raise UserError("is no line of a result.txt", line.place, "write [PHASE], KEY = VALUE or ; COMMENT")
    return found


def _phase_of_section(name: str, section: _Section) -> PhaseResult:
    value, elapsed = section.take("score", _number), section.take("t_delta", _number)
    pairs = {key: text for key, (text, _) in section.values.items() if key not in {"score", "t_delta"}}
    exact = None if value is None else printed(section.values["score"][0])
    return PhaseResult(name, exact, elapsed, bool(section.notes), tuple(section.notes), pairs)


def _score_of_section(section: _Section) -> ScoreResult:
    parts: dict[str, Printed] = {}
    text, _ = section.values.get("SCORE", ("", ""))
    invalid = text.endswith("[INVALID]")
    if invalid:
        section.values["SCORE"] = (text.removesuffix("[INVALID]").strip(), section.values["SCORE"][1])
    for key in ("BW", "MD", "SCORE"):
        if section.take(key, _number) is None:
            raise UserError(f"has no {key}", section.place, "write BW, MD and SCORE")
        parts[key] = printed(section.values[key][0])
    return ScoreResult(parts["BW"], parts["MD"], parts["SCORE"], invalid)
