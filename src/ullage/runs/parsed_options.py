# SPDX-License-Identifier: Apache-2.0
"""What is asked of a suite, ready for its request. Imported for every command: nothing heavy up here."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ullage.model.plan import Target


@dataclass(frozen=True)
class ParsedOptions:
    """``options`` is JSON, the suite's own."""

    targets: "list[Target]"
    options: dict[str, object]
