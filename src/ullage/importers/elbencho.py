# SPDX-License-Identifier: Apache-2.0
"""The results of elbencho as CSV (``--csvfile``) and JSON (``--jsonfile``), whose fields have the same names.

``[last]`` is when the last thread was done, ``[first]`` when the first was. MiB/s are cut to whole ones.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Final

from ullage.importers.forms import MIB, US, Form, Found, Measured, amount, cells_of, disagree, given, size, word
from ullage.importers.printed import Printed
from ullage.importers.sources import Line

_ITEMS: Final = {
    "MKDIRS": ("create", "directory"),
    "RMDIRS": ("remove", "directory"),
    "STATDIRS": ("stat", "directory"),
    "RMFILES": ("remove", "file"),
    "STAT": ("stat", "file"),
}
_COUNTS: Final = {"threads": "threads", "hosts": "nodes", "IO depth": "queue_depth"}
_SECONDS: Final = 1e-3


def read_csv(lines: Iterator[Line]) -> Iterator[Found]:
    """Yield the numbers of each line below a head; a file that was appended to has several."""
    names: list[str] = []
    for line in lines:
        cells = next(csv.reader([line.text.strip()]), list[str]())
        if "operation" in cells and "MiB/s [last]" in cells:
            names = [cell.strip() for cell in cells]
        elif names and any(cells):
            yield from read_record(cells_of(names, cells, line))


def read_record(record: Mapping[str, object]) -> Iterator[Found]:
    """Yield the numbers of one phase."""
    operation = word(record, "operation").strip()
    if not operation:
        return
    access, item = _ITEMS.get(operation.upper(), (operation.lower(), ""))
    counts = {
        ours: int(text)
        for theirs, ours in _COUNTS.items()
        if re.fullmatch(r"[1-9]\d{0,8}", text := word(record, theirs).strip())
    }
    order = {"1": "random", "0": "sequential"}.get(word(record, "random").strip())
    cache = {"1": "direct", "0": "buffered"}.get(word(record, "direct IO").strip())
    label, block = word(record, "label").strip(), size(word(record, "block size"))
    params = given(access=access, **counts, block_bytes=block, order=order, cache=cache, label=label)
    for when, before in (("last", ""), ("first", "first_done_")):
        if rate := amount(record, f"MiB/s [{when}]"):
            yield Measured(f"{before}bandwidth", "B/s", rate * MIB, params, _doubt(record, when, "MiB/s", "MiB"))
        if rate := amount(record, f"IOPS [{when}]"):
            yield Measured(f"{before}operation_rate", "op/s", rate, params, _doubt(record, when, "IOPS", "I/Os"))
        if rate := amount(record, f"entries/s [{when}]"):
            ours = (f"{before}operation_rate", "op/s") if item else (f"{before}file_rate", "file/s")
            doubt = _doubt(record, when, "entries/s", "entries")
            yield Measured(*ours, rate, {**params, "item": item} if item else params, doubt)
    for name, more in (("IO", {}), ("Ent", {"item": item or "file"})):
        for side, after in (("avg", ""), ("min", "_min"), ("max", "_max")):
            time = amount(record, f"{name} lat us [{side}]") or amount(record, f"{name} lat us {side}")
            if time:
                yield Measured(f"latency{after}", "s", time * US, {**params, **more})


def _doubt(record: Mapping[str, object], when: str, rate_name: str, count_name: str) -> str:
    """Compare a rate, which is cut to a whole number, with its count over the time, and operations with bytes."""
    rate, count, time = (amount(record, f"{name} [{when}]") for name in (rate_name, count_name, "time ms"))
    block, mib = size(word(record, "block size")), amount(record, f"MiB/s [{when}]")
    what = f"{rate_name} [{when}] of {word(record, 'operation')}"
    if rate and count and time:
        again = Printed(count / time / _SECONDS, count / (time + 1) / _SECONDS, (count + 1) / time / _SECONDS)
        if said := disagree(Printed(rate, rate, rate + 1), again, what, 1e-3):
            return said
    if rate and rate_name == "IOPS" and block and mib:
        again = Printed(mib * MIB / block, mib * MIB / block, (mib + 1) * MIB / block)
        return disagree(Printed(rate, rate, rate + 1), again, what, 0.05)
    return ""


FORMS: Final = (
    Form(
        "elbencho_csv",
        "what elbencho writes with --csvfile",
        "storage",
        ("MiB/s [last],", 'MiB/s [last]",'),
        read_csv,
        begin=r"^",
    ),
    Form(
        "elbencho_json",
        "what elbencho writes with --jsonfile",
        "storage",
        ('"MiB/s [last]":', '"MiB/s [last]" :'),
        read_document=read_record,
    ),
)
