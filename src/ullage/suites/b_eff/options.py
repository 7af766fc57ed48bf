# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``b_eff``, as they stand in request.json, and the sizes that its definition has."""

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from ullage.runs.kernels.options import MPI, CaseOptions, MessagePagesOptions
from ullage.runs.options.declared import QUICK, Change, Option
from ullage.runs.options.groups import BindOptions, RanksOptions
from ullage.runs.options.kinds import Duration, Size
from ullage.runs.options.model import COMMAND_LINE_ONLY, OptionError

_MIB: Final = 1 << 20
_SHARE: Final = 128
_POWERS: Final = 12
_ABOVE: Final = 8
COUNT: Final = _POWERS + 1 + _ABOVE
# Each loop with one of the first so many sizes is preceded by an iteration that is not timed.
WARMED_SIZES: Final = 18


def lmax_of(memory_bytes: int, cap: int) -> int:
    """Return 1/128 of the memory of a process in whole MiB, and no more than ``cap``, as the original has it."""
    return min(memory_bytes // _MIB * _MIB // _SHARE, cap)


def message_sizes(lmax: int) -> list[int]:
    """Return the 21 sizes: powers of two up to 4 KiB, then eight more in equal ratios up to ``lmax``."""
    smallest = 1 << _POWERS
    ratio = (lmax / smallest) ** (1 / _ABOVE)
    above = [round(smallest * ratio**step) for step in range(1, _ABOVE + 1)]
    return [*(1 << power for power in range(_POWERS + 1)), *above]


# As in b_eff 3.6: all patterns with one size and method take so long a repetition; there are three repetitions.
USUAL_BUDGET_S: Final = 0.5
USUAL_REPETITIONS: Final = 3
USUAL_RANDOM_RINGS: Final = 30
_SHORT_BUDGET_S: Final = 0.05
_QUICK_BUDGET_S: Final = 0.03
_QUICK_LMAX: Final = 1 << 20
SMALLEST_LMAX: Final = 4096
LARGEST_LMAX: Final = 1 << 30


class BEffOptions(BindOptions, RanksOptions, MessagePagesOptions, CaseOptions):
    """The options of suite ``b_eff``.

    Sizes in bytes. ``memory``: of one process, of which 1/128 sets ``lmax``; null where ``lmax`` was given.
    """

    at = (MPI,)
    changes = {
        "ranks": Change(unsaid="the number of usable cores, at least 2", least=2),
        "repetitions": Change(
            "Repeat every pattern this often. The definition requires 3.", usual=str(USUAL_REPETITIONS), quick=""
        ),
        "quick": Change("Take a first look in 8 s: a budget of 30 ms, messages up to 1 MiB."),
        "seed": Change("Choose the random rings. The same seed gives the same rings."),
    }

    lmax: Annotated[
        int | None,
        Field(ge=SMALLEST_LMAX, le=LARGEST_LMAX, description="null: by the memory, not yet found"),
        Size(),
        Option(
            "Send messages of up to this size.",
            unsaid="1/128 of the memory of a process, rounded down to a power of two",
        ),
    ] = None
    memory: Annotated[
        int | None,
        Field(ge=1),
        Size(),
        Option(
            "Take this as the memory of each process.",
            unsaid="the memory available now, divided by the processes of a node",
        ),
    ] = None
    lmax_cap: Annotated[
        int, Field(ge=SMALLEST_LMAX, le=LARGEST_LMAX), Size(), Option("Never send a message larger than this.")
    ] = 128 << 20
    budget_s: Annotated[
        float,
        Field(gt=0),
        Duration(),
        Option("Limit the time of all patterns with one size and one method.", name="--budget", unsaid="500ms"),
    ] = USUAL_BUDGET_S
    short: Annotated[
        bool, Option("Use a budget of 50 ms, like SHORT of the original program.", order=QUICK), COMMAND_LINE_ONLY
    ] = False
    random_rings: Annotated[
        int, Field(ge=1, le=1000), Option("Use this many random rings. The definition requires 30.")
    ] = USUAL_RANDOM_RINGS
    faithful: Annotated[
        bool, Option("Use the original's random orders, which are not uniform, and its check inside the timed loop.")
    ] = False
    additional: Annotated[bool, Option("Leave out the 13 additional patterns, which are not part of b_eff.")] = True
    short_last_two: Annotated[bool, Option("Use all methods for the two largest sizes, even if that takes long.")] = (
        True
    )

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Settle the budget and the largest message of the shorter forms."""
        quick, short = bool(said.get("quick")), bool(said.get("short"))
        if "lmax" in said and "memory" in said:
            what = "both options set the largest message"
            raise OptionError("lmax", what, "give only one of them", part="and --memory")
        if "budget_s" in said and (quick or short):
            what = "both options set the time of a loop"
            raise OptionError("budget_s", what, "give only one of them", part="and --short or --quick")
        settled: dict[str, object] = {
            "budget_s": _QUICK_BUDGET_S if quick else _SHORT_BUDGET_S if short else USUAL_BUDGET_S,
            "lmax": _QUICK_LMAX if quick and "memory" not in said else None,
        }
        return super().settle({**settled, **said})

    @property
    def rounded_from(self) -> int | None:
        """1/128 of the memory that was found, where the largest message is the power of two below it."""
        share = 0 if self.memory is None else lmax_of(self.memory, self.lmax_cap)
        return share if self.lmax is not None and share > self.lmax else None

    @property
    def is_lmax_given(self) -> bool:
        """Whether the largest message follows from something else than the memory."""
        return self.lmax is not None and self.memory is None
