# SPDX-License-Identifier: Apache-2.0
"""What people see of a result: one HTML file, tables in the terminal, charts."""
