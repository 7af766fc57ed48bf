# SPDX-License-Identifier: Apache-2.0
"""The options of a suite that is made of others: what it asks of each, as it stands in request.json."""

from collections.abc import Mapping
from typing import Final

from ullage.model.base import Strict
from ullage.model.plan import Target
from ullage.runs.inputs import ParsedOptions
from ullage.runs.options.declared import declared
from ullage.runs.options.groups import TargetsOptions
from ullage.runs.options.reading import settled
from ullage.runs.suite import Suite

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


def asked_of(suite: Suite, values: Mapping[str, object]) -> ParsedOptions:
    """What ``suite`` makes of those of ``values`` that are options of it; the others, and None, are left out."""
    known = declared(suite.options)
    return settled(
        suite.options, **{name: value for name, value in values.items() if name in known and value is not None}
    )


def part_of(suite: str, asked: ParsedOptions) -> PartRequest:
    """As it is kept in the request of the whole."""
    return PartRequest(suite=suite, targets=asked.targets, options=asked.options)
