# SPDX-License-Identifier: Apache-2.0
"""summary.json: what every suite says in the end (schema ``ullage.summary/2``). A public contract.

Rates are bytes/s or operations/s, times are s, all plain SI numbers; people's units are made when shown.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ullage.model.acceptance import Judged
from ullage.model.base import Strict, Tolerant, doc, doc_if_any
from ullage.model.flags import INVALID, Flag
from ullage.model.nodes import Nodes
from ullage.model.plan import Scalar
from ullage.model.record import Grade
from ullage.model.tuning import Tuning

SUMMARY_SCHEMA = "ullage.summary/2"
BOUND = "bound"
"""The parameter that marks rows which were measured as a bound of others."""


class Ceiling(Strict):
    """Upper bound of a row. A ceiling belongs to the device, never to a rank or thread."""

    value: float
    kind: Literal["declared", "detected", "measured", "empirical"]
    source: str
    why: Annotated[str, doc_if_any("what it bounds, and why it does; empty: not said")] = ""
    at: Annotated[str, doc_if_any("when it was measured, ISO 8601; empty: not known")] = ""


class Peer(Strict):
    """The number a well-known tool gave for the same work, from the same minute on the same machine."""

    tool: str
    version: str
    median: float
    samples: Annotated[int, doc("runs of the tool, of which this is the median")] = 1


class Row(Strict):
    """One metric of one case. ``low`` and ``high`` bound the median at 95 % where the repetitions allow it
    (a flag ``interval-below-95`` says where not); null when there is a single sample."""

    metric: str
    unit: str
    better: Literal["more", "less"]
    target: str
    params: dict[str, Scalar]
    case: str = ""
    median: float
    low: float | None
    high: float | None
    repetitions: list[float]
    launches: Annotated[
        list[int], doc_if_any("that took each repetition, by their place in the run; not there: not known")
    ] = []
    ceiling: Ceiling | None = None
    share: Annotated[float, doc("median over ceiling")] | None = None
    verdict: str
    verdict_reasons: Annotated[list[str], doc("what the verdict rests on")] = []
    grade: Grade | None
    flags: list[Flag] = []
    notes: Annotated[list[str], doc("what else there is to know, and no flag says")] = []
    peer: Peer | None = None
    suite: Annotated[str, doc("that made it, where a result has the rows of several")] = ""

    def count(self, name: str, without: int = 0) -> int:
        """Return the parameter ``name``, which is a whole number; ``without`` where the row has none."""
        return int(self.params.get(name, without))

    def word(self, name: str, without: str = "") -> str:
        """Return the parameter ``name`` as text; ``without`` where the row has none."""
        return str(self.params.get(name, without))

    @property
    def flag_codes(self) -> list[str]:
        """The codes of its flags, in their order."""
        return [flag.code for flag in self.flags]

    @property
    def ranks(self) -> int:
        """The ranks that it was measured with."""
        return self.count("ranks")

    @property
    def access(self) -> str:
        """The phase, or what was done in it; empty for a row that names none."""
        return self.word("access")

    @property
    def is_invalid(self) -> bool:
        """Whether a flag says that it is no speed at all."""
        # Reports ask this of each row many times: hence neither a generator nor, of most flags, their kind.
        for flag in self.flags:  # noqa: SIM110
            if flag.code.startswith(INVALID) and flag.is_invalid:
                return True
        return False

    @property
    def has_range(self) -> bool:
        """Whether ``low`` and ``high`` are the least and the most of too few repetitions, and no interval."""
        return self.low is not None and any(flag.is_below_level for flag in self.flags)

    @property
    def reasons(self) -> list[str]:
        """Everything to say of it: of its verdict, then of its flags in their order, then the notes."""
        return [*self.verdict_reasons, *(flag.reason for flag in self.flags if flag.reason), *self.notes]

    @property
    def is_bound(self) -> bool:
        """Whether it is no result, but shows what bounds others: no headline, sentence or comparison takes it."""
        return self.params.get(BOUND) is True

    @property
    def is_beside_best(self) -> bool:
        """Whether its ceiling is merely the best of this run, of which there is no share."""
        return self.ceiling is not None and self.share is None

    def has_flag(self, code: str) -> bool:
        """Tell whether a flag has that code."""
        return code in self.flag_codes

    def reason_of(self, code: str) -> str:
        """Return why it has the flag of that code; empty without one."""
        return next((flag.reason for flag in self.flags if flag.code == code), "")


class Gain(Strict):
    """How many times better a number becomes by a change: above 1. Null bounds: a single estimate."""

    factor: Annotated[float, Field(gt=0)]
    low: float | None = None
    high: float | None = None


class Finding(Strict):
    """A sentence with the numbers it rests on."""

    kind: str
    title: Annotated[str, doc("a heading for people; empty where none is better than the text")] = ""
    text: str
    change: Annotated[str, doc("the command or setting that brings the gain")] = ""
    gain: Gain | None = None
    severity: Literal["info", "advice", "warning"] = "info"
    numbers: dict[str, Scalar | list[Scalar] | None] = {}
    suite: Annotated[str, doc("that says it, where a result has the findings of several")] = ""


class Score(Strict):
    """A list's own formula over metrics."""

    name: str
    unit: str = ""
    value: float
    low: float | None = None
    high: float | None = None
    valid: bool
    reasons: list[str] = []
    look: Annotated[bool, doc("not valid only because less was asked for than the rules want")] = False
    suite: Annotated[str, doc("that made it, where a result has the scores of several")] = ""


