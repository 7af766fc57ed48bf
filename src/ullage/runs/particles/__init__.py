# SPDX-License-Identifier: Apache-2.0
"""What the suites of particle files share: one writes them, the other reads them."""
