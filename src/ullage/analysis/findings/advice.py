# SPDX-License-Identifier: Apache-2.0
"""What can be set on the command line of the suite that a finding is of: advice names no other option."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ullage.model.plan import Scalar
from ullage.quantity import format_param

_TARGET: Final = "target"


@dataclass(frozen=True, slots=True)
class Settable:
    """Says which options can set what a finding advises.

    ``options``: as typed. ``by_parameter``: which option sets a parameter of rows.

    ``targets``: what is typed for a target, by its name. All are empty for rows that no suite made, as of an import.

    ``cores``: those of a node that ranks may use; 0: not known.
    """

    options: frozenset[str] = frozenset()
    by_parameter: Mapping[str, str] = field(default_factory=dict[str, str])
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    cores: int = 0

    def has_room(self, ranks: int, nodes: int) -> bool:
        """Tell whether so many ranks have a core each, as far as is known: nobody is told to test more."""
        return not self.cores or ranks <= self.cores * nodes

    def change(self, parameters: Mapping[str, Scalar]) -> str:
        """Write options, and settings that have none, for ``parameters``: ``--ranks 4 --block 1M order=random``."""
        return " ".join(self._one(name, value) for name, value in parameters.items())

    def can_set(self, parameters: Mapping[str, Scalar]) -> bool:
        """Tell whether each of ``parameters`` has an option; True for rows of no suite, whose options are unknown."""
        return not self.options or all(name in self.by_parameter for name in parameters)

    def aside(self, option: str, value: str = "") -> str:
        """Return `` (--block)``, or `` (--extend ranks)`` with ``value``; empty where the suite has no such option."""
        return f" ({f'{option} {value}'.rstrip()})" if option in self.options else ""

    def _one(self, name: str, value: Scalar) -> str:
        text = self.targets.get(str(value), str(value)) if name == _TARGET else format_param(name, value)
        option = self.by_parameter.get(name)
        return f"{option} {text}" if option else f"{name.removesuffix('_bytes')}={text}"


NOTHING_SETTABLE: Final = Settable()
