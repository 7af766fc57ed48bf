# SPDX-License-Identifier: Apache-2.0
"""How fast is this disk, by blocks, threads and queue depth?

The suite writes and reads blocks in order and at random, and bypasses the page cache if the target supports that. Small
random requests at rising queue depths follow. If fio is installed, it does the same work in turn.
"""

from typing import TYPE_CHECKING

from ullage.runs.inputs import ParsedOptions
from ullage.runs.suite import UsualSuite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target


class Disk(UsualSuite):
    """The suite ``disk``."""

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: fewer blocks, threads and depths; of file systems in memory nothing, which are no disk."""
        from ullage.runs.options.reading import settled
        from ullage.system.storage import read_places

        in_memory = {place.target for place in read_places(list(targets)) if place.is_memory}
        disks = [target for target in targets if target.name not in in_memory]
        return settled(self.options, targets=disks, quick=True) if disks else None


SUITE = Disk("disk", __doc__ or "", "options:DiskOptions", "prepare:prepare_disk", "summarise:summarise")
