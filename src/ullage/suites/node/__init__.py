# SPDX-License-Identifier: Apache-2.0
"""How close do the parts of this node come to their ceilings?

The suite runs the suites cpu, memory, disk, network, noise and, where there are accelerators, gpu one after the other,
each with its peers. It writes one report that begins with the share of its ceiling that each part reaches.
"""

from ullage.runs.composite_suite import CompositeSuite

SUITE = CompositeSuite("node", __doc__ or "", "options:NodeOptions")
