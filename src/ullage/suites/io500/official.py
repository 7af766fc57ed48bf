# SPDX-License-Identifier: Apache-2.0
"""A run of IO500 as it is handed around, and how its two forms are read: result_summary.txt and result.txt.

Both, and logs that hold such lines, are read as every release wrote them: where the first print GB/s they mean GiB/s,
and since 2021 result.txt begins with a section ``[run]``. Values are in the official units, GiB/s and kIOPS.
``official_folder`` writes what is read here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ullage.errors import UserError
from ullage.importers.printed import Printed, known_to, printed
from ullage.ini import ini_lines
from ullage.suites.io500.phases import BY_NAME, FORMER, MODES, Mode, find_phase, phases_of
from ullage.suites.io500.score import Io500Score, Part
from ullage.suites.io500.validity import Validity

SCORE_SECTIONS: Final[dict[Mode, str]] = {"standard": "SCORE", "extended": "SCOREX"}
# Until 2021 the keys of this section stood before the first section.
_RUN_SECTION: Final = "run"


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """One phase, by its official name. ``value``: null where the form has none, 0 for one that did not run.

    ``notes`` say why it is invalid; ``pairs`` are further keys of result.txt as they stand there.
    """

    name: str
    value: Printed | None
    elapsed_s: float | None = None
    invalid: bool = False
    notes: tuple[str, ...] = ()
    pairs: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """The three numbers of one mode."""

    bandwidth: Printed
    metadata: Printed
    total: Printed
    invalid: bool = False

    def part(self, name: Part) -> Printed:
        """Return one of the three by its name."""
        return {"bandwidth": self.bandwidth, "metadata": self.metadata, "total": self.total}[name]


@dataclass(frozen=True, slots=True)
class OfficialRun:
    """One run as a form holds it; ``ranks`` 0: not said. ``pairs`` are further keys of ``[run]`` as they stand there.

    ``started`` and ``ended``: ``2026-05-18 08:20:20``, empty where they are not known.
    """

    phases: tuple[PhaseResult, ...]
    scores: Mapping[Mode, ScoreResult] = field(default_factory=dict[Mode, ScoreResult])
    version: str = ""
    mode: Mode = "standard"
    ranks: int = 0
    notes: tuple[str, ...] = ()
    pairs: Mapping[str, str] = field(default_factory=dict[str, str])
    started: str = ""
    ended: str = ""

    def phase(self, name: str) -> PhaseResult | None:
        """Return the phase of that official name, or None."""
        return next((phase for phase in self.phases if phase.name == name), None)


def make_run(
    values: Mapping[str, float],
    elapsed_s: Mapping[str, float],
    scores: Mapping[Mode, Io500Score],
    validity: Validity,
    *,
    mode: Mode = "standard",
    version: str = "",
    ranks: int = 0,
    pairs: Mapping[str, Mapping[str, str]] | None = None,
) -> OfficialRun:
    """Make a run of ours to be written; ``values`` are in bytes/s and operations/s.

    These and all other mappings of phases are by official name.

    Every phase of ``mode`` is in it; one without a value stands there with 0, as the official tool has it.
    """
    phases = tuple(
        PhaseResult(
            phase.name,
            known_to(values.get(phase.name, 0.0) / phase.factor),
            elapsed_s.get(phase.name, 0.0),
            invalid=phase.name in validity.phases,
            notes=validity.phases.get(phase.name, ()),
            pairs=dict((pairs or {}).get(phase.name, {})),
        )
        for phase in phases_of(mode)
    )
    found: dict[Mode, ScoreResult] = {}
    for one, score in scores.items():
        parts = [known_to(part or 0.0) for part in (score.bandwidth, score.metadata, score.total)]
        found[one] = ScoreResult(*parts, invalid=not validity.is_valid(one))
    of_phases = {f"{name} {reason}" for name, reasons in validity.phases.items() for reason in reasons}
    notes = tuple(reason for reason in validity.run.get(mode, ()) if reason not in of_phases)
    return OfficialRun(phases, found, version, mode, ranks, notes)


def mark_short(run: OfficialRun, required_s: float) -> OfficialRun:
    """Mark writing phases below ``required_s`` invalid, as the official tool does whatever wall was asked for."""

    def marked(phase: PhaseResult) -> PhaseResult:
        seconds = phase.elapsed_s or 0.0
        if not BY_NAME[phase.name].needs_minimum_time or seconds >= required_s:
            return phase
        why = f"took {seconds:.3f} s, less than the {required_s:g} s of the rules"
        return replace(phase, invalid=True, notes=(*phase.notes, why))

    return replace(run, phases=tuple(map(marked, run.phases)))


# Only a configuration has this section.
_SETTINGS: Final = "global"
# A phase of older releases that never counted and is gone.
_GONE: Final = "concurrent"
_NUMBER: Final = r"\d{1,15}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?"
_BW_UNIT: Final = r"Gi?B/s"
_TAGGED: Final = re.compile(r"\s*\[(?:RESULT(?!S\])|SCORE| +\])", re.IGNORECASE)
_RESULT: Final = re.compile(
    rf"\s*\[(?:RESULT(?P<void>[ -]INVALID)?|(?P<blank> +))\]\s+(?:(?:BW|IOPS)\s+phase\s+\d+\s+)?(?P<name>[\w-]+)\s+"
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
_TIME: Final = re.compile(r"(START|END) (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", re.ASCII)


def is_ini(text: str) -> bool:
    """Tell whether ``text`` looks like result.txt: it has a section named like a phase, or that of the score."""
    names = {line.section for line in ini_lines(text, "", trailing_comments=False) if line.section is not None}
    if _SETTINGS in names:
        return False
    return any(name in SCORE_SECTIONS.values() or find_phase(name) is not None for name in names)


def has_result_lines(text: str) -> bool:
    """Tell whether a line of ``text`` is a result, as in result_summary.txt or in what the tool prints."""
    return any(_RESULT.fullmatch(line) for line in text.splitlines())


def read_lines(text: str, name: str) -> list[OfficialRun]:
    """Read the runs of result_summary.txt, or of a log with such lines; a phase that comes again begins a new run.

    Lines without one of the tags are somebody else's. For one with a tag that does not read raise ``UserError`` with
    its number.
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
            raise UserError("is not a result line", place, right)
    found = [one for one in (*runs, run) if one.phases]
    if not found:
        raise UserError("contains no phase", name, "name a result_summary.txt, or a log with its [RESULT] lines")
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
    return replace(run, scores={**run.scores, mode: found}, mode="extended" if "extended" in {run.mode, mode} else mode)


