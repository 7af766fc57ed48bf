# SPDX-License-Identifier: Apache-2.0
"""Sentences of suite ``loader``: what passes, from where it was read, and what the client spends on it.

Whether a number of accelerators passes is said of the largest that does and the smallest that does not. Each is a
statement about one side of an interval, so both together have the error of one interval; several targets share it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.findings.phrasing import finding, level_of_part
from ullage.analysis.statistics.intervals import fewest_samples
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.parameters import count_of
from ullage.quantity import listing, plural
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, join
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Launches, Source, cached_share, launches_of, summary_of, told_rows, usual
from ullage.suites.loader.cases import FAILS, PASSES, Verdict, verdict_of
from ullage.suites.loader.options import LoaderOptions
from ullage.units import format_rate, format_time, format_volume

USE: Final = "accelerator_use"
RATE: Final = "bandwidth"
SAMPLES: Final = "sample_rate"
CLIENT: Final = "client_cores"
CACHED: Final = "cached_share"
ALL_EPOCHS: Final = "all-epochs"
NO_PRESET: Final = "none"
"""Stands for the preset where sizes of samples were asked for."""
_SAID_ALONE: Final[dict[Verdict, str]] = {FAILS: ", and fails", PASSES: "", "cannot tell": ", which tells neither"}
# From this share of its bytes on, memory has a part in the AU of an epoch; up to this, the storage alone has.
_OF_MEMORY: Final = 0.05
# With this share of the usable cores busy, a faster storage may change nothing.
_BUSY: Final = 0.9


def accelerators_of(row: Row) -> int:
    """Return the number of accelerators of a row; 0 for the write."""
    return row.count("accelerators")


def epoch_of(row: Row) -> int:
    """Return the epoch from 1; 0 for what is of none, or of all."""
    access = row.access
    return int(access.removeprefix("epoch-")) if access.startswith("epoch-") else 0


def order_of(row: Row) -> tuple[str, int, int]:
    """Return by what rows are ordered: target, accelerators and epoch."""
    return row.target, accelerators_of(row), epoch_of(row)


def verdicts_of(rows: Sequence[Row], limit: float, level: float) -> dict[int, Verdict]:
    """Return whether each number of accelerators passes, on one target: by all epochs together, and by the first.

    The storage answers the first epoch. What memory answers later must not make a number pass that the storage fails.
    """
    own = [row for row in rows if row.metric == USE and (row.access == ALL_EPOCHS or epoch_of(row) == 1)]
    by_number = grouped((accelerators_of(row), verdict_of(row.repetitions, limit, level)) for row in own)
    whole = {accelerators_of(row) for row in own if row.access == ALL_EPOCHS}
    return {n: _least(verdicts) for n, verdicts in by_number.items() if n in whole}


def _least(verdicts: Sequence[Verdict]) -> Verdict:
    if FAILS in verdicts:
        return FAILS
    return PASSES if all(verdict == PASSES for verdict in verdicts) else "cannot tell"


def findings_of(rows: Sequence[Row], options: LoaderOptions, level: float, cores: int | None) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones, ``cores``: usable ones of a node."""
    good = sorted((row for row in rows if not row.is_invalid and accelerators_of(row) > 0), key=order_of)
    targets = grouped((row.target, row) for row in good)
    own = level_of_part(level, max(1, len(targets)))
    found: list[Finding] = []
    for target, some in targets.items():
        if options.pace_s > 0:
            found += _passes(target, some, options, own)
        found += [*_cached(target, some, options, own), *_client(target, some, cores)]
    return found


