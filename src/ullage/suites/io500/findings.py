# SPDX-License-Identifier: Apache-2.0
"""What an IO500 run says, as findings: where its score comes from, what does not count, what moved between two runs.

``target`` goes before the sentences where a result has several; values are bytes/s and operations/s by official name.
"""

from collections.abc import Mapping

from ullage.analysis.findings.words import columns
from ullage.model.summary import Finding
from ullage.suites.io500.phases import BY_NAME, Mode
from ullage.suites.io500.score import score
from ullage.suites.io500.sensitivity import (
    IMPROVEMENT,
    explain,
    explain_change,
    families,
    moves,
    sensitivity,
)
from ullage.suites.io500.validity import Validity


def score_findings(values: Mapping[str, float], mode: Mode = "standard", target: str = "") -> list[Finding]:
    """Where the score of ``values`` comes from, as one finding for each sentence; the first holds all the numbers."""
    sentences = explain(values, mode)
    if not sentences:
        return []
    whole, levers, groups = score(values, mode), sensitivity(values, mode), families(values, mode)
    numbers = columns(
        target=target,
        total=whole.total,
        bandwidth_gib_per_s=whole.bandwidth,
        metadata_kiops=whole.metadata,
        phase=[lever.phase for lever in levers],
        value=[lever.value for lever in levers],
        power=[lever.power for lever in levers],
        improvement=IMPROVEMENT,
        gain=[lever.gain for lever in levers],
        family=[group.name for group in groups],
        loss=[group.loss for group in groups],
    )
    first, *rest = (f"{_lead(target)}{sentence}" for sentence in sentences)
    return [
        Finding(kind="io500-score", text=first, numbers=numbers),
        *(Finding(kind="io500-score", text=text, numbers=columns(target=target)) for text in rest),
    ]


def void_findings(validity: Validity, target: str = "") -> list[Finding]:
    """Every phase that does not count, with its reasons, and that the run does not when it does not."""
    return [
        Finding(
            kind="io500-void",
            text=f"{_lead(target)}{name} does not count: it {'; it '.join(reasons)}{_reach(name)}.",
            severity="warning",
            numbers=columns(target=target, phase=name, reasons=list(reasons)),
        )
        for name, reasons in validity.phases.items()
    ]


def _reach(name: str) -> str:
    """What else a void phase voids, where that is not the run."""
    phase = BY_NAME[name]
    if phase.pilot:
        return "; it is an unscored pilot, and the run stands without it"
    return "; only the extended score falls with it" if phase.mode == "extended" else ""


def change_finding(
    first: Mapping[str, float], second: Mapping[str, float], names: tuple[str, str], mode: Mode = "standard"
) -> Finding:
    """Which phases moved the total from the run of the first name to that of the second, and by what factor."""
    found = moves(first, second, mode)
    numbers = columns(
        target=names[1],
        against=names[0],
        phase=[move.phase for move in found],
        ratio=[move.ratio for move in found],
        moved=[move.moved for move in found],
    )
    text = f"From {names[0]} to {names[1]} {explain_change(first, second, mode)}."
    return Finding(kind="io500-change", text=text, numbers=numbers)


def _lead(target: str) -> str:
    return f"{target}: " if target else ""
