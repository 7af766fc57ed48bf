# SPDX-License-Identifier: Apache-2.0
"""The notes above the tables of a b_eff run: how it was measured, and in what it differs from the original. Pure."""

from typing import Final

from ullage.runs.kernels.message_pages import MessagePages
from ullage.suites.b_eff.formula import Values
from ullage.suites.b_eff.measured import METHODS, BEffRun
from ullage.units import format_bytes

_SHORT_LAST_TWO: Final = (
    "With the two largest sizes only the method that was best before was used, to save time. So no "
    "value of one method alone exists. --no-short-last-two measures it."
)
RESOLVED: Final = (
    "These differences from b_eff 3.6 are intended. D1: messages are counted on every process, because the count of "
    "rank 0 is wrong for rings of 2 and 3. D2: the latency of rings has the factor of the processes, as in the "
    "original's table. D3: random rings are uniform permutations of a recorded seed; --faithful uses the original's "
    "slot probing, which is not uniform. D4: the median over the repetitions and its interval stand beside the "
    "maximum. D5: patterns that coincide are kept and marked degenerate. D6: the records say which rank is where, and"
    " no rank is renumbered. D7: the memory of a process, of which Lmax is 1/128, is found at run time and recorded."
)


def notes_on(run: BEffRun) -> list[str]:
    """Return sentences on rings, checks, Lmax and pages, and which method was left out."""
    given = run.case.workload_parameters
    order = "by slot probing, as the original" if given.get("permutation") == "slot-probe" else "uniform"
    check = "within the timed loops, as in the original" if given.get("timed_check") else "outside the timed loops"
    told = (
        f"Random rings: {order}, seed {given.get('seed', 1)}. Data was checked {check}. Lmax is "
        f"{format_bytes(run.sizes[-1])}. Values of b_eff with different Lmax are not comparable."
    )
    pages = [] if run.pages is None else [_pages(run.pages)]
    if any(len(Values(run, methods=[method]).patterns(run.rings)) < len(run.rings) for method in METHODS):
        return [told, *pages, _SHORT_LAST_TWO]
    return [told, *pages]


def _pages(pages: MessagePages) -> str:
    text = f"{pages.text[0].upper()}{pages.text[1:]}"
    if pages.asked == "default":
        return f"{text}: none were requested, as in the original (--pages huge requests them)."
    return f"{text}: --pages {pages.asked}. The original requests none, so do not compare such values with its values."
