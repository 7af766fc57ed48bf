# SPDX-License-Identifier: Apache-2.0
"""Logs of Darshan: what a job did, in the words of our kernels."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from ullage.importers.forms import Form, Found, Measured, Params, Remark, given
from ullage.importers.rows import refusals
from ullage.importers.sources import Source, opened

if TYPE_CHECKING:
    from ullage.importers.darshan.job import Facts, Group
    from ullage.importers.darshan.log import Traced


def facts_at(path: Path) -> "Facts":
    """Return what the log at ``path`` says; raise ``UserError`` for what is no whole log."""
    from ullage.importers.darshan.job import read_facts

    with opened(Source(path, path.name)) as stream, refusals(path.name):
        return read_facts(stream)


def traces_at(path: Path) -> "list[Traced]":
    """Return each transfer that the log at ``path`` has traced."""
    from ullage.importers.darshan.log import Log

    with opened(Source(path, path.name)) as stream, refusals(path.name):
        return list(Log.read(stream).traces())


def read(stream: IO[bytes]) -> Iterator[Found]:
    """Yield what a log says of its job, and what stands out."""
    from ullage.importers.darshan.causes import told_job
    from ullage.importers.darshan.job import read_facts

    facts = read_facts(stream)
    yield from told_job(facts)
    for group in facts.groups:
        yield from _of_group(group, facts)
    params: Params = {"ranks": facts.job.ranks}
    for access, count in facts.traced.items():
        yield Measured("traced", "operations", count, {"access": access, **params})
    yield Measured("run_time", "s", facts.job.seconds, params)
    if facts.mean_wait > 0:
        yield Measured("slowest_rank_wait", "s", facts.waited, params)
        yield Measured("mean_rank_wait", "s", facts.mean_wait, params)
    if facts.partial:
        yield Remark(f"lacks records of {', '.join(facts.partial)}: Darshan had no memory for more")
    if facts.unread:
        yield Remark(f"has modules whose numbers are not read: {', '.join(facts.unread)}")


def _of_group(group: "Group", facts: "Facts") -> Iterator[Found]:
    from ullage.importers.darshan.job import ACCESSES

    ranks = facts.ranks_of(group)
    common: Params = given(ranks=ranks, backend=group.backend, file_mode=group.file_mode)
    yield Measured("files", "files", len(group.files), common)
    yield Measured("name_operations", "operations", group.names, common)
    yield Measured("name_time", "s", group.sums["META_TIME"] / ranks, common)
    for access in ACCESSES:
        if operations := group.operations(access):
            yield from _of_access(group, access, operations, {"access": access, **common})


def _of_access(group: "Group", access: str, operations: int, params: Params) -> Iterator[Found]:
    from ullage.importers.darshan.log import SIZES

    moved, seconds = group.moved(access), group.seconds(access) / int(params["ranks"])
    if seconds > 0:
        yield Measured("bandwidth", "B/s", moved / seconds, params)
    yield Measured("io_time", "s", seconds, params)
    yield Measured("moved", "B", moved, params)
    yield Measured("operations", "operations", operations, params)
    if group.backend == "posix":
        yield Measured("sequential", "of operations", group.share("SEQ", access), params)
        yield Measured("consecutive", "of operations", group.share("CONSEC", access), params)
    for size, count in zip(SIZES, group.histogram(access), strict=True):
        if count:
            words = size.replace("_PLUS", " and more").replace("_", " to ")
            yield Measured("operations", "operations", count, {**params, "size": words})


FORM: Final = Form("darshan", "logs of Darshan 3.0 to 3.5", "applications", (), read_stream=read, head=rb"\d\.\d\d\x00")
