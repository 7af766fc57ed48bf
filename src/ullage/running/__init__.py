# SPDX-License-Identifier: Apache-2.0
"""What every suite's run is made of: launches, what is known of the cases so far, what goes round the measurement."""
