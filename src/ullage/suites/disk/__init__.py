# SPDX-License-Identifier: Apache-2.0
"""How fast is this disk: blocks by threads, sequential and random, and small requests by how many are in flight?

Writes and reads blocks past the page cache where the target serves that, then small random requests at rising queue
depths; where fio is installed, it does the same work in turn with us.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext, ParsedOptions, SuiteSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared
    from ullage.suites.disk.options import DiskOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Disk:
    """The suite ``disk``."""

    name: str = "disk"
    doc: str = _DOC

    @property
    def options(self) -> "type[DiskOptions]":
        """See ``Suite``."""
        from ullage.suites.disk.options import DiskOptions

        return DiskOptions

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: fewer blocks, threads and depths; of file systems in memory nothing, which are no disk."""
        from ullage.runs.options.reading import settled
        from ullage.system.storage import read_places

        in_memory = {place.target for place in read_places(list(targets)) if place.is_memory}
        disks = [target for target in targets if target.name not in in_memory]
        return settled(self.options, targets=disks, quick=True) if disks else None

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.disk.prepare import prepare_disk

        return prepare_disk(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.disk.summarise import summarise

        return summarise(result, request, context)


SUITE = Disk()
