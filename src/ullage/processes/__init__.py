# SPDX-License-Identifier: Apache-2.0
"""Other programs that we start: nothing of one outlives it, or us, however either ends."""
