# SPDX-License-Identifier: Apache-2.0
"""What the offset of a call of workload `pio` costs, by pattern and number of ranks (pio_cost.cpp): ns a piece.

python -m benchmarks.pio_cost
"""

import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).with_name("pio_cost.cpp")
_ENGINE: Final = Path(__file__).parents[1] / "engine"
_JSON: Final = Path(sysconfig.get_path("purelib")) / "nlohmann_json" / "include"


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "pio_cost"
        words = [
            "c++",
            "-std=c++23",
            "-O2",
            "-march=native",
            f"-I{_ENGINE}",
            f"-I{_JSON}",
            "-o",
            str(program),
            str(_SOURCE),
        ]
        subprocess.run(words, check=True)
        print("| pattern | 1 rank | 64 ranks | 4096 ranks |\n|---|---|---|---|", flush=True)
        subprocess.run([str(program)], check=True)


if __name__ == "__main__":
    main()