def _passes(target: str, rows: Sequence[Row], options: LoaderOptions, level: float) -> list[Finding]:
    uses = {accelerators_of(row): row for row in rows if row.metric == USE and row.access == ALL_EPOCHS}
    if not uses:
        return []
    verdicts = verdicts_of(rows, options.least_use, level)
    passing = [n for n, verdict in verdicts.items() if verdict == PASSES]
    failing = [n for n, verdict in verdicts.items() if verdict == FAILS]
    best = max(passing, default=0)
    worst = min((n for n in failing if n > best), default=None)
    shown = [uses[n] for n in (best, worst) if n in uses] or [uses[max(uses)]]
    limit = 100 * options.least_use
    texts = [f"A number of accelerators passes when they compute for at least {limit:g} % of the time (AU)."]
    first = {accelerators_of(row): row for row in rows if row.metric == USE and epoch_of(row) == 1}
    for row in shown:
        n = accelerators_of(row)
        alone = verdict_of(row.repetitions, options.least_use, level)
        texts.append(_use(row, verdicts[n] if verdicts[n] == alone else "cannot tell"))
        if verdicts[n] != alone and n in first:
            use = f"{100 * first[n].median:.3g} %"
            texts.append(f"Epoch 1, which the storage answers, has {use}{_SAID_ALONE[verdicts[n]]}.")
    texts += [] if options.is_of_preset else [_training(options)]
    texts += _open_question(verdicts, uses, best, worst, level)
    texts += _reached(rows, accelerators_of(shown[0]))
    return [
        finding(
            "loader-passes",
            _title(target, options, best, worst),
            " ".join(texts),
            target=target,
            preset=options.preset,
            limit=options.least_use,
            passes=best,
            fails=worst,
            accelerators=list(uses),
            au=[row.median for row in uses.values()],
            verdict=[verdicts[n] for n in uses],
        )
    ]


def _title(target: str, options: LoaderOptions, best: int, worst: int | None) -> str:
    of = f" of {options.preset}" if options.is_of_preset else ""
    if best:
        return f"{target} keeps {plural(best, 'accelerator')}{of} busy{'' if worst is None else f', and not {worst}'}"
    if worst is not None:
        return f"{target} does not keep {plural(worst, 'accelerator')}{of} busy"
    return f"How many accelerators {target} keeps busy cannot be told"


def _training(options: LoaderOptions) -> str:
    return (
        f"Samples have {format_volume(options.mean_bytes)}, a batch has {plural(options.batch_samples, 'sample')}, and "
        f"an accelerator computes for {format_time(options.pace_s)} with it."
    )


def _use(row: Row, verdict: Verdict) -> str:
    n = accelerators_of(row)
    interval = "" if row.low is None or row.high is None else f" [{100 * row.low:.3g}, {100 * row.high:.3g}]"
    said = {PASSES: "pass", FAILS: "fail"}.get(verdict, "")
    end = f", so {'it' if n == 1 else 'they'} {said}{'es' if n == 1 and said == 'pass' else 's' if n == 1 else ''}"
    return f"With {plural(n, 'accelerator')} AU is {100 * row.median:.3g} %{interval}{end if said else ''}."


def _open_question(
    verdicts: Mapping[int, Verdict], uses: Mapping[int, Row], best: int, worst: int | None, level: float
) -> list[str]:
    """Name the numbers next to the answer of which nothing can be told."""
    between = [n for n in verdicts if n > best and (worst is None or n < worst) and verdicts[n] not in (PASSES, FAILS)]
    if not between:
        return []
    few = [n for n in between if len(uses[n].repetitions) < fewest_samples(level)]
    names = listing([str(n) for n in between])
    text = f"Whether {names} {'accelerators pass' if between != [1] else 'accelerator passes'} cannot be told."
    return [text, f"Use --repetitions {fewest_samples(level)} or more."] if few else [text]


def _reached(rows: Sequence[Row], accelerators: int) -> list[str]:
    own = {row.metric: row for row in rows if accelerators_of(row) == accelerators and epoch_of(row) == 1}
    samples, rate = own.get(SAMPLES), own.get(RATE)
    if samples is None or rate is None:
        return []
    each = f"{samples.median:.4g} samples/s and {format_rate(rate.median)}"
    return [f"The first epoch then reads {each}."]


def _cached(target: str, rows: Sequence[Row], options: LoaderOptions, level: float) -> list[Finding]:
    """Tell which share of each epoch memory answered, for the largest number that was read with counters."""
    shares = grouped((accelerators_of(row), row) for row in rows if row.metric == CACHED)
    known = {n: some for n, some in shares.items() if len(some) == options.epochs}
    if not known:
        return []
    number = max(known)
    by_epoch = known[number]
    later = [row for row in by_epoch if epoch_of(row) > 1]
    uses = {epoch_of(row): row for row in rows if row.metric == USE and accelerators_of(row) == number}
    if not later or max(row.median for row in later) <= _OF_MEMORY:
        return []
    each = [f"{100 * row.median:.3g} % in epoch {epoch_of(row)}" for row in by_epoch]
    texts = [f"With {plural(number, 'accelerator')}, memory answers {listing(each)} of the bytes."]
    first, last = uses.get(1), uses.get(options.epochs)
    if options.pace_s > 0 and first is not None and last is not None:
        texts.append(f"AU is {100 * first.median:.3g} % in epoch 1 and {100 * last.median:.3g} % in the last epoch.")
        if verdict_of(first.repetitions, options.least_use, level) == FAILS:
            texts.append("Epoch 1 alone, which the storage answers, fails.")
    texts.append("Use more samples than memory holds, or --cache direct, to judge the storage.")
    return [
        finding(
            "loader-cached",
            f"From epoch 2 on, memory answers for {target}",
            " ".join(texts),
            "warning",
            target=target,
            accelerators=number,
            epoch=[epoch_of(row) for row in by_epoch],
            cached=[row.median for row in by_epoch],
        )
    ]


