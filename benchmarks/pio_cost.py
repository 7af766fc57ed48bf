# SPDX-License-Identifier: Apache-2.0
"""What the offset of a call of workload `pio` costs, by pattern and number of ranks (pio_cost.cpp): ns a piece.

python -m benchmarks.pio_cost
"""

import subprocess
import tempfile
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).with_name("pio_cost.cpp")
_ENGINE: Final = Path(__file__).parents[1] / "engine"
_PARTS: Final = ("storage/workloads/pio/pattern.cpp", "base/permutation.cpp")


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "pio_cost"
        sources = [str(_SOURCE), *(str(_ENGINE / part) for part in _PARTS)]
        words = ["c++", "-std=c++23", "-O2", "-march=native", f"-I{_ENGINE}", "-o", str(program), *sources]
        subprocess.run(words, check=True)
        print("| pattern | 1 rank | 64 ranks | 4096 ranks |\n|---|---|---|---|", flush=True)
        subprocess.run([str(program)], check=True)


if __name__ == "__main__":
    main()
