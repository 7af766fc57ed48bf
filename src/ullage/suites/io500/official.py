# SPDX-License-Identifier: Apache-2.0
"""A run of IO500 as it is handed around: lines as of result_summary.txt, and INI as of result.txt.

Both are written so that other people's scripts read them; ``official_reading`` reads them. Values are in the official
units, GiB/s and kIOPS.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ullage.errors import one_line
from ullage.importers.printed import Printed
from ullage.suites.io500.phases import BY_NAME, Mode, phases_of
from ullage.suites.io500.score import Io500Score
from ullage.suites.io500.validity import Validity

SCORE_SECTIONS: Final[dict[Mode, str]] = {"standard": "SCORE", "extended": "SCOREX"}


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


@dataclass(frozen=True, slots=True)
class OfficialRun:
    """One run as a form holds it; ``ranks`` 0: not said."""

    phases: tuple[PhaseResult, ...]
    scores: Mapping[Mode, ScoreResult] = field(default_factory=dict[Mode, ScoreResult])
    version: str = ""
    mode: Mode = "standard"
    ranks: int = 0
    notes: tuple[str, ...] = ()

    def phase(self, name: str) -> PhaseResult | None:
        """The phase of that official name."""
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
    """A run of ours to be written: ``values`` in bytes/s and operations/s by official name, as all other mappings are.

    Every phase of ``mode`` is in it; one without a value stands there with 0, as the official tool has it.
    """
    phases = tuple(
        PhaseResult(
            phase.name,
            Printed(values.get(phase.name, 0.0) / phase.factor),
            elapsed_s.get(phase.name, 0.0),
            invalid=phase.name in validity.phases,
            notes=validity.phases.get(phase.name, ()),
            pairs=dict((pairs or {}).get(phase.name, {})),
        )
        for phase in phases_of(mode)
    )
    found: dict[Mode, ScoreResult] = {
        one: _score_result(score, invalid=not validity.is_valid(one)) for one, score in scores.items()
    }
    of_phases = {f"{name} {reason}" for name, reasons in validity.phases.items() for reason in reasons}
    notes = tuple(reason for reason in validity.run.get(mode, ()) if reason not in of_phases)
    return OfficialRun(phases, found, version, mode, ranks, notes)


def _score_result(score: Io500Score, *, invalid: bool) -> ScoreResult:
    bandwidth, metadata, total = (Printed(part or 0.0) for part in (score.bandwidth, score.metadata, score.total))
    return ScoreResult(bandwidth, metadata, total, invalid)


def summary_text(run: OfficialRun) -> str:
    """As result_summary.txt: one line a phase, then the scores."""
    lines = [
        f"IO500 version {run.version or 'unknown'} ({run.mode})",
        "Written by Ullage in the form of IO500's result_summary.txt; the official tool has not seen this run.",
        *(_summary_line(phase) for phase in run.phases),
    ]
    for mode, section in SCORE_SECTIONS.items():
        if score := run.scores.get(mode):
            lines.append(
                f"[{section:<6}] Bandwidth {score.bandwidth.value:f} GiB/s : IOPS {score.metadata.value:f} kiops : "
                f"TOTAL {score.total.value:f}{_mark(score.invalid)}"
            )
    of_phases = [f"{phase.name} {note}" for phase in run.phases for note in phase.notes]
    return "\n".join([*lines, *_reasons([*run.notes, *of_phases]), ""])


def _summary_line(phase: PhaseResult) -> str:
    official = BY_NAME[phase.name]
    tag = "[RESULT]" if official.scored else "[      ]"
    value = 0.0 if phase.value is None else phase.value.value
    elapsed = phase.elapsed_s or 0.0
    return f"{tag} {phase.name:>20} {value:15.6f} {official.unit} : time {elapsed:.3f} seconds{_mark(phase.invalid)}"


def _mark(invalid: bool) -> str:  # noqa: FBT001
    return " [INVALID]" if invalid else ""


def ini_text(run: OfficialRun) -> str:
    """As result.txt: a section for each phase with its reasons as comments, then the scores."""
    head = {"procs": str(run.ranks) if run.ranks else "", "version": run.version, "mode": run.mode}
    lines = [
        "; Written by Ullage in the form of IO500's result.txt, without its hash: the official tool has not seen it.",
        *_pairs(head),
        *_reasons(run.notes),
    ]
    for phase in run.phases:
        official = BY_NAME[phase.name]
        value = {} if phase.value is None or not official.scored_phase else {"score": f"{phase.value.value:f}"}
        lines += ["", f"[{phase.name}]", *_pairs({**phase.pairs, **value})]
        lines += _reasons(phase.notes)
        lines += _pairs({"t_delta": f"{phase.elapsed_s or 0.0:.4f}"})
    for mode, section in SCORE_SECTIONS.items():
        if score := run.scores.get(mode):
            numbers = {"MD": f"{score.metadata.value:f}", "BW": f"{score.bandwidth.value:f}"}
            total = f"{score.total.value:f}{_mark(score.invalid)}"
            lines += ["", f"[{section}]", *_pairs({**numbers, "SCORE": total})]
    return "\n".join([*lines, ""])


def _pairs(values: Mapping[str, str]) -> list[str]:
    return [f"{key:<15} = {one_line(value)}" for key, value in values.items() if value]


def _reasons(notes: Iterable[str]) -> list[str]:
    return [f"; INVALID: {one_line(note)}" for note in notes]
