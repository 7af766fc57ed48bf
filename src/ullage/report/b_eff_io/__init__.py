# SPDX-License-Identifier: Apache-2.0
"""What tables and charts of a b_eff_io run share."""
