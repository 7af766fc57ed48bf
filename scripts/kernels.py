# SPDX-License-Identifier: Apache-2.0
"""Make engine/accelerator/kernels.ptx of kernels.cl: ``.venv/bin/python scripts/kernels.py``.

NVRTC comes as a wheel into build/nvrtc. It needs no GPU. It is an old one on purpose: a driver refuses PTX that is
newer than itself, and what it takes it compiles for its own card.
"""

import ctypes
import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "engine" / "accelerator" / "kernels.cl"
PTX: Final = SOURCE.with_suffix(".ptx")
_WHEEL: Final = "nvidia-cuda-nvrtc-cu12==12.0.140"
_PLACE: Final = ROOT / "build" / "nvrtc"
_PRELUDE: Final = """\
#define KERNEL extern "C" __global__
#define GLOBAL
#define INDEX (blockIdx.x * (u64)blockDim.x + threadIdx.x)
#define COUNT (gridDim.x * (u64)blockDim.x)
#define HAS_FP64
typedef unsigned long long u64;
typedef ulonglong2 pair64;
"""
_OPTIONS: Final = (b"--gpu-architecture=compute_50", b"--std=c++17")


def mark(source: str) -> str:
    """Return the line by which the PTX says what it was made of."""
    return f"// SPDX-License-Identifier: Apache-2.0\n// of kernels.cl {hashlib.sha256(source.encode()).hexdigest()}\n"


def compiled(nvrtc: ctypes.CDLL, source: str) -> str:
    """Return the PTX; exit with the compiler's log where it refuses the source."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), (_PRELUDE + source).encode(), b"kernels.cl", 0, None, None)
    options = (ctypes.c_char_p * len(_OPTIONS))(*_OPTIONS)
    is_refused = nvrtc.nvrtcCompileProgram(program, len(_OPTIONS), options)
    kind = "ProgramLog" if is_refused else "PTX"
    getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{kind}")(program, text)
    said = text.value.decode()
    if is_refused:
        sys.exit(said)
    return said


def main() -> None:
    """Write the PTX."""
    if not _PLACE.is_dir():
        words = ["install", "--quiet", "--no-deps", "--target", str(_PLACE), _WHEEL]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    library = next(_PLACE.rglob("libnvrtc.so.*"))
    source = SOURCE.read_text(encoding="utf-8")
    PTX.write_text(mark(source) + compiled(ctypes.CDLL(str(library)), source), encoding="utf-8")
    print(f"written to {PTX}")


if __name__ == "__main__":
    main()
