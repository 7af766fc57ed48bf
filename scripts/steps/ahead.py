# SPDX-License-Identifier: Apache-2.0
"""Builds of later legs, with what the steps before them leave of the processors."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self

from steps.process import StepError


class BuildsAhead:
    """Builds presets one after the other in the background, from entering the context on.

    ``build`` is called from another thread. A build that fails is left to whoever needs it: it fails there again.
    """

    def __init__(self, presets: Sequence[str], build: Callable[[str], None]) -> None:
        self._presets = presets
        self._build = build
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._builds: dict[str, Future[None]] = {}

    def __enter__(self) -> Self:
        return self

    def start(self) -> None:
        """Begin, or do nothing where that was done."""
        if not self._builds:
            self._builds = {preset: self._pool.submit(self._try, preset) for preset in self._presets}

    def wait_for(self, preset: str) -> None:
        """Return when ``preset`` is built, or was tried, or was never to be built here."""
        if preset in self._builds:
            wait([self._builds[preset]])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _try(self, preset: str) -> None:
        try:
            self._build(preset)
        except StepError:
            return
