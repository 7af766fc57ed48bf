# SPDX-License-Identifier: Apache-2.0
"""What a report shows of accelerators: their memory, their units, their links and their launches."""

from typing import Final

from ullage.model.summary import Row
from ullage.report.answers import AnswerRule
from ullage.report.declared import PartOfReport, Table, columns, tables_of
from ullage.report.headlines import ACCELERATORS, Rule

_SUITE: Final = "gpu"
_RATE: Final = "device_bandwidth=rate device_bandwidth:interval=interval device_clock_bandwidth=by_the_device's_clock "
_JUDGED: Final = "{0}:ceiling=ceiling {0}:share=share grade verdict flags"
_ORDER: Final = ("measure", "working_set_bytes", "size_bytes", "kernel", "direction", "host_memory", "wait")
_TABLES: Final = {
    "memory": "target kernel working_set_bytes:bytes=working_set " + _RATE + _JUDGED.format("device_bandwidth"),
    "compute": "target type device_compute_rate=rate device_compute_rate:interval=interval "
    + _JUDGED.format("device_compute_rate"),
    "link": "target direction host_memory size_bytes:bytes=size " + _RATE + _JUDGED.format("device_bandwidth"),
    "launch": "target wait device_launch_time=time device_launch_time:interval=interval grade verdict flags",
}


def _table(row: Row) -> str:
    """Return which table a row stands in: types of numbers have one together."""
    return "compute" if "type" in row.params else row.word("measure")


def _titled(name: str) -> Table:
    return Table(columns(_TABLES[name]), lambda row: f"{row.params['device']}: {name}" if _table(row) == name else None)


SECTION: Final = PartOfReport(_SUITE, ACCELERATORS, 60).section(
    "Accelerators",
    "Bytes that kernels read and write in the memory of each accelerator, and that are copied to and from it, by the "
    "clock of the host and by its own; multiply-adds of its vector units; and the time of the smallest kernel.",
    tables_of(
        _SUITE,
        [_titled(name) for name in _TABLES],
        lambda row: (row.target, *(str(row.params.get(name, "")).zfill(20) for name in _ORDER)),
    ),
)
HEADLINES: Final = (
    Rule(
        ACCELERATORS,
        "device_bandwidth",
        lambda row: row.params.get("kernel") == "triad",
        lambda row: row.params["measure"],
        lambda row: f"{row.target}: triad in its memory",
    ),
    Rule(
        ACCELERATORS,
        "device_compute_rate",
        lambda row: "type" in row.params,
        lambda row: row.params["type"],
        lambda row: f"{row.target}: {row.params['type']} multiply-adds",
    ),
    Rule(
        ACCELERATORS,
        "device_bandwidth",
        lambda row: row.params.get("host_memory") == "pinned",
        lambda row: row.params["direction"],
        lambda row: f"{row.target}: copies {row.word('direction').replace('-', ' ')}, pinned memory",
    ),
)
ANSWER: Final = AnswerRule(_SUITE, "How fast are an accelerator's memory, units and link?", "device pageable link")
