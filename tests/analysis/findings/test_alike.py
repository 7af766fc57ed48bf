# SPDX-License-Identifier: Apache-2.0
"""Sentences on rows that differ in one parameter: what is proved, what cannot be told, and what is not compared."""

from support.make_records import make_row
from ullage.analysis.findings.alike import Faster
from ullage.model.summary import Row

LAYOUTS = Faster(
    "layouts",
    "layout",
    "--layout",
    title="{who} are faster with {way} on {target}",
    text="With {ranks}, {layout} reaches {value} and {other_layout} {other_value}: {each}.",
    way="layout {layout}",
    gained="{Way} has {factor} the rate.",
    untold=("No gain of {way}", "{which} is faster cannot be told."),
    numbers={"kind": "access"},
)
RATES = [2.0e9, 2.01e9, 1.99e9, 2.0e9, 2.02e9, 1.98e9]


def row(layout: str, scale: float, **more: str) -> Row:
    return make_row([scale * rate for rate in RATES], ranks=2, case=layout, params={"layout": layout, **more})


def said(*rows: Row, rule: Faster = LAYOUTS) -> list[tuple[str, str, str]]:
    found = rule.findings(rows, 0.95, lambda row: {"who": f"{row.access}s"})
    return [(one.title, one.text, one.severity) for one in found]


def test_the_best_is_named_with_its_factor_and_the_option_that_sets_it() -> None:
    (found,) = LAYOUTS.findings([row("old", 1), row("new", 2)], 0.95, lambda row: {"who": f"{row.access}s"})
    assert found.title == "writes are faster with layout new on disk"
    assert found.text.startswith("With 2 ranks, new reaches 4.00 GB/s and old 2.00 GB/s: 4.00 GB/s (layout new) and ")
    assert found.text.endswith("Layout new has 2.00 x the rate.")
    assert found.numbers == {"case": "new", "other": "old", "kind": "write"}
    assert found.change == "--layout new"


def test_what_cannot_be_told_is_said_only_where_there_are_words_for_it() -> None:
    alike = [row("old", 1), row("new", 1.001), row("third", 0.999)]
    ((title, text, severity),) = said(*alike)
    assert (title, severity) == ("No gain of layout new", "info")
    assert text.endswith("Which of the first two is faster cannot be told.")
    quiet = Faster("layouts", "layout", "--layout", LAYOUTS.title, LAYOUTS.text, LAYOUTS.way)
    assert said(*alike, rule=quiet) == []


def test_rows_that_differ_in_more_are_not_compared_unless_it_goes_with_the_parameter() -> None:
    differ = [row("old", 1, backend="a"), row("new", 2, backend="b")]
    assert said(*differ) == []
    goes_with = Faster("k", "layout", "--layout", "{layout}", "{backend}", goes_with=("backend",))
    assert said(*differ, rule=goes_with) == [("new", "b", "advice")]
