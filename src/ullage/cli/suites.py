# SPDX-License-Identifier: Apache-2.0
"""``ullage suites``: the benchmarks that can be run."""

import typer


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command(name="suites")(suites)


def suites() -> None:
    """List the suites."""
    from ullage.cli.terminal import print_table
    from ullage.runs.suite import load_suites

    rows = [(name, suite.doc.strip().partition("\n")[0]) for name, suite in load_suites().items()]
    print_table("", ("suite", "what it answers"), rows)
