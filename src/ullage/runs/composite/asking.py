# SPDX-License-Identifier: Apache-2.0
"""What a suite that is made of others asks of each, in that suite's own words. Imported for every command: light."""

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ullage.runs.suite import ParsedOptions, Suite

if TYPE_CHECKING:
    from ullage.model.plan import Target
    from ullage.runs.composite.options import PartRequest


def ask(suite: Suite, words: Mapping[str, object]) -> ParsedOptions:
    """What ``suite`` makes of those of ``words`` that it knows; the others, and None, are left at their defaults."""
    from ullage.runs.options.declared import declared
    from ullage.runs.options.reading import parse_options

    if isinstance(suite.options, type):  # pyright: ignore[reportUnnecessaryIsInstance] - until all are models
        names = [one.word for one in declared(suite.options).values()]
        return parse_options(suite.options, **{name: word for name, word in words.items() if name in names})
    known = inspect.signature(suite.options).parameters
    return suite.options(**{name: word for name, word in words.items() if name in known and word is not None})


def asked_part(suite: str, asked: ParsedOptions) -> "PartRequest":
    """As it is kept in the request."""
    from ullage.runs.composite.options import PartRequest

    return PartRequest(suite=suite, targets=asked.targets, options=asked.options)


def whole(targets: "Sequence[Target]", parts: "Sequence[PartRequest]") -> ParsedOptions:
    """All of it."""
    from ullage.runs.composite.options import PartsOptions

    return ParsedOptions(list(targets), PartsOptions(parts=list(parts)).model_dump(mode="json"))


def target_words(targets: "Sequence[Target]") -> list[str]:
    """``targets`` as they are written on a command line."""
    return [f"{target.name}={target.uri}" for target in targets]
