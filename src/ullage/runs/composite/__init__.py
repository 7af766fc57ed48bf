# SPDX-License-Identifier: Apache-2.0
"""What suites share that are made of other suites: each part has a result of its own below that of the whole."""
