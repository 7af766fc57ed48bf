# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a stepfile: both phases of each case, and exposed I/O along the steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.nodes import spread_of
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Row
from ullage.quantity import DASH, format_quantity, format_share, plural, rounded, scale_for, significant
from ullage.reading import child, children
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure, Section
from ullage.report.data import ReportData
from ullage.report.declared import columns, storage_chart, storage_section
from ullage.report.grids import Column, PhaseLine, grid_of, phase_lines
from ullage.report.headlines import Rule
from ullage.report.plots import plot, quantity_axis
from ullage.report.vega import Spec, ordered_colors, tooltip

_SUITE: Final = "stepfile"
_PREDICTION: Final = "predict-stepfile"
_MOST_LINES: Final = 6


class _Line(PhaseLine):
    @property
    def phase(self) -> str:
        return self.first.access

    @property
    def label(self) -> str:
        params = self.first.params
        words = (params[name] for name in ("layout", "order", "use") if name in params)
        return f"{self.first.target} {' '.join(map(str, words))} {params['ranks']} ranks"


def _lines(data: ReportData) -> list[_Line]:
    return [_Line(line.rows) for line in phase_lines([*data.rows_of(_SUITE), *data.rows_of(_PREDICTION)])]


def tables(data: ReportData) -> Content | None:
    """Return a table for each phase, or None for other suites and where nothing was measured."""
    lines = _lines(data)
    if not lines:
        return None
    grids = [
        grid
        for phase, title in (("forward", "Forward: write each state"), ("adjoint", "Adjoint: read the states again"))
        for grid in grid_of(title, _COLUMNS, [line for line in lines if line.phase == phase])
    ]
    slowest = [found for line in lines if (found := _slowest(data, line)) is not None]
    return Content(notes=[], grids=[*grids, *grid_of("Slowest rank of each phase", _OF_RANKS, slowest)])


@dataclass(frozen=True)
class _Slowest:
    """A phase, and its repetition whose ranks were furthest apart."""

    line: _Line
    record: PhaseRecord

    @property
    def rank(self) -> str:
        found = self.record.by_rank.slowest[0] if self.record.by_rank is not None else None
        return DASH if found is None else f"rank {found.rank} on {found.node}"


def _slowest(data: ReportData, line: _Line) -> _Slowest | None:
    """Return None where no record tells ranks apart."""
    phases = [one for one in data.phases_of(line.first) if one.ranks > 1 and one.by_rank and one.by_rank.slowest]
    return _Slowest(line, max(phases, key=spread_of)) if phases else None


_OF_RANKS: Final[Sequence[Column[_Slowest]]] = (
    Column("phase", lambda one: f"{one.line.label}, {one.line.phase}", is_number=False),
    Column("slowest / fastest", lambda one: f"{significant(spread_of(one.record))} x"),
    Column("slowest rank", lambda one: one.rank, is_number=False),
)


def _share(line: PhaseLine) -> str:
    wall, exposed = line.rows.get("phase_time"), line.rows.get("exposed_io")
    return DASH if wall is None or exposed is None or not wall.median else format_share(exposed.median / wall.median)


_COLUMNS: Final = columns(
    "target backend ranks layout order phase_time=wall exposed_io=exposed_I/O",
    Column("of the wall", _share),
    "turn_round=turn-round bandwidth=rate state_rate=states exposed_step_p50=step_p50 exposed_step_p99=p99",
    "exposed_step_max=max state_open=open state_transfer=transfer state_close=close cpu_time=CPU verdict",
)


def predictions(data: ReportData) -> Content | None:
    """Return a table of the predicted phases with the run for comparison, or None where nothing was predicted."""
    found = [one for one in data.summary.findings if one.kind == "predicted-phase"]
    grids = grid_of("Predicted and measured", _OF_PREDICTIONS, found)
    return Content(notes=[], grids=grids) if grids else None


def _number(name: str) -> Callable[[Finding], str]:
    def text(one: Finding) -> str:
        value = one.numbers.get(name)
        return format_quantity(value, "s") if isinstance(value, (int, float)) else DASH

    return text


def _word(name: str) -> Callable[[Finding], str]:
    return lambda one: str(one.numbers.get(name, DASH))


def _error(one: Finding) -> str:
    value = one.numbers.get("error")
    return f"{100 * value:+.1f} %" if isinstance(value, (int, float)) else DASH


_OF_PREDICTIONS: Final[Sequence[Column[Finding]]] = (
    *(Column(name, _word(name), is_number=False) for name in ("target", "layout", "order", "phase")),
    Column("ranks", _word("ranks")),
    Column("predicted", _number("predicted_s")),
    Column("- 1 sigma", _number("low_s")),
    Column("+ 1 sigma", _number("high_s")),
    Column("exposed I/O", _number("exposed_s")),
    Column("measured", _number("measured_s")),
    Column("error", _error),
)


