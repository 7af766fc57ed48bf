# SPDX-License-Identifier: Apache-2.0
"""What was really measured, with reasons: where the bytes moved, and whether the numbers are possible at all."""
