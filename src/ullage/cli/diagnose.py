# SPDX-License-Identifier: Apache-2.0
"""``ullage diagnose LOG``: what is wrong with the I/O of a job, what it costs on a target, and what a change gains."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from ullage.cli.options import JsonOption, complete_results, option
from ullage.errors import one_line
from ullage.terminal import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ullage.importers.darshan.job import Facts
    from ullage.importers.darshan.rates import Rates
    from ullage.model.summary import Finding

LogArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="LOG", help="Read this log of Darshan.", show_default=False)
]
RATES: Final = option(
    "Take the rates of the target from this result or campaign. Repeat the option for several.",
    metavar="RESULT",
    autocompletion=complete_results,
)
TargetOption: TypeAlias = Annotated[
    str, option("Take the rates of this target. Default: the first one of the results.", metavar="NAME")
]


def diagnose(
    log: LogArgument,
    *,
    rates: Annotated[list[Path] | None, RATES] = None,
    target: TargetOption = "",
    as_json: JsonOption = False,
) -> None:
    """Say what is wrong with a program's I/O, by its Darshan log.

    Each finding has its evidence and the change that helps. With rates that were measured on a target, it has the
    seconds that it costs there, and how much faster the I/O becomes.
    """
    from ullage.importers.darshan import facts_at
    from ullage.importers.darshan.causes import diagnosed, told_job

    facts = facts_at(log)
    found = diagnosed(facts, read_rates(rates or [], target) if rates else None)
    if as_json:
        typer.echo(json.dumps({"log": str(log), "findings": [one.model_dump(mode="json") for one in found]}, indent=1))
        return
    told = next(told_job(facts))
    ends = _ends(found, facts, has_rates=bool(rates), log=log)
    lines = (*folded(told.text), *(line for one in found for line in _lines(one)), *ends)
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def read_rates(results: "Sequence[Path]", target: str) -> "Rates":
    """Return the rates in results and campaigns; raise ``UserError`` where they have none of the target."""
    from ullage.campaign.store import is_empty, kept_rates
    from ullage.errors import UserError
    from ullage.importers.darshan.rates import Rates
    from ullage.report.data import FinishedResult
    from ullage.runs.summary import build_summary

    rows = [
        row
        for path in results
        for row in (build_summary(FinishedResult.open(path)).rows if is_empty(path) else kept_rates(path))
    ]
    found = Rates(rows, target)
    if not found.rows:
        known = ", ".join(Rates(rows).targets)
        right = (
            f"--target {known.partition(', ')[0]}" if known else "name a result of sweep, from-darshan or from-mdtest"
        )
        raise UserError(f"has no rates of storage{f' of {target}' if target else ''}", "--rates", right)
    return found


def _lines(one: "Finding") -> "Iterator[str]":
    yield ""
    yield one.title
    yield from folded(one.text, "  ")
    gain = one.gain
    if gain is not None and gain.low is not None and gain.high is not None:
        faster = f"{gain.factor:.2f} x as fast ({gain.low:.2f} to {gain.high:.2f})"
        yield from folded(f"{one.change}: all I/O is then {faster}.", "  ")
    else:
        yield from folded(f"{one.change}.", "  ")


def _ends(found: "Sequence[Finding]", facts: "Facts", *, has_rates: bool, log: Path) -> "Iterator[str]":
    if facts.partial:
        yield ""
        yield from folded(
            f"The log lacks records of {', '.join(facts.partial)}, because Darshan had no memory for more."
        )
    elif not found:
        yield "Nothing in this log slows the I/O of the job down."
    elif not has_rates:
        yield from folded("What this costs needs rates. Measure them, then add --rates RESULT:")
        yield f"  ullage run from-darshan {shlex.quote(one_line(str(log), 2000))} --target DIR --result RESULT"


VERBS = (diagnose,)
