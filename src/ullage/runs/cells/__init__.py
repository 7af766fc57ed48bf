# SPDX-License-Identifier: Apache-2.0
"""Runs of cells: cases on storage targets, each with its layout."""
