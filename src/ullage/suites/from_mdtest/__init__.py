# SPDX-License-Identifier: Apache-2.0
"""What rate does this mdtest command line reach here?

The suite reads the flags of mdtest and measures a plan that does the same work. A flag without an equivalent is an
error.
"""

from typing import TYPE_CHECKING, Final

from ullage.command_lines import LineSuite
from ullage.runs.inputs import ParsedOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target
    from ullage.runs.suite import Headlines

# A rank a core makes, queries and removes empty files in a folder of its own, for a second at most each time.
_QUICK: Final = "mdtest -F -u -n 4000 -W 1 -i 6 -C -T -r"


class FromMdtest(LineSuite):
    """The suite ``from-mdtest``, whose quick form is one usual line."""

    headlines: "Sequence[Headlines]" = ()

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: files of the first target."""
        from ullage.runs.options.reading import settled
        from ullage.system.hardware import ranks_by_default
        from ullage.uri import target_path

        found = [target for target in targets if target_path(target) is not None]
        return settled(self.options, lines=[_QUICK], target=found[0], ranks=ranks_by_default()) if found else None


SUITE = FromMdtest("from-mdtest", __doc__ or "", "translation:FromMdtestOptions")
