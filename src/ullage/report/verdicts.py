# SPDX-License-Identifier: Apache-2.0
"""How a verdict looks: every class has a word and a marker shape, so that no picture hides what was measured."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ullage.grouping import nested
from ullage.model.summary import Row


@dataclass(frozen=True)
class VerdictClass:
    """Verdicts that look alike in tables and charts.

    ``shape`` is a Vega symbol, ``plural`` its name; only ``filled`` ones were what they claim to be.
    """

    name: str
    label: str
    shape: str
    plural: str
    meaning: str

    @property
    def filled(self) -> bool:
        """Whether its marks are filled."""
        return self.name == "sound"

    @property
    def dot(self) -> str:
        """CSS classes of its mark in a table."""
        return self.name if self.filled else f"hollow {self.name}"


CLASSES: Final = (
    VerdictClass("sound", "as asked", "circle", "circles", "the bytes moved between the ranks and the target itself"),
    VerdictClass("mixed", "mixed", "diamond", "diamonds", "a cache of this machine held a part of the bytes"),
    VerdictClass("warm", "warm or cached", "square", "squares", "a cache of this machine stood in for the target"),
    VerdictClass("unknown", "unknown", "triangle-up", "triangles", "what answered cannot be told from this machine"),
    VerdictClass(
        "invalid",
        "INVALID",
        "cross",
        "crosses",
        "breaks a limit of physics, is incomplete, or is against the rules: not a result",
    ),
)
_SHARE: Final = re.compile(r" \d+ %$")
_BY_NAME: Final = {verdict.name: verdict for verdict in CLASSES}
_FIRST_WORDS: Final = {
    **dict.fromkeys(("cold", "direct", "synced", "memory", "none"), "sound"),
    **dict.fromkeys(("mixed", "partly"), "mixed"),
    **dict.fromkeys(("warm", "cached"), "warm"),
    "invalid": "invalid",
}


def is_invalid(row: Row) -> bool:
    """Tell whether a row is flagged or judged to be no speed at all."""
    return classify(row).name == "invalid"


def classify(row: Row) -> VerdictClass:
    """Return the class of a row's verdict and flags. A word that no class knows counts as unknown."""
    return _BY_NAME["invalid"] if row.is_invalid else _of_verdict(row.verdict)


@lru_cache(maxsize=1024)
def _of_verdict(verdict: str) -> VerdictClass:
    words = verdict.lower().replace("(", " ").split()
    return _BY_NAME[_FIRST_WORDS.get(words[0], "unknown") if words else "unknown"]


def headword(row: Row) -> str:
    """Return the verdict without its share: ``mixed 37 %`` counts as ``mixed``. An INVALID flag outdoes it."""
    if is_invalid(row):
        return "INVALID"
    return _SHARE.sub("", row.verdict) if row.verdict.endswith("%") else row.verdict


def present(rows: Iterable[Row]) -> list[VerdictClass]:
    """Return the classes met in ``rows``, in the fixed order."""
    names = {classify(row).name for row in rows}
    return [verdict for verdict in CLASSES if verdict.name in names]


def caption(rows: Iterable[Row], lead: str = "Hollow") -> str:
    """Explain every mark other than the filled circle: ``Hollow diamonds: mixed; squares: warm, cached.``

    The text is empty where there are only filled circles.
    """
    words = nested((classify(row).name, headword(row), None) for row in rows)
    hollow = [verdict for verdict in CLASSES if not verdict.filled and verdict.name in words]
    marks = [f"{verdict.plural}: {', '.join(words[verdict.name])}" for verdict in hollow]
    return f"{lead} {'; '.join(marks)}." if marks else ""
