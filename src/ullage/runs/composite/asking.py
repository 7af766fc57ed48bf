# SPDX-License-Identifier: Apache-2.0
"""What a suite that is made of others asks of each."""

from collections.abc import Mapping

from ullage.runs.composite.options import PartRequest
from ullage.runs.options.declared import declared
from ullage.runs.options.reading import settled
from ullage.runs.suite import ParsedOptions, Suite


def asked_of(suite: Suite, values: Mapping[str, object]) -> ParsedOptions:
    """What ``suite`` makes of those of ``values`` that are options of it; the others, and None, are left out."""
    known = declared(suite.options)
    return settled(
        suite.options, **{name: value for name, value in values.items() if name in known and value is not None}
    )


def part_of(suite: str, asked: ParsedOptions) -> PartRequest:
    """As it is kept in the request of the whole."""
    return PartRequest(suite=suite, targets=asked.targets, options=asked.options)
