# SPDX-License-Identifier: Apache-2.0
"""Backend ``hdf5`` as the engine describes it, with some of its parameters, for tests that start no engine."""

from support.simulated_engine import parameter
from ullage.model.describe import Parameter, Registered


def hdf5_backend() -> Registered:
    """Return the backend."""
    parameters = [
        parameter("collective", "flag", False),
        parameter("collective_metadata", "flag", False),
        parameter("chunk_bytes", "bytes", 0),
        parameter("alignment_bytes", "bytes", 1, minimum=1),
        parameter("hints", "map", {}),
    ]
    return Registered(
        name="hdf5",
        doc="parallel HDF5",
        available=True,
        capabilities=["path", "data", "arrays"],
        parameters=[Parameter.model_validate(one) for one in parameters],
    )
