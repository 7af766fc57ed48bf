# SPDX-License-Identifier: Apache-2.0
"""Which rates a prediction needs, and which of those that are known it takes. Pure."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ullage.errors import UserError
from ullage.suites.stepfile.known import KnownRate
from ullage.suites.stepfile.predict_options import PredictOptions


def check_known(options: PredictOptions, target: str, backend: str, shares: Mapping[str, float]) -> None:
    """Raise ``UserError`` where the rates that people name do not tell what a prediction for ``target`` needs.

    ``shares``: of the reads that the page cache serves, by order.
    """
    for layout, order in itertools.product(options.layouts, options.orders):
        for phase, cache in needed(options, shares[order]):
            if pick(options, options.rates, Need(phase, target, backend, layout, order, cache)) is None:
                what = f"has no {phase} rates of {target}, {layout}, {order}, cache {cache or 'none or drop'}"
                raise UserError(what, "--rates", _right(options))


def _right(options: PredictOptions) -> str:
    ranks = ", ".join(str(count) for count in sorted({one.ranks for one in options.rates}))
    return (
        f"it has {ranks} ranks, and needs {options.ranks[0]}, states of {options.state_bytes} bytes and the same "
        "helper threads; leave --rates out to measure here"
    )


@dataclass(frozen=True)
class Need:
    """What a rate is looked up by. An empty ``cache``: any."""

    phase: str
    target: str
    backend: str
    layout: str
    order: str
    cache: str = ""

    def fits(self, one: KnownRate) -> bool:
        """Tell whether ``one`` is a rate of this."""
        asked = (self.phase, self.target, self.backend, self.layout, self.order)
        return (one.phase, one.target, one.backend, one.layout, one.order) == asked and self.cache in ("", one.cache)


def needed(options: PredictOptions, cached: float) -> list[tuple[str, str]]:
    """Return which phases with which cache control a prediction needs, where ``cached`` is the share of the cache."""
    if options.cache == "drop":
        return [("forward", ""), ("adjoint", "drop")]
    reads = [("adjoint", "none")] if cached > 0 else []
    return [("forward", ""), *reads, *([("adjoint", "drop")] if cached < 1 else [])]


def pick(options: PredictOptions, rates: Iterable[KnownRate], need: Need, ranks: int | None = None) -> KnownRate | None:
    """Return the rate of ``need`` with most steps, of the asked ranks, states and depth; None where there is none."""
    depth = options.write_behind if need.phase == "forward" else options.prefetch
    asked = (ranks or options.ranks[0], options.state_bytes, depth)
    found = [one for one in rates if need.fits(one) and (one.ranks, one.state_bytes, one.depth) == asked]
    # Among rates of the same steps, the one that was measured as the run will be comes last.
    found.sort(key=lambda one: (min(one.steps, options.steps), one.cache == options.cache))
    return found[-1] if found else None
