# SPDX-License-Identifier: Apache-2.0
"""What rate does this mdtest command line reach here?

The suite reads the flags of mdtest and measures a plan that does the same work. A flag without an equivalent is an
error.
"""

from ullage.command_lines import LineSuite

SUITE = LineSuite("from-mdtest", __doc__ or "", "translation:FromMdtestOptions")
