# SPDX-License-Identifier: Apache-2.0
"""In which pages messages lay: copies between the ranks of a node are up to twice as fast in huge ones. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from ullage.model.flags import NO_HUGE_PAGES, Flag
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.quantity import percent
from ullage.runs.told import Source

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_USUAL: Final = "default"
# A huge page has this size on x86-64 and most others; smaller memory has none.
_HUGE_PAGE: Final = 2 << 20
_ENOUGH_HUGE: Final = 0.9


@dataclass(frozen=True, slots=True)
class MessagePages:
    """Says in which pages the messages of rank 0 were, in bytes. ``asked``: default, small or huge."""

    asked: str
    total: int
    huge: int

    @property
    def share(self) -> float:
        """How much lay in huge pages."""
        return self.huge / self.total if self.total else 0.0

    @property
    def text(self) -> str:
        """What there is to say of it."""
        if not self.huge:
            return "messages lay in ordinary pages"
        return f"{percent(min(self.share, 1))} of the messages' memory lay in huge pages"


def pages_of(phases: Iterable[PhaseRecord]) -> MessagePages | None:
    """Return the pages by the first record that tells them.

    Return None where none does, and for memory that is smaller than a huge page.
    """
    for phase in phases:
        told = phase.facts.get("pages")
        if isinstance(told, dict):
            found = cast("Mapping[str, object]", told)
            pages = MessagePages(
                str(found.get("asked", _USUAL)), count_of(found, "bytes"), count_of(found, "huge_bytes")
            )
            return pages if pages.total >= _HUGE_PAGE else None
    return None


def with_pages_of(row: Row, source: Source) -> Row:
    """Return ``row`` as ``with_pages`` does, by the repetitions that it counts."""
    return with_pages(row, pages_of(source.phases))


def with_pages(row: Row, pages: MessagePages | None) -> Row:
    """Return ``row`` with what set its messages' memory apart, and what the kernel gave."""
    if pages is None:
        return row
    asked: dict[str, Scalar] = {} if pages.asked == _USUAL else {"pages": pages.asked}
    lacks = pages.asked == "huge" and pages.share < _ENOUGH_HUGE
    flags = [Flag(code=NO_HUGE_PAGES, reason=f"{pages.text}, huge ones were asked for")] if lacks else []
    notes = [] if lacks else [pages.text]
    update = {"params": {**row.params, **asked}, "flags": [*row.flags, *flags], "notes": [*row.notes, *notes]}
    return row.model_copy(update=update)
