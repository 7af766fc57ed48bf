# SPDX-License-Identifier: Apache-2.0
"""What is asked of a prediction, and the rates that it may rest on, as they stand in request.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self, cast

from pydantic import Field, model_validator

from ullage.model.base import Strict
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import Positive, cores_of_nodes
from ullage.runs.options.kinds import FilePath, Size
from ullage.runs.options.model import OptionError
from ullage.suites.stepfile.options import StepfileOptions

_MULTIPLES: Final = (1, 2, 4)


class KnownRate(Strict):
    """What the calls of one phase took without computation, by as many ranks as stand here.

    ``walls_s``: of the phase, by repetition; ``state_s``: of all calls for one state on one rank. ``sound``: see
    ``is_sound``. ``run_id``: of the result that it comes from.
    """

    run_id: str
    phase: Literal["forward", "adjoint"]
    target: str
    backend: str
    layout: str
    order: str
    cache: Literal["none", "drop"]
    ranks: Positive
    steps: Positive
    state_bytes: Annotated[int, Field(ge=8)]
    depth: Annotated[int, Field(ge=0)]
    walls_s: Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]
    state_s: Annotated[float, Field(gt=0)]
    sound: bool


def _read_rates(path: Path) -> list[KnownRate]:
    from ullage.suites.stepfile.summarise import read_rates

    return read_rates(path)


class PredictOptions(StepfileOptions):
    """``scaling``: the numbers of ranks whose rates are measured; the first of ``ranks`` is the one predicted for."""

    changes: ClassVar[Mapping[str, Change]] = {
        "ranks": Change("Predict for this number of ranks."),
        "orders": Change("Read the states in these orders: reverse, forward or stride:K."),
        "quick": Change("Take a first look in 30 s: 20 steps."),
    }

    rates: Annotated[
        list[KnownRate],
        FilePath(_read_rates, metavar="RESULT"),
        Option("Take the rates from this result instead of measuring them.", unsaid="measured here"),
    ] = []
    rate_steps: Annotated[
        int | None,
        Field(ge=1),
        Option("Measure the rates with this many steps.", unsaid="all steps"),
    ] = None
    page_cache: Annotated[
        int | None,
        Field(ge=0),
        Size(),
        Option("Assume that a node caches this many bytes of states.", unsaid="the available memory"),
    ] = None
    run: Annotated[bool, Option("Predict only, without a run for comparison.")] = True
    scaling: list[Positive] = []

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in the numbers of ranks that are measured, and the memory that can hold states."""
        values = super().settle(said)
        ranks = cast("list[int]", values["ranks"])
        values.setdefault("scaling", ranks_to_measure(ranks[-1], cores_of_nodes(values)))
        if values.get("page_cache") is None:
            from ullage.system.hardware import read_memory

            values["page_cache"] = read_memory().available_bytes
        return values

    @model_validator(mode="after")
    def _can_be_predicted(self) -> Self:
        if len(self.ranks) > 1:
            raise OptionError("ranks", "a prediction is for one number of ranks", f"--ranks {self.ranks[-1]}")
        if self.spill:
            raise OptionError("spill", "each target is predicted by itself", "leave --spill out")
        if self.revolves:
            what = "what revolve costs is computed from its formula"
            raise OptionError("orders", what, "choose reverse, forward or stride:K")
        if self.compute_s == 0:
            raise OptionError("compute_s", "a prediction needs the computation of a step", "--compute 100ms, or --like")
        return self


def ranks_to_measure(ranks: int, cores: int) -> list[int]:
    """Return ``ranks`` and its multiples by 2 and 4 that have a core each; where there is none, its halves."""
    above = [ranks * factor for factor in _MULTIPLES if factor == 1 or ranks * factor <= cores]
    below = [ranks // factor for factor in _MULTIPLES if ranks % factor == 0]
    return above if len(above) > 1 else sorted(below)
