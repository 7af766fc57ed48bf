# SPDX-License-Identifier: Apache-2.0
"""Suite ``apps``: its options, the classes of access patterns, and the settings in which two rows may differ."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Final, cast

from ullage.analysis.contests import compare_pairs, compare_rows
from ullage.analysis.findings.phrasing import capital, finding, gain_of, level_of_part, with_gain
from ullage.analysis.statistics.comparison import Comparison, level_of_each
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Row
from ullage.parameters import suggest
from ullage.quantity import between, format_param, plural, times
from ullage.runs.composite.options import CompositeOptions, PartRequest, asked_of, part_of
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import CeilingOptions, QuickOptions, SeedOptions, TimeBudgetOptions, cores_of_nodes
from ullage.runs.options.kinds import Names
from ullage.runs.options.model import OptionError
from ullage.runs.particles.suite import layout_text, particles_read
from ullage.runs.suite import load_suites
from ullage.units import format_bytes, format_rate

# The kernels in their small forms: the share of the measuring time, and what differs from the quick form of the suite.
# A further kernel is a further line. One that this version lacks is left out, and its share goes to the others.
SMALL: Final[Mapping[str, tuple[float, Mapping[str, object]]]] = {
    "spio": (0.13, {"operations": ["write", "read", "reread"]}),
    "tile": (0.09, {"cache": "drop"}),
    "pio": (0.20, {"patterns": ["simple-strided", "segmented"], "requests": [4 << 10, 1 << 20]}),
    "flash": (0.09, {"cache": "drop"}),
    "vpic": (0.08, {"layouts": ["CC", "CI"], "compute_s": 0.0}),
    "bdcats": (0.06, {"layouts": ["CC"], "compute_s": 0.0, "cache": "drop"}),
    "sar": (0.09, {}),
    "checkpoint": (0.09, {"layouts": ["rank", "shared"]}),
    "stepfile": (0.08, {"orders": ["reverse", "forward"], "cache": "drop"}),
    "loader": (0.04, {"sample_bytes": 1 << 20, "samples": 64, "accelerators": [2], "step_s": 0.0}),
    "overlap": (0.05, {"sizes": [1 << 20], "depths": [4], "backends": ["posix"]}),
}
# These choose their ranks themselves: they need cores for threads besides the ranks.
_OWN_RANKS: Final = frozenset({"loader", "overlap"})


class AppsOptions(CompositeOptions, CeilingOptions, TimeBudgetOptions, QuickOptions, SeedOptions):
    """The options of suite ``apps``, which it shares out to its kernels."""

    changes = {
        "targets": Change("Keep the files at this place. Repeat the option to compare several places."),
        "time_s": Change("Limit the time of the measurements. The kernels share it.", usual="2m", quick="50s"),
        "quick": Change("Take a first look in 50 s."),
    }

    without: Annotated[list[str], Names(), Option("Leave out these kernels, for example flash,stepfile.")] = []

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Make a request of each kernel that is not left out; raise ``OptionError`` for an unknown one."""
        values = super().settle(said)
        suites = load_suites()
        known = [name for name in SMALL if name in suites]
        without = cast("list[str]", values.get("without", []))
        unknown = next((name for name in without if name not in known), None)
        if unknown is not None:
            raise OptionError("without", f"unknown word '{unknown}'", suggest(unknown, known))
        names = [name for name in known if name not in without]
        if not names:
            raise OptionError("without", "no kernel is left", f"leave out fewer of {', '.join(known)}")
        return {**values, "parts": [_part(name, values, names) for name in names]}


def _part(name: str, asked: Mapping[str, object], names: list[str]) -> PartRequest:
    share, form = SMALL[name]
    seconds = cast("float", asked["time_s"]) * share / sum(SMALL[one][0] for one in names)
    own = {"targets": asked.get("targets"), "seed": asked.get("seed"), "ceilings": asked.get("ceilings")}
    if name not in _OWN_RANKS:
        own["ranks"] = [max(2, cores_of_nodes({}))]
    return part_of(name, asked_of(load_suites()[name], {**own, **form, "time_s": round(seconds, 1), "quick": True}))


