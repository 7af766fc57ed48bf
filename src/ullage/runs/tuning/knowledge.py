# SPDX-License-Identifier: Apache-2.0
"""What is known before the search and after its first trial, as values of parameters to begin with.

Little's law gives the requests in flight that a device needs: its ceiling times the latency of a request. One rank's
rate below that ceiling gives the ranks. The preferred size of the target's file system gives the block. Where nothing
is known of a parameter, the search begins in the middle of its values.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal, TypeAlias

from ullage.errors import UserError
from ullage.model.summary import Row, Summary
from ullage.model.system import SystemFacts
from ullage.results.folder import ResultFolder
from ullage.runs.options.declared import declared
from ullage.runs.options.model import SuiteOptions
from ullage.runs.tuning.objective import rows_of
from ullage.runs.tuning.options import TunedParameter, TuneOptions
from ullage.units import format_volume, parse_size

Role: TypeAlias = Literal["ranks", "depth", "block", ""]
_ROLES: Final[Mapping[str, Role]] = {"ranks": "ranks", "threads": "ranks", "depths": "depth", "blocks": "block"}
_PARAMETERS: Final[Mapping[str, Role]] = {"transfer.queue_depth": "depth", "transfer.transfer_bytes": "block"}
# A default that reaches so much of the ceiling needs nothing more.
_NEAR: Final = 0.9
# File systems without stripes prefer a page, which says nothing of the best block.
_LEAST_PREFERRED: Final = 65_536


@dataclass(frozen=True)
class Known:
    """Values of parameters by name, and why each is a start, in sentences."""

    values: dict[str, str]
    reasons: list[str]


def start_of(options: TuneOptions, model: type[SuiteOptions], first: Summary, result: ResultFolder) -> Known:
    """Return what is known after the first trial of a search, whose summary is ``first``."""
    rows = [row for words in options.objective for row in rows_of(words, first)]
    try:
        facts = result.read_system()
    except UserError:
        facts = None
    return known_start(options.parameters, model, rows, facts)


def known_start(
    overs: Sequence[TunedParameter], model: type[SuiteOptions], rows: Sequence[Row], facts: SystemFacts | None
) -> Known:
    """Return what is known. ``rows``: of the objective, in the first trial; ``facts``: of the machine."""
    roles: dict[Role, TunedParameter] = {role: one for one in overs if one.ordered and (role := role_of(one, model))}
    known = Known({}, [])
    wanted = needed_at_once(rows)
    if wanted is not None:
        cores = None if facts is None else facts.cpu.usable_cores or facts.cpu.usable_cpus
        _share_out(wanted, roles, rows, cores, known)
    preferred = 0 if facts is None else max((place.block_bytes or 0 for place in facts.places), default=0)
    if (block := roles.get("block")) is not None and preferred >= _LEAST_PREFERRED:
        known.values[block.name] = _at_least(block, preferred)
        known.reasons.append(f"The file system prefers {format_volume(preferred)}, so {block.name} begins there.")
    return known


def role_of(over: TunedParameter, model: type[SuiteOptions]) -> Role:
    """Return what a parameter sets, as far as anything is known of it."""
    if over.how == "ppn":
        return "ranks"
    if over.how == "parameter":
        return _PARAMETERS.get(over.word, "")
    if over.how != "option":
        return ""
    field = next((one.field for one in declared(model).values() if one.keyword == over.word), "")
    return _ROLES.get(field, "")


def needed_at_once(rows: Sequence[Row]) -> float | None:
    """Return how many requests have to be under way to reach the ceiling; None where no row has one, or all reach it.

    At the latency of now, the rate is proportional to the requests under way (Little's law).
    """
    with_ceiling = [(row.ceiling.value, row.median, at_once(row)) for row in rows if row.ceiling and row.median > 0]
    if not with_ceiling:
        return None
    ratio = math.exp(fmean(math.log(ceiling / median) for ceiling, median, _ in with_ceiling))
    return None if ratio * _NEAR <= 1 else round(ratio * max(under_way for _, _, under_way in with_ceiling), 6)


def at_once(row: Row) -> int:
    """Return the requests under way of a row: ranks times threads times queue depth."""
    named = [row.params.get(name, 1) for name in ("ranks", "threads", "queue_depth")]
    return math.prod(one for one in named if isinstance(one, int))


def _share_out(
    wanted: float, roles: Mapping[Role, TunedParameter], rows: Sequence[Row], cores: int | None, known: Known
) -> None:
    """Take ranks first, at most one for each core of a node, and depth for what is left."""
    now = rows[0].params
    workers = _number(now.get("ranks", 1)) * _number(now.get("threads", 1))
    said = f"The ceiling needs {math.ceil(wanted)} requests in flight"
    if (over := roles.get("ranks")) is not None:
        # What else multiplies them was measured with the default: nodes of ranks per node, threads of ranks.
        others = max(1, round(workers / parse_size(over.default)))
        most = math.inf if cores is None else cores * _number(now.get("nodes", 1))
        depth = 1 if "depth" in roles else _number(now.get("queue_depth", 1))
        text = _at_least(over, max(1, min(wanted / depth, most)) / others)
        workers = parse_size(text) * others
        known.values[over.name] = text
        known.reasons.append(f"{said}, so {over.name} begins at {text}.")
    if (over := roles.get("depth")) is not None:
        text = _at_least(over, wanted / workers)
        known.values[over.name] = text
        known.reasons.append(f"{said} by Little's law, so {over.name} begins at {text}.")


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 1


def _at_least(over: TunedParameter, wanted: float) -> str:
    """Return the smallest value of a parameter that reaches ``wanted``, else its largest."""
    return next((text for text in over.values if parse_size(text) >= wanted), over.values[-1])