def _timelines(data: ReportData) -> list[Figure]:
    """Return a chart for each phase: exposed I/O of a step, along the steps, of the median repetition of each case."""
    figures: list[Figure] = []
    for phase in ("forward", "adjoint"):
        drawn = [
            (line.label, points)
            for line in _lines(data)
            if line.phase == phase and (points := timeline_of(data.phases_of(line.first)))
        ]
        if drawn:
            caption = "" if len(drawn) <= _MOST_LINES else f"The first {_MOST_LINES} of {len(drawn)} cases."
            figures.append(Figure(f"Exposed I/O in the {phase} phase", caption, _spec(drawn[:_MOST_LINES])))
    return figures


def timeline_of(phases: Sequence[PhaseRecord]) -> list[tuple[float, float]]:
    """Return points of the phase of median time: the middle of an interval of steps, and the I/O waited for at a step.

    That is the mean of the ranks, in s.
    """
    if not phases:
        return []
    phase = sorted(phases, key=lambda phase: phase.elapsed_ns)[len(phases) // 2]
    known = child(phase.facts, "timeline")
    steps, width = known.get("steps"), known.get("steps_an_interval")
    if not isinstance(steps, int) or not isinstance(width, int) or width < 1:
        return []
    points: list[tuple[float, float]] = []
    for index, total in enumerate(children(known, "exposed_ns")):
        count = min(width, steps - index * width)
        if isinstance(total, (int, float)) and count > 0:
            points.append((index * width + count / 2, total / 1e9 / count / max(1, phase.ranks)))
    return points


def _spec(lines: Sequence[tuple[str, Sequence[tuple[float, float]]]]) -> Spec:
    scale = scale_for([seconds for _, points in lines for _, seconds in points], "s")
    values = [
        {"which": name, "x": rounded(step), "y": rounded(seconds / scale.factor), "text": format_quantity(seconds, "s")}
        for name, points in lines
        for step, seconds in points
    ]
    names = [name for name, _ in lines]
    encoding = {
        "x": {"field": "x", "type": "quantitative", "title": "step of the phase", "axis": {"grid": False}},
        "y": quantity_axis("y", f"exposed I/O of a step ({scale.unit})"),
        "color": {
            "field": "which",
            "type": "nominal",
            "title": None,
            "scale": {"domain": names, "range": ordered_colors(len(names))},
            "legend": {"orient": "top", "symbolType": "stroke", "labelLimit": 420, "columns": 1},
        },
        "tooltip": tooltip("which=case x=step text=exposed_I/O"),
    }
    return plot(470, 190, values, {"type": "line", "strokeWidth": 1.8}, encoding)


SECTIONS: Final = (
    Section(
        name="stepfile_prediction",
        title="Predicted time of both phases",
        doc="Rates of the calls without computation and a model give the predicted time. The error is that of the "
        "prediction, as a share of the measured median.",
        order=1,
        part="disk",
        build=predictions,
        suite=_PREDICTION,
    ),
    storage_section(
        _SUITE,
        "States of a simulation",
        "Exposed I/O is the time of a phase beyond the computation of the rank that computed longest. Times of a "
        "step are without its computation; open, transfer and close are of one state, whoever made the calls. The "
        "turn-round is from the end of the last computation forward to the first state read by the adjoint.",
        tables,
    ),
)
CHART: Final = storage_chart(
    "stepfile_timeline",
    "Exposed I/O along the steps",
    "The I/O that a rank waits for at a step, mean over the ranks, in the repetition of median time.",
    _timelines,
)


def _headline(row: Row) -> str:
    """Say what is waited for; of a prediction also with how many ranks, and whether there is computation beside."""
    work = "writes of states (forward phase)" if row.access == "forward" else "reads of states (adjoint phase)"
    said = f"{row.target}: wait for {work}, layout {row.params['layout']}"
    if "use" not in row.params:
        return said
    beside = ", without computation" if row.params["use"] == "rates" else ""
    return f"{said}, {plural(row.ranks, 'rank')}{beside}"


HEADLINE: Final = Rule(
    "disk",
    "exposed_io",
    lambda row: {"order", "layout", "steps"} <= row.params.keys() and row.params.get("use") != "scaling",
    lambda row: (row.access, row.params.get("use")),
    _headline,
)
ANSWERS: Final = (
    AnswerRule(
        "stepfile",
        "How long does a simulation wait for its states?",
        "stepfile-layout stepfile-demand stepfile-exposed stepfile-cache stepfile-revolve stepfile-spill",
        best={"stepfile-exposed": "share"},
    ),
    AnswerRule(
        _PREDICTION,
        "How long will a simulation wait for its states on storage?",
        "predicted-phase predicted-requirement predicted-depth predicted-revolve predicted-cache "
        "stepfile-demand stepfile-exposed stepfile-layout",
        "predicted-scaling",
    ),
)
