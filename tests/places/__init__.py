# SPDX-License-Identifier: Apache-2.0
"""Places that tests make: hosts that are network namespaces of this machine."""