RATE: Final = "bandwidth"
# Without computation, the observed rate of particles is that of the whole phase.
_OTHER_RATES: Final[Mapping[str, str]] = {"vpic": "observed_bandwidth", "bdcats": "observed_bandwidth"}
# Where the files of a checkpoint are, as a person would say it.
_FILES: Final[Mapping[str, str]] = {
    "rank": "a file for each rank",
    "tensor": "a file for each tensor",
    "shared": "one shared file",
}


_KERNELS: Final[Mapping[str, str]] = {
    "sdg": "input made",
    "k1": "raw data read",
    "k2": "images stored",
    "k3": "pairs read",
    "k4": "sub-images read",
}
_NAMES: Final[Mapping[str, str]] = {
    "spio": "stream of {size} blocks, a file for each rank",
    "tile": "tiles of {tile}, {calls}",
    "pio": "{pattern} {size}, {form}, {calls}",
    "flash": "arrays of blocks, {format}, {transfers}",
    "vpic": "particles ({orders}), {format}, {transfers}",
    "bdcats": "{particles} ({orders}), {transfers}",
    "sar": "radar images in {layout}: {kernel}",
    "loader": "training samples, {samples}",
    "checkpoint": "checkpoint of a model, {files}",
    "stepfile": "states in {order} order, {layout}",
}
"""Classes of patterns by kernel. Templates have the parameters of a row, and ``_words``."""


def _words(row: Row) -> Mapping[str, object]:
    """Return the words of templates; a parameter that a row lacks is empty."""
    base, layout = row.count("base_bytes", 0), row.word("layout")
    words = {
        **row.params,
        "size": format_bytes(row.count("block_bytes", 0)),
        "form": f"{base} bytes off" if base else "well-formed",
        "orders": layout_text(row) if "particles" in row.params else "",
        "particles": particles_read(row),
        "kernel": _KERNELS.get(row.access, ""),
        "samples": "made" if is_write(row) else "shuffled",
        "files": _FILES.get(layout, layout),
        "made": row.word("calls") or row.word("transfers"),
    }
    return defaultdict[str, object](str, words)


@dataclass(frozen=True)
class Setting:
    """A parameter of the rows of a kernel, and kind of its finding.

    ``option``: the name of the kernel's option that sets the parameter. ``choice``: the template that names what a row
    has, as it stands after ``with``.
    """

    suite: str
    param: str
    kind: str
    option: str
    choice: str

    def chosen(self, row: Row) -> str:
        """Name what ``row`` has."""
        return self.choice.format_map(_words(row))

    def change(self, row: Row) -> str:
        """Return the option with what ``row`` has, as people type it."""
        return f"--{self.option} {format_param(self.param, row.params[self.param])}"


SETTINGS: Final = (
    Setting("pio", "calls", "apps-calls", "calls", "{made} calls"),
    Setting("tile", "calls", "apps-calls", "calls", "{made} calls"),
    Setting("flash", "transfers", "apps-calls", "access", "{made} calls"),
    Setting("vpic", "transfers", "apps-calls", "access", "{made} calls"),
    Setting("bdcats", "transfers", "apps-calls", "access", "{made} calls"),
    Setting("pio", "block_bytes", "apps-request", "request", "requests of {size}"),
    Setting("pio", "base_bytes", "apps-alignment", "base", "a pattern at byte {base_bytes}"),
    Setting("pio", "pattern", "apps-pattern", "pattern", "pattern {pattern}"),
    Setting("checkpoint", "layout", "apps-layout", "layout", "{files}"),
    Setting("stepfile", "layout", "apps-layout", "layout", "layout {layout}"),
    Setting("vpic", "layout", "apps-layout", "layout", "layout {layout} ({orders})"),
    Setting("sar", "layout", "apps-layout", "layout", "images in {layout}"),
)


def is_write(row: Row) -> bool:
    """Tell whether the row's phase writes."""
    return row.access in {"write", "forward", "sdg", "k2"}


def direction(row: Row) -> str:
    """Return ``writes`` or ``reads``."""
    return "writes" if is_write(row) else "reads"


