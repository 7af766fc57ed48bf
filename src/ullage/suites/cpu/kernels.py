# SPDX-License-Identifier: Apache-2.0
"""Arithmetic kernels as the engine states them: those this CPU runs, and why it does not run the others."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.parameters import suggest

WORKLOAD: Final = "compute"
TYPES: Final = ("int8", "int16", "int32", "int64", "fp16", "bf16", "fp32", "fp64")
_KERNEL: Final = re.compile(r"kernel:([^/:]+)/([^/:]+)/([^/:]+):lanes=(\d+):ops=(\d+)")
_MISSING: Final = re.compile(r"missing:([^/:]+)/([^/:]+)/([^/:]+):(.+)")
# Order of kernels whose instructions do as many operations: the ones that cores issue oftenest, as a rule, come first.
_PREFERRED: Final = ("dot", "fma", "add", "multiply")
# The one instruction set that every CPU has stands for its clock when nothing wide runs.
NARROW: Final = "scalar"


@dataclass(frozen=True, slots=True)
class Kernel:
    """An arithmetic kernel of the engine.

    ``operations``: of one instruction, over all its lanes.
    """

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
    for option, words, known in (
        ("--type", types, {kernel.type: None for kernel in (*kernels, *missing)}),
        ("--isa", isas, {kernel.isa: None for kernel in (*kernels, *missing)}),
    ):
        for word in words:
            if word not in known:
                raise UserError(f"unknown word '{word}'", option, suggest(word, known))
    found = [one for one in kernels if (not types or one.type in types) and (not isas or one.isa in isas)]
    if not found:
        reasons = [one.reason for one in missing if (not types or one.type in types) and (not isas or one.isa in isas)]
        asked = " ".join([*types, *isas])
        raise UserError(
            f"no kernel runs here for {asked}",
            "--type and --isa",
            reasons[0] if reasons else "give other types or instruction sets",
        )
    return found


def best_of_types(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Return for each type the kernel that promises most, by the operations of an instruction."""
    best: dict[str, Kernel] = {}
    for kernel in kernels:
        known = best.get(kernel.type)
        if known is None or _promise(kernel) > _promise(known):
            best[kernel.type] = kernel
    return sorted(best.values(), key=lambda kernel: TYPES.index(kernel.type) if kernel.type in TYPES else len(TYPES))


def narrow_of(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Return at most one kernel, the scalar fp64 FMA or the closest to it, as a reference for wide ones' clock."""
    scalar = [kernel for kernel in kernels if kernel.isa == NARROW]
    return sorted(scalar, key=lambda one: (one.type != "fp64", one.operation != "fma"))[:1]


def _promise(kernel: Kernel) -> tuple[int, int]:
    place = _PREFERRED.index(kernel.operation) if kernel.operation in _PREFERRED else len(_PREFERRED)
    return kernel.operations, -place
