# SPDX-License-Identifier: Apache-2.0
"""Arithmetic kernels as the engine states them, and BLAS libraries with the kernels to try in them: cases of both."""

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.launch.base import layout_here
from ullage.model.describe import Describe
from ullage.parameters import known_word
from ullage.peers.hpcc import thrifty_order
from ullage.runs.kernels.options import CPU
from ullage.runs.kernels.prepared import KernelCase, kernel_case
from ullage.suites.cpu.options import CpuOptions

if TYPE_CHECKING:
    from ullage.model.plan import Parameters


WORKLOAD: Final = "compute"
GEMM: Final = "gemm"
SOLVE: Final = "solve"
DISTRIBUTED: Final = "distributed-solve"
TYPES: Final = ("int8", "int16", "int32", "int64", "fp16", "bf16", "fp32", "fp64")
_KERNEL: Final = re.compile(r"kernel:([^/:]+)/([^/:]+)/([^/:]+):lanes=(\d+):ops=(\d+)")
_MISSING: Final = re.compile(r"missing:([^/:]+)/([^/:]+)/([^/:]+):(.+)")
# Order of kernels whose instructions do as many operations: the ones that cores issue oftenest, as a rule, come first.
_PREFERRED: Final = ("dot", "fma", "add", "multiply")
# The one instruction set that every CPU has stands for its clock when nothing wide runs.
NARROW: Final = "scalar"


@dataclass(frozen=True, slots=True)
class Kernel:
    """An arithmetic kernel of the engine. ``operations``: of one instruction, over all its lanes."""

    isa: str
    type: str
    operation: str
    lanes: int
    operations: int

    @property
    def name(self) -> str:
        """Its name in machine files and reports: ``avx512/fp64/fma``."""
        return f"{self.isa}/{self.type}/{self.operation}"


@dataclass(frozen=True, slots=True)
class Missing:
    """A kernel that the engine has and this CPU or system does not run."""

    isa: str
    type: str
    operation: str
    reason: str


def kernels_of(description: Describe) -> list[Kernel]:
    """Return the kernels that run here, in the engine's order; raise ``UserError`` if it has no such workload."""
    found = (_KERNEL.fullmatch(text) for text in find_registered(description, "workload", WORKLOAD).capabilities)
    return [Kernel(m[1], m[2], m[3], int(m[4]), int(m[5])) for m in found if m is not None]


def missing_of(description: Describe) -> list[Missing]:
    """Return the kernels that do not run here, each with the reason."""
    found = (_MISSING.fullmatch(text) for text in find_registered(description, "workload", WORKLOAD).capabilities)
    return [Missing(m[1], m[2], m[3], m[4]) for m in found if m is not None]


def chosen(description: Describe, types: Sequence[str], isas: Sequence[str]) -> list[Kernel]:
    """Return the kernels of these types and instruction sets; empty lists choose all.

    Raise ``UserError`` for words that no kernel knows, and where nothing is left to run.
    """
    kernels, missing = kernels_of(description), missing_of(description)
    every = (*kernels, *missing)
    for word in types:
        known_word(word, dict.fromkeys(one.type for one in every), "--type")
    for word in isas:
        known_word(word, dict.fromkeys(one.isa for one in every), "--isa")

    def is_wanted(one: Kernel | Missing) -> bool:
        return (not types or one.type in types) and (not isas or one.isa in isas)

    found = list(filter(is_wanted, kernels))
    if not found:
        right = next((one.reason for one in missing if is_wanted(one)), "give other types or instruction sets")
        raise UserError(f"no kernel runs here for {' '.join([*types, *isas])}", "--type and --isa", right)
    return found


def place_of_type(type_: str) -> int:
    """Return the place of a type in the order of reports; those that are not known come last."""
    return TYPES.index(type_) if type_ in TYPES else len(TYPES)


