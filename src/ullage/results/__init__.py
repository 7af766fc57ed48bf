# SPDX-License-Identifier: Apache-2.0
"""The folder of one run, its records, and the rows made of them."""
