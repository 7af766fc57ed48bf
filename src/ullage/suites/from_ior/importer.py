# SPDX-License-Identifier: Apache-2.0
"""What IOR writes with ``-O summaryFormat=JSON`` or ``CSV``: the bandwidth of every access and repetition.

Bandwidths are bytes over the whole time of an access, as ours. IOR's ``latency`` (the least mean of a rank) and
``iops`` (over another time than the bandwidth) are no numbers of ours and are left out. Four decimals are printed.
"""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Final, cast

from pydantic import Field, ValidationError

from ullage.analysis.findings import find_all
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.importers.rows import IMPORT_SUITE, Importer, imported_row
from ullage.model.base import Tolerant, first_mistake
from ullage.model.plan import Scalar
from ullage.model.summary import Row, Summary

_MIB: Final = 1 << 20
_KIB: Final = 1 << 10
_ACCESSES: Final = ("write", "rewrite", "read", "reread")
_CSV_HEAD: Final = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s)"
# C prints nan and inf where a value is no finite number; JSON has no word for them.
_NO_NUMBER: Final = re.compile(r'(":\s*)"?-?(?:nan|inf)"?(?=\s*[,}\n])', re.IGNORECASE)
_BARE_LINE: Final = re.compile(r"^(?!\s*(?:[\"{}\],]|\[\s*$)).*$", re.MULTILINE)
_TWICE_CLOSED: Final = re.compile(r"\]\s*\](?=\s*,\s*\"max\")")
Bytes = Annotated[int, Field(ge=1)]


_Cell = tuple[tuple[tuple[str, Scalar], ...], tuple[str, Scalar]]
"""The parameters of an access, and what tells tests with the same ones apart, each by its name."""


class _Parameters(Tolerant):
    """The parameters of a test, as far as they say what was measured."""

    api: str = "POSIX"
    tasks: Annotated[int | None, Field(alias="numTasks", ge=1)] = None
    nodes: Annotated[int, Field(ge=0)] = 0
    file_per_process: Annotated[int, Field(alias="filePerProc")] = 0
    random_offset: Annotated[int, Field(alias="randomOffset")] = 0
    transfer_bytes: Annotated[Bytes, Field(alias="transferSize")]


class _Options(Tolerant):
    """The part ``Options``, which has the number of ranks."""

    tasks: Annotated[int | None, Field(ge=1)] = None
    results: Annotated[list[object], Field(alias="Results")] = []


class _Test(Tolerant):
    """One of ``tests``. Some releases close ``Options`` too late: its results are then inside."""

    number: Annotated[int, Field(alias="TestID")] = 0
    parameters: Annotated[_Parameters, Field(alias="Parameters")]
    options: Annotated[_Options, Field(alias="Options")] = _Options()
    results: Annotated[list[object], Field(alias="Results")] = []


class _Result(Tolerant):
    """One line of ``Results``. A removal has no bandwidth."""

    access: str
    mib_per_s: Annotated[float | None, Field(alias="bwMiB")] = None


class _Document(Tolerant):
    tests: list[_Test]


def recognises_json(text: str) -> bool:
    """Tell whether ``text`` holds an object with tests and their bandwidths."""
    return '"tests"' in text and '"bwMiB"' in text and '"Parameters"' in text


def read_json(text: str, name: str) -> Summary:
    """Read the rows of all tests, skipping lines around the object; raise ``UserError`` with the place of a mistake."""
    loaded = _loaded(text, name)
    try:
        document = _Document.model_validate(loaded)
        found = [one for test in document.tests for one in _of_test(test, name)]
    except ValidationError as error:
        place, why = first_mistake(error)
        raise UserError(why, f"{name}: {place}" if place else name, "give what ior has written") from error
    return _summary(found, name)


def _loaded(text: str, name: str) -> object:
    begin = re.search(r"^\s*\{", text, re.MULTILINE)
    if begin is None:
        raise UserError("contains no JSON object", name, "give what ior has written with -O summaryFormat=JSON")
    repaired = _NO_NUMBER.sub(r"\1null", text)
    start = cast("re.Match[str]", re.search(r"^\s*\{", repaired, re.MULTILINE)).end() - 1
    try:
        return cast("object", json.JSONDecoder().raw_decode(repaired, start)[0])
    except (json.JSONDecodeError, RecursionError) as error:
        # With -v, ior prints lines between those of the object, and closes the list of results once more.
        quiet = _TWICE_CLOSED.sub("]", _BARE_LINE.sub("", repaired[start:]))
        with suppress(json.JSONDecodeError, RecursionError):
            return cast("object", json.JSONDecoder().raw_decode(quiet)[0])
        right = "a name has a quote in it, which ior writes unchanged, or ior ran with -v"
        if '"Finished"' not in text[start:]:
            right = "ior was ended before it had written all: give the file of a run that ended well"
        msg, line = (error.msg, error.lineno) if isinstance(error, json.JSONDecodeError) else ("nested too deeply", 1)
        raise UserError(f"is no whole JSON object: {msg}", f"{name}:{line}", right) from error


