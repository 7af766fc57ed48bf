# SPDX-License-Identifier: Apache-2.0
"""How much core time do other programs and interrupts take?

Every thread repeats the same piece of work and reads the clock after each. What takes longer than the shortest piece at
the same clock rate is noise.
"""

from ullage.runs.suite import UsualQuickSuite

# The quick form: 1 thread and all, six times.
SUITE = UsualQuickSuite(
    "noise",
    __doc__ or "",
    "suite:NoiseOptions",
    "suite:prepare_noise",
    "suite:summarise",
    {"quick": True, "repetitions": 6},
    (),
)
