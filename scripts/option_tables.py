# SPDX-License-Identifier: Apache-2.0
"""Write the tables of options in the documentation anew from the models, after an option was added or changed.

A page has a table between ``<!-- options of SUITE -->`` and ``<!-- end of options -->``.
"""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from ullage.runs.options.declared import Declared, declared
from ullage.runs.options.model import SuiteOptions
from ullage.runs.suite import find_suite

DOCS: Final = Path(__file__).parent.parent / "docs"
_TABLE: Final = re.compile(r"(<!-- options of (?P<suite>[\w-]+) -->\n).*?(<!-- end of options -->)", re.DOTALL)


def option_table(model: type[SuiteOptions]) -> str:
    """Write a row for each option, in the order of the help."""
    rows = [
        f"| `{_cell(_typed(one))}` | {_cell(one.option.help)} | {_cell(_default(one))} |"
        for one in declared(model).values()
    ]
    return "\n".join(["| option | what it does | default |", "|---|---|---|", *rows])


def _typed(one: Declared) -> str:
    return one.name if one.is_flag or one.option.argument else f"{one.name} {one.metavar}"


def _default(one: Declared) -> str:
    usual = one.shown_default or one.option.usual or one.option.unsaid or (one.usual if one.option.quick else "")
    quick = f"; with `--quick` {one.option.quick}" if one.option.quick else ""
    return "required" if one.option.required else f"{usual}{quick}"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def tables_in(text: str) -> list[str]:
    """Return the suites whose options a page has."""
    return [match["suite"] for match in _TABLE.finditer(text)]


def with_tables(text: str, model_of: Callable[[str], type[SuiteOptions]]) -> str:
    """Return a page with its tables as they should be. ``model_of``: the options of a suite by its name."""

    def made(match: re.Match[str]) -> str:
        return f"{match[1]}{option_table(model_of(match['suite']))}\n{match[3]}"

    return _TABLE.sub(made, text)


def pages(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the pages below ``folder`` that have such a table, and their text."""
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if tables_in(text):
            yield path, text


def main(folder: Path) -> None:
    """Write the tables of all pages below ``folder``."""
    for path, text in pages(folder):
        path.write_text(with_tables(text, lambda name: find_suite(name).options), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS)
