# SPDX-License-Identifier: Apache-2.0
"""How near do the parts of this node come to what they could do: cores, memory, disk, and how noisy is it?

Runs the suites cpu, memory, disk and noise one after the other, and network where there is one, each with its peers,
and puts them into one report that begins with what each part reaches of its ceiling.
"""

from ullage.runs.composite_suite import CompositeSuite

SUITE = CompositeSuite("node", __doc__ or "", "options:NodeOptions")
