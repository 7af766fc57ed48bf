# SPDX-License-Identifier: Apache-2.0
"""What is asked of the suite ``vpic`` besides the options of particle files, and what it does with that."""

from functools import partial
from typing import Annotated, Final

from ullage.model.request import Request
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.declared import OfEngine
from ullage.runs.options.reading import read_options
from ullage.runs.particles.suite import ParticleOptions, prepare_particles, summarise_particles


class VpicOptions(ParticleOptions):
    """See ``ParticleOptions``."""

    sync: Annotated[bool, OfEngine(help="Do not sync the file within the time, after the last step.")] = True


def prepare(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(VpicOptions, request)
    lines = ["All ranks write one file. It is read and verified after the time."]
    return prepare_particles(request, engine_context, options, lines, {"sync": options.sync, "phases": ["write"]})


summarise: Final = partial(summarise_particles, access="write")
