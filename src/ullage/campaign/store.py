# SPDX-License-Identifier: Apache-2.0
"""A campaign on disk: ``DIR/system=S/suite=T/month=M/RUN.HASH.parquet``, a file a result (a node) and suite.

No file ever changes, and none is seen before it is whole: so many jobs write at once without a lock, and a kill leaves
nothing unreadable. Of a result that went on and is kept again the newest file counts. ``pack`` puts the files of a
month into ``pack-NNNNNN.parquet``, which holds all that earlier packs held: the last one counts, and a result that is
also there by itself counts by that.
"""

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, cast
from urllib.parse import quote

from ullage.campaign.rows import TYPES, kept_rows, system_of, time_of
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.exporters.report_forms import connect, to_parquet
from ullage.grouping import grouped
from ullage.identity import canonical_json
from ullage.importers.rows import imported_row
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.reading import parse_json
from ullage.results.folder import ResultFolder, is_result, write_atomically
from ullage.runs.nodes import is_of_each_node, nodes_of
from ullage.runs.summary import build_summary

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ullage.model.plan import Scalar

_BASELINE: Final = "baseline.parquet"
_FILE: Final = re.compile(r"(?!\.)(.+)\.\w+\.parquet|pack-(\d{6})\.parquet")
_ASKED: Final = "--campaign"
_TRIES: Final = 3
_RATES: Final = """SELECT metric, unit, target, params, list(median), max(low), max(high) FROM rows
    WHERE sound AND metric IN ('bandwidth', 'operation_rate') AND system = (SELECT max_by(system, time) FROM rows)
    GROUP BY metric, unit, target, params"""
_HIVE: Final = "hive_types = {'system': VARCHAR, 'suite': VARCHAR, 'month': VARCHAR}"
T = TypeVar("T")


def results_in(result: ResultFolder) -> list[tuple[ResultFolder, str]]:
    """Return what is kept of a result: itself, or that of each node by itself, with the name of the node."""
    request = result.read_request()
    if not is_of_each_node(request):
        return [(result, "")]
    found = [(result.part(name), name) for name in nodes_of(request)]
    return [(part, name) for part, name in found if is_result(part.path)]


def keep(result: ResultFolder, campaign: Path, system: str = "") -> tuple[int, int]:
    """Keep all rows of ``result``; return how many they are, and how many files are new. Raise ``UserError``."""
    rows = new = 0
    for part, node in results_in(result):
        request, summary = part.read_request(), build_summary(part)
        for suite, own in grouped(kept_rows(summary, request, node)).items():
            rows += len(own)
            new += write_rows(campaign, system or system_of(summary), suite, request, own)
    return rows, new


def write_rows(campaign: Path, system: str, suite: str, request: Request, rows: Sequence[Mapping[str, object]]) -> bool:
    """Keep ``rows`` as those of a suite in the run of ``request``; return whether they are new."""
    names = {"system": system, "suite": suite, "month": f"{time_of(request):%Y-%m}"}
    folder = campaign.joinpath(*(f"{key}={quote(value, safe='')}" for key, value in names.items()))
    content = hashlib.sha256(canonical_json(rows)).hexdigest()[:16]
    place = folder / f"{request.run_id}.{content}.parquet"
    if place.exists():
        return False
    write_atomically(place, to_parquet(rows, TYPES, _ASKED))
    return True


def is_empty(campaign: Path) -> bool:
    """Tell whether nothing is kept there yet."""
    return not any(map(_files, _months(campaign)))


def _months(campaign: Path) -> list[Path]:
    return sorted(campaign.glob("system=*/suite=*/month=*"))


def _files(folder: Path) -> list[re.Match[str]]:
    """Return the names of files of rows, from the oldest to the newest: packs before others."""
    found: list[tuple[str, int, re.Match[str]]] = []
    for entry in os.scandir(folder) if folder.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):  # it was packed since
            if file := _FILE.fullmatch(entry.name):
                found.append((file[2] or "~", entry.stat().st_mtime_ns, file))
    return [file for *_, file in sorted(found, key=lambda one: one[:2])]


