# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage tune``, as they stand in request.json beside the words of the suite."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Strict
from ullage.runs.options.declared import OWN, ROOM, SEED, TIME, Option
from ullage.runs.options.groups import Positive, Seconds
from ullage.runs.options.kinds import Duration, Repeated, Size
from ullage.runs.options.model import SuiteOptions

OptionValue: TypeAlias = bool | int | float | str | list[str]
Method: TypeAlias = Literal["model", "random", "grid", "tpe", "cma-es"]
UNSET: Final = "unset"
"""The value of a parameter that is left to the suite, the library or the system."""
How: TypeAlias = Literal["option", "ppn", "parameter", "section", "hint", "environment", "command"]


class TunedParameter(Strict):
    """A parameter of a search. ``name``: as typed; ``how`` and ``word``: what of the suite it sets.

    ``default`` is one of ``values``, which rise where they are ``ordered``.
    """

    name: str
    how: How
    word: str
    values: tuple[str, ...]
    ordered: bool
    default: str


class TuneOptions(SuiteOptions):
    """The options of a search.

    ``suite``: that is tuned; ``words``: its own options as typed, by the names of their parameters.

    ``trial_s``: seconds that the least of a trial needs, where that is more than its share of the budget; 0: it is not.
    ``parameters``: what ``over`` and ``default`` say, as it was read with the help of the suite and the engine.
    """

    suite: str = ""
    words: dict[str, OptionValue] = {}
    parameters: list[TunedParameter] = []
    trial_s: float = 0.0
    over: Annotated[
        list[str],
        Repeated(metavar="NAME=VALUES"),
        Option(
            "Try these values of an option of the suite, for example block=64K:16M:x2. Other names are ppn, "
            "THING.KEY, hint:KEY, env:NAME and cmd:'COMMAND {} {path}'. Repeat the option for each parameter.",
            required=True,
            order=OWN - 1,
        ),
    ] = []
    default: Annotated[
        list[str],
        Repeated(metavar="NAME=VALUE"),
        Option("Compare with this value of a parameter. Default: that of the suite.", order=OWN - 1),
    ] = []
    objective: Annotated[
        list[str],
        Repeated(metavar="WORDS"),
        Option(
            "Improve this metric or score, for example 'write bandwidth' or total. Several objectives are searched "
            "by their geometric mean.",
            required=True,
            order=OWN - 1,
        ),
    ] = []
    keep: Annotated[
        list[str],
        Repeated(metavar="RULE"),
        Option(
            "Accept only settings that keep this rule. 'read bandwidth>=0.9x' means 0.9 of the default.", order=OWN - 1
        ),
    ] = []
    budget_s: Annotated[
        Seconds, Duration(), Option("Use at most this time for all trials.", name="--budget", usual="10m", order=TIME)
    ] = 600.0
    trials: Annotated[
        Positive | None,
        Option("Run at most this many trials.", unsaid="as many as the budget has room for", order=TIME),
    ] = None
    space: Annotated[
        int | None,
        Field(ge=1),
        Size(),
        Option("Write at most this many bytes in all trials together.", unsaid="no limit", order=ROOM),
    ] = None
    full: Annotated[
        bool,
        Option(
            "Measure every trial in full. Otherwise io500 and b_eff_io begin with short trials of a fifth of the time.",
            order=TIME,
        ),
    ] = False
    search: Annotated[
        Method,
        Option(
            "Choose trials by a model of the response, at random or along the grid. tpe and cma-es need the "
            "package optuna.",
            order=SEED,
        ),
    ] = "model"
    seed: Annotated[
        int, Field(ge=0, lt=2**53), Option("Choose the settings of the first trials by this seed.", order=SEED)
    ] = 1