def _phase_of_line(match: re.Match[str], place: str) -> PhaseResult | None:
    """Return the phase of a result line, None for one that is gone, not counted; ``UserError`` for a wrong unit."""
    name = _phase_name(match.group("name"), place)
    if name not in BY_NAME or (BY_NAME[name] in FORMER and match.group("blank")):
        return None
    if BY_NAME[name].is_bandwidth == match.group("unit").lower().startswith("kiops"):
        raise UserError(f"{name} is in {match.group('unit')}", place, f"write it in {BY_NAME[name].unit}")
    invalid = bool(match.group("void") or match.group("mark"))
    return PhaseResult(name, printed(match.group("value")), float(match.group("time")), invalid)


def _phase_name(text: str, place: str) -> str:
    """Return a phase's name of today; raise ``UserError`` for an unknown one."""
    phase, dashed = find_phase(text), text.replace("_", "-")
    if phase is None and dashed != _GONE:
        raise UserError(f"unknown phase '{text}'", place, f"known phases are {', '.join(BY_NAME)}")
    return dashed if phase is None else phase.name


def read_result_ini(text: str, name: str) -> OfficialRun:
    """Read the run of a result.txt; raise ``UserError`` with its number for a line of another kind.

    A line is a section, a pair, a comment or empty.
    """
    sections = _sections(text, name)
    head = sections.pop("")
    phases = tuple(_phase_of_section(key, found) for key, found in sections.items() if key in BY_NAME)
    if not phases:
        raise UserError("contains no phase", name, "name a result.txt as the official tool writes it")
    scores: dict[Mode, ScoreResult] = {
        mode: _score_of_section(sections[key]) for mode, key in SCORE_SECTIONS.items() if key in sections
    }
    ranks = head.take("procs", r"\d{1,9}")
    mode = _mode(*head.values.get("mode", ("standard", name)))
    version = head.values.get("version", ("", ""))[0]
    pairs = {key: text for key, (text, _) in head.values.items() if key not in {"procs", "mode", "version"}}
    ends = sections[next(reversed(sections))] if sections else head
    count, notes = 0 if ranks is None else int(ranks.value), tuple(head.notes)
    return OfficialRun(phases, scores, version, mode, count, notes, pairs, head.started, ends.ended)


