# SPDX-License-Identifier: Apache-2.0
"""The pieces of `make setup`, of the test runs and of `make lint`; the Python standard library only."""
