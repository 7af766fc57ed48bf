# SPDX-License-Identifier: Apache-2.0
"""The options of a stepfile, as they stand in request.json."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, Self, cast

from pydantic import Field, model_validator

from ullage.errors import UserError
from ullage.model.plan import Parameters
from ullage.parameters import suggest
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.groups import StorageOptions, cores_of_nodes
from ullage.runs.options.kinds import Names, Share, Size
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import Backends
from ullage.suites.stepfile.like import CASES, scaled
from ullage.units import parse_count
from ullage.uri import target_path

if TYPE_CHECKING:
    from ullage.model.plan import Target

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
    changes: ClassVar[Mapping[str, Change]] = {
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
