# SPDX-License-Identifier: Apache-2.0
"""How fast is this disk: blocks by threads, sequential and random, and small requests by how many are in flight?

Writes and reads blocks past the page cache where the target serves that, then small random requests at rising queue
depths; where fio is installed, it does the same work in turn with us.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext, ParsedOptions, SuiteSummary
from ullage.suites.disk.words import disk_words

if TYPE_CHECKING:
    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Disk:
    """The suite ``disk``."""

    name: str = "disk"
    doc: str = _DOC
    options: Callable[..., ParsedOptions] = disk_words

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: fewer blocks, threads and depths; of file systems in memory nothing, which are no disk."""
        from ullage.runs.composite.asking import target_words
        from ullage.system.storage import read_places

        in_memory = {place.target for place in read_places(list(targets)) if place.is_memory}
        disks = [target for target in targets if target.name not in in_memory]
        return disk_words(target=target_words(disks), quick=True) if disks else None

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.disk.prepare import prepare_disk

        return prepare_disk(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.disk.summarise import summarise

        return summarise(result, request, context)


SUITE = Disk()
