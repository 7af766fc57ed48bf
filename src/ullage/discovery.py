# SPDX-License-Identifier: Apache-2.0
"""What packages hold, found by walking them: adding a verb, a metric, a peer or a suite's report is adding a file.

Nothing here knows a suite by name: what a suite brings to a layer below it is found here and never imported there.
"""

import importlib
import pkgutil
from collections.abc import Collection, Iterable
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

SUITES: Final = "ullage.suites"


def modules_in(package: str) -> list[ModuleType]:
    """Import the modules and packages directly in ``package``, sorted by name; those that begin with _ are private."""
    return [importlib.import_module(f"{package}.{name}") for name in _names_in(package)]


def suite_modules(member: str, suites: Collection[str] | None = None) -> list[ModuleType]:
    """Import ``ullage.suites.X.<member>`` of all suites that have it, in the order of the suites' names.

    ``suites``: of these alone, which saves a fifth of the processor time of a short run. Where one of them has no such
    module, its rows may be of any kind, as those of a translated command line are, and all suites are taken.
    """
    places = _places(member)
    if suites is not None and all(name in places for name in suites):
        return [importlib.import_module(place) for name, place in places.items() if name in suites]
    return [importlib.import_module(place) for place in places.values()]


@cache
def _places(member: str) -> dict[str, str]:
    """Return the module of each suite that has ``member``. A report asks many times."""
    places = {name: f"{SUITES}.{name}.{member}" for name in _names_in(SUITES)}
    return {name: place for name, place in places.items() if find_spec(place) is not None}


def gathered(modules: Iterable[ModuleType], name: str) -> list[Any]:
    """Return all items of the tuples that ``modules`` have under ``name``, in the order of the modules.

    A module with one item alone has that under the singular of ``name``, without its ``S``.
    """
    one = name.removesuffix("S")
    every = ((vars(module).get(name), vars(module).get(one)) for module in modules)
    return [item for items, alone in every for item in (items or ([] if alone is None else [alone]))]


@cache
def _names_in(package: str) -> list[str]:
    """Return the names of what is in ``package``. A run asks some thirty times."""
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return sorted(info.name for info in found if not info.name.startswith("_"))
