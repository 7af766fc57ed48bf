# SPDX-License-Identifier: Apache-2.0
"""What the verbs cost that look at a result of 10,000 cases: ``python -m benchmarks.large_report FOLDER [TIMES]``.

FOLDER is made by ``ullage run sweep`` on ``null:`` where it is not there yet: 10,000 cases of 2 phases and 4
repetitions, which are 80,000 phase records and 60,000 rows. Printed is the processor time of each verb: median, least
and most.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Final

_TIMES: Final = 3
_MAKE: Final = (
    *("run", "sweep", "--target", "a=null:", "--target", "b=null:", "--ranks", "1,2"),
    *("--block", ",".join(map(str, range(8, 401, 8))), "--volume", "67200"),
    *("--vary", f"transfer.order_seed={','.join(map(str, range(1, 51)))}"),
    *("--min-repetitions", "4", "--max-repetitions", "4", "--time", "30m", "--quiet"),
)


def seconds_of(words: list[str]) -> float:
    """Return the processor time of ``ullage`` with ``words``, its own and the system's."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        started = subprocess.Popen([sys.executable, "-m", "ullage", *words], stdout=nowhere)
        _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        sys.exit(f"`ullage {' '.join(words)}` ended with {started.returncode}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure each verb in turn, as often as is asked."""
    result, times = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else _TIMES
    if not Path(result, "request.json").is_file():
        subprocess.run([sys.executable, "-m", "ullage", *_MAKE, "--result", result], check=True)
    verbs = {
        "report --format html": ["report", result, "--format", "html"],
        "report": ["report", result],
        "show": ["show", result],
        "show 1": ["show", result, "1"],
        "compare": ["compare", result],
    }
    for name, words in verbs.items():
        seen = [seconds_of(words) for _ in range(times)]
        print(f"{name:<22}{statistics.median(seen):6.1f} s ({min(seen):.1f} to {max(seen):.1f}, {times} times)")


if __name__ == "__main__":
    main()
