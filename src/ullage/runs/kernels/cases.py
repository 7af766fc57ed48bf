# SPDX-License-Identifier: Apache-2.0
"""A case of work without storage: a workload's parameters, and the ranks it is done by."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ullage.engine import find_registered, validate_parameters
from ullage.identity import case_id
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Case, Layout, Named, Parameters, Target

LAYOUT: Final = Layout(ranks=1, nodes=1)
# Calibration of the windows, clock readings, and the engine's own work around a repetition.
_AROUND_S: Final = 0.1
_NO_BACKEND: Final = Named(name="null")


@dataclass(frozen=True)
class KernelCase:
    """``words``: cells of the table that explains it. ``seconds``: expected of one repetition.

    Cases with the same ``launch`` and ``layout`` share a launch of the engine, and are interleaved in it. An
    ``optional`` case is a try: that it fails is worth a note, and no failure of the run.
    """

    case: Case
    target: Target
    words: tuple[str, ...]
    seconds: float
    launch: str = ""
    optional: bool = False
    layout: Layout = LAYOUT


def kernel_case(
    workload: str,
    parameters: Parameters,
    target: Target,
    words: Iterable[str],
    description: Describe,
    *,
    seconds: float | None = None,
    launch: str = "",
    layout: Layout = LAYOUT,
) -> KernelCase:
    """``seconds``: of one repetition, where it is not that of the workload's windows. ``layout``: one rank here.

    ``UserError`` where the engine has no such workload, or would refuse ``parameters``.
    """
    named = Named(name=workload, parameters=validate_parameters(description, "workload", workload, parameters))
    identity = case_id(_NO_BACKEND, named, target, layout)
    case = Case(id=identity, target=target.name, backend=_NO_BACKEND, workload=named)
    expected = windows_s(find_registered(description, "workload", workload), parameters) if seconds is None else seconds
    return KernelCase(case, target, tuple(words), expected, launch, layout=layout)


def windows_s(workload: Registered, parameters: Parameters) -> float:
    """How long one repetition of a windowed workload takes: warm-up, windows, and what is around them."""
    defaults = {parameter.name: parameter.default for parameter in workload.parameters}

    def number(name: str) -> float:
        value = parameters.get(name, defaults.get(name, 0))
        return float(value) if isinstance(value, (int, float)) else 0.0

    return number("warm_up_s") + number("windows") * number("window_s") + _AROUND_S
