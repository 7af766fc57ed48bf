# SPDX-License-Identifier: Apache-2.0
"""Why a b_eff value does not count, and what else sets it apart from others. Pure."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.words import crowded
from ullage.model.flags import INVALID
from ullage.suites.b_eff.formula import Values
from ullage.suites.b_eff.measured import RING_COUNT, BEffRun
from ullage.suites.b_eff.options import USUAL_BUDGET_S, USUAL_RANDOM_RINGS, USUAL_REPETITIONS, BEffOptions
from ullage.suites.b_eff.sizes import COUNT
from ullage.units import format_bytes, format_time

NOT_VALID: Final = f"{INVALID}:b_eff"


def reasons_against(run: BEffRun) -> list[str]:
    """Everything that the definition asks for and that is missing; empty: the value is VALID."""
    pinning, values = run.run.pinning, Values(run)
    found: list[str] = []
    if pinning.oversubscribed:
        found.append(crowded(pinning.most_ranks_on_a_node, pinning.cores_available))
    if len(run.sizes) < COUNT:
        found.append(f"{len(run.sizes)} of {COUNT} message sizes")
    for what, names, wanted in (("rings", run.rings, RING_COUNT), ("random rings", run.random, USUAL_RANDOM_RINGS)):
        whole = values.patterns(names)
        if len(whole) < wanted:
            found.append(f"{len(whole)} of {wanted} patterns of {what} with all sizes")
    if len(run.repetitions) < USUAL_REPETITIONS:
        found.append(f"{len(run.repetitions)} of {USUAL_REPETITIONS} repetitions")
    return found


def conditions(options: BEffOptions) -> Sequence[str]:
    """What the definition leaves open or says otherwise, and what makes this value one to compare with few others."""
    found: list[str] = []
    if options.is_lmax_given and options.lmax is not None:
        found.append(f"the largest message, {format_bytes(options.lmax)}, was chosen and is not 1/128 of the memory")
    if options.budget_s < USUAL_BUDGET_S:
        found.append(
            f"loops are short: {format_time(options.budget_s)} for all patterns of a size and method, not "
            f"{format_time(USUAL_BUDGET_S)}"
        )
    if options.random_rings > USUAL_RANDOM_RINGS:
        found.append(f"{options.random_rings} random rings, not {USUAL_RANDOM_RINGS}")
    if options.repetitions > USUAL_REPETITIONS:
        found.append(f"the best of {options.repetitions} repetitions, not of {USUAL_REPETITIONS}")
    return found
