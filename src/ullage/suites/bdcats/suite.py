# SPDX-License-Identifier: Apache-2.0
"""What is asked of the suite ``bdcats`` besides the options of particle files, and what it does with that."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from ullage.model.plan import Parameters
from ullage.model.request import Request
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.declared import OfEngine, Option
from ullage.runs.options.kinds import Share
from ullage.runs.options.model import OptionError
from ullage.runs.options.reading import read_options
from ullage.runs.particles.suite import ParticleOptions, prepare_particles, summarise_particles


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


def prepare(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(BdcatsOptions, request)
    lines = ["Each case writes its file first. That write is not reported."]
    if options.source == "other-node":
        lines.append("Ranks read what a rank of the next node has written, or the next rank on one node.")
    if options.cache == "none":
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    given: Parameters = {"read_back": options.source, "phases": ["write", "read"]}
    return prepare_particles(request, engine_context, options, lines, given, reads_of(options))


def reads_of(options: BdcatsOptions) -> Mapping[str, Parameters]:
    """Return the words of the reads with their parameters of the workload."""
    sizes: dict[str, Parameters] = {
        "full": {},
        "partial": {"read_particles": max(1, round(options.part * options.particles))},
        "strided": {"run": options.run, "stride": options.stride},
    }
    return {read: sizes[read] for read in options.reads}


summarise: Final = partial(summarise_particles, access="read")
