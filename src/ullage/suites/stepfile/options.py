# SPDX-License-Identifier: Apache-2.0
"""The options of a stepfile, as they stand in request.json."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self, cast

from pydantic import Field, model_validator

from ullage.errors import UserError
from ullage.model.base import Strict
from ullage.model.plan import Limits, Parameters, Target
from ullage.parameters import suggest
from ullage.quantity import plural
from ullage.runs.cells.volume import most_to_choose
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.groups import Positive, StorageOptions, cores_of_nodes
from ullage.runs.options.kinds import Names, Share, Size
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import Backends
from ullage.runs.room import this_machine
from ullage.units import format_volume, parse_count
from ullage.uri import target_path

Forms = Mapping[str, str]
# Each word, and the parameter that the number behind its colon sets; empty where it takes none.
ORDERS: Final[Forms] = {"reverse": "", "forward": "", "stride": "stride", "revolve": "checkpoints"}
LAYOUTS: Final[Forms] = {"flat": "", "dir-per-rank": "", "dir-per-step": "", "hashed": "hash_levels", "log": ""}
SYNCS: Final[Forms] = {"none": "", "close": "", "fsync": "", "every": "sync_every"}
_FEWEST_TO_SPILL: Final = 2


class StepfileOptions(StorageOptions):
    """``compute_s``: 0 for none. Words of ``orders`` and ``layouts`` are as typed."""

    workload = "stepfile"
    metrics = (
        "phase_time exposed_io turn_round bandwidth state_rate exposed_step_p50 exposed_step_p99 exposed_step_max "
        "state_open state_transfer state_close cpu_time"
    )
    changes = {
        "targets": Change("Keep the states at this place. Repeat the option to compare several places."),
        "time_s": Change(usual="5m", quick="30s"),
        "quick": Change("Take a first look in 30 s: 20 steps."),
    }

    like: Annotated[
        Literal["medium", "large"] | None,
        Option(
            "Take the state's size, the computation and the ranks of a node from a published case (N3D/Semtex), with "
            "fewer steps."
        ),
    ] = None
    steps: Annotated[
        int,
        OfEngine(
            unsaid="100, or with --like as many as make three times the memory, if they fit",
            quick="20",
            sets=("volume",),
        ),
    ] = 100
    state_bytes: Annotated[
        int,
        Field(multiple_of=8),
        Size(8),
        OfEngine(name="--bytes", unsaid="4M, or that of --like", sets=("block_bytes",)),
    ] = 4 << 20
    orders: Annotated[
        list[str],
        Names(sorted_=False),
        Option(
            "Read the states in these orders: reverse, forward, stride:K, or revolve:C, which keeps C states and "
            "computes the others again.",
            name="--order",
            usual="reverse",
        ),
    ]
    layouts: Annotated[
        list[str],
        Names(sorted_=False),
        Option(
            "Keep the states in these layouts: flat, dir-per-rank, dir-per-step, hashed:LEVELS, or log, one file a "
            "rank.",
            name="--layout",
            usual="dir-per-rank,log",
        ),
    ]
    compute_s: Annotated[float, OfEngine(name="--compute", unsaid="no computation, or that of --like")] = 0.0
    jitter: Annotated[float | None, Share(), OfEngine(unsaid="no variation")] = None
    imbalance: Annotated[float | None, Share(), OfEngine(unsaid="all ranks alike")] = None
    write_behind: Annotated[int, OfEngine()] = 0
    prefetch: Annotated[int, OfEngine()] = 0
    sync: Annotated[
        str, Option("Sync none, everything once at the end (close), each state (fsync), or one in K (every:K).")
    ] = "none"
    spill: Annotated[
        bool, Option("Treat the targets as one: states that find no room at the first go to the next one.")
    ] = False
    delete: Annotated[bool, OfEngine("remove_read", name="--delete")] = False
    cache: Annotated[str, OfEngine()] = "none"
    backends: Backends = []

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in what follows from the published case, the machine and ``--quick``."""
        settled = dict(said)
        case = CASES.get(str(said.get("like")))
        if case is not None:
            found = scaled(case, cast("list[Target]", said.get("targets") or []), cores_of_nodes(said), said)
            settled = {**found, **said}
        return super().settle(settled)

    @model_validator(mode="after")
    def _known_words(self) -> Self:
        _check("orders", self.orders, ORDERS)
        _check("layouts", self.layouts, LAYOUTS)
        _check("sync", [self.sync], SYNCS)
        return self

    @model_validator(mode="after")
    def _spills_to_somewhere(self) -> Self:
        """A log is one file. The space of kept states would not be subtracted from the limits of later cases."""
        if self.spill and self.targets and len(self.targets) < _FEWEST_TO_SPILL:
            raise OptionError("spill", "there is one target", "name a further --target")
        without = [target.name for target in self.targets if self.spill and target_path(target) is None]
        if without:
            what = f"target '{without[0]}' is no folder"
            raise OptionError("spill", what, "use targets with a path, for example /dev/shm for memory")
        if self.spill and self.keep:
            raise OptionError("spill", "datasets at several targets cannot be kept", "leave --keep out")
        if self.spill and self.layouts == ["log"]:
            raise OptionError("spill", "layout log puts all states of a rank into one file", "choose another --layout")
        return self

    @property
    def revolves(self) -> bool:
        """Whether one of the orders keeps some of the states only."""
        return any(order.startswith("revolve") for order in self.orders)

    @model_validator(mode="after")
    def _revolve_alone(self) -> Self:
        """What helpers would read ahead, revolve has yet to write."""
        if self.revolves and (self.prefetch or self.write_behind):
            field = "prefetch" if self.prefetch else "write_behind"
            raise OptionError(field, "order revolve reads and writes in turn", "leave it out, or run revolve alone")
        return self


