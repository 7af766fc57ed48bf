# SPDX-License-Identifier: Apache-2.0
"""``ullage health``: one line on this node for a prologue or epilogue, by a measurement of a minute at most."""

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ullage.cli.campaign import DEFAULT, CampaignOption
from ullage.cli.drain import ApplyOption, drain_nodes, reasons_of
from ullage.cli.options import EngineOption
from ullage.errors import EXIT_CANNOT_TELL, EXIT_CASE_FAILED, EXIT_OK, UserError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from ullage.campaign.health import Health
    from ullage.model.request import Request

_LEAST_S = 10.0


def health(
    *,
    target: Annotated[
        str, typer.Option(metavar="NAME=PATH", help="Also write and read 256 MiB of the drive below this folder.")
    ] = "",
    campaign: CampaignOption = DEFAULT,
    keep: Annotated[bool, typer.Option("--keep", help="Then keep the numbers in the campaign.")] = False,
    time: Annotated[str, typer.Option(metavar="DURATION", help="Limit the time of the whole command.")] = "60s",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 6 where it cannot be told.")] = False,
    drain: Annotated[
        bool, typer.Option("--drain", help="Where it is worse, print the command that drains it, as `ullage drain`.")
    ] = False,
    apply: ApplyOption = False,
    engine: EngineOption = None,
) -> None:
    """Say in one line whether this node is as fast as usual.

    It measures the cores, the memory, that of each accelerator, and the drive of a target in up to 60 s. It
    compares them with the node's own past in the campaign, and with other nodes of its kind. What seems to be worse
    is measured twice. The exit code is 4 where something is worse. On nodes whose speed stays the same, at most 1
    of 1,000 checks names one.
    """
    from ullage.campaign.store import is_empty
    from ullage.exporters.report_forms import connect
    from ullage.system.readiness import gpu_makers
    from ullage.terminal import print_line
    from ullage.units import format_time, parse_duration

    seconds = parse_duration(time)
    if seconds < _LEAST_S:
        raise UserError(f"{time} is too short for a launch of each part", "--time", f"give {_LEAST_S:g}s or more")
    request = _request(target)
    if keep or not is_empty(campaign):
        connect("--campaign").close()  # refuses before the minute where DuckDB is missing
    found, refused, took_s = _measure(request, campaign, seconds, engine)
    if keep and found.rows:
        from ullage.campaign.rows import system_named
        from ullage.campaign.store import write_rows

        write_rows(campaign, system_named(found.rows[0]["node"]), request.suite, request, found.rows)
    is_shown = any(row["metric"] == "device_bandwidth" for row in found.rows)
    lacking = {**refused, **({"GPU": "not measured"} if gpu_makers() and not is_shown else {})}
    missing = "".join(f"; {name}: {why}" for name, why in lacking.items())
    print_line(f"ullage health: {_line(found)}{missing}; {format_time(round(took_s))}")
    if drain or apply:
        drain_nodes(reasons_of(found.worse), apply=apply)
    if found.word == "worse":
        raise typer.Exit(EXIT_CASE_FAILED)
    raise typer.Exit(EXIT_CANNOT_TELL if strict and found.word != "ok" else EXIT_OK)


def _request(target: str) -> "Request":
    from datetime import UTC, datetime

    import ullage
    from ullage.identity import new_run_id
    from ullage.model.request import Request
    from ullage.system.storage import read_places
    from ullage.uri import parse_target

    created, versions = datetime.now(UTC).isoformat(timespec="seconds"), {"ullage": ullage.__version__}
    targets = [parse_target(target)] if target else []
    for place in read_places(targets):
        if not place.exists or place.is_memory:
            what = "is memory, and no drive" if place.exists else "no such folder"
            raise UserError(what, f"--target {target}", "name a folder on a drive of this node")
    return Request(run_id=new_run_id(), suite="health", created=created, targets=targets, versions=versions)


def _measure(
    request: "Request", campaign: Path, seconds: float, engine: Path | None
) -> "tuple[Health, Mapping[str, str], float]":
    from dataclasses import replace
    from tempfile import TemporaryDirectory
    from time import monotonic

    from ullage.campaign.health import Rounds, compared, judge
    from ullage.launch import choose_launcher
    from ullage.runs.inputs import EngineContext
    from ullage.runs.session import terminable

    began = monotonic()
    context = EngineContext.of(engine)
    # Without a launcher: a prologue has the variables of a job in which nothing can be started yet.
    launcher = choose_launcher(context.description, "single")
    with TemporaryDirectory(prefix="ullage-health-") as folder, _scratch(folder), terminable():
        rounds = Rounds(context, launcher, Path(folder), request, began + seconds)
        found = judge(rounds.measure, lambda rows: compared(rows, campaign))
    if rounds.refused and found.word == "ok":
        found = replace(found, word="cannot tell")
    return found, rounds.refused, monotonic() - began


@contextmanager
def _scratch(folder: str) -> "Generator[None]":
    """Let what an MPI writes for its processes lie in ``folder``."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = folder
    try:
        yield
    finally:
        del os.environ["TMPDIR"]
        os.environ.update({} if before is None else {"TMPDIR": before})


def _line(found: "Health") -> str:
    from ullage.quantity import format_quantity, plural

    name = f"{found.rows[0]['node']}: " if found.rows else ""
    values = ", ".join(
        f"{row['part']} {format_quantity(row['median'], row['unit'])}{'' if row['sound'] else ' (disturbed)'}"
        for row in found.rows
    )
    known = f"known from {plural(found.past, 'run')}" if found.past else ""
    said = ["; ".join(reasons_of(found.worse).values()) or found.reason, values, known]
    return f"{name}{found.word}: {'; '.join(filter(None, said))}"


VERBS = (health,)
