# SPDX-License-Identifier: Apache-2.0
"""CSV that a spreadsheet does not execute."""

import pytest

from ullage.report.contents import to_csv_text


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", " =1", "\t=1", "\r=1", "-inf", "-1;=2"])
def test_formulas_become_text(text: str) -> None:
    line = to_csv_text([[text]])
    assert line.lstrip('"').startswith("'")


@pytest.mark.parametrize("cell", [-1.5, -1, 2, None, "-1.5", "-1.5e-07;2.0", "posix", "a=b", "", True])
def test_numbers_and_plain_text_stay(cell: object) -> None:
    assert to_csv_text([[cell, "x"]]) == f"{'' if cell is None else cell},x\n"
