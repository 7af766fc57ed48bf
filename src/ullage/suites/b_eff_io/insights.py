# SPDX-License-Identifier: Apache-2.0
"""What the patterns of b_eff_io tell of a system: its fast types, the price of odd sizes, writes against reads. Pure.

"MPI-I/O is optimal only for one pattern type, but a different one on each platform; non-wellformed data sizes: worse
bandwidth; (re)write bandwidth << read bandwidth" (R. Rabenseifner, 2007): here as sentences on this system.
"""

from statistics import geometric_mean
from typing import Final

from ullage.analysis.findings.words import columns
from ullage.model.flags import TOO_SHORT
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, processes, times
from ullage.suites.b_eff_io.findings import place
from ullage.suites.b_eff_io.patterns import ACCESSES, MISALIGNED, REWRITTEN_TYPE, Access
from ullage.suites.b_eff_io.rows import EARLY, PATTERN, TYPE, select
from ullage.suites.b_eff_io.scores import SpotScores
from ullage.units import format_rate

# Types, sizes or accesses that are less apart are as good as each other.
_ALIKE: Final = 1.1
_NOTABLE: Final = 1.5
# Flags of patterns that are too little to compare.
_DOUBTFUL: Final = frozenset({TOO_SHORT, f"{EARLY}:overtime"})
_SAID: Final = {
    "scatter": "scatter (strided, collective)",
    "shared": "shared (one pointer for all)",
    "separated": "separated (a file for each process)",
    "segmented": "segmented (a part for each process)",
    "seg_coll": "seg_coll (the same, collective)",
}


def insights(one: SpotScores, label: str) -> list[Finding]:
    """All of them, of one partition."""
    return [*_types(one, label), *_odd_sizes(one, label), *_read_write(one, label)]


def _types(one: SpotScores, label: str) -> list[Finding]:
    """Which type is fast for which access, and how far the others are behind."""
    told: list[str] = []
    best: dict[Access, str] = {}
    most = 1.0
    for access in ACCESSES:
        rows = sorted(select(one.rows, TYPE, access=access), key=lambda row: -row.median)
        if len(rows) < 2 or rows[-1].median <= 0:
            continue
        first, last = rows[0], rows[-1]
        ratio = first.median / last.median
        most, best[access] = max(most, ratio), _type(first)
        if ratio <= _ALIKE:
            told.append(f"{access} is as fast in all types")
        else:
            told.append(
                f"{access} is fastest in {_SAID[_type(first)]} with {format_rate(first.median)}, {times(ratio)} "
                f"{_SAID[_type(last)]}"
            )
    if not told:
        return []
    text = f"{label}{processes(one.spot.ranks)}: {'; '.join(told)}."
    rows = select(one.rows, TYPE)
    numbers = columns(
        **place(one),
        access=[str(row.params["access"]) for row in rows],
        pattern_type=[_type(row) for row in rows],
        bandwidth=[row.median for row in rows],
        best=[f"{access}: {kind}" for access, kind in best.items()],
    )
    severity = "advice" if most > _NOTABLE else "info"
    return [Finding(kind="b_eff_io-types", text=text, severity=severity, numbers=numbers)]


def _type(row: Row) -> str:
    return str(row.params["pattern_type"])


def _odd_sizes(one: SpotScores, label: str) -> list[Finding]:
    """8 bytes more than a power of two: by how much each access gets slower, and where most."""
    ratios: list[tuple[float, Row]] = []
    rows = [row for row in select(one.rows, PATTERN) if not (row.is_invalid or _DOUBTFUL & set(row.flag_codes))]
    for row in rows:
        odd = next((odd for size, odd in MISALIGNED.items() if size == row.params["size"]), None)
        if odd is not None and row.median > 0:
            params = {name: row.params[name] for name in ("access", "pattern_type")}
            ratios += [(other.median / row.median, row) for other in select(rows, PATTERN, size=odd, **params)]
    if not ratios:
        return []
    means = {
        access: geometric_mean(found)
        for access in ACCESSES
        if (found := [ratio for ratio, row in ratios if row.params["access"] == access])
    }
    worst, at = min(ratios, key=lambda item: item[0])
    said = listing([f"{access} {times(mean)}" for access, mean in means.items()])
    text = f"{label}{processes(one.spot.ranks)}: chunks of 8 bytes more than a power of two have, by access, {said}"
    if worst < 1 / _ALIKE:
        text += (
            f" the bandwidth of well-formed ones, least of all {at.params['access']} of {at.params['size']} + 8 B in "
            f"{_type(at)} ({times(worst)})."
        )
    else:
        text += " the bandwidth of well-formed ones: they cost nothing here."
    numbers = columns(
        **place(one),
        access=[str(row.params["access"]) for _, row in ratios],
        pattern_type=[_type(row) for _, row in ratios],
        size=[str(row.params["size"]) for _, row in ratios],
        ratio=[ratio for ratio, _ in ratios],
    )
    severity = "advice" if worst < 1 / _NOTABLE else "info"
    return [Finding(kind="b_eff_io-odd-sizes", text=text, severity=severity, numbers=numbers)]


def _read_write(one: SpotScores, label: str) -> list[Finding]:
    """Reads against first writes over all types they share, and rewrites against first writes."""
    read, rewrite = _over_write(one, "read"), _over_write(one, "rewrite")
    if read is None:
        return []
    text = f"{label}{processes(one.spot.ranks)}: reads have {times(read)} the bandwidth of first writes (geometric mean"
    text += " over types)"
    if rewrite is not None:
        kinds = {row.params["pattern_type"] for row in select(one.rows, TYPE, access="rewrite")}
        where = f" in type {REWRITTEN_TYPE}" if kinds == {REWRITTEN_TYPE} else ""
        text += f", rewrites{where} {times(rewrite)}"
    numbers = columns(**place(one), read_over_write=read, rewrite_over_write=rewrite)
    return [Finding(kind="b_eff_io-read-write", text=f"{text}.", numbers=numbers)]


def _over_write(one: SpotScores, access: Access) -> float | None:
    written = {_type(row): row.median for row in select(one.rows, TYPE, access="write") if row.median > 0}
    found = [
        row.median / written[_type(row)]
        for row in select(one.rows, TYPE, access=access)
        if _type(row) in written and row.median > 0
    ]
    return geometric_mean(found) if found else None
