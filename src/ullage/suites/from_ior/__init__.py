# SPDX-License-Identifier: Apache-2.0
"""What does this ior command line reach here?

Reads the flags of IOR, and measures with a plan that does the same work. A flag without an equivalent is an error.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ullage.runs.suite import EngineContext

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.runs.suite import Prepared
    from ullage.suites.from_ior.options import FromIorOptions

_TOOL: Final = "ior"
_DOC = __doc__ or ""


@dataclass(frozen=True)
class FromIor:
    """The suite ``from-ior``."""

    name: str = f"from-{_TOOL}"
    doc: str = _DOC

    @property
    def options(self) -> "type[FromIorOptions]":
        """See ``Suite``."""
        from ullage.suites.from_ior.options import FromIorOptions

        return FromIorOptions

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.command_lines.prepared import prepare_lines

        return prepare_lines(request, engine_context, self.options)


SUITE = FromIor()
