# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``b_eff`` in their own types, as they stand in request.json."""

from typing import Annotated, Final

from pydantic import Field

from ullage.runs.kernels.options import CaseOptions

# As b_eff 3.6 has them: a size, a repetition and a method of all patterns take so long; three repetitions.
USUAL_BUDGET_S: Final = 0.5
SHORT_BUDGET_S: Final = 0.05
USUAL_REPETITIONS: Final = 3
USUAL_RANDOM_RINGS: Final = 30
# A first look in some 8 s.
QUICK_BUDGET_S: Final = 0.03
QUICK_RANKS: Final = 2
QUICK_S: Final = "12s"
QUICK_LMAX: Final = 1 << 20
SMALLEST_LMAX: Final = 4096
LARGEST_LMAX: Final = 1 << 30


class BEffOptions(CaseOptions):
    """Sizes in bytes. ``memory``: of one process, of which ``lmax`` is 1/128; null where ``lmax`` was given."""

    repetitions: Annotated[int, Field(ge=1)] = USUAL_REPETITIONS
    ranks: Annotated[int, Field(ge=2)]
    nodes: Annotated[int, Field(ge=1)] | None = None
    ranks_per_node: Annotated[int, Field(ge=1)] | None = None
    lmax: Annotated[
        int | None, Field(ge=SMALLEST_LMAX, le=LARGEST_LMAX, description="null: by the memory, not yet found")
    ] = None
    lmax_cap: Annotated[int, Field(ge=SMALLEST_LMAX, le=LARGEST_LMAX)] = 128 << 20
    memory: Annotated[int | None, Field(ge=1)] = None
    budget_s: Annotated[float, Field(gt=0)] = USUAL_BUDGET_S
    random_rings: Annotated[int, Field(ge=1, le=1000)] = USUAL_RANDOM_RINGS
    faithful: bool = False
    additional: bool = True
    short_last_two: bool = True

    @property
    def is_lmax_given(self) -> bool:
        """Whether the largest message follows from something else than the memory."""
        return self.lmax is not None and self.memory is None
