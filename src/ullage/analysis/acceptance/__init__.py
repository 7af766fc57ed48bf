# SPDX-License-Identifier: Apache-2.0
"""Floors that people declare: reading them, and judging rows by them."""
