# SPDX-License-Identifier: Apache-2.0
"""Ullage measures how fast each part of a machine runs and how far that is below what it could do."""

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] - it has none

__version__ = "0.1.0"


def open(result: str | PathLike[str]) -> "pd.DataFrame":  # noqa: A001 - it reads as wave.open does
    """Return the rows of a result folder as a pandas DataFrame, with the columns of ``ullage report --format csv``.

    Numbers are plain SI units; ``repetitions``, ``reasons`` and ``flags`` are lists. Raise ``ImportError`` without
    pandas, and ``ullage.errors.UserError`` for what is no result.
    """
    from pathlib import Path

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] - it has none

    from ullage.report.row_records import columns_of, row_records
    from ullage.results.folder import ResultFolder

    summary = ResultFolder.open(Path(result)).read_summary()
    return pd.DataFrame(list(row_records(summary)), columns=columns_of(summary)).convert_dtypes()


def history(
    campaign: str | PathLike[str] = "ullage-campaign", what: str = "", node: str = "", since: str = ""
) -> "pd.DataFrame":
    """Return kept rows of a campaign as a pandas DataFrame: all, or those that ``ullage history`` shows for the same.

    Raise ``ImportError`` without pandas, and ``ullage.errors.UserError`` for a folder without kept results.
    """
    from pathlib import Path

    from ullage.campaign.series import Selection
    from ullage.campaign.store import query

    where, given = Selection(Path(campaign), what, node, since).where()
    return query(Path(campaign), f"SELECT * FROM rows WHERE {where} ORDER BY time, id", given, lambda found: found.df())
