# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``checkpoint``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, Self, TypeAlias, cast

from pydantic import Field, model_validator

from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import MachineOptions, StorageOptions, cores_of_nodes
from ullage.runs.options.kinds import Size
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import Backend
from ullage.suites.checkpoint.sizes import MODELS, Mode, fitting_scale

FileLayout: TypeAlias = Literal["rank", "tensor", "shared"]
ModelName: TypeAlias = Literal["8B", "70B", "405B", "1T"]

LAYOUTS: Final[tuple[FileLayout, ...]] = ("rank", "tensor", "shared")
_QUICK_BYTES: Final = 256 << 20
_PAGE: Final = 4096
_MODEL: Final = "8B"
_MODE: Final = "whole"


class CheckpointOptions(MachineOptions, StorageOptions):
    """The options of suite ``checkpoint``. ``scale``: null until the room at the targets is known."""

    metrics = "phase_time bandwidth fastest_rank_time slowest_rank_time least_rank_bandwidth open_time sync_time"
    changes: ClassVar[Mapping[str, Change]] = {
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
