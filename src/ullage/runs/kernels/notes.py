# SPDX-License-Identifier: Apache-2.0
"""What a reader of a run must know besides its numbers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Something of the run that is not as one might expect. ``code`` is stable."""

    code: str
    text: str
    advice: str
