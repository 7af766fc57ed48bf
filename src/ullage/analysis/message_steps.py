# SPDX-License-Identifier: Apache-2.0
"""Rungs that several suites of messages have: from one copy of the bytes to what the MPI makes of them. Pure."""

from typing import Final

from ullage.analysis.ceilings.messages import COPY, LINE, Copiers
from ullage.analysis.ladders import Picks, Step, Words, itself
from ullage.model.summary import Row

_IN_PIECES: Final = (
    "The MPI moves messages in pieces through memory of its own, or agrees on them before, where one copy would do"
)
_MATCHING: Final = (
    "The MPI's own work on a small message: matching, queues and copies, where one cache line has to move"
)
_SINGLE_COPY: Final = (
    "Let the MPI copy a message once, out of the sender's memory: by CMA, XPMEM or KNEM. CMA needs the right to read "
    "the memory of another process of the user (kernel.yama.ptrace_scope=0; in a container the capability SYS_PTRACE)."
)
_SINGLE_COPY_COMMAND: Final = (
    "OMPI_MCA_btl_vader_single_copy_mechanism=cma (Open MPI 4), OMPI_MCA_smsc=xpmem,cma (Open MPI 5), "
    "MPIR_CVAR_CH4_CMA_ENABLE=1 (MPICH)"
)
THROUGH_LOOPBACK: Final = "the bytes passed the loopback device: the MPI sends by TCP within the node"
_BY_TCP: Final = "The MPI sends by TCP within a node, not through shared memory"
_NOT_BY_TCP: Final = "Let the MPI use shared memory between the ranks of a node."
_NOT_BY_TCP_COMMAND: Final = "OMPI_MCA_btl=self,vader (Open MPI 4), self,sm (Open MPI 5), MPIR_CVAR_NOLOCAL=0 (MPICH)"
_EAGER: Final = "Bind each rank to a core of its own, and let the MPI use shared memory between the ranks of a node."
BINDING: Final = "OMPI_MCA_hwloc_base_binding_policy=core (Open MPI), mpiexec -bind-to core (MPICH)"


def copies_of(row: Row, other: Row, copiers: Copiers) -> bool:
    """Tell whether ``other`` is one copy of the bytes of ``row`` by ``copiers`` of the same ranks."""
    same = (row.ranks, row.count("message_bytes")) == (other.ranks, other.count("message_bytes"))
    return other.metric == COPY and other.word("copiers") == copiers and same


def _either(by_tcp: str, usual: str) -> Words:
    return lambda _above, below: by_tcp if THROUGH_LOOPBACK in below.notes else usual


def protocol(copiers: Copiers, below: Picks = itself) -> Step:
    """Return the step from one copy by ``copiers`` to the same bytes as messages."""
    return Step(
        "mpi-protocol",
        _either(_BY_TCP, _IN_PIECES),
        lambda row, other: copies_of(row, other, copiers),
        below,
        advice=_either(_NOT_BY_TCP, _SINGLE_COPY),
        command=_either(_NOT_BY_TCP_COMMAND, _SINGLE_COPY_COMMAND),
        may_rank=True,
    )


def small_protocol(below: Picks = itself) -> Step:
    """Return the step from a cache line one way to a small message one way."""
    return Step(
        "mpi-protocol",
        _either(_BY_TCP, _MATCHING),
        lambda row, other: other.metric == LINE and other.ranks == row.ranks,
        below,
        advice=_either(_NOT_BY_TCP, _EAGER),
        command=_either(_NOT_BY_TCP_COMMAND, BINDING),
        may_rank=True,
    )
