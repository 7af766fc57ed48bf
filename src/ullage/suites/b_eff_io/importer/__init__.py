# SPDX-License-Identifier: Apache-2.0
"""Results of the original b_eff_io program: the summary it prints, and the published sample as JSON.

The program's three averages do not determine its headline; the summary says so, and what W' it needs.
"""

from typing import Final

from ullage.importers import Importer
from ullage.model.summary import Summary
from ullage.suites.b_eff_io.importer.reading import (
    read_printed,
    read_published,
    recognises_printed,
    recognises_published,
)
from ullage.suites.b_eff_io.importer.summary import summary_of


def recognises(text: str) -> bool:
    """Either form."""
    return recognises_published(text) or recognises_printed(text)


def read(text: str, name: str) -> Summary:
    """The summary of a file in either form. ``UserError`` says what is missing or wrong, and where."""
    if recognises_published(text):
        return summary_of(read_published(text, name), name)
    return summary_of(read_printed(text, name), name)


IMPORTER: Final = Importer(
    "b_eff_io", "what the original b_eff_io prints (.sum), or its sample as JSON", recognises, read
)


IMPORTERS: Final = (IMPORTER,)
