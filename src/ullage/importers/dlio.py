# SPDX-License-Identifier: Apache-2.0
"""The summary.json of DLIO and the reports of MLPerf Storage (v0.5 to v2).

What they call MB and GB are 2^20 and 2^30 bytes: DLIO divides by 1024. AU is a percentage, here a share of the time.
"""

import re
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Final, cast

from ullage.importers.forms import GIB, MIB, Form, Found, Measured, Params, amount, disagree, word
from ullage.importers.printed import known_to
from ullage.reading import child, children

_NAME: Final = re.compile(
    r"(?P<phase>train|eval|save_checkpoint|load_checkpoint)_(?P<what>au_percentage|throughput_samples_per_second"
    r"|throughput_MB_per_second|io_MB_per_second|io_GB_per_second|duration_seconds)"
)
_WHAT: Final = {
    "au_percentage": ("accelerator_use", "of time", 0.01),
    "throughput_samples_per_second": ("sample_rate", "samples/s", 1.0),
    "throughput_MB_per_second": ("bandwidth", "B/s", float(MIB)),
    "io_MB_per_second": ("bandwidth", "B/s", float(MIB)),
    "io_GB_per_second": ("bandwidth", "B/s", float(GIB)),
    "duration_seconds": ("phase_time", "s", 1.0),
}
_ACCESSES: Final = {"save_checkpoint": "write"}
_SLACK: Final = 1e-6


def read_summary(document: Mapping[str, object]) -> Iterator[Found]:
    """Yield the numbers of each epoch, and where only their mean is there, that."""
    metric = child(document, "metric")
    params: Params = {}
    for ours, theirs in (("ranks", "num_accelerators"), ("nodes", "num_hosts")):
        if count := amount(document, theirs):
            params[ours] = int(count)
    for name, value in metric.items():
        mean = re.sub(r"_mean(?=_)", "", name)
        if not (match := _NAME.fullmatch(mean)) or (mean != name and isinstance(metric.get(mean), list)):
            continue
        several = cast("list[object]", value) if isinstance(value, list) else [value]
        values = [amount({name: one}, name) for one in several]
        known = [one for one in values if one is not None]
        doubt = _doubt(document, metric, match, known)
        of_phase: Params = {"access": _ACCESSES.get(match["phase"], "read"), "phase": match["phase"], **params}
        ours, unit, factor = _WHAT[match["what"]]
        for one in known:
            yield Measured(ours, unit, one * factor, of_phase, doubt)


def _doubt(
    document: Mapping[str, object], metric: Mapping[str, object], match: re.Match[str], values: list[float]
) -> str:
    """Compare values with the mean that is stated, and a mean of bytes with samples times their size."""
    if not values:
        return ""
    kind, _, unit = match["what"].partition("_")
    stated = amount(metric, f"{match['phase']}_{kind}_mean_{unit}")
    if stated is not None and (
        said := disagree(known_to(stated), known_to(fmean(values)), f"the mean of {match[0]}", _SLACK)
    ):
        return said
    samples = amount(metric, f"{match['phase']}_throughput_mean_samples_per_second")
    total, hosts = amount(document, "data_size_per_host_GB"), amount(document, "num_hosts")
    files, each = amount(document, "num_files_train"), amount(document, "num_samples_per_file")
    if (
        match["what"] != "io_MB_per_second"
        or match["phase"] != "train"
        or not (samples and total and hosts and files and each)
    ):
        return ""
    again = samples * total * hosts * GIB / (files * each) / MIB
    return disagree(known_to(fmean(values)), known_to(again), "the mean of train_io in MiB/s", 0.01)


def read_report(document: Mapping[str, object]) -> Iterator[Found]:
    """Yield the numbers of all runs of a report, each run as a repetition."""
    overall, runs = child(document, "overall"), child(document, "runs")
    for run in runs:
        values = child(runs, run)
        params = _model(overall) | _model(values)
        for name in values:
            match, value = _NAME.fullmatch(name), amount(values, name)
            if match is None or value is None:
                continue
            metric, unit, factor = _WHAT[match["what"]]
            mean = amount(overall, name.replace("_throughput_", "_throughput_mean_").replace("_au_", "_au_mean_"))
            all_of = [one for each in runs if (one := amount(child(runs, each), name)) is not None]
            shown = None if mean is None else known_to(mean)
            doubt = disagree(shown, known_to(fmean(all_of)), f"the mean of {name}", _SLACK)
            yield Measured(metric, unit, value * factor, {"access": "read", "phase": match["phase"], **params}, doubt)


def _model(of: Mapping[str, object]) -> Params:
    found: Params = {name: word(of, name) for name in ("model", "accelerator") if word(of, name)}
    count = amount(of, "train_num_accelerators") or amount(of, "num_accelerators")
    return found | ({"ranks": int(count)} if count else {})


def read(document: Mapping[str, object]) -> Iterator[Found]:
    """Yield the numbers of either document."""
    yield from (
        read_summary(document) if children(document, "runs") or child(document, "metric") else read_report(document)
    )


FORM: Final = Form(
    "dlio",
    "summary.json of DLIO, and mlperf_storage_report.json of MLPerf Storage",
    "storage",
    ('"train_au_', '"train_throughput_', "_checkpoint_io_", "_checkpoint_duration_", '"eval_au_'),
    read_document=read,
)
