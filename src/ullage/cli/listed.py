# SPDX-License-Identifier: Apache-2.0
"""Names of registries in help texts: ``<exporters>`` in a help text stands for the names of all exporters.

The registries are looked at when help is shown: at each start of the program that would take too long.
"""

import importlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from typer.core import TyperCommand

# What gives the names, or has them as its keys.
_REGISTRIES: Final[Mapping[str, tuple[str, str]]] = {
    "<exporters>": ("exporters", "load_exporters"),
    "<importers>": ("importers", "load_importers"),
    "<comparisons>": ("report.comparison_text", "FORMS"),
    "<launchers>": ("launch", "launcher_names"),
    "<systems>": ("launch", "batch_systems"),
}


def list_names(command: Any) -> None:  # noqa: ANN401 - typer's own are not exported
    """Write the names of registries into the help texts of the options of ``command``."""
    for one in command.params:
        for mark in [mark for mark in _REGISTRIES if mark in (getattr(one, "help", "") or "")]:
            *names, last = _names(*_REGISTRIES[mark])
            one.help = one.help.replace(mark, f"{', '.join(names)} or {last}")


def _names(module: str, name: str) -> Iterable[str]:
    found = getattr(importlib.import_module(f"ullage.{module}"), name)
    return cast("Iterable[str]", found() if callable(found) else found)


class ListedCommand(TyperCommand):
    """A command whose help lists names of registries."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own are not exported
        """Write the options with the names in their help."""
        list_names(self)
        super().format_options(ctx, formatter)
