# SPDX-License-Identifier: Apache-2.0
"""Pure functions over samples. Nothing is dropped silently and nothing heavy is imported; docs/statistics.md has the
rules, where they are from and how often they are right."""
