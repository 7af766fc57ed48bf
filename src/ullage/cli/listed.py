# SPDX-License-Identifier: Apache-2.0
"""Names of registries in help texts: ``<exporters>`` in a help text stands for the names of all exporters.

The registries are looked at when help is shown: at each start of the program that would take too long.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from typer.core import TyperCommand


def _exporters() -> Iterable[str]:
    from ullage.exporters import load_exporters

    return load_exporters()


def _importers() -> Iterable[str]:
    from ullage.importers import load_importers

    return load_importers()


def _comparisons() -> Iterable[str]:
    from ullage.report.comparison_text import FORMS

    return FORMS


def _launchers() -> Iterable[str]:
    from ullage.launch import launcher_names

    return launcher_names()


def _systems() -> Iterable[str]:
    from ullage.launch import batch_systems

    return batch_systems()


_REGISTRIES: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "<exporters>": _exporters,
    "<importers>": _importers,
    "<comparisons>": _comparisons,
    "<launchers>": _launchers,
    "<systems>": _systems,
}


def list_names(command: Any) -> None:  # noqa: ANN401 - typer's own are not exported
    """Write the names of registries into the help texts of the options of ``command``."""
    for one in command.params:
        for mark in [mark for mark in _REGISTRIES if mark in (getattr(one, "help", "") or "")]:
            *names, last = _REGISTRIES[mark]()
            one.help = one.help.replace(mark, f"{', '.join(names)} or {last}")


class ListedCommand(TyperCommand):
    """A command whose help lists names of registries."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own are not exported
        """Write the options with the names in their help."""
        list_names(self)
        super().format_options(ctx, formatter)
