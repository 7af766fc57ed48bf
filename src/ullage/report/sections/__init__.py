# SPDX-License-Identifier: Apache-2.0
"""Sections that any result may have, found by walking this package: a module sets ``SECTIONS``."""
