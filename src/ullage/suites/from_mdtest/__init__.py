# SPDX-License-Identifier: Apache-2.0
"""What does this mdtest command line reach here?

Reads the flags of mdtest, and measures with a plan that does the same work. A flag without an equivalent is an error.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ullage.runs.suite import EngineContext

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.runs.suite import Prepared
    from ullage.suites.from_mdtest.options import FromMdtestOptions

_TOOL: Final = "mdtest"
_DOC = __doc__ or ""


@dataclass(frozen=True)
class FromMdtest:
    """The suite ``from-mdtest``."""

    name: str = f"from-{_TOOL}"
    doc: str = _DOC

    @property
    def options(self) -> "type[FromMdtestOptions]":
        """See ``Suite``."""
        from ullage.suites.from_mdtest.options import FromMdtestOptions

        return FromMdtestOptions

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.command_lines.prepared import prepare_lines

        return prepare_lines(request, engine_context, self.options)


SUITE = FromMdtest()
