# SPDX-License-Identifier: Apache-2.0
"""``ullage suites``: the benchmarks that can be run."""


def suites() -> None:
    """List the suites and the question that each one answers."""
    from ullage.runs.suite import load_suites
    from ullage.terminal import print_table

    rows = [(name, suite.doc.strip().partition("\n")[0]) for name, suite in load_suites().items()]
    print_table(("suite", "what it answers"), rows)
