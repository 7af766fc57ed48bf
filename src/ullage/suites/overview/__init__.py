# SPDX-License-Identifier: Apache-2.0
"""What does each part of this machine reach, and what to change first? A quick look with every suite there is.

Runs the quick form of every suite that has one, and puts them into one report whose front page says for each part what
it reaches, its ceiling, and how far it is below that.
"""

from ullage.runs.composite_suite import CompositeSuite

SUITE = CompositeSuite("overview", __doc__ or "", "options:OverviewOptions")
