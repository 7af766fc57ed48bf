# SPDX-License-Identifier: Apache-2.0
"""What the original b_eff writes, by hand-written samples."""

from pathlib import Path

import pytest

from importers.test_message_texts import flagged
from importers.test_storage_texts import of, value
from ullage.errors import UserError

B_EFF = """SECTION-HEAD-BEGIN

b_eff.c, Revision 3.6.0.1 from Feb. 2, 2016

SECTION-BY-MSGLNG-BEGIN

msg length|accumulated| effective bandwidth per process:
         1      40.000   10.000   10.000   10.000   10.000    5.000    8.000
      4096    8000.000 2000.000 2000.000 2000.000 2000.000 1000.000 1600.000
   1048576   20000.000 5000.000 5000.000 5000.000 5000.000 2500.000 4000.000

SECTION-BY-MSGLNG-END

SECTION-BEFF-BEGIN

"""

B_EFF_TABLE = """accumulated |   4    10000   1 MB    20000    21000    0.100    0.080    0.500      6000
            |
per process |                2500                5000         5250

SECTION-BEFF-END

b_eff =  10000.250 MB/s = 2500.063 *   4 PEs with 128 MB/PE on Linux n1 6.1 1 x86_64
"""


def test_all_that_is_written(tmp_path: Path) -> None:
    rows = of(tmp_path, B_EFF + B_EFF_TABLE).rows
    assert value(rows, "b_eff", ranks=4, lmax_bytes=1 << 20) == pytest.approx(10000.25e6)
    assert value(rows, "exchange_bandwidth", message_bytes=4096) == 8e9
    assert value(rows, "exchange_bandwidth", patterns="rings", message_bytes=1 << 20) == 21e9
    assert value(rows, "exchange_latency", patterns="rings") == pytest.approx(80e-9)
    assert value(rows, "one_pair_latency") == pytest.approx(0.5e-6)
    assert value(rows, "one_pair_bandwidth", message_bytes=1 << 20) == 6e9
    assert all(len(row.repetitions) == 1 for row in rows)
    assert flagged(tmp_path, B_EFF + B_EFF_TABLE, "2500.063", "2600.063")
    assert flagged(tmp_path, B_EFF + B_EFF_TABLE, "4    10000", "4    20000")


def test_the_table_alone_the_value_alone_and_neither(tmp_path: Path) -> None:
    head, last = B_EFF.partition("SECTION-BY")[0], B_EFF_TABLE.splitlines()[-1]
    rows = of(tmp_path, head + B_EFF_TABLE).rows
    assert value(rows, "exchange_bandwidth", patterns="rings and random") == 20e9
    assert len(rows) == 7
    assert [row.metric for row in of(tmp_path, head + last).rows] == ["b_eff"]
    with pytest.raises(UserError, match="contains no result of b_eff"):
        of(tmp_path, B_EFF)