def best_of_types(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Return for each type the kernel that promises most, by the operations of an instruction."""
    types = grouped((kernel.type, kernel) for kernel in kernels)
    return [max(types[name], key=_promise) for name in sorted(types, key=place_of_type)]


def narrow_of(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Return at most one kernel, the scalar fp64 FMA or the closest to it, as a reference for wide ones' clock."""
    scalar = [kernel for kernel in kernels if kernel.isa == NARROW]
    return sorted(scalar, key=lambda one: (one.type != "fp64", one.operation != "fma"))[:1]


def _promise(kernel: Kernel) -> tuple[int, int]:
    place = _PREFERRED.index(kernel.operation) if kernel.operation in _PREFERRED else len(_PREFERRED)
    return kernel.operations, -place


# Programs of a site are linked with these, the best known first; the last may be any of them, or the slow reference.
_NAMES: Final = ("libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4", "libblis.so.3", "libblas.so.3")
# Those for one MPI alone go first; the engine finds out which MPI a plain name is for.
_SCALAPACK: Final = (
    "libscalapack-{family}.so.2.2",
    "libscalapack-{family}.so.2.1",
    "libscalapack.so.2.2",
    "libscalapack.so.2",
    "libscalapack.so",
)
_CACHED: Final = re.compile(r"\s*(\S+) \(([^)]*)\) => (\S+)")
_TIMEOUT_S: Final = 10

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
    """A BLAS library. ``label`` is for people: site, ours or the name of a file that was asked for."""

    label: str
    path: str

    @property
    def is_openblas(self) -> bool:
        """Whether OPENBLAS_CORETYPE chooses its kernels: by the name of the file behind all links."""
        return "openblas" in os.path.realpath(self.path).lower()


def find_libraries(
    named: str | None, environment: Mapping[str, str] = os.environ, cached: Iterable[tuple[str, str]] | None = None
) -> list[Library]:
    """Return the library that was ``named`` alone, else the site's and ours, as far as they are there and differ.

    ``cached`` gives soname and path of the libraries that the loader knows; without it the loader's cache is read.
    """
    if named is not None:
        return [Library(Path(named).name, named)]
    site, ours = _first_of(_NAMES, environment, loader_cache() if cached is None else cached), _wheel()
    found = [*([] if site is None else [Library("site", site)]), *([] if ours is None else [Library("ours", ours)])]
    return list({os.path.realpath(library.path): library for library in reversed(found)}.values())[::-1]


def find_scalapack(
    family: str, environment: Mapping[str, str] = os.environ, cached: Iterable[tuple[str, str]] | None = None
) -> str | None:
    """Return the path of the site's ScaLAPACK for MPIs of ``family``, or None where there is none."""
    names = [name.format(family=family) for name in _SCALAPACK]
    return _first_of(names, environment, loader_cache() if cached is None else cached)


def cores_to_try(flags: Iterable[str], vendor: str | None) -> list[str]:
    """Return the names for OPENBLAS_CORETYPE that a CPU with these flags can run, the widest instructions first."""
    has = set(flags)
    return [name for name, needs, of in _CORES if needs <= has and of in ("", vendor or "")]


def loader_cache() -> list[tuple[str, str]]:
    """List soname and path of all in the loader's cache for this architecture; empty where it cannot be asked."""
    for program in ("ldconfig", "/sbin/ldconfig"):
        try:
            done = subprocess.run(
                [program, "-p"], capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            text = done.stdout.decode("utf-8", "replace")
            known = (match for line in text.splitlines() if (match := _CACHED.match(line)))
            # "libc6" alone is the 32-bit one where the other is "libc6,x86-64".
            return [(one[1], one[3]) for one in known if one[2] != "libc6" or "64" not in text]
    return []


def _first_of(names: Iterable[str], environment: Mapping[str, str], cached: Iterable[tuple[str, str]]) -> str | None:
    """Return the path of the first of ``names`` that the loader would find, or None.

    For each name the folders of LD_LIBRARY_PATH, which modules set, go before the system's cache.
    """
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
    spec = importlib.util.find_spec("scipy_openblas32")
    if spec is None or spec.origin is None:
        return None
    return next((str(path) for path in sorted((Path(spec.origin).parent / "lib").glob("lib*openblas*.so*"))), None)


Product = Literal["gemm", "solve"]
# A call should take so long where the library reaches the rate that is assumed.
_SECONDS: Final[dict[Product, float]] = {"gemm": 0.8, "solve": 2.0}
_QUICK_SECONDS: Final[dict[Product, float]] = {"gemm": 0.15, "solve": 0.3}
# A core is assumed to do so many of its widest instructions a second. Only sizes follow from it.
_ASSUMED_INSTRUCTIONS: Final = 2.5e9
# Matrices of n x n doubles that a case holds.
_MATRICES: Final[dict[Product, int]] = {"gemm": 3, "solve": 2}
# Sizes are multiples of this, as libraries are at their best in products of whole tiles.
_STEP: Final = 64
_LEAST: Final = 256
_LARGEST: Final = 60_000
MEMORY_SHARE: Final = 0.25
# Making and checking the matrices, and the library's warm-up, take about this long.
_AROUND_S: Final = 0.25


@dataclass(frozen=True)
class BlasPlanner:
    """Makes the cases of products and solves. ``memory_bytes``: what the matrices of a case may take together."""

    options: CpuOptions
    description: Describe
    memory_bytes: int

    def cases(
        self, library: Library, core: str = "", products: Sequence[Product] = ("gemm", "solve")
    ) -> list[KernelCase]:
        """Make each product with the fewest and the most threads, in a launch of this library and kernels alone.

        ``core`` is a word of OPENBLAS_CORETYPE; if it is empty, the library chooses.
        """
        counts = sorted({self.options.threads[0], self.options.threads[-1]})
        return [self._case(product, threads, library, core) for product in products for threads in counts]

    def distributed_cases(self, library: str) -> list[KernelCase]:
        """Make an optional solve with all cores, by a rank on each and the ScaLAPACK at path ``library``.

        Return no case for a single core, as nothing is distributed then, and none in a first look.
        """
        ranks = self.options.threads[-1]
        if ranks < 2 or self.options.quick:
            return []
        n = self.size("solve", ranks)
        seconds = 2 / 3 * n**3 / (ranks * self.assumed_rate) + _AROUND_S
        words, layout = (DISTRIBUTED, "ScaLAPACK", str(ranks), str(n)), layout_here(ranks, 1, ranks)
        given: Parameters = {"n": n, "library": library}
        made = kernel_case(
            DISTRIBUTED, given, CPU, words, self.description, seconds=seconds, launch="ScaLAPACK", layout=layout
        )
        return [replace(made, optional=True)]

    def size(self, product: Product, threads: int) -> int:
        """Return the rows of the matrices: as asked for (solves), else by the time of a call and by memory."""
        fits = isqrt(self.memory_bytes // (8 * _MATRICES[product]))
        if product == SOLVE and self.options.size is not None:
            return self.options.size
        seconds = (_QUICK_SECONDS if self.options.quick else _SECONDS)[product]
        operations = seconds * threads * self.assumed_rate
        cubed = operations / 2 if product == GEMM else 1.5 * operations
        wanted = min(round(cubed ** (1 / 3)), fits, _LARGEST)
        if product == SOLVE:
            # The peer does much else of sizes that follow from this one: it takes no longer than it must.
            wanted = thrifty_order(wanted, threads)
        return max(_LEAST, wanted // _STEP * _STEP)

    @property
    def assumed_rate(self) -> float:
        """Operations/s of a core in double precision, before anything was measured."""
        widest = max((one.operations for one in kernels_of(self.description) if one.type == "fp64"), default=2)
        return widest * _ASSUMED_INSTRUCTIONS

    def _case(self, product: Product, threads: int, library: Library, core: str) -> KernelCase:
        n = self.size(product, threads)
        parameters: Parameters = {"n": n, "threads": threads, "library": library.path, "core": core}
        seconds = (2 if product == GEMM else 2 / 3) * n**3 / (threads * self.assumed_rate) + _AROUND_S
        name = f"{library.label}{f' as {core}' if core else ''}"
        words, launch = (product, name, str(threads), str(n)), f"BLAS {name}"
        return kernel_case(product, parameters, CPU, words, self.description, seconds=seconds, launch=launch)
