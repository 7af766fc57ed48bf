# SPDX-License-Identifier: Apache-2.0
"""What section and charts of network runs share."""
