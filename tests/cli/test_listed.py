# SPDX-License-Identifier: Apache-2.0
"""Help texts that list what a registry has."""

from collections.abc import Callable, Iterable

import pytest

from ullage.cli.app import run
from ullage.exporters import load_exporters
from ullage.importers import load_importers
from ullage.launch import batch_systems, launcher_names
from ullage.report.comparison_text import FORMS

LAUNCHERS = ("run sweep", "plan io500", "resume", "tune sweep", "tune RESULT", "predict stepfile")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("import", load_importers),
        ("report", load_exporters),
        ("compare", lambda: FORMS),
        *((words, lambda: [*launcher_names(), *batch_systems()]) for words in LAUNCHERS),
    ],
)
def test_the_help_lists_what_the_registry_has(
    words: str, names: Callable[[], Iterable[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words.split(), "--help"]) == 0
    # Long words are broken at their hyphens.
    shown = "".join(capsys.readouterr().out.split())
    assert [name for name in names() if name not in shown] == []
    assert not any(f"<{mark}>" in shown for mark in ("importers", "exporters", "comparisons", "launchers", "systems"))
