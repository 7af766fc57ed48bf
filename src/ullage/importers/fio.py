# SPDX-License-Identifier: Apache-2.0
"""The JSON of fio 2 and 3 (``--output-format=json`` or ``json+``): every job and direction.

Times are microseconds in releases before 3 (``clat``) and nanoseconds since (``clat_ns``). Percentiles are of
completion latencies, as fio has chosen them. ``bw`` is KiB/s; ``io_bytes`` of release 2 is KiB, too.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from ullage.importers import forms
from ullage.importers.forms import KIB, MS, Form, Found, Measured, Params, amount, disagree, word
from ullage.importers.printed import known_to, whole_number
from ullage.reading import child, children

_DIRECTIONS: Final = ("read", "write", "trim")
# Requests of several sizes.
_MIXED: Final = frozenset({"bsrange", "blocksize_range", "bssplit", "bs_unaligned"})
_UNITS: Final = {"_ns": 1e-9, "": 1e-6}


def read(document: Mapping[str, object]) -> Iterator[Found]:
    """Yield bandwidth, rate and latencies of all jobs. Jobs of one name ran side by side, so each has its number."""
    jobs = [child(job) for job in (*children(document, "jobs"), *children(document, "client_stats"))]
    release = 2 if word(document, "fio version").startswith("fio-2") else 3
    names, seen = Counter(map(_name, jobs)), Counter[str]()
    for job in jobs:
        options = {**child(document, "global options"), **child(job, "job options")}
        params: Params = {"job": _name(job)} if len(jobs) > 1 else {}
        if names[_name(job)] > 1:
            params["job_number"] = seen[_name(job)]
            seen[_name(job)] += 1
        if error := amount({"error": abs(int(amount(job, "error") or 0))}, "error"):
            yield forms.Remark(f"has a job that failed with error {error:g}: {_name(job)}")
        for direction in _DIRECTIONS:
            own = {**_params(options, direction), **params}
            yield from _of_direction(child(job, direction), own, release, is_mixed=_MIXED.isdisjoint(options) is False)
        if operations := child(job, "sync", "lat_ns"):
            mean = amount(operations, "mean")
            yield from _times("latency", "_ns", {"mean": mean}, {**_params(options, "sync"), **params})


def _name(job: Mapping[str, object]) -> str:
    host = word(job, "hostname")
    return word(job, "jobname", "job") + (f" on {host}" if host else "")


def _params(options: Mapping[str, object], direction: str) -> Params:
    pattern = word(options, "rw", word(options, "readwrite"))
    blocks = word(options, "bs", word(options, "blocksize", "4k")).split(",")
    at = _DIRECTIONS.index(direction) if direction in _DIRECTIONS else 0
    block = forms.size(blocks[at] if at < len(blocks) and blocks[at] else blocks[-1] or blocks[0])
    depth, jobs = (whole_number(word(options, name)) for name in ("iodepth", "numjobs"))
    return forms.given(
        access=direction,
        order=("random" if pattern.startswith("rand") else "sequential") if pattern else "",
        block_bytes=block if direction in _DIRECTIONS else None,
        queue_depth=depth,
        threads=jobs,
        backend=word(options, "ioengine"),
        cache={"1": "direct", "0": "buffered"}.get(word(options, "direct")),
    )


def _of_direction(of: Mapping[str, object], params: Params, release: int, *, is_mixed: bool) -> Iterator[Found]:
    rate, operations = amount(of, "bw_bytes"), amount(of, "iops")
    kib = amount(of, "bw")
    if not (rate or kib or operations):
        return
    value = rate if rate is not None else (kib or 0.0) * KIB
    said = ""
    if rate is not None and kib is not None:
        said = disagree(known_to(kib, 1.0), known_to(rate / KIB), "bw in KiB/s", 1e-6)
    said = said or _from_time(of, value, release)
    doubt = f"{params['access']}, {said}" if said else ""
    yield Measured("bandwidth", "B/s", value, params, doubt)
    if operations:
        total, runtime = amount(of, "total_ios"), amount(of, "runtime")
        again = known_to(total / (runtime * MS), operations * 2 / runtime) if total and runtime else None
        said = disagree(known_to(operations), again, f"iops of {params['access']}", 0.02)
        block = params.get("block_bytes")
        if not said and isinstance(block, int) and not is_mixed:
            said = disagree(known_to(operations), known_to(value / block), f"iops of {params['access']}", 0.05)
        yield Measured("operation_rate", "op/s", operations, params, said)
    for suffix in _UNITS:
        yield from _times("latency", suffix, child(of, f"lat{suffix}"), params)
        times = child(of, f"clat{suffix}", "percentile") or child(of, f"lat{suffix}", "percentile")
        for name in times:
            if re.fullmatch(r"\d{1,2}(?:\.\d+)?", name):
                yield from _times(f"latency_{forms.quantile(name)}", suffix, {"mean": times[name]}, params)


def _from_time(of: Mapping[str, object], value: float, release: int) -> str:
    """Compare a bandwidth with bytes over time, where it ran for long enough that ms do not matter."""
    moved, runtime = amount(of, "io_bytes"), amount(of, "runtime")
    if not moved or not runtime or value <= 0:
        return ""
    again = moved * (KIB if release == 2 else 1) / (runtime * MS)
    return disagree(known_to(value), known_to(again, value * 2 / runtime), "the bandwidth in bytes/s", 0.02)


def _times(metric: str, suffix: str, of: Mapping[str, object], params: Params) -> Iterator[Found]:
    for name, after in (("mean", ""), ("max", "_max")):
        if (time := amount(of, name)) is not None:
            yield Measured(f"{metric}{after}", "s", time * _UNITS[suffix], params)


FORM: Final = Form(
    "fio_json",
    "what fio 2 and 3 write with --output-format=json or json+",
    "storage",
    ('"fio version"',),
    read_document=read,
)
