# SPDX-License-Identifier: Apache-2.0
"""The rows of a network run by case: a line of a table, or a point of a chart, is a case with all its metrics. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Row
from ullage.report.data import ReportData
from ullage.units import format_bytes

SUITE: Final = "network"
NAMES: Final = {"tcp": "TCP", "udp": "UDP", "icmp": "ICMP echo"}
_ORDER: Final = ("tcp", "udp", "icmp")


@dataclass(frozen=True)
class Line:
    """One case."""

    rows: dict[str, Row]

    @property
    def first(self) -> Row:
        """Any of its rows: they have the same parameters."""
        return next(iter(self.rows.values()))

    @property
    def protocol(self) -> str:
        """``tcp``, ``udp`` or ``icmp``."""
        return str(self.first.params["protocol"])

    @property
    def size(self) -> int:
        """Bytes of its blocks or messages."""
        return int(self.first.params["block_bytes"])

    @property
    def streams(self) -> int:
        """At once."""
        return int(self.first.params["streams"])

    @property
    def is_stream(self) -> bool:
        """Else it is of requests."""
        return self.first.params["mode"] == "stream"

    @property
    def how(self) -> str:
        """What it does besides; empty: nothing."""
        params = self.first.params
        words = {
            "TCP_NODELAY": params["no_delay"] is True,
            "MSG_ZEROCOPY": params["zero_copy"] is True,
            "both ways": params["direction"] == "both",
        }
        return ", ".join(word for word, applies in words.items() if applies)

    @property
    def series(self) -> str:
        """``TCP, 32K``."""
        return ", ".join(filter(None, (NAMES[self.protocol], format_bytes(self.size), self.how)))


def lines_of(rows: Sequence[Row]) -> list[Line]:
    """By protocol, size, streams."""
    by_case: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_case.setdefault(row.case, {})[row.metric] = row
    lines = [Line(found) for found in by_case.values()]
    return sorted(lines, key=lambda line: (_ORDER.index(line.protocol), line.how != "", line.size, line.streams))


def own_lines(data: ReportData) -> list[Line]:
    """Of this suite, whatever else the result holds."""
    return lines_of([row for row in data.rows_of(SUITE) if row.params.get("access") == "sockets"])
