# SPDX-License-Identifier: Apache-2.0
"""The short summary of a b_eff_io run as JSON: processes, memory, schedule, three averages, volume, headline.

{"processes": 64, "mib_per_pe": 2048, "weighted_average_mb_s": {"write": ...}, "b_eff_io_mb_s": ...}
"""

from typing import Annotated

from pydantic import Field, ValidationError

from ullage.errors import UserError
from ullage.importers.printed import Printed, printed
from ullage.model.base import Strict
from ullage.suites.b_eff_io.importer.reading import PrintedPartition, PrintedRun
from ullage.suites.b_eff_io.patterns import Access

Amount = Annotated[float, Field(gt=0, le=1e15)]
Count = Annotated[int, Field(ge=1, le=1 << 31)]


class _Published(Strict):
    source: str = ""
    processes: Count
    mib_per_pe: Count | None = None
    scheduled_minutes: Amount | None = None
    weighted_average_mb_s: dict[Access, Amount]
    data_volume_mbytes_per_access: Amount | None = None
    percent_of_memory: Amount | None = None
    b_eff_io_mb_s: Amount
    note: str = ""


def recognises(text: str) -> bool:
    """A JSON object with the headline and the averages."""
    return text.lstrip().startswith("{") and '"b_eff_io_mb_s"' in text and '"weighted_average_mb_s"' in text


def read_published(text: str, name: str) -> PrintedRun:
    """``UserError`` names the place of the first mistake."""
    right = "write processes, weighted_average_mb_s with write and read, and b_eff_io_mb_s"
    try:
        table = _Published.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        raise UserError(f"{place}: {first['msg']}" if place else first["msg"], name, right) from error
    averages: dict[Access, Printed] = {}
    for access, value in table.weighted_average_mb_s.items():
        averages[access] = printed(repr(value))
    missing = [access for access in ("write", "read") if access not in averages]
    if missing:
        raise UserError(f"weighted_average_mb_s: no {missing[0]}", name, right)
    partition = PrintedPartition(
        processes=table.processes,
        averages=averages,
        value=_shown(table.b_eff_io_mb_s),
        volume_mib=_shown(table.data_volume_mbytes_per_access),
        percent=_shown(table.percent_of_memory),
        mib_per_process=table.mib_per_pe,
        scheduled_min=_shown(table.scheduled_minutes),
    )
    return PrintedRun([partition])


def _shown(value: float | None) -> Printed | None:
    """As it stands in the file: a number with three decimals is known to half of the last."""
    return None if value is None else printed(repr(value))
