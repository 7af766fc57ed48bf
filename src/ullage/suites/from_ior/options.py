# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``from-ior``, as they stand in request.json."""

from collections.abc import Mapping
from typing import ClassVar

from ullage.command_lines.options import LineOptions
from ullage.command_lines.translation import Translator
from ullage.runs.options.declared import Change
from ullage.suites.from_ior.translation import translate


class FromIorOptions(LineOptions):
    """Those of all command lines."""

    tool = "ior"
    changes: ClassVar[Mapping[str, Change]] = {
        "lines": Change('Measure what these command lines do. Put each in quotes: "ior ..." or "mpirun -np 8 ior ...".')
    }

    @classmethod
    def translator(cls) -> Translator:
        """See ``LineOptions``."""
        return translate
