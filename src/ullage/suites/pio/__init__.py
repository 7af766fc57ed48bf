# SPDX-License-Identifier: Apache-2.0
"""Which access patterns is a file system bad at?

The ranks write, read and change files in nine patterns: strides of three kinds, sequences, segments, tiles, blocks of
FLASH and a mesh. Each is measured with requests of several sizes, independent and collective, and 8 bytes off.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("pio", __doc__ or "", "options:PioOptions", "suite:prepare", "suite:summarise")
