# SPDX-License-Identifier: Apache-2.0
"""BLAS libraries for gemm and solve: the site's, and the current one that came with us; and their kernels to try."""

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# What programs of a site are linked with, the best known first; the last may be any of them, or the slow reference.
_NAMES: Final = ("libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4", "libblis.so.3", "libblas.so.3")
# Those for one MPI alone first; which MPI a plain name is for the engine finds out.
_SCALAPACK: Final = (
    "libscalapack-{family}.so.2.2",
    "libscalapack-{family}.so.2.1",
    "libscalapack.so.2.2",
    "libscalapack.so.2",
    "libscalapack.so",
)
_WHEEL: Final = "scipy_openblas32"
_LDCONFIG: Final = ("ldconfig", "/sbin/ldconfig")
_CACHED: Final = re.compile(r"\s*(\S+) \(([^)]*)\) => (\S+)")
_TIMEOUT_S: Final = 10
_SITE: Final = "site"
_OURS: Final = "ours"

# OPENBLAS_CORETYPE by the CPU flags (of /proc/cpuinfo) that its kernels use, and the vendor they were written for.
# OpenBLAS: driver/others/dynamic.c and dynamic_arm64.c; the widest first.
_CORES: Final[Sequence[tuple[str, frozenset[str], str]]] = (
    ("Sapphirerapids", frozenset({"avx512f", "avx512bw", "avx512dq", "avx512vl", "amx_tile"}), ""),
    ("Cooperlake", frozenset({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16"}), ""),
    ("SkylakeX", frozenset({"avx512f", "avx512bw", "avx512dq", "avx512vl"}), ""),
    ("Zen", frozenset({"avx2", "fma"}), "AuthenticAMD"),
    ("Haswell", frozenset({"avx2", "fma"}), ""),
    ("neoversev1", frozenset({"asimd", "sve"}), ""),
    ("neoversen1", frozenset({"asimd"}), ""),
)


@dataclass(frozen=True, slots=True)
class Library:
    """``label`` is for people: site, ours or the name of a file that was asked for."""

    label: str
    path: str

    @property
    def is_openblas(self) -> bool:
        """Whether OPENBLAS_CORETYPE chooses its kernels: by the name of the file behind all links."""
        return "openblas" in os.path.realpath(self.path).lower()


def find_libraries(
    named: str | None, environment: Mapping[str, str] = os.environ, cached: Iterable[tuple[str, str]] | None = None
) -> list[Library]:
    """That which was ``named``, alone; else the site's and ours, as far as they are there and differ.

    ``cached``: soname and path of the libraries that the loader knows.
    """
    if named is not None:
        return [Library(Path(named).name, named)]
    site, ours = _site(environment, loader_cache() if cached is None else cached), _wheel()
    found = [*([] if site is None else [Library(_SITE, site)]), *([] if ours is None else [Library(_OURS, ours)])]
    return list({os.path.realpath(library.path): library for library in reversed(found)}.values())[::-1]


def find_scalapack(
    family: str, environment: Mapping[str, str] = os.environ, cached: Iterable[tuple[str, str]] | None = None
) -> str | None:
    """Path of the site's ScaLAPACK for MPIs of ``family``; None where there is none."""
    names = [name.format(family=family) for name in _SCALAPACK]
    return _first_of(names, environment, loader_cache() if cached is None else cached)


def cores_to_try(flags: Iterable[str], vendor: str | None) -> list[str]:
    """Names for OPENBLAS_CORETYPE that a CPU with these flags can run, those with the widest instructions first."""
    has = set(flags)
    return [name for name, needs, of in _CORES if needs <= has and of in ("", vendor or "")]


def loader_cache() -> list[tuple[str, str]]:
    """Soname and path of what the loader's cache holds for this architecture; empty where it cannot be asked."""
    for program in _LDCONFIG:
        try:
            done = subprocess.run(
                [program, "-p"], capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return list(_read_cache(done.stdout.decode("utf-8", "replace")))
    return []


def _read_cache(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        match = _CACHED.match(line)
        # "libc6" alone is the 32-bit one where the other is "libc6,x86-64".
        if match is not None and (match[2] != "libc6" or "64" not in text):
            yield match[1], match[3]


def _site(environment: Mapping[str, str], cached: Iterable[tuple[str, str]]) -> str | None:
    return _first_of(_NAMES, environment, cached)


def _first_of(names: Iterable[str], environment: Mapping[str, str], cached: Iterable[tuple[str, str]]) -> str | None:
    """What the loader would find, modules' LD_LIBRARY_PATH before the system's cache."""
    known = dict(reversed(list(cached)))
    folders = [Path(part) for part in environment.get("LD_LIBRARY_PATH", "").split(":") if part]
    for name in names:
        in_folder = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if in_folder is not None:
            return str(in_folder.absolute())
        if name in known and Path(known[name]).is_file():
            return known[name]
    return None


def _wheel() -> str | None:
    spec = importlib.util.find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        return None
    return next((str(path) for path in sorted((Path(spec.origin).parent / "lib").glob("lib*openblas*.so*"))), None)