def _relation(folders: Iterable[Path]) -> str:
    """Return SQL for all rows below ``folders``, each once; nothing where there are none."""
    plain: list[Path] = []
    parts: list[str] = []
    for folder in folders:
        files = _files(folder)
        singles = {file[1]: folder / file[0] for file in files if file[1]}
        packs = [folder / file[0] for file in files if file[2]][-1:]
        plain += singles.values() if singles else packs
        parts += [f"{_read(packs)} WHERE run NOT IN ({', '.join(map(_quoted, singles))})"] if singles and packs else []
    return " UNION ALL BY NAME ".join([*([_read(plain)] if plain else []), *parts])


def _read(files: Iterable[Path]) -> str:
    # DuckDB takes each name for a pattern.
    names = ", ".join(_quoted(re.sub(r"([*?\[])", r"[\1]", str(file))) for file in files)
    return f"SELECT * FROM read_parquet([{names}], union_by_name = true, hive_partitioning = true, {_HIVE})"


def _quoted(text: object) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def query(campaign: Path, sql: str, given: Sequence[object], read: "Callable[[DuckDBPyConnection], T]") -> T:
    """Return what ``read`` makes of the answer to ``sql``, which asks the tables ``rows`` and ``baseline``.

    ``campaign``: or one of its months; ``given``: the parameters of ``sql``. Raise ``UserError`` for a folder without
    rows, and for what DuckDB refuses.
    """
    with connect(_ASKED) as database:
        import duckdb

        for left in reversed(range(_TRIES)):
            if not (relation := _relation(_months(campaign) or [campaign])):
                right = "name the folder of `ullage keep RESULT --campaign DIR`"
                raise UserError("holds no kept result", f"{_ASKED} {campaign}", right)
            try:
                database.execute(f"CREATE OR REPLACE VIEW rows AS {relation}")
                if (campaign / _BASELINE).is_file():
                    database.execute(f"CREATE OR REPLACE VIEW baseline AS FROM {_quoted(campaign / _BASELINE)}")
                return read(database.execute(sql, list(given)))
            except duckdb.Error as error:
                # Files that were packed since we have listed them are asked for by their new name.
                if not (isinstance(error, duckdb.IOException) and left):
                    what = str(error).splitlines()[0]
                    raise UserError(what, str(campaign), "see docs/howto/history.md for the columns") from error
    raise AssertionError


def kept_rates(campaign: Path) -> Iterator[Row]:
    """Yield the rates of storage that are kept of the system of the newest result: a row over all runs of a setting."""
    for metric, unit, target, params, values, low, high in query(campaign, _RATES, (), lambda found: found.fetchall()):
        row = imported_row(campaign.name, metric, unit, target, cast("dict[str, Scalar]", parse_json(params)), values)
        yield row if len(values) > 1 else row.model_copy(update={"low": low, "high": high})


def pack(campaign: Path) -> int:
    """Put the files of each month into one; return how many are gone. What is kept meanwhile stays as it is."""
    gone = 0
    sql = "SELECT * EXCLUDE (system, suite, month) FROM rows ORDER BY id, node, time"
    for folder in _months(campaign):
        if len(files := _files(folder)) > 1:
            number = max(int(file[2] or 0) for file in files) + 1
            with contextlib.suppress(FileExistsError):  # somebody else has packed the month
                _copy(folder, sql, (), folder / f"pack-{number:06}.parquet", os.link)
                for file in files:
                    (folder / file[0]).unlink(missing_ok=True)
                gone += len(files)
    return gone


def write_baseline(campaign: Path, where: str, given: Sequence[object]) -> tuple[Path, int]:
    """Replace the baseline by the sound rows that ``where`` chooses; return its place and how many they are."""
    place = campaign / _BASELINE
    return place, _copy(campaign, f"SELECT * FROM rows WHERE sound AND {where}", given, place, os.replace)


def _copy(asked: Path, sql: str, given: Sequence[object], place: Path, name: Callable[[Path, Path], None]) -> int:
    """Write the answer to ``sql`` to a file, give it the name ``place`` once it is whole, and return its rows."""
    scratch = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
    to = f"COPY ({sql}) TO {_quoted(scratch)} (FORMAT parquet, COMPRESSION zstd)"
    try:
        (count,) = query(asked, to, given, lambda found: found.fetchone() or (0,))
        if not count:
            raise UserError("no sound row is of that time and node", str(asked), "name another --since or --node")
        handle = os.open(scratch, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        name(scratch, place)
    except FileExistsError:
        raise
    except OSError as error:
        raise UserError(error.strerror or "cannot be written", str(place), "make room", EXIT_ENVIRONMENT) from error
    finally:
        scratch.unlink(missing_ok=True)
    return count
