# SPDX-License-Identifier: Apache-2.0
"""What a report shows of accelerators: the rates of their memory."""

from typing import Final

from ullage.report.answers import AnswerRule
from ullage.report.declared import PartOfReport, Table, columns, tables_of

_SUITE: Final = "gpu"
_COLUMNS: Final = columns(
    "target kernel working_set_bytes:bytes=working_set device_bandwidth=rate device_bandwidth:interval=interval "
    "device_clock_bandwidth=by_the_device's_clock device_bandwidth:ceiling=ceiling device_bandwidth:share=share "
    "grade verdict flags"
)
_TABLES: Final = tables_of(
    _SUITE,
    [Table(_COLUMNS, lambda row: str(row.params["device"]))],
    lambda row: (row.target, row.count("working_set_bytes"), row.word("kernel")),
)
SECTION: Final = PartOfReport(_SUITE, "memory", 60).section(
    "Accelerators",
    "Bytes that kernels read and write in the memory of each accelerator, by the clock of the host and by its own.",
    _TABLES,
)
ANSWER: Final = AnswerRule(_SUITE, "How fast is the memory of each accelerator?", "device")
