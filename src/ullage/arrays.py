# SPDX-License-Identifier: Apache-2.0
"""numpy, imported so that its linear algebra uses one thread.

Our matrices have some hundred rows. On them the threads of a BLAS wait for each other longer than they calculate, and
they wait awake, on cores that ranks measure with. The libraries read these variables once, when they are loaded; then
they get back what they had, because programs that we start inherit them.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

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


with _one_thread():
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["NDArray", "np"]
