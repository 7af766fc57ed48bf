# SPDX-License-Identifier: Apache-2.0
"""All kept results of a system: rows in Parquet, asked by DuckDB; what changed, since when, and what is worse."""
