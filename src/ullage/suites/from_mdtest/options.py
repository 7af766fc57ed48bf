# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``from-mdtest``, as they stand in request.json."""

from collections.abc import Mapping
from typing import ClassVar

from ullage.command_lines.options import LineOptions
from ullage.command_lines.translation import Translator
from ullage.runs.options.declared import Change
from ullage.suites.from_mdtest.translation import translate


class FromMdtestOptions(LineOptions):
    """The options of all suites that measure command lines."""

    tool = "mdtest"
    shown = ("operation_rate", "latency_p50", "latency_p99")
    changes: ClassVar[Mapping[str, Change]] = {
        "lines": Change(
            'Measure what these command lines do. Put each in quotes: "mdtest ..." or "mpirun -np 8 mdtest ...".'
        )
    }

    @classmethod
    def translator(cls) -> Translator:
        """See ``LineOptions``."""
        return translate
