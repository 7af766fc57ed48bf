# SPDX-License-Identifier: Apache-2.0
"""Which ends and which links are slow, told apart. Pure.

A time from i to j is taken as the product of what all have in common, what i adds by sending, what j adds by receiving,
and what the link adds. The first three are fitted by medians (Tukey's median polish of the logarithms), so that a slow
end is found as one slow end and not as n - 1 slow links, and a few slow links change nothing in it. Where one end is
the bottleneck the other adds nothing: a link is held against the slower of the product and either end alone. What is
named slow stands out of the matrix by many times its noise, by a factor that matters, and in every single repetition.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

from ullage.analysis.findings.phrasing import finding
from ullage.analysis.verdicts.grades import row_grade
from ullage.arrays import np
from ullage.pair_tables import PairTable, pair_table
from ullage.quantity import show
from ullage.system.switches import leaves_of_hosts, noun_of
from ullage.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ullage.arrays import NDArray
    from ullage.model.summary import Finding
    from ullage.model.system import Switch
    from ullage.results.rows import Measured

SUITE: Final = "pairs"
WORKLOAD: Final = "ping-pong"

FEWEST_ENDS: Final = 4
"""With fewer ends, a slow end looks like a slow link."""
_ROUNDS: Final = 20
_SETTLED: Final = 1e-9
FEWEST_REPETITIONS: Final = 3
"""With fewer repetitions nothing is named slow, because it could have happened by chance."""
_TO_SIGMA: Final = 1.4826
LEAST_SIGMA: Final = 0.01
# An end or a link that is singled out exceeds noise by this factor. Chance puts one of many links farther out.
MANY_OF_ENDS: Final = 4.0
_MANY_OF_LINKS: Final = 6.0
# A factor matters from these values on: in the median for ends and links, and in every repetition.
SLOW_END: Final = 1.25
SLOW_LINK: Final = 1.3
EVERY_TIME: Final = 1.15


@dataclass(frozen=True)
class MedianPolish:
    """The parts of a logarithm: ``common`` + ``sends`` of the row + ``receives`` of the column + ``links``."""

    common: float
    sends: "NDArray[np.float64]"
    receives: "NDArray[np.float64]"
    links: "NDArray[np.float64]"

    @property
    def expected(self) -> "NDArray[np.float64]":
        """What is expected of each link by its two ends: what both add, or the slower one alone."""
        sender, receiver = self.sends[:, None], self.receives[None, :]
        return self.common + np.maximum(sender + receiver, np.maximum(sender, receiver))


@dataclass(frozen=True, slots=True)
class SlowEnd:
    """Factors by which its messages take longer than those of the others; 1 where only the other way is slow."""

    end: int
    sends: float
    receives: float


@dataclass(frozen=True, slots=True)
class SlowLink:
    """A link that is slow. ``factor``: to what is usual between its two ends, or to the time of the way back."""

    sender: int
    receiver: int
    factor: float


@dataclass(frozen=True)
class Fit:
    """Effects of ends and links, and how well they are known.

    ``sigma``: of a logarithm, by the links that are alike and by the repetitions.
    """

    polish: MedianPolish
    sigma: float
    ends: tuple[SlowEnd, ...]
    links: tuple[SlowLink, ...]
    asymmetric: tuple[SlowLink, ...]

    @property
    def slow_link_from(self) -> float:
        """The factor above which a link is named, in this noise."""
        return math.exp(_link_limit(self.sigma))


def fit(times: "NDArray[np.float64]") -> Fit:
    """Fit the effects of ends and links to ``times``, and single out what is slow.

    ``times``: by repetition, sender, receiver, with a diagonal that is not a number.
    """
    each = np.log(times)
    middle = np.median(each, axis=0)
    count = middle.shape[0]
    with_ends = count >= FEWEST_ENDS
    polish = polished(middle) if with_ends else _flat(middle)
    apart = ~np.eye(count, dtype=bool)
    noise = max(LEAST_SIGMA, _TO_SIGMA * float(np.median(np.median(np.abs(each - middle)[:, apart], axis=0))))
    # With few ends, differences between links are no noise.
    sigma = max(noise, scale(polish.links[apart])) if with_ends else noise
    if len(times) < FEWEST_REPETITIONS:
        return Fit(polish, sigma, (), (), ())
    rest = each - polish.expected
    asymmetric = _asymmetric(each, rest, sigma)
    if not with_ends:
        return Fit(polish, sigma, (), (), asymmetric)
    links, always = np.median(rest, axis=0), np.min(rest, axis=0)
    with np.errstate(invalid="ignore"):
        slow = (links > _link_limit(sigma)) & (always > math.log(EVERY_TIME))
    return Fit(polish, sigma, _slow_ends(polish, each, sigma), _ranked(slow, links), asymmetric)


def polished(logarithms: "NDArray[np.float64]") -> MedianPolish:
    """Compute the median polish of a square matrix without its diagonal."""
    rest = logarithms.copy()
    sends, receives = np.zeros(len(rest)), np.zeros(len(rest))
    for _ in range(_ROUNDS):
        by_row = np.nanmedian(rest, axis=1)
        rest -= by_row[:, None]
        sends += by_row
        by_column = np.nanmedian(rest, axis=0)
        rest -= by_column[None, :]
        receives += by_column
        if max(np.abs(by_row).max(), np.abs(by_column).max()) < _SETTLED:
            break
    usual = float(np.median(sends)), float(np.median(receives))
    return MedianPolish(sum(usual), sends - usual[0], receives - usual[1], rest)


def _flat(logarithms: "NDArray[np.float64]") -> MedianPolish:
    """Return a polish without effects of ends, for too few ends to tell what one of them adds."""
    common, nothing = float(np.nanmedian(logarithms)), np.zeros(len(logarithms))
    return MedianPolish(common, nothing, nothing, logarithms - common)


def scale(values: "NDArray[np.float64]") -> float:
    """Estimate a standard deviation by the median of the deviations from 0."""
    return _TO_SIGMA * float(np.median(np.abs(values)))


def _slow_ends(polish: MedianPolish, each: "NDArray[np.float64]", sigma: float) -> tuple[SlowEnd, ...]:
    alone = [polished(one) for one in each]
    sending = _outstanding(polish.sends, [one.sends for one in alone], sigma)
    receiving = _outstanding(polish.receives, [one.receives for one in alone], sigma)
    return tuple(
        SlowEnd(
            end,
            math.exp(polish.sends[end]) if end in sending else 1.0,
            math.exp(polish.receives[end]) if end in receiving else 1.0,
        )
        for end in sorted({*sending, *receiving})
    )


def _outstanding(effects: "NDArray[np.float64]", alone: "Sequence[NDArray[np.float64]]", sigma: float) -> list[int]:
    """Return the ends whose effect is large in every repetition, among all effects, and against the noise of a median.

    That noise is of the median over the links of an end.
    """
    noise = max(scale(effects), sigma / math.sqrt(len(effects) - 1))
    least = np.min(np.stack(alone), axis=0)
    return [
        end
        for end, effect in enumerate(effects)
        if effect > max(math.log(SLOW_END), MANY_OF_ENDS * noise) and least[end] > math.log(EVERY_TIME)
    ]


def _ranked(slow: "NDArray[np.bool_]", logarithms: "NDArray[np.float64]") -> tuple[SlowLink, ...]:
    found = [SlowLink(int(i), int(j), math.exp(logarithms[i, j])) for i, j in np.argwhere(slow)]
    return tuple(sorted(found, key=lambda link: -link.factor))


def _asymmetric(each: "NDArray[np.float64]", rest: "NDArray[np.float64]", sigma: float) -> tuple[SlowLink, ...]:
    """Return the links that are slower than their way back, most asymmetric first.

    What an end adds to all it sends or receives does not count.

    ``each``: logarithms of every repetition; ``rest``: what of them the ends do not explain.
    """
    apart = np.minimum(_difference(each), _difference(rest))
    # A pair counts if its fastest time one way is above its slowest time back.
    always = np.min(each, axis=0) - np.max(each, axis=0).T
    with np.errstate(invalid="ignore"):
        found = (apart > _link_limit(sigma)) & (always > math.log(EVERY_TIME))
    return _ranked(found, apart)


def _link_limit(sigma: float) -> float:
    return max(math.log(SLOW_LINK), _MANY_OF_LINKS * sigma)


def _difference(values: "NDArray[np.float64]") -> "NDArray[np.float64]":
    middle = np.median(values, axis=0)
    return middle - middle.T


@dataclass(frozen=True)
class PairMatrix:
    """The times of all ordered pairs.

    ``times``: s one way by repetition, sender and receiver; the diagonal is not a number. ``names``: of the ends.

    ``is_disturbed``: others disturbed its repetitions (grade C), so that no finding rests on it.

    ``hosts``: the node of each end; ``leaves``: its switch or block (``leaf_noun``), an empty text where not known.
    """

    case: str
    message_bytes: int
    is_latency: bool
    at_once: bool
    of_nodes: bool
    names: tuple[str, ...]
    times: "NDArray[np.float64]"
    is_disturbed: bool = False
    hosts: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    leaf_noun: str = "switch"

    @cached_property
    def median(self) -> "NDArray[np.float64]":
        """Over the repetitions."""
        return np.median(self.times, axis=0)

    @cached_property
    def fit(self) -> "Fit":
        """The fit of what each end adds, and each link."""
        return fit(self.times)

    @cached_property
    def switches(self) -> list[str]:
        """The switches that are known, each once."""
        return sorted({*self.leaves} - {""})

    @cached_property
    def within(self) -> "NDArray[np.bool_]":
        """Which links are within a switch, between two nodes."""
        hosts, leaves = np.array(self.hosts), np.array(self.leaves)
        same = (leaves[:, None] == leaves[None, :]) & (leaves != "")
        return same & (hosts[:, None] != hosts[None, :])

    @cached_property
    def across(self) -> "NDArray[np.bool_]":
        """Which links are between two switches."""
        leaves = np.array(self.leaves)
        known = leaves != ""
        return known[:, None] & known[None, :] & (leaves[:, None] != leaves[None, :])

    @property
    def unit(self) -> str:
        """The unit of ``value``."""
        return "s" if self.is_latency else "B/s"

    def value(self, seconds: float) -> float:
        """Return a time of this matrix as reports show it: itself for latencies, else the bandwidth."""
        return seconds if self.is_latency else self.message_bytes / seconds

    def shown(self, seconds: float) -> str:
        """Write ``value`` with its unit."""
        return show(self.value(seconds), self.unit)

    @property
    def verb(self) -> str:
        """What messages do: they take a time, or go at a rate."""
        return "take" if self.is_latency else "go at"

    @property
    def noun(self) -> str:
        """What an end is."""
        return "node" if self.of_nodes else "rank"

    @property
    def message(self) -> str:
        """What was sent."""
        return f"messages of {size_text(self.message_bytes)}"

    def placed(self, end: int) -> str:
        """Name an end, with its switch where that is known: ``n0 (switch s0)``."""
        leaf = self.leaves[end] if self.leaves else ""
        return f"{self.names[end]} ({self.leaf_noun} {leaf})" if leaf else self.names[end]

    def warning(self, kind: str, title: str, text: str, **numbers: float | str | list[str] | None) -> "Finding":
        """Make a finding that names this matrix by its numbers."""
        return finding(kind, title, text, "warning", **self.place, **numbers)

    @property
    def place(self) -> dict[str, str | int]:
        """The numbers by which findings name this matrix."""
        return {"metric": "pair_latency" if self.is_latency else "pair_bandwidth", "message_bytes": self.message_bytes}


def size_text(message_bytes: int) -> str:
    """Write the size of a message with its unit: ``8 bytes``, ``1M``."""
    return f"{text} bytes" if (text := format_bytes(message_bytes)).isdigit() else text


def read_matrices(measured: "Iterable[Measured]", switches: "Sequence[Switch]" = ()) -> list[PairMatrix]:
    """Return a matrix for each case that measures all pairs, by rising message size.

    ``switches``: above the nodes, as far as they are known.
    """
    by_case: dict[str, list[Measured]] = {}
    for item in measured:
        if (item.run.suite, item.case.workload) == (SUITE, WORKLOAD) and "message_bytes" in item.phase.gauges:
            by_case.setdefault(item.case.case, []).append(item)
    found = [_matrix(items, switches) for items in by_case.values()]
    return sorted((one for one in found if one is not None), key=lambda one: one.message_bytes)


def _matrix(items: "Sequence[Measured]", switches: "Sequence[Switch]") -> PairMatrix | None:
    last, stride = items[-1], _stride(items[-1])
    names, hosts = end_names(last.phase.facts), _pairs(last.phase.facts).hosts
    found = (_times(item, len(names)) for item in items if _stride(item) == stride)
    times = [matrix for matrix in found if matrix is not None]
    if not times:
        return None
    return PairMatrix(
        case=last.case.case,
        message_bytes=round(last.phase.gauges["message_bytes"].most),
        is_latency=last.phase.facts.get("traffic") == "ping-pong",
        at_once=last.phase.facts.get("at_once") is True,
        of_nodes=last.case.workload_parameters.get("between") == "nodes",
        names=names,
        times=np.stack(times),
        is_disturbed=row_grade([item.phase for item in items]) == "C",
        hosts=hosts,
        leaves=tuple(leaves_of_hosts(switches, hosts)) if len(hosts) == len(names) else (),
        leaf_noun=noun_of(switches),
    )


def _stride(item: "Measured") -> int:
    """Return how far apart the numbers of the ends are that took part."""
    told = item.phase.facts.get("stride")
    return told if isinstance(told, int) and told > 0 else 1


def _times(item: "Measured", ends: int) -> "NDArray[np.float64] | None":
    pairs, stride = _pairs(item.phase.facts), _stride(item)
    if ends < 2 or len(pairs.seconds) != ends * (ends - 1):
        return None
    matrix = np.full((ends, ends), np.nan)
    matrix[pairs.senders // stride, pairs.receivers // stride] = pairs.seconds
    return matrix


def _pairs(facts: "Mapping[str, object]") -> PairTable:
    """Return the table of the pairs, or what stands of them in the facts themselves."""
    if (table := pair_table(facts)) is not None:
        return table
    ends, hosts, told = (cast("list[object]", facts.get(name) or []) for name in ("ends", "hosts", "one_way_s"))
    rows = np.array(told or np.empty((0, 3)), dtype=float)
    whole = rows[:, :2].astype(int)
    return PairTable(tuple(map(str, ends)), tuple(map(str, hosts)), whole[:, 0], whole[:, 1], rows[:, 2])


def end_names(facts: "Mapping[str, object]") -> tuple[str, ...]:
    """Name the ends by host where each has one end, by rank where there is one host, else by both."""
    pairs = _pairs(facts)
    if len(set(pairs.hosts)) == len(pairs.ends):
        return pairs.hosts
    ranks = [end.rpartition(":rank")[2] for end in pairs.ends]
    if len(set(pairs.hosts)) <= 1:
        return tuple(f"rank {rank}" for rank in ranks)
    return tuple(f"{host}:{rank}" for host, rank in zip(pairs.hosts, ranks, strict=True))
