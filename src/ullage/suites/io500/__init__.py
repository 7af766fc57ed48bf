# SPDX-License-Identifier: Apache-2.0
"""How fast is this storage by the rules of IO500?

The suite runs the official phases in the official order with the official parameters. They are bulk writes and reads,
easy and hard, and files that are created, queried, read, found and removed. A probe chooses sizes so that each writing
phase lasts as long as the rules require. Every reason why a number does not count is reported.
"""

from typing import TYPE_CHECKING

from ullage.runs.inputs import ParsedOptions
from ullage.runs.suite import UsualSuite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target


class Io500(UsualSuite):
    """The suite ``io500``."""

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: walls of 1 s on the first target. That is far from the rules, and says so."""
        from ullage.runs.options.reading import settled

        return settled(self.options, targets=targets[:1], stonewall_s=1.0, time_s=40.0) if targets else None


SUITE = Io500("io500", __doc__ or "", "options:Io500Options", "prepare:prepare_io500", "summarise:summarise")
