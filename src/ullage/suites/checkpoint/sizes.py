# SPDX-License-Identifier: Apache-2.0
"""The published sizes of checkpoints, and the bytes of a rank, a tensor and a call that follow from them. Pure.

Sizes, ranks and their division are those of MLPerf Storage for checkpoints of Llama 3. Its figures (105 GB, 912 GB,
5.29 TB, 18 TB) are about 14 bytes a parameter: weights of 2 bytes, and 12 bytes of the optimizer. They agree with the
numbers of parameters in units of GiB, and 1000 GiB.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Mode: TypeAlias = Literal["whole", "subset"]

GIB: Final = 1 << 30
# Sectors of all usual devices, and pages, are divisors of it.
_PAGE: Final = 4096
_WORD: Final = 8
# The bytes of a tensor are rounded down to a power of two that is at most this part of them.
_FINENESS: Final = 32
_STEPS: Final = (1.0, 0.5, 0.2)
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
    scales = [float(f"{step * 10.0**-power:.1g}") for power in range(_SMALLEST_POWER) for step in _STEPS]
    return next((scale for scale in scales if asked_bytes(model, mode, scale, most_ranks) <= most_bytes), scales[-1])
