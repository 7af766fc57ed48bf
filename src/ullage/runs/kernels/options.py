# SPDX-License-Identifier: Apache-2.0
"""Options that every suite of work without storage has, and what it measures, as targets."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

from pydantic import Field

from ullage.model.machine import MachineFile
from ullage.model.plan import Target
from ullage.runs.options.declared import RANKS, REPETITIONS, Option
from ullage.runs.options.groups import QuickOptions, SeedOptions, TimeOptions, WatchdogOptions
from ullage.runs.options.kinds import ALL, ThreadAxis
from ullage.runs.options.model import SuiteOptions

if TYPE_CHECKING:
    from ullage.runs.kernels.resources import Resources

CPU: Final = Target(name="cpu", uri="cpu:")
MEMORY: Final = Target(name="memory", uri="mem:")
MPI: Final = Target(name="mpi", uri="mpi:")


class CaseOptions(TimeOptions, QuickOptions, SeedOptions, WatchdogOptions):
    """Options of suites whose cases need no storage.

    ``peer`` and ``machine`` are options of the suites that have such (``PeerOptions``, ``MachineOptions``).
    """

    repetitions: Annotated[
        int, Field(ge=1), Option("Repeat every case this often.", usual="6", quick="3", order=REPETITIONS)
    ] = 6
    peer: bool = False
    machine: MachineFile | None = None


class MessagePagesOptions(SuiteOptions):
    """The option for the pages of message buffers."""

    pages: Annotated[
        Literal["default", "small", "huge"],
        Option("Place message buffers in pages of this kind: small, huge, or the system's default."),
    ] = "default"


class KernelOptions(CaseOptions):
    """Options of suites whose cases have a number of threads. ``threads``: counts to measure with, rising."""

    threads: Annotated[
        list[Annotated[int, Field(ge=1, le=4096)]],
        ThreadAxis(),
        Option(
            "Measure with these numbers of threads, for example 1,2,all or 1:8:x2.",
            unsaid="powers of 2 up to the number of cores, and all cores",
            order=RANKS,
        ),
    ]

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Settle what ``all`` means here, and the thread counts where nothing was said."""
        from ullage.runs.kernels.resources import read_resources

        asked = cast("Sequence[int | str] | None", said.get("threads"))
        counts = thread_counts(asked, read_resources(), quick=bool(said.get("quick")))
        return super().settle({**said, "threads": counts})


def thread_counts(asked: "Sequence[int | str] | None", resources: "Resources", *, quick: bool = False) -> list[int]:
    """Return the thread counts that are ``asked``, rising; raise ``UserError`` for more than CPUs.

    By default they are the powers of 2 up to all, and all; with ``quick`` 1 and all.
    """
    if asked is None:
        powers = [1] if quick else [1 << power for power in range(resources.threads.bit_length())]
        return sorted({*powers, resources.threads})
    counts = sorted({resources.threads if count == ALL else int(count) for count in asked})
    resources.check(counts)
    return counts
