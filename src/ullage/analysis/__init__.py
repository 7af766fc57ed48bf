# SPDX-License-Identifier: Apache-2.0
"""Pure functions over records and rows: metrics, statistics, ceilings, verdicts, findings, comparisons."""
