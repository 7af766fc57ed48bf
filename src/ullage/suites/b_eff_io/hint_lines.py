# SPDX-License-Identifier: Apache-2.0
"""Sets of MPI-IO hints that are measured together, as they stand in request.json. ``hint_files`` reads them."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Strict
from ullage.suites.b_eff_io.patterns import Access, PatternType

Positive: TypeAlias = Annotated[int, Field(ge=1)]
ALL: Final = "all"
ON_OPEN: Final = "on_open"
LMAX: Final = "Lmax"
Chunk: TypeAlias = Literal["on_open", "all", "Lmax", "1024", "1032", "32768", "32776", "1048576", "1048584"]

# The name of the set without any hints.
DEFAULT_SET: Final = "default"


class HintLine(Strict):
    """One line of a hint file. ``chunk``: ``on_open``, ``all``, ``Lmax`` or the bytes of l."""

    processes: Positive | Literal["all"] = "all"
    access: Access | Literal["all"] = "all"
    type: PatternType | Literal["all"] = "all"
    chunk: Chunk = "all"
    key: Annotated[str, Field(min_length=1)]
    value: str


class HintSet(Strict):
    """Hints that are measured together; later lines override the same key of earlier ones."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    lines: list[HintLine] = []
