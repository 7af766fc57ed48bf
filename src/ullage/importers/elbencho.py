# SPDX-License-Identifier: Apache-2.0
"""The results of elbencho as CSV (``--csvfile``) and JSON (``--jsonfile``), whose fields have the same names.

``[last]`` is when the last thread was done, ``[first]`` when the first was. MiB/s are cut to whole ones.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ullage.importers.forms import MIB, US, Form, Found, Measured, RefusedError, amount, disagree, size, word
from ullage.importers.printed import Printed
from ullage.importers.sources import Line

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

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
            if len(cells) != len(names):
                raise RefusedError(f"has {len(cells)} values below {len(names)} columns", line.number)
            yield from read_record(dict(zip(names, cells, strict=True)))


def read_record(record: Mapping[str, object]) -> Iterator[Found]:
    """Yield the numbers of one phase."""
    operation = word(record, "operation").strip()
    if not operation:
        return
    access, item = _ITEMS.get(operation.upper(), (operation.lower(), ""))
    params = _params(record, access)
    doubt = _doubt(record)
    for when, before in (("last", ""), ("first", "first_done_")):
        if rate := amount(record, f"MiB/s [{when}]"):
            yield Measured(f"{before}bandwidth", "B/s", rate * MIB, params, doubt if when == "last" else "")
        if rate := amount(record, f"IOPS [{when}]"):
            yield Measured(f"{before}operation_rate", "op/s", rate, params)
        if rate := amount(record, f"entries/s [{when}]"):
            ours = (f"{before}operation_rate", "op/s") if item else (f"{before}file_rate", "file/s")
            yield Measured(*ours, rate, {**params, "item": item} if item else params)
    for name, more in (("IO", {}), ("Ent", {"item": item or "file"})):
        for side, after in (("avg", ""), ("min", "_min"), ("max", "_max")):
            time = amount(record, f"{name} lat us [{side}]") or amount(record, f"{name} lat us {side}")
            if time:
                yield Measured(f"latency{after}", "s", time * US, {**params, **more})


def _params(record: Mapping[str, object], access: str) -> "dict[str, Scalar]":
    found: dict[str, Scalar] = {"access": access}
    for theirs, ours in _COUNTS.items():
        if re.fullmatch(r"[1-9]\d{0,8}", text := word(record, theirs).strip()):
            found[ours] = int(text)
    if block := size(word(record, "block size")):
        found["block_bytes"] = block
    if (random := word(record, "random").strip()) in ("0", "1"):
        found["order"] = "random" if random == "1" else "sequential"
    if (direct := word(record, "direct IO").strip()) in ("0", "1"):
        found["cache"] = "direct" if direct == "1" else "buffered"
    return found | ({"label": label} if (label := word(record, "label").strip()) else {})


def _doubt(record: Mapping[str, object]) -> str:
    rate, moved, time = (amount(record, f"{name} [last]") for name in ("MiB/s", "MiB", "time ms"))
    if not rate or not moved or not time:
        return ""
    again = Printed(moved / time / _SECONDS, moved / (time + 1) / _SECONDS, (moved + 1) / time / _SECONDS)
    return disagree(Printed(rate, rate, rate + 1), again, f"MiB/s of {word(record, 'operation')}", 1e-3)


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
        begin=r"^",
    ),
)