def _client(target: str, rows: Sequence[Row], cores: int | None) -> list[Finding]:
    """Name the client as the limit where its cores are busy in the first epoch; else nothing."""
    busy = [row for row in rows if row.metric == CLIENT and epoch_of(row) == 1]
    if not busy or not cores:
        return []
    row = max(busy, key=accelerators_of)
    share = row.median / (cores * row.count("nodes"))
    if share < _BUSY:
        return []
    n = accelerators_of(row)
    wait = next((one for one in rows if one.metric == "sample_read_p50" and one.case == row.case), None)
    text = (
        f"With {plural(n, 'accelerator')} the ranks keep {100 * share:.3g} % of the cores busy, so a faster storage "
        "may change nothing. Use more nodes, or fewer accelerators on each."
    )
    if wait is not None:
        text += f" Half of the reads of a sample take less than {format_time(wait.median)}."
    title = f"Reading from {target} takes all cores of the client"
    return [finding("loader-client", title, text, "warning", target=target, accelerators=n, cpu_share=share)]


_RUN_USE: Final = "run_use"


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    options, launches, system = read_options(LoaderOptions, request), launches_of(result), result.read_system()
    cores = None if system is None else system.cpu.usable_cores
    rows = loader_rows(launches, context, options)
    return summary_of(launches, context, rows, lambda sound, level: findings_of(sound, options, level, cores))


def loader_rows(launches: Launches, context: RowContext, options: LoaderOptions) -> list[Row]:
    """Return the rows of every epoch, with the share of bytes that memory answered, and the AU of all epochs."""
    told = told_rows(launches, context, partial(_tell, options=options))
    rows = [row.model_copy(update={"metric": USE}) if row.metric == _RUN_USE else row for row in told]
    # Memory may answer a later epoch, and the ceiling of the device does not bound memory.
    rows = [with_ceiling(row, None) if row.access != "write" and row.verdict != "cold" else row for row in rows]
    phases = grouped(((item.case.case, item.phase.phase), item.phase) for item in join(launches))
    reads = [row for row in rows if row.metric == RATE and row.access != "write"]
    shares = [cached_share(row, phases[row.case, row.access], context) for row in reads]
    return [*rows, *(row for some in shares for row in some)]


def _tell(row: Row, source: Source, options: LoaderOptions) -> Mapping[str, Scalar] | None:
    """Return None for a sum that goes on with a later epoch."""
    is_run, last = row.metric == _RUN_USE, source.phases[-1]
    if is_run and row.access != f"epoch-{options.epochs}":
        return None
    accelerators = last.facts.get("accelerators")
    # Samples go by their preset; where their sizes were asked for, these are stated.
    asked: dict[str, Scalar] = {"preset": NO_PRESET, "sample_bytes": options.mean_bytes}
    params: dict[str, Scalar] = {
        "access": ALL_EPOCHS if is_run else row.access,
        **usual(row, "ranks", "nodes"),
        **({"preset": options.preset} if options.is_of_preset_samples else asked),
        "accelerators": accelerators if isinstance(accelerators, int) else 0,
        "samples": last.counters.get("samples", 0) or count_of(source.workload, "samples", 0),
        "volume_bytes": last.bytes,
        "batch": options.batch_samples,
        "step_s": options.pace_s,
        "limit": options.least_use,
        "threads_each": count_of(source.workload, "threads", 4),
        "block_bytes": count_of(source.workload, "transfer_bytes", 1 << 20),
        **usual(row, "backend"),
    }
    return params if row.access == "write" else {**params, "data_of": last.data_of}
