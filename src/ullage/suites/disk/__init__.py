# SPDX-License-Identifier: Apache-2.0
"""How fast is this disk: blocks by threads, sequential and random, and small requests by how many are in flight?

Writes and reads blocks past the page cache where the target serves that, then small random requests at rising queue
depths; where fio is installed, it does the same work in turn with us.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.suites import Asked, Ground, SuiteSummary
from ullage.suites.disk.words import disk_words

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.result import ResultFolder
    from ullage.rows import RowContext
    from ullage.suites import Prepared

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Disk:
    """The suite ``disk``."""

    name: str = "disk"
    doc: str = _DOC
    options: Callable[..., Asked] = disk_words

    def prepare(self, request: "Request", ground: Ground) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.disk.prepare import prepare_disk

        return prepare_disk(request, ground)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.disk.summarise import summarise

        return summarise(result, request, context)


SUITE = Disk()
