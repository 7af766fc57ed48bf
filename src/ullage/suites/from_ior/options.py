# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``from-ior``, as they stand in request.json."""

from collections.abc import Mapping
from typing import ClassVar, cast

from ullage.command_lines.options import LineOptions, read_text
from ullage.command_lines.translation import Translator
from ullage.runs.options.declared import Change
from ullage.suites.from_ior.script import expanded
from ullage.suites.from_ior.translation import translate


class FromIorOptions(LineOptions):
    """The options of all suites that measure command lines."""

    tool = "ior"
    changes: ClassVar[Mapping[str, Change]] = {
        "lines": Change('Measure what these command lines do. Put each in quotes: "ior ..." or "mpirun -np 8 ior ...".')
    }

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Replace a script by the command lines of its tests, so that it is read once and the request holds them."""
        lines = said.get("lines")
        return super().settle({**said, "lines": expanded(cast("list[str]", lines), read_text)} if lines else said)

    @classmethod
    def translator(cls) -> Translator:
        """See ``LineOptions``."""
        return translate
