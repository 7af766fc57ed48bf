# SPDX-License-Identifier: Apache-2.0
"""Libraries that chose kernels for another CPU: their products stay far below what the cores do. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.words import columns
from ullage.model.flags import Flag
from ullage.model.summary import Finding
from ullage.quantity import listing
from ullage.suites.cpu.rows import CHOSEN, GEMM, Measurement
from ullage.units import format_operations

FLAG: Final = "blas-kernel-mismatch"
# The least share of the roof in double precision; a library with the right kernels reaches 80 % and more of it.
LEAST_SHARE: Final = 0.6


@dataclass(frozen=True)
class Mismatch:
    """A product by a library's own choice of kernels, that of the most threads. ``core``: the library's word for it.

    ``library``: as rows name it.
    """

    library: str
    default: Measurement
    core: str


def mismatches(found: Iterable[Measurement]) -> list[Mismatch]:
    """One for each library whose product with the most threads stays under 60 % of the roof."""
    default: dict[str, Measurement] = {}
    for one in found:
        if one.name == GEMM and one.params["core"] == CHOSEN:
            library = str(one.params["library"])
            known = default.get(library)
            if known is None or one.threads > known.threads:
                default[library] = one
    return [
        Mismatch(library, one, one.fact("core"))
        for library, one in default.items()
        if (rate := one.rate) is not None
        and rate.ceiling is not None
        # Not even the least disturbed repetition.
        and max(rate.repetitions) < LEAST_SHARE * rate.ceiling.value
    ]


def better_core(found: Sequence[Measurement], library: str) -> str:
    """The word of OPENBLAS_CORETYPE with which a library that chose wrong does best; empty where it chose well."""
    wrong = next((one for one in mismatches(found) if one.library == library), None)
    if wrong is None:
        return ""
    best = max(_tried(wrong, found), key=_rate, default=None)
    return "" if best is None or _rate(best) <= _rate(wrong.default) else str(best.params["core"])


def _tried(mismatch: Mismatch, found: Sequence[Measurement]) -> list[Measurement]:
    """The same product with kernels it was told to take."""
    return [
        one
        for one in found
        if one.name == GEMM
        and one.params["library"] == mismatch.library
        and one.params["core"] != CHOSEN
        and one.threads == mismatch.default.threads
    ]


def with_flags(found: Sequence[Measurement], wrong: Iterable[Mismatch]) -> list[Measurement]:
    """``found``, with a flag on all that such a library did by its own choice."""
    by_library = {mismatch.library: mismatch for mismatch in wrong}

    def flagged(one: Measurement) -> Measurement:
        mismatch = by_library.get(str(one.params.get("library", "")))
        if mismatch is None or one.params.get("core") != CHOSEN:
            return one
        text = f"the library chose {mismatch.core or 'kernels'}, and its product reaches {_share(mismatch)} of the roof"
        return one.flagged([Flag(code=FLAG, reason=text)], "compute_rate")

    return [flagged(one) for one in found]


def mismatch_findings(wrong: Iterable[Mismatch], found: Sequence[Measurement]) -> list[Finding]:
    """What was chosen, what is better, and how to have it."""
    return [_finding(mismatch, found) for mismatch in wrong]


def _finding(mismatch: Mismatch, found: Sequence[Measurement]) -> Finding:
    default = mismatch.default
    others = _tried(mismatch, found)
    best = max(others, key=_rate, default=None)
    chose = f"has chosen its kernels for {mismatch.core}" if mismatch.core else "has chosen its kernels itself"
    text = f"The BLAS {mismatch.library} ({default.library}) {chose}: {_said(default)}, {_share(mismatch)} of the roof."
    if best is not None and _rate(best) > _rate(default):
        core = str(best.params["core"])
        text += f" With OPENBLAS_CORETYPE={core} it gives {_said(best)}, {_rate(best) / _rate(default):.1f} times that."
    elif others:
        text += f" None of {listing([str(one.params['core']) for one in others])} gives more."
    numbers = columns(
        library=default.library,
        core=mismatch.core or None,
        default_op_s=_rate(default),
        best_core=None if best is None else str(best.params["core"]),
        best_op_s=None if best is None else _rate(best),
    )
    return Finding(kind=FLAG, text=text, severity="warning", numbers=numbers)


def _rate(one: Measurement) -> float:
    return one.value("compute_rate") or 0.0


def _said(one: Measurement) -> str:
    return f"{format_operations(_rate(one))} with {one.threads} thread{'s' if one.threads > 1 else ''}"


def _share(mismatch: Mismatch) -> str:
    rate = mismatch.default.rate
    return "a part" if rate is None or rate.share is None else f"{rate.share:.0%}"
