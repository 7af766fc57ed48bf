# SPDX-License-Identifier: Apache-2.0
"""What suites share that measure cores and memory: no storage, one rank, threads as a parameter of the workload."""
