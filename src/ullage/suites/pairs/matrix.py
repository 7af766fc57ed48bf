# SPDX-License-Identifier: Apache-2.0
"""Times between all pairs, a matrix for each message size, out of the records. Pure."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

from ullage.analysis.metrics.messages import one_way_times
from ullage.suites.pairs.effects import Fit, fit
from ullage.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ullage.results.rows import Measured

SUITE: Final = "pairs"
WORKLOAD: Final = "ping-pong"
_FEWEST_CLEAN: Final = 3


@dataclass(frozen=True)
class PairMatrix:
    """``times``: s one way by repetition, sender and receiver; the diagonal is not a number. ``names``: of the ends.

    ``is_disturbed``: too few repetitions were without others on the machine, so that nothing is concluded from it.
    """

    case: str
    message_bytes: int
    is_latency: bool
    at_once: bool
    of_nodes: bool
    names: tuple[str, ...]
    times: "NDArray[np.float64]"
    is_disturbed: bool = False

    @cached_property
    def median(self) -> "NDArray[np.float64]":
        """Over the repetitions."""
        import numpy as np

        return np.median(self.times, axis=0)

    @cached_property
    def fit(self) -> Fit:
        """The fit of what each end adds, and each link."""
        return fit(self.times)

    @property
    def unit(self) -> str:
        """The unit of ``value``."""
        return "s" if self.is_latency else "B/s"

    def value(self, seconds: float) -> float:
        """A time of this matrix as people see it: itself, or the bandwidth."""
        return seconds if self.is_latency else self.message_bytes / seconds

    @property
    def noun(self) -> str:
        """What an end is."""
        return "node" if self.of_nodes else "rank"


def size_text(message_bytes: int) -> str:
    """``8 bytes``, ``1M``."""
    text = format_bytes(message_bytes)
    return f"{text} bytes" if text.isdigit() else text


def read_matrices(measured: "Iterable[Measured]") -> list[PairMatrix]:
    """One for each case that measures all pairs, by rising message size."""
    by_case: dict[str, list[Measured]] = {}
    for item in measured:
        is_ours = item.run.suite == SUITE and item.case.workload == WORKLOAD
        if is_ours and "message_bytes" in item.phase.gauges:
            by_case.setdefault(item.case.case, []).append(item)
    found = [_matrix(items) for items in by_case.values()]
    return sorted((one for one in found if one is not None), key=lambda one: one.message_bytes)


def _matrix(items: "Sequence[Measured]") -> PairMatrix | None:
    clean = [item for item in items if item.phase.grade != "C"]
    used = clean if len(clean) >= _FEWEST_CLEAN else items
    last = used[-1]
    names = end_names(last.phase.facts)
    times = [matrix for item in used if (matrix := _times(item, len(names))) is not None]
    if not times:
        return None
    import numpy as np

    return PairMatrix(
        case=last.case.case,
        message_bytes=round(last.phase.gauges["message_bytes"].most),
        is_latency=last.phase.facts.get("traffic") == "ping-pong",
        at_once=last.phase.facts.get("at_once") is True,
        of_nodes=last.case.workload_parameters.get("between") == "nodes",
        names=names,
        times=np.stack(times),
        is_disturbed=any(item.phase.grade == "C" for item in used),
    )


def _times(item: "Measured", ends: int) -> "NDArray[np.float64] | None":
    """None where pairs are missing, as in a sample of them."""
    import numpy as np

    pairs = one_way_times(item.phase)
    if ends < 2 or len(pairs) != ends * (ends - 1):
        return None
    matrix = np.full((ends, ends), np.nan)
    for sender, receiver, seconds in pairs:
        matrix[sender, receiver] = seconds
    return matrix


def end_names(facts: "Mapping[str, object]") -> tuple[str, ...]:
    """Hosts where each has one end, ranks where there is one host, else both."""
    ends, hosts = _words(facts.get("ends")), _words(facts.get("hosts"))
    if len(set(hosts)) == len(ends):
        return tuple(hosts)
    ranks = [end.rpartition(":rank")[2] for end in ends]
    if len(set(hosts)) <= 1:
        return tuple(f"rank {rank}" for rank in ranks)
    return tuple(f"{host}:{rank}" for host, rank in zip(hosts, ranks, strict=True))


def _words(value: object) -> list[str]:
    return [str(one) for one in cast("list[object]", value)] if isinstance(value, list) else []
