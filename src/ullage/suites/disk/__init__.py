# SPDX-License-Identifier: Apache-2.0
"""How fast is this disk, by blocks, threads and queue depth?

The suite writes and reads blocks in order and at random, and bypasses the page cache if the target supports that. Small
random requests at rising queue depths follow. If fio is installed, it does the same work in turn.
"""

from typing import TYPE_CHECKING, Final

from ullage.runs.inputs import ParsedOptions
from ullage.runs.suite import UsualSuite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target
    from ullage.runs.suite import Headlines


# Few cases, so that each moves data for about a second: a shorter burst shows buffers of the drive.
_FORM: Final = {"quick": True, "blocks": (10 << 20,), "depths": (1, 64), "time_s": 45.0}


class Disk(UsualSuite):
    """The suite ``disk``, whose quick form is whole what stands for the disk."""

    headlines: "Sequence[Headlines]" = ()

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: large blocks by a thread a core, few depths.

        Of file systems in memory it measures nothing, which are no disk.
        """
        from ullage.runs.options.reading import settled
        from ullage.system.hardware import ranks_by_default
        from ullage.system.storage import read_places

        in_memory = {place.target for place in read_places(list(targets)) if place.is_memory}
        disks = [target for target in targets if target.name not in in_memory]
        return settled(self.options, targets=disks, threads=[ranks_by_default()], **_FORM) if disks else None


SUITE = Disk("disk", __doc__ or "", "options:DiskOptions", "suite:prepare_disk", "suite:summarise")
