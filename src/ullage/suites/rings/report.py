# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a rings run: rings and pairs beside hpcc, their ratio, the balance with other suites."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.ceilings.messages import copies, lines
from ullage.analysis.ladders import LadderRule, Step, the_ceiling
from ullage.analysis.message_steps import BINDING, copies_of, protocol
from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.summary import Row
from ullage.quantity import DASH, Scale, format_quantity, format_row, processes, scale_for, significant
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure, Grid
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport, columns
from ullage.report.grids import Column, PhaseLine, grid_of, peers_of, row_lines, texts_grid
from ullage.report.headlines import Rule, ranks_key, threads_text
from ullage.report.plots import layer, layered, quantity_axis
from ullage.report.switches import switch_notes
from ullage.report.vega import ACCENT, INK, MUTED, Spec, ordinal, tooltip
from ullage.suites.rings.findings import UNWRITTEN_NOTE, Balance, balances, diagnosis_of, kinds_of
from ullage.units import format_bytes

SUITE: Final = "rings"
_WHAT: Final = {"natural": "natural ring", "random": "random rings", "ping-pong": "ping-pong"}
_NO_PEER: Final = (
    "hpcc was not run for comparison: it is not installed, not requested, or the processes are on several nodes."
)


def tables(data: ReportData) -> Content | None:
    """Return the tables, or None for other suites and where nothing was measured."""
    rows = data.rows_of(SUITE)
    if not rows:
        return None
    latencies, bandwidths = ([row for row in rows if row.unit == unit] for unit in ("s", "B/s"))
    shown: list[Column[Balance]] = [
        Column("balance", lambda one: one.name, is_number=False),
        Column("ratio", lambda one: f"{significant(one.value)} {one.unit}"),
        Column("from", lambda one: _source_text(one.over), is_number=False),
        Column("all together", lambda one: format_quantity(one.over_rate, "B/s")),
        Column("linear solve", lambda one: format_quantity(one.solve.median, "op/s")),
        Column("of", lambda one: _solve(one.solve), is_number=False),
    ]
    grids = [
        *grid_of("latency of 8 bytes", _LATENCIES, row_lines(latencies)),
        *grid_of("bandwidth of 2,000,000 bytes", _BANDWIDTHS, row_lines(bandwidths)),
        *_ratios(rows),
        *grid_of("balance", shown, balances(data.summary.rows)),
    ]
    return Content(notes=[*switch_notes(data, SUITE), *_notes(rows)], grids=grids)


def _name(row: Row) -> str:
    """Name what a row measured, for pairs with mean, least or most: ``ping-pong, most``."""
    word = row.metric.removeprefix("ping_pong_").split("_")[0]
    name = _WHAT[row.word("order")]
    return f"{name}, {word}" if word in ("least", "most") else f"{name}, mean" if name == "ping-pong" else name


def _together(line: PhaseLine) -> str:
    """Show the bandwidth of all ranks together, for rings only: one pair at a time has no others."""
    row = line.first
    return DASH if row.params["order"] == "ping-pong" else format_quantity(row.count("ranks") * row.median, "B/s")


_NAME: Final = Column[PhaseLine]("what", lambda line: _name(line.first), is_number=False)
_BESIDE: Final = "row:interval row:peer=hpcc row:ratio=ours_over_hpcc's grade flags"
_LATENCIES: Final = columns(_NAME, "ranks=processes row=one_message", _BESIDE)
_BANDWIDTHS: Final = columns(
    _NAME, "ranks=processes row=each_process", Column[PhaseLine]("all together", _together), _BESIDE
)


def _ratios(rows: Sequence[Row]) -> list[Grid]:
    found = diagnosis_of(rows)
    if found is None:
        return []
    params = next(row.params for row in rows if row.metric == "ping_pong_bandwidth")
    lines: list[tuple[str, ...]] = [("measured", "1", f"{found.natural:.2f}", f"{found.random:.2f}", "")]
    for kind in kinds_of(int(params["ranks"]), int(params["nodes"])):
        mark = "nearest" if found.kinds and kind == found.kinds[0] else "as near" if kind in found.kinds else ""
        lines.append((kind.name, "1", f"{kind.natural:.2f}", f"{kind.random:.2f}", mark))
    heads = ("network", "ping-pong", "natural ring", "random rings", "")
    return texts_grid("ratio of bandwidths, each process", heads, lines, words=("network", ""))


def _source_text(row: Row) -> str:
    if row.metric == "ring_bandwidth":
        return f"random rings of {format_bytes(row.count('message_bytes'))} B, {row.params['ranks']} processes"
    return f"triad, {threads_text(row)}"


def _solve(row: Row) -> str:
    who = threads_text(row) if "threads" in row.params else processes(row.count("ranks", 1))
    return f"n = {row.params.get('n', DASH)}, {who}"


def _notes(rows: Sequence[Row]) -> list[str]:
    peers = peers_of(rows)
    if not peers:
        return [_NO_PEER]
    turns = f"{', '.join(peers)} ran after each of our repetitions, with as many processes."
    return [turns, UNWRITTEN_NOTE]


_LABELS: Final = ("ping-pong, most", "ping-pong, mean", "ping-pong, least", "natural ring", "random rings")
_PEER_COLOR: Final = "#d9742b"


