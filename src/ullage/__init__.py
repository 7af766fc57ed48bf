# SPDX-License-Identifier: Apache-2.0
"""Ullage measures how fast each part of a machine runs and how far that is below what it could do."""

__version__ = "0.1.0"
