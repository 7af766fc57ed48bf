# SPDX-License-Identifier: Apache-2.0
"""What to change first: findings of all suites that name a gain, ranked by one rule; each as heading and text. Pure."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Finding, Gain

_LONGEST: Final = 90
_CLAUSE: Final = re.compile(r"[:;.](?=\s|$)")


@dataclass(frozen=True)
class HeadedText:
    """A finding as heading and text.

    ``text`` does not say again what ``title`` says.
    """

    title: str
    text: str


def told(finding: Finding) -> HeadedText:
    """Split off a heading: the finding's own title, else its text up to the first stop unless that is too long."""
    if finding.title:
        return HeadedText(finding.title, _continued(finding.text, finding.title))
    stop = _CLAUSE.search(finding.text)
    head, rest = (finding.text, "") if stop is None else (finding.text[: stop.start()], finding.text[stop.end() :])
    if not head or len(head) > _LONGEST:
        return HeadedText("", finding.text)
    return HeadedText(head, _capitalised(rest.strip()))


def _continued(text: str, title: str) -> str:
    """Return ``text`` without the title that it begins with, or unchanged where no stop follows the title."""
    if not text.startswith(title) or text[len(title) :][:1] not in (":", ";", "."):
        return text
    return _capitalised(text[len(title) + 1 :].strip())


def _capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


MOST_CHANGES: Final = 5
# A table with many lines says the same of each of them.
MOST_OF_A_KIND: Final = 2
_OTHERS: Final = 0.1
_NOT_COMPARED: Final = 0.1


def change_first(findings: Iterable[Finding], care: Collection[str] = (), most: int = MOST_CHANGES) -> list[Finding]:
    """Return at most ``most`` findings with a gain, the largest weight first, and at most two of one kind of a suite.

    Of several that advise the same change, the one with the largest weight stands for all.

    The weight is the logarithm of the gain that is sure: of the lower bound of its interval, which holds at the level
    of all sentences of a report together, so that a large gain that is poorly known ranks below a smaller one that is
    well known. Where a gain has no interval (an import), it is a tenth of the logarithm of its estimate. ``care``:
    suites that the reader uses; where any are named, the others weigh a tenth. Equal weights keep their order.
    """
    known = [
        (sure_gain(found.gain) * (1.0 if not care or found.suite in care else _OTHERS), found)
        for found in findings
        if found.gain is not None
    ]
    ranked = sorted((pair for pair in known if pair[0] > 0), key=lambda pair: -pair[0])
    kinds: Counter[tuple[str, str]] = Counter()
    chosen: dict[tuple[str, str], Finding] = {}
    for _, found in ranked:
        advice = advice_of(found)
        kinds[found.suite, found.kind] += advice not in chosen
        if kinds[found.suite, found.kind] <= MOST_OF_A_KIND:
            chosen.setdefault(advice, found)
    return list(chosen.values())[:most]


def advice_of(finding: Finding) -> tuple[str, str]:
    """Return what a finding advises: the same of several findings is said once."""
    return finding.suite, finding.change or finding.text


def sure_gain(gain: Gain | None) -> float:
    """Return the logarithm of the gain that is sure; 0 without a gain."""
    if gain is None:
        return 0.0
    return math.log(gain.low) if gain.low else _NOT_COMPARED * math.log(gain.factor)
