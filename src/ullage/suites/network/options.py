# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``network``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, Self, cast

from pydantic import Field, model_validator

from ullage.model.plan import Target
from ullage.runs.kernels.options import CaseOptions
from ullage.runs.options.declared import RANKS, Change, OfEngine, Option, declared
from ullage.runs.options.groups import MachineOptions, PeerOptions
from ullage.runs.options.kinds import Kind, Number, Size
from ullage.runs.options.model import OptionError

Protocol = Literal["tcp", "udp"]
LINK: Final = Target(name="network", uri="link:")
WORKLOAD: Final = "sockets"
LOCAL: Final = ("unix", "pipe")
"""Ways of the kernel between two processes of a node, without a network: what bounds TCP and UDP there."""
# These parameters tell cases from each other.
TOLD: Final = ("mode", "protocol", "block_bytes", "streams", "direction", "no_delay", "zero_copy")
LARGEST_DATAGRAM: Final = 65507
# A datagram of a stream begins with its number and stamp.
LEAST_DATAGRAM: Final = 16

# A run with less time than this has the cases of a first look.
_SMALL_S: Final = 60.0
_QUICK_SECONDS: Final = 0.25
_USUAL_SECONDS: Final = 1.0
_LEAST_SECONDS: Final = 0.05
# Connecting, warming up and the engine take this time around each repetition of a case.
_AROUND_SHARE: Final = 0.3
_AROUND_S: Final = 0.1
_CASES: Final = {True: 9, False: 33}


class NetworkOptions(PeerOptions, MachineOptions, CaseOptions):
    """What the suite ``network`` is asked for; sizes are in bytes.

    ``seconds``: how long each stream is measured. ``small``: whether only the few cases of a first look are measured.
    ``nodes``: how many nodes the ranks are on, one on each; 1: two ranks on this node. null: hosts or batch job say it,
    and it is found when a run is prepared.
    """

    workload = WORKLOAD
    at = (LINK,)
    uses_hosts: ClassVar[bool] = True
    changes = {
        "time_s": Change("Limit the time of all measurements, other tools included."),
        "quick": Change("Take a first look in 10 s: fewer cases, each shorter."),
        "peer": Change("Do not run iperf3, sockperf and ping for comparison, even if they are installed."),
    }

    protocols: Annotated[
        list[Protocol], Option("Measure these protocols: tcp, udp or both.", usual="tcp,udp", order=RANKS)
    ]
    blocks: Annotated[list[int], OfEngine("block_bytes", name="--block", usual="1K,32K", quick="32K")]
    streams: Annotated[list[int], OfEngine(usual="1,2,4,8", quick="1,4")]
    seconds: Annotated[float, Field(ge=0.01), Number(), OfEngine(unsaid="1, or what --time allows")] = _USUAL_SECONDS
    window: Annotated[
        int | None,
        Field(ge=1024, le=1 << 30, description="socket buffers; null: the kernel chooses"),
        Size(),
        Option("Set the socket buffers of streams to this size, in both directions.", unsaid="the kernel's choice"),
    ] = None
    interface: Annotated[
        str,
        Kind(metavar="NAME"),
        Option("Use the addresses of this interface.", unsaid="the interface of the route; on one node the loopback"),
    ] = ""
    ipv6: Annotated[bool, Option("Use IPv6 instead of IPv4.")] = False
    both_ways: Annotated[bool, Option("Send streams in both directions at the same time.")] = False
    bind: Annotated[bool, Option("Bind ranks to cores. Otherwise the system chooses their cores.")] = False
    small: bool = False
    nodes: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Use this many nodes, an even number of them.", unsaid="those of --hosts or of the batch job", order=RANKS
        ),
    ] = None

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Reduce the cases to those of a first look where time is short, and make each as short as it has to be."""
        quick, time_s = bool(said.get("quick")), cast("float | None", said.get("time_s"))
        small = quick or (time_s is not None and time_s < _SMALL_S)
        values = super().settle(said)
        if small:
            few = {field: one for field, one in declared(cls).items() if field in ("blocks", "streams")}
            values |= {field: one.read(one.option.quick) for field, one in few.items() if field not in said}
        repetitions = cast("int", values["repetitions"])
        usual = _QUICK_SECONDS if quick else _USUAL_SECONDS
        seconds = usual if time_s is None else _seconds(time_s, repetitions, usual, small=small)
        return {"seconds": seconds, "small": small, **values}

    @model_validator(mode="after")
    def _datagrams_are_no_larger_than_they_can_be(self) -> Self:
        bad = next((size for size in self.blocks if not LEAST_DATAGRAM <= size <= LARGEST_DATAGRAM), None)
        if bad is not None and "udp" in self.protocols:
            what = f"a datagram of a stream has {LEAST_DATAGRAM} to {LARGEST_DATAGRAM} bytes, not {bad}"
            raise OptionError("blocks", what, "or leave udp out: --protocols tcp")
        return self


def _seconds(time_s: float, repetitions: int, usual: float, *, small: bool) -> float:
    """Return the measured time of a repetition in s, so that all fit into ``time_s``, at most ``usual``."""
    share = time_s / repetitions / _CASES[small] - _AROUND_S
    return min(usual, max(_LEAST_SECONDS, round(share / (1 + _AROUND_SHARE), 3)))
