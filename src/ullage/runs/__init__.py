# SPDX-License-Identifier: Apache-2.0
"""What all suites share of running: launches, deadlines, room, probes, what is done already, resuming."""
