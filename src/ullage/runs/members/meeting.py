# SPDX-License-Identifier: Apache-2.0
"""Who waits at which stage, and who may go on. Pure: the time is an argument."""

from collections.abc import Iterable


class Stages:
    """All nodes of a run, and how far each is.

    A stage comes after all that were reached before it by anybody. Nodes wait ``patience_s`` for each other at most,
    from the arrival of the first.
    """

    def __init__(self, nodes: Iterable[str], patience_s: float) -> None:
        self._reached = dict.fromkeys(nodes, -1)
        self._waiting: dict[str, str] = {}
        self._order: list[str] = []
        self._first: dict[str, float] = {}
        self._patience_s = patience_s

    def arrive(self, node: str, stage: str, now: float) -> None:
        """Take note that ``node`` waits at ``stage``."""
        if stage not in self._order:
            self._order.append(stage)
        self._first.setdefault(stage, now)
        if node in self._reached:
            self._reached[node] = max(self._reached[node], self._order.index(stage))
            self._waiting[node] = stage

    def leave(self, node: str) -> None:
        """Take note that nobody waits for ``node`` any more."""
        self._reached.pop(node, None)
        self._waiting.pop(node, None)

    def released(self, now: float) -> list[tuple[str, str]]:
        """Return the nodes that may go on, each with its stage, and forget that they wait."""
        found = [(node, stage) for node, stage in self._waiting.items() if self._may_go(stage, now)]
        for node, _ in found:
            del self._waiting[node]
        return found

    def _may_go(self, stage: str, now: float) -> bool:
        place = self._order.index(stage)
        if now - self._first[stage] >= self._patience_s:
            return True
        return all(reached >= place for reached in self._reached.values())