PartStatus: TypeAlias = Literal["complete", "failed", "interrupted", "not available", "not begun"]


class Headline(Strict):
    """A row that stands for a part of the machine. ``row`` counts from 0 in the rows of the summary."""

    part: Annotated[str, doc("cores, memory, disk, metadata, network ...")]
    what: str
    row: Annotated[int, Field(ge=0)]


class Rung(Strict):
    """What one change of the same work leaves of a number: ``factor`` below 1 is a loss.

    ``rows``: the two that it compares, that of the ceiling's side first, or the one that states a share.
    """

    kind: str
    what: Annotated[str, doc("a sentence: what was changed")]
    factor: Annotated[float, Field(gt=0)]
    low: Annotated[float | None, doc("of the interval; null: not known")] = None
    high: float | None = None
    rows: list[int] = []
    advice: str = ""
    command: str = ""
    may_rank: Annotated[bool, doc("it is a change of the user's machine or program")] = False

    @property
    def clause(self) -> str:
        """What was changed, without a full stop: a sentence goes on behind it."""
        return self.what.rstrip(".")

    @property
    def is_sure(self) -> bool:
        """Whether it is proved that this costs something. The intervals of all rungs of a summary hold together."""
        return self.high is not None and self.high < 1


class Ladder(Strict):
    """The way from the ceiling of a row down to its value.

    The product of the factors of ``rungs`` and of ``unexplained`` is the share.
    """

    part: Annotated[str, doc("cores, memory, disk writes ...")]
    row: Annotated[int, Field(ge=0)]
    ceiling: Ceiling
    value: float
    share: float
    rungs: list[Rung]
    unexplained: Rung


class PartValue(Strict):
    """The number that stands for a part of the machine, for programs. A ceiling and a share are of undisturbed ones."""

    what: Annotated[str, doc("of what it is the number")]
    value: float
    unit: str
    better: Literal["more", "less"]
    low: float | None
    high: float | None
    level: Annotated[float | None, doc("of the interval from low to high; null: they are no interval")]
    grade: Grade | None
    verdict: str
    ceiling: float | None = None
    kind: Annotated[Literal["declared", "detected", "measured", "empirical"] | None, doc("of it")] = None
    share: Annotated[float | None, doc("of the ceiling; of lost time: what was left")] = None
    row: Annotated[int, Field(ge=0, description="counts from 0 in the rows of the summary")]


class Part(Strict):
    """A suite that ran as a part of another: how it ended, and the rows that stand for what it measured."""

    suite: str
    status: PartStatus
    reason: Annotated[str, doc("why it has not all its numbers")] = ""
    seconds: Annotated[float, Field(ge=0)] | None = None
    headlines: list[Headline] = []
    first: Annotated[bool, doc_if_any("its headlines were measured first and stand for parts of the machine")] = False


class Summary(Strict):
    """Everything a suite says of a run. ``parts``: of a suite that is made of others, whose rows these are."""

    schema_: Annotated[Literal["ullage.summary/2"], Field(alias="schema")] = SUMMARY_SCHEMA
    suite: str
    run_id: str
    created: str
    command: list[str] = []
    versions: dict[str, str] = {}
    rows: list[Row]
    findings: list[Finding] = []
    scores: list[Score] = []
    events: Annotated[list[Finding], doc("warnings and errors of the run, with advice")] = []
    system: dict[str, object] = {}
    parts: list[Part] = []
    headline: Annotated[
        dict[str, PartValue],
        doc_if_any("by part: cores, memory, disk_writes, disk_reads, metadata, messages, network, noise"),
    ] = {}
    ladders: Annotated[list[Ladder], doc_if_any("of the rows that stand for parts; not there without")] = []
    tune: Annotated[Tuning | None, doc_if_any("of a search for the best setting; not there without")] = None
    nodes: Annotated[Nodes | None, doc_if_any("where each node was measured by itself")] = None
    beside: Annotated[
        dict[str, list[Row]], doc_if_any("of another program, by the name of its file, to be compared with these rows")
    ] = {}
    judged: Annotated[list[Judged], doc_if_any("rows under the floors that were declared")] = []

    @property
    def suites(self) -> frozenset[str]:
        """The suites whose rows these are, with that of the result."""
        return frozenset(
            {self.suite, *(part.suite for part in self.parts), *(row.suite for row in self.rows if row.suite)}
        )


class PartOutcome(Tolerant):
    """Says how one part ended.

    ``code``: the exit code the part would have had by itself; ``began``: whether anything was started of it. ``lacks``:
    some of it was left out for want of time.
    """

    suite: str
    code: Annotated[int, Field(ge=0)]
    began: bool
    seconds: Annotated[float, Field(ge=0)] = 0.0
    reason: str = ""
    lacks: bool = False


class PartOutcomes(Tolerant):
    """Says how each part ended, in the order in which they ended."""

    outcomes: list[PartOutcome]
