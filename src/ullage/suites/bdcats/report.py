# SPDX-License-Identifier: Apache-2.0
"""What a report shows of bdcats."""

from typing import Final

from ullage.report.answers import AnswerRule
from ullage.runs.particles.tables import headline_rule, particle_section

SECTION: Final = particle_section("bdcats", "Particles of a plasma code, read", of_reads=True)
HEADLINES: Final = tuple(headline_rule("read", read) for read in ("full", "partial", "strided"))
ANSWER: Final = AnswerRule(
    "bdcats",
    "Which way of reading particles is faster for an analysis?",
    "bdcats-layout bdcats-format bdcats-access bdcats-observed",
    best={"bdcats-observed": "observed"},
)
