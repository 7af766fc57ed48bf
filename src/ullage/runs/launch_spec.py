# SPDX-License-Identifier: Apache-2.0
"""What one launch of the engine is asked for, besides its cases."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LaunchSpec:
    """``turn``: the pass or round of the run that it belongs to, from 0, on which seeds depend.

    ``seconds``: that it may take, None: as long as it needs; ``repetitions`` of each case in all, least and most;
    ``continues``: with datasets that an earlier launch has left; ``keep``: it leaves its own for others.
    """

    turn: int
    records: str
    seconds: float | None = None
    repetitions: tuple[int, int] = (1, 1)
    continues: bool = False
    keep: bool = False