def class_of(row: Row) -> str:
    """Name the class of a row's pattern; that of a kernel without words here is the kernel."""
    return _NAMES.get(row.suite, row.suite).format_map(_words(row))


def is_clear(row: Row) -> bool:
    """Tell whether it is known where the bytes came from or went to: a part from memory is no rate of the target."""
    return not row.verdict.startswith(("mixed", "unknown"))


def rates_of(rows: Iterable[Row], suites: Iterable[str]) -> list[Row]:
    """Return the rates of the kernels that may be compared at all, in their order."""
    known = frozenset(suites)
    return [
        row
        for row in rows
        if row.suite in known
        and row.metric == _OTHER_RATES.get(row.suite, RATE)
        and not row.is_invalid
        and row.repetitions
    ]


def settled_but(row: Row, param: str) -> tuple[Scalar, ...]:
    """Return everything that sets a row apart from others but ``param``."""
    rest = sorted((name, value) for name, value in row.params.items() if name != param)
    return (row.suite, row.target, row.verdict, *(f"{name}={value}" for name, value in rest))


LEVEL: Final = 0.95
MOST_SETTINGS: Final = 3
_FAMILIES: Final = 3


@dataclass(frozen=True)
class Paired:
    """Two rows that differ in ``setting`` alone, the one with the higher median first."""

    setting: Setting
    top: Row
    other: Row
    found: Comparison


def findings_of(rows: Sequence[Row], level: float = LEVEL) -> list[Finding]:
    """Return the findings over ``rows``, which are sound; none where a suite that is no kernel has rows among them."""
    if not {row.suite for row in rows} <= SMALL.keys():
        return []
    rates = rates_of(rows, SMALL)
    own = level_of_part(level, _FAMILIES)
    return [*_extremes(rates, own), *_settings(rates, own), *_cached(rates, own)]


def ratio_text(found: Comparison) -> str:
    """Write a ratio with its interval, where there is one."""
    if found.low is None or found.high is None:
        return times(found.ratio)
    return f"{times(found.ratio)} {between(times(found.low), times(found.high))}"


def _extremes(rates: Sequence[Row], level: float) -> list[Finding]:
    """Name the highest and the lowest median of each target, direction and verdict, where they are shown to differ."""
    clear = [row for row in rates if is_clear(row)]
    groups = [
        some
        for some in grouped(((row.target, direction(row), row.verdict), row) for row in clear).values()
        if len({class_of(row) for row in some}) > 1
    ]
    own = level_of_each(level, map(len, groups))
    return [_extreme(some, own) for some in groups]


def _extreme(rows: Sequence[Row], level: float) -> Finding:
    top, low = max(rows, key=lambda row: row.median), min(rows, key=lambda row: row.median)
    found = compare_rows(top, low, level, None)
    known = "" if top.verdict == "none" else f"{top.verdict} "
    what = f"{known}{direction(top)} on {top.target}"
    # Where room is short, what stands in the middle is left out: the last sentence needs only the first.
    text = (
        f"The lowest median of {plural(len(rows), 'setting')} of {what} is {format_rate(low.median)} "
        f"({low.suite}: {class_of(low)}). The highest is {format_rate(top.median)} ({top.suite}: {class_of(top)}). "
    )
    if found.verdict == "faster":
        title = f"{what} are slowest with {class_of(low)}"
        text += f"The highest is {ratio_text(found)} the lowest."
    else:
        title = f"No pattern is shown to be the fastest of {what}"
        text += "Whether both differ cannot be told."
    severity = "advice" if found.verdict == "faster" else "info"
    return finding(
        "apps-classes", capital(title), text, severity, case=top.case, other=low.case, ratio=found.ratio, of=len(rows)
    )


def pairs_of(rates: Sequence[Row]) -> list[tuple[Setting, Row, Row]]:
    """Return every two rows that differ in one setting alone and whose verdicts are the same and clear."""
    return [
        (setting, first, second)
        for setting in SETTINGS
        for some in grouped(
            (settled_but(row, setting.param), row)
            for row in rates
            if row.suite == setting.suite and setting.param in row.params and is_clear(row)
        ).values()
        for first, second in combinations(some, 2)
    ]