@dataclass(slots=True)
class _Section:
    """Values of one section with the place each stands at, and what its comments say of validity and time."""

    place: str
    values: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    notes: list[str] = field(default_factory=list[str])
    started: str = ""
    ended: str = ""

    def hear(self, comment: str) -> None:
        """Take what ``comment`` says."""
        bare = comment.lstrip(";# ")
        if "INVALID" in bare:
            self.notes.append(_VERDICT.sub("", bare))
        elif match := _TIME.fullmatch(bare):
            self.started = match[2] if match[1] == "START" else self.started
            self.ended = match[2] if match[1] == "END" else self.ended

    def take(self, key: str, form: str = _NUMBER) -> Printed | None:
        """Return the number of ``key``, or None without one; raise ``UserError`` for a value that is no number."""
        if key not in self.values:
            return None
        text, place = self.values[key]
        if re.fullmatch(form, text, re.ASCII) is None:
            raise UserError(f"'{text}' is not a value of {key}", place, "write a number, 0 or more")
        return printed(text)


def _sections(text: str, name: str) -> dict[str, _Section]:
    found, current = {"": _Section(name)}, ""
    for line in ini_lines(text, name, trailing_comments=False):
        if line.comment:
            found[current].hear(line.comment)
        elif line.section == _RUN_SECTION and list(found) == [""] and not found[""].values:
            found[""].place = line.place
        elif line.section is not None:
            if line.section == _RUN_SECTION:
                raise UserError("section [run] is not the first", line.place, "put it before everything else, once")
            current = line.section if line.section in SCORE_SECTIONS.values() else _phase_name(line.section, line.place)
            if current in found:
                raise UserError(f"section [{current}] is given twice", line.place, "keep one of them")
            found[current] = _Section(line.place)
        elif line.pair is not None:
            key, value = line.pair
            if key in found[current].values:
                raise UserError(f"'{key}' is given twice in its section", line.place, "keep one of them")
            found[current].values[key] = (value, line.place)
        else:
            raise UserError("is not a line of a result.txt", line.place, "write [PHASE], KEY = VALUE or ; COMMENT")
    return found


def _phase_of_section(name: str, section: _Section) -> PhaseResult:
    elapsed = section.take("t_delta")
    pairs = {key: text for key, (text, _) in section.values.items() if key not in {"score", "t_delta"}}
    seconds, notes = None if elapsed is None else elapsed.value, tuple(section.notes)
    return PhaseResult(name, section.take("score"), seconds, bool(notes), notes, pairs)


def _score_of_section(section: _Section) -> ScoreResult:
    text, place = section.values.get("SCORE", ("", ""))
    invalid = text.endswith("[INVALID]")
    if invalid:
        section.values["SCORE"] = (text.removesuffix("[INVALID]").strip(), place)
    parts: list[Printed] = []
    for key in ("BW", "MD", "SCORE"):
        if (part := section.take(key)) is None:
            raise UserError(f"has no {key}", section.place, "write BW, MD and SCORE")
        parts.append(part)
    return ScoreResult(*parts, invalid=invalid)
