# SPDX-License-Identifier: Apache-2.0
"""Runs that measure every node by itself, at the same time.

On each node one ``ullage member`` measures as ``ullage run`` does there, into a result of its own below that of the
whole. The ``ullage`` that people start is on no side: it starts the members, lets them begin together, and compares.
"""
