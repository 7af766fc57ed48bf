# SPDX-License-Identifier: Apache-2.0
"""What a report shows of vpic."""

from typing import Final

from ullage.report.answers import AnswerRule
from ullage.runs.particles.tables import headline_rule, particle_section

SECTION: Final = particle_section("vpic", "Particles of a plasma code, written", of_reads=False)
HEADLINE: Final = headline_rule("write")
ANSWER: Final = AnswerRule(
    "vpic",
    "Which way of writing is faster for a code with particles?",
    "vpic-layout vpic-format vpic-access vpic-observed",
    best={"vpic-observed": "observed"},
)
