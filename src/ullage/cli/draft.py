# SPDX-License-Identifier: Apache-2.0
"""``ullage draft``: first drafts of the files that options read, from this machine or from a result."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from ullage.cli.options import option
from ullage.errors import UserError

_READ_BY: Final = {"floors": "--require", "hints": "--hints", "machine": "--machine"}


def draft(
    what: Annotated[str, typer.Argument(metavar="floors|hints|machine", help="Draft this file.", show_default=False)],
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RESULT|PATH]",
            help="Take floors from the headlines of this result. Describe the drive below this path (machine).",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, option("Write to this new file, for example reqs.toml. Default: stdout.", metavar="FILE")
    ] = None,
) -> None:
    """Draft a file for --require, --hints or --machine.

    floors: each bound is 10 % worse than the result. hints: sets of MPI-IO hints, to choose from. machine: what the
    datasheets say, with the six most important lines first.
    """
    from ullage.parameters import suggest

    if what not in _READ_BY:
        raise UserError(f"nothing to draft is called '{what}'", "draft", suggest(what, _READ_BY))
    write_draft(_text(what, source), output, f"ullage run SUITE {_READ_BY[what]} {output}")


def write_draft(text: str, path: Path | None, afterwards: str) -> None:
    """Write a draft, and what to do with it; what somebody has edited is never replaced."""
    from ullage.results.outputs import is_stream, write_outputs
    from ullage.terminal import print_line

    if path is None or is_stream(path):
        sys.stdout.write(text)
        return
    write_outputs({path.name: text}, path.parent, replace=False)
    print_line(f"written  {path}")
    print_line(f"complete it, then: {afterwards}")


def _text(what: str, source: Path | None) -> str:
    from ullage.cli.machine import machine_draft
    from ullage.discovery import suite_modules

    if what == "machine":
        return machine_draft([str(source or ".")])
    if what == "hints":
        return next(text for module in suite_modules("hints") if (text := getattr(module, "DRAFT", "")))
    if source is None:
        raise UserError("floors are drafted from a result", "draft floors", "add the folder that `ullage run` printed")
    return _floors(source)


def _floors(path: Path) -> str:
    from ullage.analysis.acceptance import draft_floors
    from ullage.report.headlines import headlines_of
    from ullage.results.folder import ResultFolder
    from ullage.runs.summary import build_summary

    summary = build_summary(ResultFolder.open(path))
    lines = list(summary.headline.values()) or headlines_of(summary)
    chosen = [summary.rows[line.row] for line in lines]
    if not chosen:
        raise UserError("has no number to take a floor from", str(path), "name a result with rows")
    return draft_floors(chosen, summary.rows)


VERBS = (draft,)
