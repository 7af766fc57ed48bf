# SPDX-License-Identifier: Apache-2.0
"""``ullage import``: numbers that another program has measured, as a result of ours."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ullage.cli.options import AllOption, ResultOption, option, shown_at_end


def _complete_forms(incomplete: str) -> list[str]:
    from ullage.importers import load_importers

    return [name for name in load_importers() if name.startswith(incomplete)]


def import_(
    file: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Import this file, these files that belong together, or this folder of files.",
            show_default=False,
        ),
    ],
    *,
    result: ResultOption = None,
    machine: Annotated[
        Path | None,
        option(
            "Use the datasheet values in this machine.toml as ceilings. A drive or link bounds the target it names.",
            metavar="FILE",
        ),
    ] = None,
    everything: AllOption = False,
    form: Annotated[
        str | None,
        option(
            "Read this format: <importers>. Default: recognised by the content.",
            "--format",
            metavar="NAME",
            autocompletion=_complete_forms,
        ),
    ] = None,
) -> None:
    """Make a result from the numbers of another program.

    What many programs print or write is read, a table, and the tables of a course report (pa1_*.csv). Files may be
    packed, and archives and folders stand for all files in them. The result has findings, a report and comparisons like
    any other. It is unknown what was really measured, and every row says so.
    """
    from ullage.analysis.ceilings.machine_file import read_machine
    from ullage.importers import import_options, write_import
    from ullage.report.data import ReportData
    from ullage.report.html import write_report
    from ullage.runs.lifecycle import print_result
    from ullage.runs.summary import build_summary
    from ullage.terminal import print_line

    options = import_options(file, form, None if machine is None else read_machine(machine))
    folder = write_import(file, result, options, ["ullage", *sys.argv[1:]])
    summary = build_summary(folder)
    folder.write_summary(summary)
    write_report(folder, folder.report_path)
    print_result(ReportData(summary), shown_at_end(everything=everything, quiet=False))
    print_line(str(folder.path))


VERBS = (import_,)
