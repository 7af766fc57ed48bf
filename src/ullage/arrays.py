# SPDX-License-Identifier: Apache-2.0
"""numpy, loaded when it is first used, so that its linear algebra uses one thread.

Our matrices have some hundred rows. On them the threads of a BLAS wait for each other longer than they calculate, and
they wait awake, on cores that ranks measure with. The libraries read these variables once, when they are loaded; then
they get back what they had, because programs that we start inherit them.
"""

import importlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Final

_THREADS: Final = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")


@contextmanager
def _one_thread() -> Generator[None]:
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Numpy(ModuleType):
    """Stands for numpy. Each name is looked up there once."""

    def __getattr__(self, name: str) -> object:
        with _one_thread():
            found = getattr(importlib.import_module("numpy"), name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = _Numpy("numpy")

    def __getattr__(name: str) -> object:
        """Return ``NDArray``, for annotations that are evaluated."""
        if name != "NDArray":
            raise AttributeError(name)
        with _one_thread():
            return importlib.import_module("numpy.typing").NDArray


__all__ = ["NDArray", "np"]
