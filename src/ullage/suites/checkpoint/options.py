# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``checkpoint``, and the published sizes that they choose from.

Sizes, ranks and their division are those of MLPerf Storage for checkpoints of Llama 3. Its figures (105 GB, 912 GB,
5.29 TB, 18 TB) are about 14 bytes a parameter: weights of 2 bytes, and 12 bytes of the optimizer. They agree with the
numbers of parameters in units of GiB, and 1000 GiB.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self, TypeAlias, cast

from pydantic import Field, model_validator

from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import StorageOptions, cores_of_nodes
from ullage.runs.options.kinds import Size
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import Backend

FileLayout: TypeAlias = Literal["rank", "tensor", "shared"]
ModelName: TypeAlias = Literal["8B", "70B", "405B", "1T"]
Mode: TypeAlias = Literal["whole", "subset"]

LAYOUTS: Final[tuple[FileLayout, ...]] = ("rank", "tensor", "shared")
GIB: Final = 1 << 30
_QUICK_BYTES: Final = 256 << 20
_MODEL: Final = "8B"
_MODE: Final = "whole"
# Sectors of all usual devices, and pages, are divisors of it.
_PAGE: Final = 4096
_WORD: Final = 8
# The bytes of a tensor are rounded down to a power of two that is at most this part of them.
_FINENESS: Final = 32
_SCALES: Final = (1.0, 0.5, 0.2)
_SMALLEST_POWER: Final = 9


