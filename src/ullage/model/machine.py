# SPDX-License-Identifier: Apache-2.0
"""machine.toml: what the datasheets say of a machine. Plain SI numbers here; a file may say ``"2.3GHz"``.

What is left out is not declared. ``ceilings/machine_file.py`` reads the file, ``ceilings/declared.py`` makes ceilings.
"""

import re
from typing import Annotated, Final

from pydantic import Field, StringConstraints, model_validator

from ullage.model.base import Strict, doc

_KERNEL: Final = r"^[a-z0-9]+(/[a-z0-9]+/[a-z]+)?$"

Count = Annotated[int, Field(ge=1, le=1 << 31)]
Amount = Annotated[float, Field(gt=0, le=1e18)]
Kernel = Annotated[str, StringConstraints(pattern=_KERNEL)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=re.compile(r"^[^\x00-\x1f]+$"))]


class DeclaredCpu(Strict):
    """The processors as their datasheet describes them.

    ``cores`` are those of all sockets; ``smt``: hardware threads of a core.
    """

    sockets: Count | None = None
    cores: Count | None = None
    smt: Count | None = None
    clock_hz: Annotated[Amount | None, doc("of all cores under load")] = None
    all_core_ghz: Annotated[Amount | None, doc("the same in GHz")] = None
    flops_per_cycle: Annotated[
        dict[Kernel, Amount],
        doc("operations a core can do in a cycle, by isa/type/operation or by type; an FMA is 2 a lane"),
    ] = {}

    @model_validator(mode="after")
    def _one_clock(self) -> "DeclaredCpu":
        if self.clock_hz is not None and self.all_core_ghz is not None:
            raise ValueError("clock_hz and all_core_ghz say the same: name one of them")
        return self

    @property
    def hz(self) -> float | None:
        """The clock, by whichever name it was given."""
        return self.clock_hz if self.all_core_ghz is None else self.all_core_ghz * 1e9


class DeclaredMemory(Strict):
    """The memory as its datasheet describes it.

    ``bandwidth`` in bytes/s; else it is channels x transfers/s x 8 bytes, all sockets together.
    """

    channels: Count | None = None
    transfers_per_s: Amount | None = None
    bandwidth: Amount | None = None
    latency_s: Annotated[Amount | None, doc("of a load that no cache serves")] = None


class DeclaredDrive(Strict):
    """A device by the name of its target, or by a folder that lies on it. bytes/s, operations/s, s."""

    target: Name | None = None
    path: Name | None = None
    read: Amount | None = None
    write: Amount | None = None
    read_iops: Amount | None = None
    write_iops: Amount | None = None
    latency_s: Amount | None = None

    @model_validator(mode="after")
    def _one_place(self) -> "DeclaredDrive":
        if (self.target is None) == (self.path is None):
            raise ValueError("a drive has either target or path")
        if self.path is not None and not self.path.startswith("/"):
            raise ValueError("path must begin with /")
        return self


class DeclaredNetwork(Strict):
    """A link by the name of its interface. ``rate`` in bytes/s and one direction."""

    name: Name
    rate: Amount | None = None
    latency_s: Amount | None = None


class MachineFile(Strict):
    """All that was declared."""

    cpu: DeclaredCpu = DeclaredCpu()
    memory: DeclaredMemory = DeclaredMemory()
    drive: list[DeclaredDrive] = []
    network: list[DeclaredNetwork] = []
