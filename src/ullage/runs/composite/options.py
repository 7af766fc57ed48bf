# SPDX-License-Identifier: Apache-2.0
"""The options of a suite that is made of others: what is asked of each, as it stands in request.json."""

from typing import Final

from ullage.model.base import Strict
from ullage.model.plan import Target
from ullage.runs.options.groups import TargetsOptions

PARTS: Final = "parts"


class PartRequest(Strict):
    """A part, or ``why_not`` it is none here. ``options`` are its suite's own."""

    suite: str
    targets: list[Target] = []
    options: dict[str, object] = {}
    why_not: str = ""


class PartsOptions(Strict):
    """In the order in which they run."""

    parts: list[PartRequest]


class CompositeOptions(TargetsOptions):
    """Options of such a suite, of which only what each part is asked for is kept."""

    parts: list[PartRequest] = []

    def kept(self) -> dict[str, object]:
        """See ``SuiteOptions``."""
        return PartsOptions(parts=self.parts).model_dump(mode="json")
