# SPDX-License-Identifier: Apache-2.0
"""What is measured without storage, as targets."""

from typing import Final

from ullage.model.plan import Target

CPU: Final = Target(name="cpu", uri="cpu:")
MEMORY: Final = Target(name="memory", uri="mem:")
MPI: Final = Target(name="mpi", uri="mpi:")
