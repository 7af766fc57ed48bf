# SPDX-License-Identifier: Apache-2.0
"""What to change first: findings of all suites that name a gain, ranked by one rule. Pure."""

import math
from collections.abc import Collection, Iterable
from typing import Final

from ullage.model.summary import Finding, Gain

MOST_CHANGES: Final = 5


def change_first(findings: Iterable[Finding], care: Collection[str] = (), most: int = MOST_CHANGES) -> list[Finding]:
    """At most ``most`` findings with a gain, the largest weight first.

    The weight is the logarithm of the gain that is sure: of the lower bound of its interval, or of a tenth of the
    estimate's where it has none. ``care``: suites that the reader uses; where any are named, the others weigh a tenth.
    """
    known = [(_weight(found.gain, found.suite, care), found) for found in findings if found.gain is not None]
    ranked = sorted((pair for pair in known if pair[0] > 0), key=lambda pair: -pair[0])
    return [found for _, found in ranked[:most]]


def _weight(gain: Gain, suite: str, care: Collection[str]) -> float:
    sure = math.log(gain.low) if gain.low else 0.1 * math.log(gain.factor)
    return sure if not care or suite in care else 0.1 * sure
