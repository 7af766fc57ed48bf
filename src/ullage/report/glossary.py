# SPDX-License-Identifier: Apache-2.0
"""The words of a page, explained once: those of every result, and the verdicts and flags that this one has. Pure."""

from typing import Final

from ullage.model.summary import Summary
from ullage.report.verdicts import present

_WORDS: Final = (
    ("Ullage", "The empty part of a vessel: 100 % less the share of its ceiling that a part reaches."),
    (
        "Ceiling",
        (
            "The most that a part could do. Declared: you state it. Detected: the hardware states it. Empirical: the "
            "best that anything has reached here; the hardware may do more."
        ),
    ),
    ("Share", "The median divided by its ceiling. For a time, the ceiling divided by the median."),
    ("Interval", ("It contains the true median in 95 of 100 runs. With fewer than 6 repetitions a range replaces it.")),
    ("Range", "The least and the greatest of too few repetitions. No level of confidence belongs to it."),
    ("Verdict", "What was really measured: whether bytes moved between the ranks and the target, or a cache answered."),
    (
        "Grade",
        (
            "How much other programs used the machine while a number was measured. A: below 1 % of the cores' time. "
            "B: below 5 %. C: more, and no finding rests on such numbers. ?: the time was too short to know."
        ),
    ),
    ("A look", "The score of a run that was made shorter on purpose than its rules require. Nothing went wrong."),
    ("Gain", "How many times better a number becomes with a change, and the interval of that factor."),
)


def glossary(summary: Summary) -> list[tuple[str, str]]:
    """Return terms and their meanings. A flag is explained by the first reason that a row gives for it."""
    verdicts = [
        (f"Verdict “{one.label}”", f"{one.meaning[:1].upper()}{one.meaning[1:]}.") for one in present(summary.rows)
    ]
    flags: dict[str, str] = {}
    for row in summary.rows:
        for flag in row.flags:
            if not flags.get(flag.kind):
                flags[flag.kind] = flag.reason
    told = [(f"Flag {kind}", f"For example: {reason}" if reason else "") for kind, reason in flags.items()]
    return [*_WORDS, *verdicts, *(pair for pair in told if pair[1])]