def ranked_settings(rates: Sequence[Row], level: float) -> tuple[list[Paired], int]:
    """Return of each setting the pair with the largest sure gain, largest first, and how many pairs were compared."""
    pairs = [(one, *sorted((a, b), key=lambda row: -row.median)) for one, a, b in pairs_of(rates)]
    judged = compare_pairs([(top, low) for _, top, low in pairs], level)
    proved = [
        Paired(setting, top, low, found)
        for (setting, top, low), found in zip(pairs, judged, strict=True)
        if gain_of(found) is not None
    ]
    best: dict[str, Paired] = {}
    for pair in sorted(proved, key=lambda pair: -(pair.found.low or 1.0)):
        best.setdefault(pair.setting.kind, pair)
    return list(best.values())[:MOST_SETTINGS], len(pairs)


def settings_of(rows: Sequence[Row], level: float = LEVEL) -> tuple[list[Paired], int]:
    """Return the settings that change most among sound ``rows``, as the findings have them; see ``ranked_settings``."""
    return ranked_settings(rates_of(rows, SMALL), level_of_part(level, _FAMILIES))


def _settings(rates: Sequence[Row], level: float) -> list[Finding]:
    ranked, compared = ranked_settings(rates, level)
    if ranked:
        return [_setting(place, pair) for place, pair in enumerate(ranked, start=1)]
    if not compared:
        unclear = sum(not is_clear(row) for row in rates)
        why = f"Memory answered a part of {unclear} of them, or the state of a cache is not known. " if unclear else ""
        text = (
            f"{capital(plural(len(rates), 'rate'))} can be used, and no two of them with a clear verdict differ in one "
            f"setting alone. {why}So no setting is compared. Give more --time, or leave fewer kernels out."
        )
        return [finding("apps-settings", "No setting can be compared", text, pairs=0)] if rates else []
    text = (
        f"{capital(plural(compared, 'pair'))} of rates differ in one setting alone. None of them is shown to differ. "
        "Give more --time to tell smaller differences."
    )
    return [finding("apps-settings", "No setting is shown to change a rate", text, pairs=compared)]


def _setting(place: int, pair: Paired) -> Finding:
    top, low, setting = pair.top, pair.other, pair.setting
    choice, other = setting.chosen(top), setting.chosen(low)
    title = f"{capital(direction(top))} on {top.target} are faster with {choice}"
    text = (
        f"{capital(direction(top))} on {top.target} reach {format_rate(top.median)} with {choice}, and "
        f"{format_rate(low.median)} with {other} ({class_of(top)})."
    )
    told = finding(
        setting.kind, title, text, "advice", case=top.case, other=low.case, ratio=pair.found.ratio, place=place
    )
    # The option is one of the kernel, and so is what it changes.
    own = told.model_copy(update={"suite": setting.suite})
    return with_gain(own, gain_of(pair.found), setting.change(top))


def _cached(rates: Sequence[Row], level: float) -> list[Finding]:
    """Compare what spio read from the target with what it read again from memory."""
    pairs = [
        (warm, cold)
        for some in grouped(
            ((row.target, row.params.get("ranks", 0)), row) for row in rates if row.suite == "spio"
        ).values()
        for warm in some
        if warm.params.get("operation") == "reread" and warm.verdict == "warm"
        for cold in some
        if cold.params.get("operation") == "read" and cold.verdict in ("cold", "direct")
    ]
    judged = compare_pairs(pairs, level)
    found = [(warm, cold, one) for (warm, cold), one in zip(pairs, judged, strict=True) if one.verdict != "cannot tell"]
    return [_reread(warm, cold, one) for warm, cold, one in found]


def _reread(warm: Row, cold: Row, found: Comparison) -> Finding:
    text = (
        f"Data in the page cache are read at {format_rate(warm.median)}, data of {cold.target} at "
        f"{format_rate(cold.median)}: the cached rate is {ratio_text(found)} as high."
    )
    title = f"Cached reads are {found.verdict} than {cold.verdict} ones on {cold.target}"
    return finding("apps-cached", title, text, case=warm.case, other=cold.case, ratio=found.ratio)
