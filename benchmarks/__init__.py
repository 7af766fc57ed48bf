# SPDX-License-Identifier: Apache-2.0
"""Measurements of Ullage itself: what docs/performance.md quotes. Each is a module: ``python -m benchmarks.NAME``."""
