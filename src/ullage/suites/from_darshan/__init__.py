# SPDX-License-Identifier: Apache-2.0
"""How fast is the I/O of a program here, by its Darshan log?

The suite does the work that the log counts: the same bytes, operations, sizes, order, files and ranks. With it, it
measures the work after each change that `ullage diagnose` names.
"""

from ullage.command_lines import LineSuite

SUITE = LineSuite("from-darshan", __doc__ or "", "translation:FromDarshanOptions")
