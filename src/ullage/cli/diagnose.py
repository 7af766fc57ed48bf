# SPDX-License-Identifier: Apache-2.0
"""``ullage diagnose LOG``: what is wrong with the I/O of a job, what it costs on a target, and what a change gains."""

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from ullage.cli.options import JsonOption, complete_results, option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ullage.importers.darshan.job import Facts
    from ullage.importers.darshan.rates import Rates
    from ullage.model.summary import Finding

_WIDTH: Final = 100
LogArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="LOG", help="Read this log of Darshan.", show_default=False)
]
RatesOption: TypeAlias = Annotated[
    list[Path] | None,
    option(
        "Take the rates of the target from this result. Repeat the option for several.",
        metavar="RESULT",
        autocompletion=complete_results,
    ),
]
TargetOption: TypeAlias = Annotated[
    str, option("Take the rates of this target. Default: the first one of the results.", metavar="NAME")
]


def diagnose(
    log: LogArgument, *, rates: RatesOption = None, target: TargetOption = "", as_json: JsonOption = False
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
    typer.echo("\n".join([*_folded(told.text), *(line for one in found for line in _lines(one))]))
    typer.echo("\n".join(_folded(_end(found, facts, has_rates=bool(rates), log=log))))


def read_rates(results: "Sequence[Path]", target: str) -> "Rates":
    """Return the rates in results; raise ``UserError`` where they have none of the target."""
    from ullage.errors import UserError
    from ullage.importers.darshan.rates import Rates
    from ullage.report.data import FinishedResult
    from ullage.runs.summary import build_summary

    rows = [row for path in results for row in build_summary(FinishedResult.open(path)).rows]
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
    yield from _folded(one.text, "  ")
    gain = one.gain
    if gain is not None and gain.low is not None and gain.high is not None:
        faster = f"{gain.factor:.2f} x as fast ({gain.low:.2f} to {gain.high:.2f})"
        yield from _folded(f"{one.change}: all I/O is then {faster}.", "  ")
    else:
        yield from _folded(f"{one.change}.", "  ")


def _end(found: "Sequence[Finding]", facts: "Facts", *, has_rates: bool, log: Path) -> str:
    if facts.partial:
        return f"\nThe log lacks records of {', '.join(facts.partial)}, because Darshan had no memory for more."
    if not found:
        return "Nothing in this log slows the I/O of the job down."
    if not has_rates:
        return (
            f"What this costs needs rates: run `ullage run from-darshan {log} --target DIR`, then add --rates RESULT."
        )
    return ""


def _folded(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


VERBS = (diagnose,)
