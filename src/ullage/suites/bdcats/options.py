# SPDX-License-Identifier: Apache-2.0
"""The options of bdcats, as they stand in request.json."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from ullage.runs.options.declared import Option
from ullage.runs.options.kinds import Names, Share
from ullage.runs.options.model import OptionError
from ullage.runs.particles.options import ParticleOptions, check_words

READS: Final = ("full", "partial", "strided")


class BdcatsOptions(ParticleOptions):
    """Words of ``reads`` are as typed."""

    reads: Annotated[
        list[str],
        Field(min_length=1),
        Names(sorted_=False),
        Option(
            "Read the particles in these ways: full (all), partial (the first ones of each rank), strided (runs of "
            "them).",
            name="--read",
            usual="full",
            sets=("read",),
        ),
    ]
    part: Annotated[
        float, Field(gt=0, le=1), Share(), Option("In a partial read, read this share of the particles of a rank.")
    ] = 0.5
    run: Annotated[int, Field(ge=1), Option("In a strided read, read runs of this many particles.")] = 4096
    stride: Annotated[int, Field(ge=1), Option("In a strided read, begin a run every so many particles.")] = 16384
    source: Annotated[
        Literal["other-node", "other-rank", "own"],
        Option(
            "Read the particles that a rank of the next node has written (other-node), the next rank (other-rank), or "
            "the rank itself (own). On one node, other-node means the next rank, and the result says so."
        ),
    ] = "other-node"

    @model_validator(mode="after")
    def _reads_that_mean_something(self) -> Self:
        check_words("reads", self.reads, READS)
        if "strided" in self.reads and self.run > self.particles:
            raise OptionError("run", f"a rank has {self.particles} particles", "at most these")
        if "strided" in self.reads and self.stride < self.run:
            raise OptionError("stride", f"a run has {self.run} particles", "these or more")
        return self
