# SPDX-License-Identifier: Apache-2.0
"""What a search for the best setting has found: the part ``tune`` of summary.json, and the journal of its trials."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Strict, doc
from ullage.model.record import Grade

Purpose: TypeAlias = Literal["default", "start", "search", "race", "confirm"]


class TuneObjective(Strict):
    """What is to become better, in the user's words, and the metric that these name."""

    name: str
    metric: str
    unit: str
    better: Literal["more", "less"]
    rows: Annotated[int, Field(ge=1, description="rows of a trial whose geometric mean it is")]


class TuneCommand(Strict):
    """A command of the user that prepared the folder of a trial. ``said``: its first line on stderr or stdout."""

    argv: list[str]
    value: str
    code: Annotated[int | None, doc("its exit code; null: it was not started, or ended by its limit")]
    seconds: Annotated[float, Field(ge=0)]
    said: str = ""


class TuneTrial(Strict):
    """One run of the suite. ``values``: of objectives and constraints by name; empty of a trial that failed."""

    number: Annotated[int, Field(ge=1)]
    turn: Annotated[
        int, Field(ge=0, description="confirmations that had ended before it, as of a search gone on with")
    ] = 0
    purpose: Purpose
    setting: dict[str, str]
    values: dict[str, float] = {}
    reason: Annotated[str, doc("why it failed; empty otherwise")] = ""
    breaks: Annotated[str, doc("constraint that its setting breaks; empty: none")] = ""
    seconds: Annotated[float, Field(ge=0)]
    bytes: Annotated[int, Field(ge=0, description="written")]
    result: Annotated[str, doc("folder of its result below that of the tune")]
    key: Annotated[str, doc("hash of what was asked of the suite")] = ""
    is_short: Annotated[bool, doc("ended early, far below the best: fewer repetitions than others")] = False
    is_proxy: Annotated[
        bool, doc("a short trial: its values count relative to those of the default in short trials")
    ] = False
    commands: list[TuneCommand] = []
    verdict: Annotated[str, doc("of the rows of the objectives, the same of all or several words")] = ""
    grade: Annotated[Grade | None, doc("the worst of these rows")] = None
    work: Annotated[
        list[float], doc("bytes of an operation and of a repetition of these rows' cases; empty: not known")
    ] = []
    default_there: Annotated[
        dict[str, float],
        doc("of a trial of an earlier search: means of that search's default; its values count by them"),
    ] = {}


class TunePoint(Strict):
    """How many times better than the default the objective is expected to be at one value of a parameter, the others

    as in the best setting; with an interval of 95 %."""

    value: str
    expected: float
    low: float
    high: float
    trials: Annotated[int, Field(ge=0, description="that had this value")]


class TuneParameter(Strict):
    """A parameter that was varied. ``importance``: its own share of the variance over all settings (fANOVA)."""

    name: str
    values: list[str]
    ordered: bool
    default: str
    best: str
    importance: float | None = None
    response: list[TunePoint] = []


class TuneFront(Strict):
    """A setting that no other is better than in all objectives: geometric means of its trials, by objective."""

    setting: dict[str, str]
    values: dict[str, float]
    trials: Annotated[int, Field(ge=1)]


class TuneInteraction(Strict):
    """The share of the variance that two parameters have together, beyond what each has alone."""

    first: str
    second: str
    share: float


class TuneConfirmation(Strict):
    """Fresh trials of best and default in alternating pairs: the ratio of the objective, above 1 is better."""

    ratio: float
    low: float
    high: float
    pairs: int
    answer: Literal["better", "not better", "undecided"]
    breaks: Annotated[str, doc("constraint that the best setting breaks in the pairs; empty: none")] = ""
    differs: Annotated[str, doc("why best and default are not the same measurement; empty: they are")] = ""


class TuneCost(Strict):
    """What the search took, and what one trial of each setting would have."""

    trials: int
    seconds: float
    bytes: int
    settings: int
    whole_seconds: float
    whole_bytes: int


class Tuning(Strict):
    """Everything a search has found.

    ``tradeoffs``: what became better or worse besides, in sentences. ``front``: of several objectives.
    ``environment``, ``preparation`` and ``command``: how to run with the best setting; the commands
    of ``preparation`` go first, and make the folders of its targets.
    """

    suite: str
    objectives: list[TuneObjective]
    constraints: list[str] = []
    default: dict[str, str]
    best: dict[str, str]
    confirmation: TuneConfirmation | None = None
    answer: str
    parameters: list[TuneParameter]
    interactions: list[TuneInteraction] = []
    front: list[TuneFront] = []
    tradeoffs: list[str] = []
    cost: TuneCost
    command: list[str]
    environment: dict[str, str] = {}
    preparation: list[list[str]] = []
    trials: list[TuneTrial]
