# SPDX-License-Identifier: Apache-2.0
"""Write the tables of options in the documentation anew, after an option was added or changed."""

import sys
from pathlib import Path

from ullage.runs.options.pages import pages, with_tables
from ullage.runs.suite import find_suite

DOCS = Path(__file__).parent.parent / "docs"


def main(folder: Path) -> None:
    """Of all pages below ``folder``."""
    for path, text in pages(folder):
        path.write_text(with_tables(text, lambda name: find_suite(name).options), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS)
