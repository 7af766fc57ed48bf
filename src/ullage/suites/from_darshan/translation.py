# SPDX-License-Identifier: Apache-2.0
"""A log of Darshan as cases that do the same work: transfers by size and order, and small files as items."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final, cast

from pydantic import Field

from ullage.command_lines.options import LineOptions
from ullage.command_lines.translation import Draft, Translation
from ullage.errors import UserError
from ullage.importers.darshan import facts_at, traces_at
from ullage.importers.darshan.causes import causes_of, works_of
from ullage.importers.darshan.job import Facts, Group
from ullage.importers.darshan.rates import ON_NAMES, Work
from ullage.model.plan import Named, Parameters, Target
from ullage.quantity import percent, plural
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.kinds import Repeated, Size
from ullage.suites.from_darshan.traced import Listed, listed_of, replayed
from ullage.uri import target_scheme

_WORD: Final = 8
_WITHOUT_DATA: Final = ("model", "null")
# A file of so few operations is an item: what it costs is its name.
_FEW: Final = 10
# Of less than this share of the bytes, and ten times it of the operations, no case is made.
_NO_MATTER: Final = 1e-3


class FromDarshanOptions(LineOptions):
    """``listed``, ``works``: what the log says, so that a result needs it no more; ``covered``: how much of it it is.

    What the log has traced is listed, unless less is asked for.
    """

    tool = "darshan"
    metrics = "bandwidth operation_rate latency_p50 latency_p99"
    changes = {
        "target": Change(unsaid="", required=True),
        "ranks": Change("Start this many ranks.", unsaid="those of the log"),
    }

    lines: Annotated[
        list[str],
        Field(min_length=1),
        Repeated(metavar="LOG"),
        Option("Do the work of this Darshan log.", argument=True, required=True),
    ]
    volume: Annotated[
        int | None, Field(ge=1), Size(), Option("Move at most this many bytes in a case.", unsaid="those of the log")
    ] = None
    repetitions: Annotated[int, Field(ge=1), Option("Repeat the work this often.")] = 6
    listed: list[Listed] = []
    works: list[Work] = []
    covered: str = ""
    backend: str = "posix"

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Add what the log says."""
        lines = said.get("lines")
        if not isinstance(lines, list) or len(lines) != 1 or not said.get("target"):  # pyright: ignore[reportUnknownArgumentType]
            raise UserError("needs one log and a target", "from-darshan", "LOG.darshan --target NAME=PATH")
        log = Path(str(lines[0]))  # pyright: ignore[reportUnknownArgumentType]
        facts = facts_at(log)
        is_whole = bool(facts.traced) and said.get("ranks") is None and said.get("volume") is None
        listed = listed_of(traces_at(log)) if is_whole else []
        own = works_to_do(facts)
        works = [asdict(one) for one in (*own, *_changed_works(facts))]
        if not works and not listed:
            raise UserError("has no transfers", str(log), "name the log of a job that wrote or read")
        covered = [*replayed(facts, listed), coverage(facts, own)]
        known = {"listed": [asdict(one) for one in listed], "works": works, "covered": "; ".join(covered)}
        values = super().settle({**said, **known})
        return {**values, "backend": target_scheme(cast("list[Target]", values["targets"])[0])}

    def translation(self) -> Translation:
        """Make a case of each work."""
        most = max((one.ranks for one in (*self.listed, *self.works)), default=1)
        ranks = self.ranks or most
        backend = Named(name=self.backend)
        verify = "none" if self.backend in _WITHOUT_DATA else "kept"
        drafts = [Draft(1, backend, one.work(verify), "", "", leaves=one.amount) for one in self.listed]
        # What a reading case writes first is not written by a case of its own, too.
        for one in sorted(self.works, key=lambda one: one.access):
            works = [_items(one, ranks)] if one.items else _transfers(one, ranks, self.volume, verify)
            made = [Draft(1, backend, work, "", "") for work in works]
            drafts += [] if any(draft in drafts for draft in made) else made[:1]
        notes = [self.covered, *([] if ranks == most else [f"the log has {most:,} ranks, and this run {ranks:,}"])]
        return Translation(tuple(drafts), ranks, self.repetitions, self.nodes, self.ranks_per_node, notes=tuple(notes))


def works_to_do(facts: Facts) -> list[Work]:
    """Return the work of a log. Files of a few operations are items, all others are transfers."""
    return [one for group in facts.lowest for one in _of_group(group, facts)]


def _of_group(group: Group, facts: Facts) -> Iterable[Work]:
    files = len(group.files)
    if files > facts.job.ranks and group.operations() <= _FEW * files and not group.is_shared:
        size = (group.moved("write") or group.moved("read")) // files
        ranks, is_synced = facts.ranks_of(group), group.is_synced
        return [Work("create", float(group.moved()), size, ranks=ranks, items=files, is_synced=is_synced)]
    return _that_matter(works_of(group, facts, is_even=True), facts)


def _that_matter(works: Iterable[Work], facts: Facts) -> list[Work]:
    least = _NO_MATTER * sum(one.moved() for one in facts.lowest)
    fewest = 10 * _NO_MATTER * sum(one.operations() for one in facts.lowest)
    return [work for work in works if work.amount >= least or work.amount >= fewest * work.block_bytes]


def _changed_works(facts: Facts) -> list[Work]:
    works = [work for cause in causes_of(facts) for work in cause.then if work.access not in ON_NAMES]
    return _that_matter(dict.fromkeys(works), facts)


def coverage(facts: Facts, works: Iterable[Work]) -> str:
    """Say how much of the bytes, operations and files of a log the work is."""
    moved, operations = sum(group.moved() for group in facts.lowest), sum(group.operations() for group in facts.lowest)
    files = sum(len(group.files) for group in facts.lowest)
    done = sum(one.items or one.amount / max(1, one.block_bytes) for one in works)
    parts = (min(1.0, sum(one.amount for one in works) / moved) if moved else 1.0), min(1.0, done / max(1, operations))
    return (
        f"this is {percent(parts[0])} of the bytes and {percent(parts[1])} of the operations of the log; of its "
        f"{plural(files, 'file')} those of single ranks with few operations are made, all others are one for each rank"
    )


def _transfers(one: Work, ranks: int, volume: int | None, verify: str) -> list[Named]:
    """Return what a case of a work does, and what others do that do the same beside more."""
    size = max(_WORD, round(one.block_bytes / _WORD) * _WORD)
    each = max(1, round(min(one.amount, volume or one.amount) / size / ranks))
    parameters: Parameters = {
        "transfer_bytes": size,
        "block_bytes": size if one.is_between else size * each,
        "segments": each if one.is_between else 1,
        "file_mode": one.file_mode,
        "order": one.order,
        "sync": "close" if one.is_synced else "none",
        "verify": verify,
    }
    ways = [["write", "read"]] if one.access == "read" else [["write"], ["write", "read"]]
    return [Named(name="transfer", parameters={"phases": phases, **parameters}) for phases in ways]


def _items(one: Work, ranks: int) -> Named:
    parameters: Parameters = {
        "phases": ["tree-create", "create", "stat", "unlink", "tree-remove"],
        "item": "file",
        "items": max(1, round(one.items / ranks)),
        "write_bytes": one.block_bytes,
        "sync": "file" if one.is_synced else "none",
    }
    return Named(name="metadata", parameters=parameters)
