# SPDX-License-Identifier: Apache-2.0
"""How much of the cores' time is lost to others: interrupts, daemons, a hypervisor, other programs?

Every thread does the same piece of work again and again, and then watches the clock. What takes longer than the
shortest piece, at the same clock rate, is noise.
"""

from ullage.runs.suite import UsualQuickSuite

# The quick form: all threads, three times.
SUITE = UsualQuickSuite("noise", __doc__ or "", "options:NoiseOptions", "suite:prepare_noise", "suite:summarise")
