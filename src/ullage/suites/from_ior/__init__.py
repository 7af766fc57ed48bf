# SPDX-License-Identifier: Apache-2.0
"""What does this ior command line reach here?

Reads the flags of IOR, and measures with a plan that does the same work. A flag without an equivalent is an error.
"""

from ullage.command_lines import LineSuite

SUITE = LineSuite("from-ior", __doc__ or "", "options:FromIorOptions")