def _check(field: str, words: Iterable[str], forms: Forms) -> None:
    for word in words:
        try:
            parameters_of(field, word, forms)
        except UserError as error:
            raise OptionError(field, error.what, error.right, word) from None


def parameters_of(name: str, text: str, forms: Forms) -> Parameters:
    """Return the parameter ``name`` and, for a word with a number, that of the number; raise ``UserError``."""
    word, colon, number = text.partition(":")
    if word not in forms:
        raise UserError("unknown word", text, suggest(word, forms))
    own = forms[word]
    if not own:
        if colon:
            raise UserError(f"'{word}' takes no number", text, f"write {word}")
        return {name: word}
    if not colon:
        raise UserError(f"'{word}' needs a number", text, f"write {word}:4")
    count = parse_count(number)
    if count < 1:
        raise UserError("the number is below 1", text, f"write {word}:4")
    return {name: word, own: count}


# A. Jackson, Optimising I/O using non-volatile memory, SC21 (N3D/Semtex). The size of a state, the ranks of a node and
# the layout are kept, and steps are cut. A smaller state would be limited by other things.
_FEWEST_STEPS: Final = 20
# Below this multiple of the memory, a part of the reads comes from the page cache.
_BEYOND_CACHE: Final = 3
_SHARE_OF_ROOM: Final = 0.8


@dataclass(frozen=True)
class PublishedCase:
    """``compute_s``: the mean time of a step without storage, half of the whole time over all steps."""

    name: str
    ranks: int
    nodes: int
    steps: int
    state_bytes: int
    compute_s: float

    @property
    def ranks_per_node(self) -> int:
        """The number of ranks on a full node."""
        return -(-self.ranks // self.nodes)

    @property
    def volume_bytes(self) -> int:
        """All states."""
        return self.ranks * self.steps * self.state_bytes


CASES: Final[Mapping[str, PublishedCase]] = {
    "medium": PublishedCase("medium", 72, 3, 12_500, 5_000_000, 0.332),
    "large": PublishedCase("large", 512, 22, 12_500, 4_687_504, 0.36),
}


def scaled(case: PublishedCase, targets: Sequence[Target], cores: int, said: Mapping[str, object]) -> dict[str, object]:
    """Return the options that follow from ``case`` for this machine, where people have not ``said`` them."""
    machine = this_machine(list(targets))
    asked = cast("list[int] | None", said.get("ranks"))
    ranks = max(asked) if asked else min(case.ranks_per_node, cores)
    said_bytes = said.get("state_bytes")
    state_bytes = said_bytes if isinstance(said_bytes, int) else case.state_bytes
    space = said.get("space")
    limits = Limits(space_bytes=space if isinstance(space, int) else None)
    room = int(_SHARE_OF_ROOM * most_to_choose(machine.places, limits, machine.memory))
    wanted = _BEYOND_CACHE * (machine.memory.total_bytes or 0)
    steps = max(_FEWEST_STEPS, min(case.steps, -(-min(wanted, room) // (ranks * state_bytes))))
    return {"ranks": [ranks], "state_bytes": state_bytes, "compute_s": case.compute_s, "steps": steps}


def scale_text(case: PublishedCase, ranks: int, steps: int, state_bytes: int, memory_bytes: int | None) -> list[str]:
    """Return sentences on what the scale is, and what it cannot show."""
    volume = ranks * steps * state_bytes
    lines = [
        f"Like the {case.name} case: {plural(ranks, 'rank')} of {case.ranks} and {steps} steps of {case.steps}.",
        f"The states take {format_volume(volume)} of {format_volume(case.volume_bytes)}.",
        f"It cannot show the population of {case.ranks * case.steps} files, nor {case.ranks} ranks at one server.",
    ]
    if memory_bytes is not None and volume < _BEYOND_CACHE * memory_bytes:
        lines.append(
            f"The states are {volume / memory_bytes:.2g} x the memory, not {_BEYOND_CACHE} x: the page cache can hold "
            "a part of them. Limit the memory of the job, or use --cache drop."
        )
    return lines


class KnownRate(Strict):
    """What the calls of one phase took without computation, by as many ranks as stand here.

    ``walls_s``: of the phase, by repetition; ``state_s``: of all calls for one state on one rank. ``sound``: see
    ``is_sound``. ``run_id``: of the result that it comes from.
    """

    run_id: str
    phase: Literal["forward", "adjoint"]
    target: str
    backend: str
    layout: str
    order: str
    cache: Literal["none", "drop"]
    ranks: Positive
    steps: Positive
    state_bytes: Annotated[int, Field(ge=8)]
    depth: Annotated[int, Field(ge=0)]
    walls_s: Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]
    state_s: Annotated[float, Field(gt=0)]
    sound: bool
