# SPDX-License-Identifier: Apache-2.0
"""The options of vpic, as they stand in request.json."""

from typing import Annotated

from ullage.runs.options.declared import OfEngine
from ullage.runs.particles.options import ParticleOptions


class VpicOptions(ParticleOptions):
    """See ``ParticleOptions``."""

    sync: Annotated[bool, OfEngine(help="Do not sync the file within the time, after the last step.")] = True
