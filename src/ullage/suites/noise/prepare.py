# SPDX-License-Identifier: Apache-2.0
"""A noise run that was checked against engine and machine."""

from typing import Final

from ullage.engine import find_registered
from ullage.model.request import Request
from ullage.runs.kernels.cases import kernel_case
from ullage.runs.kernels.places import CPU
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.kernels.resources import read_resources
from ullage.runs.options.reading import read_options
from ullage.runs.suite import EngineContext
from ullage.suites.noise.options import NoiseOptions

WORKLOAD: Final = "fixed-work"
HEADERS: Final = ("workload", "threads")
_DEFAULTS: Final = {"quantum_s": 1e-4, "quanta": 3000.0, "watch_s": 0.0, "warm_up_s": 0.0}
_AROUND_S: Final = 0.1


def prepare_noise(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """``UserError`` where the engine has no such workload."""
    options = read_options(NoiseOptions, request)
    stated = find_registered(engine_context.description, "workload", WORKLOAD).parameters
    known = {one.name: float(one.default) for one in stated if isinstance(one.default, (int, float))}
    times = {name: known.get(name, default) for name, default in _DEFAULTS.items()}
    seconds = times["quantum_s"] * times["quanta"] + times["watch_s"] + times["warm_up_s"] + _AROUND_S
    cases = [
        kernel_case(
            WORKLOAD, {"threads": count}, CPU, (WORKLOAD, str(count)), engine_context.description, seconds=seconds
        )
        for count in options.threads
    ]
    return PreparedKernels(request, options, HEADERS, cases, notes=read_resources().notes())
