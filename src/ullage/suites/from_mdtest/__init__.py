# SPDX-License-Identifier: Apache-2.0
"""What does this mdtest command line reach here?

Reads the flags of mdtest, and measures with a plan that does the same work. A flag without an equivalent is an error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ullage.command_lines.words import words_of
from ullage.runs.suite import EngineContext, ParsedOptions

if TYPE_CHECKING:
    from ullage.command_lines.translation import Translator
    from ullage.model.request import Request
    from ullage.runs.suite import Prepared

_TOOL: Final = "mdtest"
_DOC = __doc__ or ""


def _translator() -> "Translator":
    from ullage.suites.from_mdtest.translation import translate

    return translate


_OPTIONS: Final = words_of(_TOOL, _translator, ("operation_rate", "latency_p50", "latency_p99"))


@dataclass(frozen=True)
class FromMdtest:
    """The suite ``from-mdtest``."""

    name: str = f"from-{_TOOL}"
    doc: str = _DOC
    options: Callable[..., ParsedOptions] = _OPTIONS

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.command_lines.prepared import prepare_lines

        return prepare_lines(request, engine_context, _TOOL, _translator())


SUITE = FromMdtest()
