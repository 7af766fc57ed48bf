# SPDX-License-Identifier: Apache-2.0
"""What the tables and charts of a run over collective operations share."""
