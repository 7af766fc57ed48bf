# SPDX-License-Identifier: Apache-2.0
"""What does each part of this machine reach?

The suite runs the quick form of every suite that has one, and writes one report. Its front page says for each part what
it reaches, its ceiling, how far below the ceiling it is, and what to change first.
"""

from ullage.runs.composite_suite import CompositeSuite

SUITE = CompositeSuite("overview", __doc__ or "", "options:OverviewOptions")
