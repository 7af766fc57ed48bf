# SPDX-License-Identifier: Apache-2.0
"""How long a large campaign takes to answer, and in how much memory: a table of docs/performance.md.

nice python -m benchmarks.campaign_scale FOLDER [DAYS]     500 nodes with 40 rows a day; 500 days are 10 million rows
"""

import os
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path

from ullage.campaign.rows import TYPES
from ullage.campaign.store import query
from ullage.exporters.report_forms import connect

_NODES, _ROWS = 500, 40
_START = date(2024, 1, 1)
_VALUES = {
    "id": "format('{:016x}', r)",
    "part": "'part ' || (r % 8)",
    "what": "'number ' || r",
    "metric": "'bandwidth'",
    "unit": "'B/s'",
    "better": "'more'",
    "target": "'here'",
    "params": """'{"threads":' || r || '}'""",
    "median": "(r + 1) * 1e9 * exp(0.03 * sqrt(-2 * ln(random() + 1e-12)) * cos(6.2831853 * random()))",
    "low": "(r + 1) * 0.98e9",
    "high": "(r + 1) * 1.02e9",
    "bounds": "'interval'",
    "repetitions": "[(r + 1) * 1e9 * random(), (r + 1) * 1e9 * random(), (r + 1) * 1e9]",
    "verdict": "'memory'",
    "grade": "'A'",
    "run": "strftime(day, '%Y%m%d') || 'T040000Z-' || format('{:06x}', n)",
    "time": "day + INTERVAL 4 HOUR",
    "node": "format('n{:03d}', n)",
    "node_class": "'Example CPU, 64 cores, 256 GiB'",
    "sound": "random() > 0.02",
    "versions": "MAP {'kernel': CASE WHEN day < '2025-01-01' THEN '6.8.0' ELSE '6.11.0' END, 'mpi': '4.1.4'}",
}


def make(folder: Path, days: int) -> None:
    """Write the packs of all months, a month at a time."""
    months: dict[str, list[date]] = {}
    for day in (_START + timedelta(days=count) for count in range(days)):
        months.setdefault(f"{day:%Y-%m}", []).append(day)
    columns = ", ".join(f"CAST({_VALUES.get(name, 'NULL')} AS {kind}) AS {name}" for name, kind in TYPES.items())
    for month, of_month in months.items():
        place = folder / "system=site" / "suite=node" / f"month={month}"
        place.mkdir(parents=True, exist_ok=True)
        first, last = (f"TIMESTAMP '{day}'" for day in (of_month[0], of_month[-1]))
        source = f"""(SELECT unnest(generate_series({first}, {last}, INTERVAL 1 DAY)) AS day),
            range({_NODES}) nodes(n), range({_ROWS}) numbers(r)"""
        with connect("benchmark") as database:
            database.execute(
                f"COPY (SELECT {columns} FROM {source} ORDER BY id, node, time) TO '{place}/pack-000001.parquet' "
                "(FORMAT parquet, COMPRESSION zstd)"
            )


def timed(*words: str) -> None:
    """Run a command of Ullage in a process of its own; print its time and the most memory that it had."""
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "ullage", *filter(None, words)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    code, spent = os.waitstatus_to_exitcode(status), time.monotonic() - start
    print(f"{' '.join(words[:-2])} | {spent:.2f} s | {usage.ru_maxrss / 1024:.0f} MiB | exit {code}", flush=True)


def main() -> None:
    """Make the campaign unless it is there, and ask it."""
    folder, days = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500
    if not folder.exists():
        make(folder, days)
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.campaign_scale", str(folder)])  # with fresh memory
    of = ("--campaign", str(folder))
    timed("--version", "", "")
    timed("history", "0000000000000007", "--node", "n123", *of)
    timed("history", "--node", "n123", *of)
    timed("history", "0000000000000007", *of)
    timed("history", *of)
    timed("history", "--sql", "SELECT node, median(median) FROM rows WHERE id = '0000000000000007' GROUP BY node", *of)
    timed("check", *of)
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    (count,) = query(folder, "SELECT count(*) FROM rows", (), lambda found: found.fetchone() or (0,))
    print(f"{count:,} rows, {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
