# SPDX-License-Identifier: Apache-2.0
"""Cores that this process may use: its affinity and the quota of its control group, never what the machine has."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ullage.errors import UserError
from ullage.runs.session import Note
from ullage.system.hardware import usable_cores, usable_cpus
from ullage.system.limits import read_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

# A quota of 1.9 of 2 cores throttles little; a lower one takes a core's worth of time away.
_WHOLE: Final = 0.99


@dataclass(frozen=True, slots=True)
class Resources:
    """The processors that a run may use.

    ``cpus``: logical ones allowed; ``cores``: physical ones of them; ``quota``: CPUs' worth of time, None: all.
    """

    cpus: int
    cores: int
    quota: float | None

    @property
    def threads(self) -> int:
        """What ``all`` means: a thread a core, and no more than the quota lets run all the time."""
        whole = self.cores if self.quota is None else int(self.quota / _WHOLE)
        return max(1, min(self.cores, whole))

    def check(self, counts: "Sequence[int]") -> None:
        """Raise ``UserError`` for more threads than CPUs: they would share some, and that would be measured."""
        most = max(counts)
        if most > self.cpus:
            what = f"{most} threads, but only {self.cpus} usable CPU{'s' if self.cpus > 1 else ''}"
            raise UserError(what, "--threads", f"at most {self.cpus}, or 'all'")

    def notes(self) -> tuple[Note, ...]:
        """Return notes on what makes numbers smaller than the hardware's."""
        if self.quota is None or self.quota >= _WHOLE * self.cores:
            return ()
        text = f"a control group allows {self.quota:g} CPUs' worth of time on {self.cores} usable cores"
        advice = f"'all' means {self.threads} here; throttled windows show as low rates and clocks"
        return (Note("cpu-quota", text, advice),)


def read_resources() -> Resources:
    """Read the resources of this process."""
    cpus = len(usable_cpus())
    return Resources(cpus, usable_cores() or cpus, read_limits().cpu_quota)
