# SPDX-License-Identifier: Apache-2.0
"""What the engine says of itself (schema ``ullage.describe/1``)."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Tolerant, doc
from ullage.model.plan import Value

ParameterType: TypeAlias = Literal[
    "flag", "count", "bytes", "seconds", "rate", "number", "text", "choice", "choices", "map"
]


class Parameter(Tolerant):
    """One typed parameter. ``bytes`` and ``count`` are integers, ``seconds``, ``rate`` (bytes/s) and ``number`` floats,
    ``choices`` an ordered list of words from ``choices``, ``map`` an object of scalars."""

    name: str
    type: ParameterType
    unit: str = ""
    default: Value
    minimum: float | None = None
    maximum: float | None = None
    choices: list[str] = []
    doc: str


class Registered(Tolerant):
    """A backend, workload, probe or stop rule."""

    name: str
    doc: str
    available: bool
    reason: str | None = None
    capabilities: list[str] = []
    parameters: list[Parameter] = []

    def takes(self, name: str) -> bool:
        """Tell whether it has a parameter of that name."""
        return any(parameter.name == name for parameter in self.parameters)

    def most(self, name: str, otherwise: int = 1) -> int:
        """Return the most that capability ``name`` states, as in ``queue_depth=4096``."""
        said = (word.partition("=") for word in self.capabilities)
        return next((int(most) for key, _, most in said if key == name and most), otherwise)


class MpiBuild(Tolerant):
    """The MPI that the engine runs with."""

    family: Literal["openmpi", "mpich", "single", "other"]
    abi: Annotated[str, doc("binary interface that the program was made for; single: without MPI")] = ""
    library: str
    mpiexec: Annotated[str, doc("launcher that belongs to the library; empty: not known")] = ""
    why: Annotated[str, doc("why it was chosen, where the engine has several; else empty")] = ""


class AbiFound(Tolerant):
    """A binary interface of MPI that the engine knows, and the library for it here."""

    name: str
    library: Annotated[str, doc("file that would be loaded; empty: none, or without MPI")] = ""
    reason: Annotated[str | None, doc("why it cannot be used here")] = None


class MpiAbilities(Tolerant):
    """What calls of the MPI can do."""

    large_counts: Annotated[bool, doc("calls may move more than 2147483647 elements, as of version 4 of MPI")] = False
    abis: Annotated[list[AbiFound], doc("of an engine for several; empty: it has one")] = []


class EngineBuild(Tolerant):
    """How the engine was built."""

    version: str
    git: str
    compiler: str
    flags: str
    mpi: MpiBuild


class Describe(Tolerant):
    """Everything the engine offers."""

    schema_: Annotated[Literal["ullage.describe/1"], Field(alias="schema")]
    engine: EngineBuild
    mpi: MpiAbilities = MpiAbilities()
    backends: list[Registered]
    workloads: list[Registered]
    probes: list[Registered]
    stop_rules: list[Registered]


class Needs(Tolerant):
    """What a case needs at its fullest, as `needs` of the engine says. ``one_folder``: ranks use files of others."""

    bytes: int
    inodes: int
    one_folder: bool


class Device(Tolerant):
    """An accelerator as ``ullage-engine devices`` lists it; 0 and empty: its library does not say."""

    id: str
    name: str
    platform: str
    driver: str
    kind: str
    pci: str
    memory_bytes: int
    cache_bytes: int
    has_fp64: bool


class Devices(Tolerant):
    """The accelerators of this node, and for each library without any why it has none."""

    devices: list[Device]
    missing: list[str]

    @property
    def accelerators(self) -> list[Device]:
        """Those that are no CPUs, each once: a card may be shown by two libraries, and the first is asked."""
        found = [device for device in self.devices if device.kind != "cpu"]
        return list({device.pci or device.id: device for device in reversed(found)}.values())[::-1]

    @property
    def why_none(self) -> str:
        """One line for a node without accelerators."""
        cpus = [f"{device.id} is a CPU ({device.name})" for device in self.devices if device.kind == "cpu"]
        return f"no accelerator: {'; '.join([*self.missing, *cpus])}"
