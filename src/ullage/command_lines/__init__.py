# SPDX-License-Identifier: Apache-2.0
"""Command lines of other benchmarks: split, read flag by flag, and carried out as plans.

A suite ``from-TOOL`` states the tool's flags and what they mean (a ``Translator``); all else is shared here.
"""
