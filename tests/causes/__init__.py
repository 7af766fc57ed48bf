# SPDX-License-Identifier: Apache-2.0
"""Causes of slowness that are planted, so that Ullage has to name them."""