def figures(data: ReportData) -> list[Figure]:
    """Draw one figure of latency and one of bandwidth; none without rings."""
    rows = data.rows_of(SUITE)
    found: list[Figure] = []
    for title, kind, unit in (
        ("latency of 8 bytes", "latency", "s"),
        ("bandwidth of each process, 2,000,000 bytes", "bandwidth", "B/s"),
    ):
        by_label = {_name(row): row for row in rows if row.unit == unit}
        shown = [(label, by_label[label]) for label in _LABELS if label in by_label]
        if shown:
            peers = (
                " The orange stroke is the median of hpcc, which ran in turn." if peers_of(by_label.values()) else ""
            )
            scale = scale_for([row.median for _, row in shown], unit)
            found.append(Figure(title, f"Bars are medians, dots the repetitions.{peers}", _spec(shown, kind, scale)))
    return found


def _spec(shown: Sequence[tuple[str, Row]], kind: str, scale: Scale) -> Spec:
    labels = [label for label, _ in shown]
    y = ordinal("name", labels, "", axis={"title": None, "grid": False, "labelLimit": 200})
    place = {"x": quantity_axis("x", f"{kind} ({scale.unit})"), "y": y}
    bars = [{"name": label, "x": row.median / scale.factor, "text": format_row(row)} for label, row in shown]
    dots = [{"name": label, "x": value / scale.factor} for label, row in shown for value in row.repetitions]
    peers = [
        {"name": label, "x": row.peer.median / scale.factor, "text": f"{row.peer.tool} {row.peer.version}"}
        for label, row in shown
        if row.peer is not None
    ]
    tips = tooltip("name=what text", text=kind)
    bar = {"type": "bar", "color": ACCENT, "opacity": 0.35, "height": {"band": 0.6}}
    dot = {"type": "point", "filled": True, "color": INK, "size": 22, "opacity": 0.7}
    stroke = {"type": "tick", "color": _PEER_COLOR, "thickness": 3, "height": {"band": 0.75}}
    layers = [layer(bar, {**place, "tooltip": tips}, bars), layer(dot, place, dots)]
    if peers:
        layers.append(layer(stroke, {**place, "tooltip": tips}, peers))
    return {**layered(360, {"step": 34}, layers), "config": {"axisY": {"labelColor": MUTED}}}


_REPORT: Final = PartOfReport(SUITE, "messages", 4)
SECTION: Final = _REPORT.section(
    "Rings and ping-pong",
    "The definitions are those of HPC Challenge. In a ring every process sends to both neighbours at"
    " once. The time is that of one message: the least of the measurements, each taken from the "
    "slowest process. For random rings it is the geometric mean of 30 rings (latency) or 10 "
    "(bandwidth). In a ping-pong one pair sends while all others wait.",
    tables,
)
CHART: Final = _REPORT.chart(
    "rings",
    "Rings and ping-pong",
    "Each bar is the share of a single pair's bandwidth that is left to each process when all send at once.",
    figures,
    order=5,
)


def _is_random_ring(row: Row) -> bool:
    return row.params.get("order") == "random"


def _ring(row: Row) -> str:
    size = row.params.get("message_bytes")
    message = f", messages of {format_quantity(size, 'B')}" if isinstance(size, int) else ""
    return f"each of {row.params['ranks']} processes in random rings{message}"


HEADLINES: Final = (
    Rule("messages", "ring_bandwidth", _is_random_ring, ranks_key, _ring),
    Rule("messages", "ring_latency", _is_random_ring, ranks_key, _ring),
)


def _same_ring(row: Row, other: Row) -> bool:
    """Tell whether both are rings of the same ranks and messages, in whatever order."""
    names = ("ranks", "nodes", "message_bytes")
    return row.metric == other.metric and all(row.params.get(name) == other.params.get(name) for name in names)


BOUNDS: Final = (
    # Where ranks share cores, one alone shows what a core of its own would do.
    copies("ring_bandwidth", lambda row: "one" if row.has_flag(OVERSUBSCRIBED) else "all"),
    *(copies(f"ping_pong{word}_bandwidth", lambda _row: "one") for word in ("_least", "", "_most")),
    # Both messages of a loop may be under way at the same time.
    lines("ring_latency", share=0.5),
    *(lines(f"ping_pong{word}_latency") for word in ("_least", "", "_most")),
)
LADDER: Final = LadderRule(
    "messages",
    (
        Step(
            "oversubscribed",
            lambda _, all_of_them: f"All {all_of_them.ranks} ranks copy at once on fewer cores, in place of one",
            the_ceiling,
            lambda line, row: line.has_flag(OVERSUBSCRIBED) and copies_of(line, row, "all"),
            advice="Start no more ranks than cores, and bind each to a core of its own.",
            command=BINDING,
            may_rank=True,
        ),
        protocol("all", lambda line, row: _same_ring(line, row) and row.word("order") == "natural"),
        Step(
            "rank-order",
            "Neighbours in the program are not neighbours on the machine: random rings against the natural one",
            lambda row, other: (
                (row.word("order"), other.word("order")) == ("random", "natural") and _same_ring(row, other)
            ),
            advice="Number the ranks so that those which communicate are on neighbouring cores.",
            command=BINDING,
            may_rank=True,
        ),
    ),
    lambda row: row.metric == "ring_bandwidth",
)


ANSWER: Final = AnswerRule(
    "rings",
    "What does it cost that all ranks send at once?",
    "ring-ratio ring-latency ring-order balance",
    remarks="ring-peer oversubscribed",
)
