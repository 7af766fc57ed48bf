# SPDX-License-Identifier: Apache-2.0
"""The parts sentences are made of, in people's units."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, TypeVar

from ullage.analysis.findings.study import Grid, Numbers, Setting
from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.units import format_bytes, format_operations, format_rate, format_time

_NOUNS: Final = {"write": "writes", "read": "reads", "rewrite": "rewrites", "reread": "rereads"}
T = TypeVar("T", bound=Hashable)


def show(value: float, unit: str) -> str:
    """``3.20 GB/s``, ``45.2 kop/s``, ``1.50 ms``; any other unit with four digits."""
    match unit:
        case "B/s":
            return format_rate(value)
        case "op/s":
            return format_operations(value)
        case "s":
            return format_time(value)
        case _:
            return f"{value:.4g} {unit}".strip()


def show_row(row: Row) -> str:
    """Median and interval: ``3.20 GB/s [3.10, 3.30]``; a single sample says so."""
    if row.low is None or row.high is None:
        return f"{show(row.median, row.unit)} (one sample)"
    return f"{show(row.median, row.unit)} [{show(row.low, row.unit)}, {show(row.high, row.unit)}]"


def times(ratio: float) -> str:
    """``7.1 x``: two significant digits below 10, whole numbers above, small ones in full."""
    if ratio >= 99.5:
        return f"{ratio:,.0f} x"
    if ratio >= 9.95:
        return f"{ratio:.1f} x"
    return f"{ratio:.2f} x" if ratio >= 0.0995 else f"{ratio:.2g} x"


def plural(count: int, noun: str) -> str:
    """``1 rank``, ``2 ranks``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def processes(count: int) -> str:
    """``1 process``, ``2 processes``."""
    return f"{count:,} process{'' if count == 1 else 'es'}"


def crowded(on_a_node: int, cores: int) -> str:
    """More processes on a node than it has cores."""
    return f"oversubscribed: {processes(on_a_node)} on a node share {plural(cores, 'core')}"


def noun(access: str) -> str:
    """``write`` reads ``writes``; other words stay."""
    return _NOUNS.get(access, access or "work")


def block(bytes_: int) -> str:
    """``128K``."""
    return format_bytes(bytes_)


def place(ranks: int, bytes_: int) -> str:
    """``64 ranks and 256K blocks``; without a block size only the ranks."""
    return f"{plural(ranks, 'rank')} and {block(bytes_)} blocks" if bytes_ else plural(ranks, "rank")


def cell_of(row: Row) -> tuple[int, int]:
    """Ranks and block size of a row of a grid."""
    return int(row.params["ranks"]), int(row.params.get("block_bytes", 0))


def setting_text(setting: Setting) -> str:
    """``, order random``: what else sets a grid apart; empty when nothing does."""
    return "".join(f", {name.removesuffix('_bytes').replace('_', ' ')} {_value(name, v)}" for name, v in setting)


def _value(name: str, value: Scalar) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_bytes(value) if name.endswith("_bytes") and isinstance(value, int) else str(value)


def subject(grid: Grid) -> str:
    """``nvme writes``, with the setting where there is one: the beginning of a sentence."""
    return f"{grid.target} {noun(grid.access)}{setting_text(grid.setting)}"


def listing(words: Sequence[str], most: int = 8) -> str:
    """``a, b and c``; ``a, b and 7 more``."""
    shown = list(words) if len(words) <= most else [*words[: most - 1], f"{len(words) - most + 1} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def span(values: Sequence[int], every: Sequence[int]) -> str:
    """Block sizes: ``128K to 512K`` where they stand side by side in ``every``, else each one."""
    names = [block(value) for value in values]
    places = [every.index(value) for value in values]
    if len(values) > 2 and places == list(range(places[0], places[0] + len(places))):
        return f"{names[0]} to {names[-1]}"
    return listing(names)


def most_common(values: Iterable[T]) -> T:
    """The value met most often, of equals the first."""
    return Counter(values).most_common(1)[0][0]


def numbers_of(grid: Grid, **numbers: Scalar | Sequence[Scalar] | None) -> Numbers:
    """The numbers of a finding, first those that say which grid it is about."""
    found: Numbers = {"target": grid.target, "access": grid.access, "metric": grid.metric, **dict(grid.setting)}
    return found | columns(**numbers)


def columns(**numbers: Scalar | Sequence[Scalar] | None) -> Numbers:
    """Numbers by name; a sequence becomes a list."""
    return {
        name: value if value is None or isinstance(value, (bool, int, float, str)) else list(value)
        for name, value in numbers.items()
    }
