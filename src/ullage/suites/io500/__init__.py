# SPDX-License-Identifier: Apache-2.0
"""How fast is this storage by the rules of IO500?

The suite runs the official phases in the official order with the official parameters. They are bulk writes and reads,
easy and hard, and files that are created, queried, read, found and removed. A probe chooses sizes so that each writing
phase lasts as long as the rules require. Every reason why a number does not count is reported.
"""

from ullage.runs.suite import FIRST, UsualQuickSuite

# The quick form: walls of 1 s. That is far from the rules, and says so.
SUITE = UsualQuickSuite(
    "io500",
    __doc__ or "",
    "options:Io500Options",
    "prepare:prepare_io500",
    "summarise:summarise",
    {"targets": FIRST, "stonewall_s": 1.0, "time_s": 40.0},
)
