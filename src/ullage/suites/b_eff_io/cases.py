# SPDX-License-Identifier: Apache-2.0
"""The cases of b_eff_io: one type in one access, by one partition, with one set of hints; and their schedule. Pure.

The schedule is that of release 2.1: how long everything is to take, after how long a pattern hangs, how large datasets
may become. All partitions are written before anything is read again, so the datasets of a round lie side by side. Each
has room for every pattern once, and of what is left its part by units, so segments are no longer than what type
separated writes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.engine import find_registered, validate_parameters
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.identity import case_id
from ullage.launch.base import is_one_node, place_ranks
from ullage.model.describe import Describe
from ullage.model.plan import Case, Layout, Named, Parameters, Target
from ullage.suites.b_eff_io import patterns
from ullage.suites.b_eff_io.hints import hints_for
from ullage.suites.b_eff_io.measured import WORKLOAD, CellKey
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.uri import target_path, target_scheme

_SHORTEST_PATIENCE_S: Final = 30.0
_LONGEST_PATIENCE_S: Final = 1800.0
# A pattern that takes more than this multiple of its scheduled time is not slow any more, but hangs.
_MOST_SURPRISE: Final = 3.0
# Bytes/s: a pattern writes no faster into the caches, and a slow target takes them from there no slower.
_FASTEST: Final = 5e9
_SLOWEST: Final = 50e6
# The kernel lets no more than such a part of the memory be dirty, by its usual settings.
_DIRTY_SHARE: Final = 0.2


def unit_s(options: BEffIoOptions) -> float:
    """Return T_u, the scheduled seconds of one unit."""
    return options.partition_s / patterns.all_units(rewrite=options.rewrite)


def pattern_s(pattern: patterns.Pattern, options: BEffIoOptions) -> float:
    """Return the seconds that a pattern is scheduled for in each access; 0 for a pattern that is done once."""
    return pattern.units * unit_s(options)


def type_s(kind: patterns.PatternType, options: BEffIoOptions) -> float:
    """Return the seconds that a pattern type is scheduled for in each access."""
    return patterns.units_of(kind) * unit_s(options)


def access_s(access: patterns.Access, options: BEffIoOptions) -> float:
    """Return the seconds that an access is scheduled for in one partition; all accesses together take T_part."""
    return sum(type_s(kind, options) for kind in patterns.types_of(access, rewrite=options.rewrite))


def round_s(options: BEffIoOptions) -> float:
    """Return the seconds that a round on one target is scheduled for: T for each set of hints."""
    return sum(access_s(access, options) for access in patterns.ACCESSES) * _sides(options)


def watchdog_s(options: BEffIoOptions, memory: int | None) -> float:
    """Return the seconds that a rank may make no progress: for the longest sync, and for waiting for slower ranks.

    ``memory``: bytes of all nodes, None when not known.
    """
    if options.watchdog_s is not None:
        return options.watchdog_s
    longest_s = max(pattern_s(pattern, options) for pattern in patterns.PATTERNS)
    written = _FASTEST * longest_s
    dirty = written if memory is None else min(written, _DIRTY_SHARE * memory)
    # Without a limit on overtime, a rank that is through with what it had cached waits for all others.
    waiting_s = 0.0 if options.overtime else written / _SLOWEST
    patience_s = min(_LONGEST_PATIENCE_S, max(dirty / _SLOWEST, waiting_s))
    return max(_SHORTEST_PATIENCE_S, _MOST_SURPRISE * longest_s, patience_s)


# A segment begins at a whole MiB, and its fill-up is at most another.
_SEGMENT_SLACK: Final = 2 * patterns.MIB
_ALL_UNITS: Final = sum(patterns.units_of(kind) for kind in patterns.TYPES)


def most_bytes(options: BEffIoOptions, room: int, ranks: int, kind: patterns.PatternType) -> int:
    """Return the most bytes of one dataset; a pattern ends early when it has filled its part of them."""
    left = room // _sides(options) - _once_bytes(options, ranks)
    return max(1, left * patterns.units_of(kind) // _ALL_UNITS)


def needed_bytes(options: BEffIoOptions) -> int:
    """Return the least room that a target must offer, in bytes: enough to run every pattern once."""
    return _sides(options) * max(_once_bytes(options, ranks) for ranks in options.partitions)


def needed_files(options: BEffIoOptions) -> int:
    """Return the most files that lie on a target at one time: one for each rank, and those that ranks share."""
    return sum(ranks + 4 for ranks in options.partitions) * len(options.hint_sets)


def dataset_bytes(options: BEffIoOptions, room: int, ranks: int, kind: patterns.PatternType) -> int:
    """Return the most bytes that a dataset takes: ``most_bytes``, and every pattern once."""
    return most_bytes(options, room, ranks, kind) + _once(options, ranks, kind)


def _sides(options: BEffIoOptions) -> int:
    """Return how many partitions lie side by side on a target, counted once for each set of hints."""
    return len(options.partitions) * len(options.hint_sets)


def _once_bytes(options: BEffIoOptions, ranks: int) -> int:
    return sum(_once(options, ranks, kind) for kind in patterns.TYPES)


def _once(options: BEffIoOptions, ranks: int, kind: patterns.PatternType) -> int:
    """Return the bytes to run every pattern of a type once on all ranks, with what rounds segments up to whole MiB."""
    lmax = options.lmax or patterns.SMALLEST_LMAX
    slack = _SEGMENT_SLACK if kind in patterns.SEGMENTED_TYPES else 0
    return ranks * (slack + sum(pattern.call(lmax) or 0 for pattern in patterns.patterns_of(kind)))


_RULES: Final = {"2.1": "predicted", "1.0": "elapsed"}
# The largest limit that the engine accepts, for targets where nothing is stored.
_NO_LIMIT: Final = 10**15


def launches_of(options: BEffIoOptions, target: Target) -> list[list[CellKey]]:
    """Return the cells of each launch of a round on ``target``, in the order in which they are measured.

    Everything is written before anything is read again. Without files nothing outlives a launch, so a target without
    them gets one launch for each partition, with all accesses in it.
    """
    apart: list[tuple[patterns.Access, ...]] = (
        [patterns.ACCESSES] if target_path(target) is None else [(access,) for access in patterns.ACCESSES]
    )
    return [
        [
            CellKey(target.name, hints, ranks, access, kind)
            for access in accesses
            for hints in range(len(options.hint_sets))
            for kind in patterns.types_of(access, rewrite=options.rewrite)
        ]
        for accesses in apart
        for ranks in options.partitions
    ]


def dataset_of(key: CellKey) -> str:
    """Return the name of the dataset that a write makes and the other accesses use.

    The datasets of a round are gone when the next one begins.
    """
    return f"{_stem_of(key)}-{key.type}"


def _stem_of(key: CellKey) -> str:
    """Return the beginning of the names of all datasets of one partition with one set of hints."""
    return f"h{key.hints}-n{key.ranks}"


def layouts_of(options: BEffIoOptions, cores: int | None) -> dict[int, Layout]:
    """Return the layout of each partition, with as many ranks on a node as the largest partition has there.

    ``cores``: usable ones of a node, None when not known. ``UserError`` when the ranks do not fill the nodes.
    """
    whole = options.place(options.ranks, cores)
    return {
        ranks: whole
        if ranks == options.ranks
        else place_ranks(ranks, None, whole.ranks_per_node, cores, bind=options.bind)
        for ranks in options.partitions
    }


def nodes_of(layouts: Iterable[Layout]) -> int | None:
    """Return the number of nodes of the largest partition, or None when nobody has said it."""
    largest = max(layouts, key=lambda layout: layout.ranks)
    return largest.nodes or (1 if is_one_node(largest) else None)


def backend_of(target: Target, description: Describe) -> Named:
    """Return the backend for ``target``: MPI-IO on files, else the backend that its URI names.

    ``UserError`` when the backend of this engine has no views of files.
    """
    name = "mpiio" if target_path(target) is not None else target_scheme(target)
    if "views" not in find_registered(description, "backend", name).capabilities:
        what = f"backend '{name}' has no views of files"
        raise UserError(what, f"target '{target.name}'", "name a folder, null: or model:", EXIT_ENVIRONMENT)
    return Named(name=name)


@dataclass(frozen=True)
class CaseMaker:
    """Binds cells to their cases. ``layouts`` by partition, ``backends`` by target."""

    options: BEffIoOptions
    description: Describe
    targets: Mapping[str, Target]
    backends: Mapping[str, Named]
    layouts: Mapping[int, Layout]

    def case(self, key: CellKey, skip: Sequence[int] = ()) -> Case:
        """Return the case of a cell, without the patterns whose numbers are in ``skip``.

        ``UserError`` for what the engine would refuse.
        """
        target, backend, layout = self.targets[key.target], self.backends[key.target], self.layouts[key.ranks]
        given = {**self._parameters(key, backend), **({"skip": [str(number) for number in skip]} if skip else {})}
        workload = Named(name=WORKLOAD, parameters=validate_parameters(self.description, "workload", WORKLOAD, given))
        dataset = dataset_of(key)
        identity = case_id(backend, workload, target, layout, dataset)
        return Case(id=identity, target=target.name, backend=backend, workload=workload, dataset=dataset)

    def _parameters(self, key: CellKey, backend: Named) -> Parameters:
        options = self.options
        # What is written to a backend without data cannot be read again.
        inner = str(backend.parameters.get("inner", backend.name))
        holds_data = "data" in find_registered(self.description, "backend", inner).capabilities
        hints = hints_for(options.hint_sets[key.hints].lines, key.ranks, key.access, key.type)
        parameters: Parameters = {
            "type": key.type,
            "access": key.access,
            "lmax_bytes": options.lmax or patterns.SMALLEST_LMAX,
            "unit_s": unit_s(options),
            "rule": _RULES[options.rule],
            "overtime": options.overtime,
            "shared_pointer": options.shared_pointer,
            "unique_open": options.unique_open,
            "verify": options.verify if holds_data else "none",
            **({"hints": dict(hints)} if hints else {}),
        }
        if key.access == "write":
            room = options.room.get(key.target)
            most = _NO_LIMIT if room is None else most_bytes(options, room, key.ranks, key.type)
            parameters["most_bytes"] = min(most, _NO_LIMIT)
            if key.type in patterns.SEGMENTED_TYPES:
                parameters["counts_of"] = _stem_of(key)
        elif key.access == "read":
            parameters["cache"] = options.cache
        return parameters
