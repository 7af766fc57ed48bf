# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``network`` in their own types, as they stand in request.json."""

from typing import Annotated, Final, Literal

from pydantic import Field

from ullage.runs.kernels.options import CaseOptions

Protocol = Literal["tcp", "udp"]
PROTOCOLS: Final[tuple[Protocol, ...]] = ("tcp", "udp")
LARGEST_DATAGRAM: Final = 65507
# A datagram of a stream has its number and stamp in front.
LEAST_DATAGRAM: Final = 16
LARGEST_BLOCK: Final = 1 << 30
MOST_STREAMS: Final = 256


class NetworkOptions(CaseOptions):
    """Sizes in bytes. ``seconds``: of each stream that are measured. ``small``: the few cases of a first look.

    ``nodes``: that the ranks are on, one on each; 1: two ranks here. null: as hosts and batch job say, found when a run
    is prepared.
    """

    protocols: Annotated[list[Protocol], Field(min_length=1)]
    blocks: Annotated[list[Annotated[int, Field(ge=1, le=LARGEST_BLOCK)]], Field(min_length=1)]
    streams: Annotated[list[Annotated[int, Field(ge=1, le=MOST_STREAMS)]], Field(min_length=1)]
    seconds: Annotated[float, Field(ge=0.01, le=3600)] = 1.0
    window: Annotated[int, Field(ge=1024, le=1 << 30, description="socket buffers; null: the kernel's")] | None = None
    interface: str = ""
    ipv6: bool = False
    both_ways: bool = False
    bind: bool = False
    small: bool = False
    nodes: Annotated[int, Field(ge=1)] | None = None
