# SPDX-License-Identifier: Apache-2.0
"""Charts that any result may have, found by walking this package: a module sets ``CHARTS``."""
