# SPDX-License-Identifier: Apache-2.0
"""Which access patterns is this target good and bad at?

The suite runs the small form of every kernel of parallel programs and writes one report. It states the rate of each
class of patterns, and which settings change a rate most.
"""

from ullage.runs.composite_suite import CompositeSuite

# Across all kernels: the classes of patterns and the settings.
SUITE = CompositeSuite("apps", __doc__ or "", "suite:AppsOptions", across_at="suite:findings_of")