def _of_test(test: _Test, name: str) -> Iterator[tuple[_Cell, float]]:
    given = test.parameters
    ranks = test.options.tasks or given.tasks
    if ranks is None:
        raise UserError("says no number of tasks", f"{name}: test {test.number}", "give what ior has written")
    common: dict[str, Scalar] = {"ranks": ranks, **({"nodes": given.nodes} if given.nodes else {})}
    common |= {"block_bytes": given.transfer_bytes, "backend": given.api.lower()}
    common |= {"file_mode": "per-process" if given.file_per_process else "shared"}
    common |= {"order": "random" if given.random_offset else "sequential"}
    for result in _flat(test.results or test.options.results):
        one = _Result.model_validate(result)
        if one.access in _ACCESSES and one.mib_per_s is not None:
            value = _bandwidth(one.mib_per_s, f"{name}: test {test.number}, {one.access}")
            yield (tuple({"access": one.access, **common}.items()), ("test", test.number)), value


def _flat(results: Sequence[object]) -> Iterator[object]:
    """Yield the results one by one: early releases have a list for each repetition."""
    for result in results:
        if isinstance(result, list):
            yield from _flat(cast("list[object]", result))
        else:
            yield result


def _bandwidth(mib_per_s: float, place: str) -> float:
    if not math.isfinite(mib_per_s) or mib_per_s <= 0:
        raise UserError(f"{mib_per_s} is no bandwidth", place, "a number of MiB/s above 0")
    return mib_per_s * _MIB


def recognises_csv(text: str) -> bool:
    """Tell whether a line of ``text`` names IOR's columns."""
    return any(line.strip().startswith(_CSV_HEAD) for line in text.splitlines())


def read_csv(text: str, name: str) -> Summary:
    """Read the rows of a table; some releases leave out its last two columns, ranks and repetition."""
    found: list[tuple[_Cell, float]] = []
    names: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        place, cells = f"{name}:{number}", next(csv.reader([line.strip()]), list[str]())
        if line.strip().startswith(_CSV_HEAD):
            names = cells
        elif names and cells and cells[0] in _ACCESSES:
            found.append(_of_line(dict(zip(names, cells, strict=False)), place))
        elif names and cells and cells[0] != "remove":
            raise UserError(f"'{cells[0]}' is no access", place, f"one of {', '.join(_ACCESSES)}")
    return _summary(found, name)


def _of_line(cells: Mapping[str, str], place: str) -> tuple[_Cell, float]:
    transfer = _number(cells, "xfer(KiB)", place) * _KIB
    if transfer != int(transfer) or transfer < 1:
        raise UserError(f"'{cells['xfer(KiB)']}' KiB are no whole bytes", place, "give what ior has written")
    params: dict[str, Scalar] = {"access": cells["access"]}
    if cells.get("numTasks"):
        params["ranks"] = int(_number(cells, "numTasks", place))
    params["block_bytes"] = int(transfer)
    value = _bandwidth(_number(cells, "bw(MiB/s)", place), place)
    # The table does not number the tests, so IOR's block size tells them apart.
    block = ("ior_block_bytes", int(_number(cells, "block(KiB)", place) * _KIB))
    return (tuple(params.items()), block), value


def _number(cells: Mapping[str, str], name: str, place: str) -> float:
    text = cells.get(name, "").strip()
    if re.fullmatch(r"\d{1,15}(?:\.\d{1,9})?", text, re.ASCII) is None:
        raise UserError(f"'{text}' is not a number of {name}", place, "give what ior has written")
    return float(text)


def _summary(found: Sequence[tuple[_Cell, float]], name: str) -> Summary:
    """Build a row of each cell with its repetitions as samples.

    Where several tests have the same parameters, the rows say which.
    """
    cells = grouped(found)
    if not cells:
        raise UserError("contains no bandwidth", name, "give what ior has written")
    tests = Counter(params for params, _ in cells)
    rows: list[Row] = []
    for (params, apart), samples in cells.items():
        own = dict([*params, *([apart] if tests[params] > 1 else [])])
        rows.append(imported_row(name, "bandwidth", "B/s", "ior", own, samples))
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows, findings=find_all(rows))


IMPORTERS: Final = (
    Importer(
        "ior_json",
        "what IOR writes with -O summaryFormat=JSON",
        recognises_json,
        read_json,
        kind="storage",
        marks=('"bwMiB"',),
    ),
    Importer(
        "ior_csv",
        "what IOR writes with -O summaryFormat=CSV",
        recognises_csv,
        read_csv,
        kind="storage",
        marks=(_CSV_HEAD,),
    ),
)
