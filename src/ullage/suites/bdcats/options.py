# SPDX-License-Identifier: Apache-2.0
"""The options of bdcats, as they stand in request.json."""

from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from ullage.runs.options.declared import OfEngine, Option
from ullage.runs.options.kinds import Share
from ullage.runs.options.model import OptionError
from ullage.runs.particles.options import ParticleOptions

READS: Final = ("full", "partial", "strided")


class BdcatsOptions(ParticleOptions):
    """The options of suite ``bdcats``."""

    reads: Annotated[list[str], OfEngine("read", usual="full")]
    part: Annotated[
        float, Field(gt=0, le=1), Share(), Option("In a partial read, read this share of the particles of a rank.")
    ] = 0.5
    run: Annotated[int, OfEngine()] = 4096
    stride: Annotated[int, OfEngine()] = 16384
    source: Annotated[str, OfEngine("read_back", name="--source")] = "other-node"

    @model_validator(mode="after")
    def _reads_that_mean_something(self) -> Self:
        if "strided" in self.reads and self.run > self.particles:
            raise OptionError("run", f"a rank has {self.particles} particles", "at most these")
        if "strided" in self.reads and self.stride < self.run:
            raise OptionError("stride", f"a run has {self.run} particles", "these or more")
        return self
