# SPDX-License-Identifier: Apache-2.0
"""What a test looks through is there: a loop over nothing would pass."""

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def some(found: Iterable[T]) -> list[T]:
    """Return what was found as a list; fail where it is empty."""
    listed = list(found)
    assert listed, "there is nothing to look at"
    return listed
