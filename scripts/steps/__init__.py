# SPDX-License-Identifier: Apache-2.0
"""The pieces of `make setup`, `make test` and `make lint`; the Python standard library only."""
