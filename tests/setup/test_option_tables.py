# SPDX-License-Identifier: Apache-2.0
"""The tables of options in the documentation are those of the models."""

from pathlib import Path

import pytest

from option_tables import main, option_table, pages, tables_in, with_tables
from ullage.runs.suite import all_suites, find_suite, load_suites
from ullage.suites.sweep.cells import SweepOptions

DOCS = Path(__file__).parents[2] / "docs"


def test_every_suite_has_its_options_in_the_documentation_once() -> None:
    found = [suite for _, text in pages(DOCS) for suite in tables_in(text)]
    assert len(found) == len(set(found))
    assert set(load_suites()) <= set(found) <= set(all_suites())


@pytest.mark.parametrize("path", [path for path, _ in pages(DOCS)], ids=lambda path: path.stem)
def test_the_tables_are_as_the_models_are(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == with_tables(text, lambda name: find_suite(name).options), "run: python scripts/option_tables.py"


def test_a_row_says_how_an_option_is_typed_and_what_is_taken_without_it() -> None:
    rows = option_table(SweepOptions).splitlines()
    assert (
        "| `--block AXIS` | Transfer blocks of these sizes, for example 128K,1M or 128K:16M:x2. | 128K:8M:x4 |" in rows
    )
    assert any(row.startswith("| `--target [NAME=]PATH` |") and row.endswith("| required |") for row in rows)
    assert any(row.startswith("| `--weak` |") and row.endswith("|  |") for row in rows)


def test_a_table_is_written_between_its_marks_and_nothing_else_is_changed(tmp_path: Path) -> None:
    page = tmp_path / "sub" / "page.md"
    page.parent.mkdir()
    page.write_text("# Head\n<!-- options of noise -->\nold\n<!-- end of options -->\ntail\n")
    (tmp_path / "other.md").write_text("none here\n")
    main(tmp_path)
    text = page.read_text()
    assert text.startswith("# Head\n<!-- options of noise -->\n| option |")
    assert "old" not in text
    assert text.endswith("<!-- end of options -->\ntail\n")
    assert (tmp_path / "other.md").read_text() == "none here\n"
