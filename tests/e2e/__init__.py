# SPDX-License-Identifier: Apache-2.0
"""The real engine under its real launcher."""