@dataclass(frozen=True)
class Model:
    """A model as its checkpoint is published. ``tensors``: of all its layers; a rank has those of its pipeline stage.

    ``parallel``: ranks by tensor, pipeline and data.
    """

    name: str
    gib: int
    parallel: tuple[int, int, int]
    tensors: int

    @property
    def bytes(self) -> int:
        """Bytes of the whole checkpoint."""
        return self.gib * GIB

    @property
    def ranks(self) -> int:
        """Ranks that write it in the published runs."""
        by_tensor, by_pipeline, by_data = self.parallel
        return by_tensor * by_pipeline * by_data

    @property
    def tensors_of_a_rank(self) -> int:
        """Tensors of which a rank has a part: those of its pipeline stage, rounded up."""
        return -(-self.tensors // self.parallel[1])


def _tensors(layers: int) -> int:
    """Return the tensors of a Llama 3 of so many layers: 9 in each, the embedding, the last norm and the output."""
    return 9 * layers + 3


# 1T is no model that exists: the layers are those of 405B and 2 more, so that 64 pipeline stages have 2 each.
MODELS: Final[Mapping[str, Model]] = {
    model.name: model
    for model in (
        Model("8B", 105, (1, 1, 8), _tensors(32)),
        Model("70B", 912, (8, 1, 8), _tensors(80)),
        Model("405B", 5290, (8, 32, 2), _tensors(126)),
        Model("1T", 18000, (8, 64, 2), _tensors(128)),
    )
}


@dataclass(frozen=True)
class Sizes:
    """What a rank has, the same with every layout. ``call_bytes``: of one transfer, where files hold many tensors."""

    tensors: int
    tensor_bytes: int
    call_bytes: int

    @property
    def rank_bytes(self) -> int:
        """Bytes of a rank."""
        return self.tensors * self.tensor_bytes


def asked_bytes(model: Model, mode: Mode, scale: float, ranks: int) -> int:
    """Return the bytes of all ranks together before rounding.

    ``whole``: the ranks share the checkpoint. ``subset``: each has what a rank of the published run has.
    """
    whole = model.bytes if mode == "whole" else model.bytes * ranks / model.ranks
    return int(whole * scale)


def sizes_of(share_bytes: int, tensors: int, block_bytes: int, *, direct: bool) -> Sizes:
    """Divide ``share_bytes`` of a rank into equal ``tensors``, rounded down, and find a call that divides them.

    The call is the largest of whole pages that is at most ``block_bytes``. Tensors below a page have whole words,
    unless the page cache is bypassed.
    """
    wanted = share_bytes // tensors
    grain = _PAGE if direct or (wanted >= _PAGE and block_bytes >= _PAGE) else _WORD
    unit = max(grain, 1 << max(0, (wanted // _FINENESS).bit_length() - 1))
    tensor_bytes = max(grain, wanted // unit * unit)
    wholes = tensors * tensor_bytes // grain
    most = max(1, min(block_bytes // grain, wholes))
    call = next(count for count in range(most, 0, -1) if wholes % count == 0)
    return Sizes(tensors, tensor_bytes, call * grain)


def fitting_scale(model: Model, mode: Mode, ranks: Iterable[int], most_bytes: int) -> float:
    """Return the first of 1, 0.5, 0.2, 0.1 ... with which the checkpoint of all of ``ranks`` has ``most_bytes``.

    Where none has, it is the last, which is far below a byte for each parameter.
    """
    most_ranks = max(ranks)
    scales = [float(f"{step * 10.0**-power:.1g}") for power in range(_SMALLEST_POWER) for step in _SCALES]
    return next((scale for scale in scales if asked_bytes(model, mode, scale, most_ranks) <= most_bytes), scales[-1])


class CheckpointOptions(StorageOptions):
    """The options of suite ``checkpoint``. ``scale``: null until the room at the targets is known."""

    shrinks_blocks = True
    metrics = "phase_time bandwidth fastest_rank_time slowest_rank_time least_rank_bandwidth open_time sync_time"
    changes = {
        "targets": Change("Keep the checkpoint at this place. Repeat the option to compare several places."),
        "time_s": Change(usual="1h", quick="30s"),
        "quick": Change("Take a first look in 30 s: a checkpoint of at most 256M."),
    }

    model: Annotated[ModelName, Option("Save the state of a model of this size, by the published sizes.")] = _MODEL
    mode: Annotated[
        Mode,
        Option(
            "Let the ranks share the whole checkpoint (whole). With subset each rank saves what a rank of the "
            "published run saves, for storage within the nodes."
        ),
    ] = _MODE
    scale: Annotated[
        float | None,
        Field(gt=0, le=1),
        Option(
            "Multiply the published size by this number, for example 0.01.",
            unsaid="the first of 1, 0.5, 0.2, 0.1 ... for which there is room; with --quick at most 256M in all",
            sets=("scale", "volume", "volume_bytes", "rank_bytes"),
        ),
    ] = None
    layouts: Annotated[
        list[FileLayout],
        Option(
            "Save in any of these layouts: rank (a file for each rank), tensor (a file for each tensor of a rank), "
            "shared (one file).",
            name="--layout",
            unsaid="rank,tensor,shared; without tensor where --read-back is other-node",
        ),
    ]
    tensors: Annotated[
        int | None,
        Field(ge=1, le=100_000),
        Option("Divide the state of a rank into this many tensors.", unsaid="those of a rank of the model"),
    ] = None
    block: Annotated[
        int,
        Field(ge=8, multiple_of=8),
        Size(8),
        Option(
            "Transfer at most this much in a call, in layouts rank and shared. Layout tensor moves a tensor in a call.",
            sets=("block_bytes",),
        ),
    ] = 1 << 20
    read_back: Annotated[
        Literal["own", "other-node"],
        Option(
            "Read back what the same rank has saved (own), or a rank of the next node (other-node).",
            unsaid="other-node with several nodes, else own; own with --mode subset",
            sets=("data_of",),
        ),
    ]
    cache: Annotated[
        Literal["none", "advise", "direct"],
        Option(
            "Treat the page cache before the checkpoint is read: none, advise (drop the data from it), or direct "
            "(O_DIRECT)."
        ),
    ] = "advise"
    verify: Annotated[
        Literal["none", "kept", "full"] | None,
        Option(
            "Check data after it was read: none, kept (the last 16 MiB of a rank) or full. Layout tensor checks all "
            "or nothing.",
            unsaid="kept, if the backend holds data",
        ),
    ] = None
    backend: Backend = "posix"

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in ranks by the cores, whose data is read back by the nodes, and the scale of a first look."""
        settled: dict[str, object] = {"ranks": cls.usual_ranks(cores_of_nodes(said)), **said}
        whole = settled.get("mode", _MODE) == "whole"
        settled.setdefault("read_back", "other-node" if whole and _on_several_nodes(settled) else "own")
        of_others = settled["read_back"] == "other-node"
        settled.setdefault("layouts", [name for name in LAYOUTS if not (of_others and name == "tensor")])
        if said.get("quick") and "scale" not in settled:
            settled["scale"] = _quick_scale(settled)
        return super().settle(settled)

    @model_validator(mode="after")
    def _reads_what_it_can(self) -> Self:
        if self.read_back == "other-node" and "tensor" in self.layouts:
            what = "each rank reads its own files in layout tensor"
            raise OptionError("layouts", what, "leave it out, or add --read-back own", "tensor")
        return self

    @model_validator(mode="after")
    def _is_a_part(self) -> Self:
        published = MODELS[self.model].ranks
        if self.mode == "subset" and max(self.ranks) > published:
            what = f"a subset of {self.model} has at most {published} ranks"
            raise OptionError("ranks", what, "give fewer ranks, a larger --model, or --mode whole")
        return self

    @model_validator(mode="after")
    def _has_whole_pages(self) -> Self:
        if self.cache == "direct" and self.block % _PAGE:
            raise OptionError("block", "O_DIRECT moves multiples of 4K", "write 4K, 64K or 1M")
        return self


def _on_several_nodes(said: Mapping[str, object]) -> bool:
    """Tell whether options ask for several nodes, or leave as many to the batch job that this is."""
    from ullage.system.allocation import nodes_of_job

    asked = said.get("nodes") or said.get("hosts")
    if isinstance(asked, int):
        return asked > 1
    on_a_node, ranks = said.get("ranks_per_node"), said.get("ranks")
    if isinstance(on_a_node, int) and isinstance(ranks, list):
        return max(cast("list[int]", ranks), default=1) > on_a_node
    return nodes_of_job() > 1


def _quick_scale(said: Mapping[str, object]) -> float | None:
    """Return the scale of a first look; None where the words it follows from are wrong, which is said elsewhere."""
    model, ranks = MODELS.get(str(said.get("model", _MODEL))), said.get("ranks")
    if model is None or not isinstance(ranks, list) or not ranks:
        return None
    mode: Mode = "subset" if said.get("mode") == "subset" else "whole"
    return fitting_scale(model, mode, cast("list[int]", ranks), _QUICK_BYTES)
