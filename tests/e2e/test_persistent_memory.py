# SPDX-License-Identifier: Apache-2.0
"""Persistent memory and two NUMA nodes, on an emulated machine with Debian's kernel: what is granted, what survives a
reset in the middle of a write, and where ranks and their memory are. No speed is measured there.
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest
from tests.e2e.launching import KIB, Document

import ullage
from ullage.engine import describe
from ullage.identity import case_id
from ullage.model.plan import Case, Layout, Limits, Named, Plan, Target
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.results.records import AnyRecord, read_records

_SCRIPT = Path(__file__).parent.parent / "places" / "virtual_machine.sh"
_FOLDER = Path(__file__).parent.parent.parent / "build" / "virtual-machine"
_LONGEST_S = 900
pytestmark = pytest.mark.timeout(3 * _LONGEST_S)
_MISSING = 98
_DATASETS = 200
_CONFIRMED = 20  # so many are written before the reset
_RANKS = 2  # one on each NUMA node
_DEVDAX_BYTES = 128 << 20
_DEVICE = "/dev/bare-dax"
# The kernel numbers persistent memory as it likes, so each device is found by its NUMA node. That on node 1 has a file
# system with DAX, which is of an earlier start where there is one. That on node 0 has none, and a name of ours in /dev.
# Nothing loads modules by itself there: nd_pmem drives the first, dax_pmem and device_dax the second.
_PREPARE = """
set -e
for module in nfit nd_pmem dax_pmem device_dax ext4; do modprobe -C /dev/null -d {kernel} $module; done
number_on() {{ grep -lx "$1" /sys/bus/nd/devices/region*/numa_node | sed 's|.*/region\\([0-9]*\\)/.*|\\1|'; }}
files=$(number_on 1) bare=$(number_on 0)
if [ "$(cat /sys/bus/nd/devices/namespace$files.0/mode)" != memory ]; then
  ndctl create-namespace -f -e namespace$files.0 -m fsdax > /dev/null
fi
ndctl create-namespace -f -e namespace$bare.0 -m devdax -M mem > /dev/null
mknod {device} c $(tr : ' ' < /sys/bus/dax/devices/dax$bare.0/dev)
blkid -p /dev/pmem$files > /dev/null || mkfs.ext4 -q -b 4096 /dev/pmem$files
mkdir -p /mnt/dax
mount -o dax=always /dev/pmem$files /mnt/dax
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl=self,vader OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_rmaps_base_oversubscribe=1
run() {{ LD_PRELOAD={waiting_rank} mpirun.openmpi -np "$1" --bind-to "$2" {engine} run "$3"; }}
"""


@dataclass(frozen=True)
class Machine:
    """The emulated machine: ``folder`` holds what outlives a start, ``shared`` is seen by both."""

    folder: Path
    engine: Path
    waiting_rank: str

    @property
    def shared(self) -> Path:
        return self.folder / "shared"

    def start(self, commands: str) -> "subprocess.Popen[str]":
        script = self.shared / "commands.sh"
        engine = shlex.quote(str(self.engine))
        head = _PREPARE.format(
            kernel=self.folder / "kernel", engine=engine, device=_DEVICE, waiting_rank=self.waiting_rank
        )
        script.write_text(head + commands, encoding="utf-8")
        return subprocess.Popen(
            [_SCRIPT, self.folder, script, str(_LONGEST_S), *self._further_memory()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _further_memory(self) -> list[str]:
        """Persistent memory on node 0 that has no file system, and is new in each start."""
        image = self.folder / "devdax.img"
        image.unlink(missing_ok=True)
        with image.open("wb") as made:
            made.truncate(_DEVDAX_BYTES)
        backing = f"memory-backend-file,id=further,share=on,mem-path={image},size={_DEVDAX_BYTES}"
        return ["-object", backing, "-device", "nvdimm,memdev=further,node=0"]

    def run(self, commands: str) -> None:
        process = self.start(commands)
        try:
            out, err = process.communicate()
        except BaseException:
            reset(process)
            raise
        self.check(process.returncode, out, err)

    def run_until(self, commands: str, happens: Callable[[], bool]) -> None:
        """Reset the machine as soon as something has happened, which must be before ``commands`` are done."""
        process = self.start(commands)
        deadline = time.monotonic() + _LONGEST_S
        while not happens() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if process.poll() is None:
            reset(process)
        else:
            self.check(process.returncode, *process.communicate())

    def check(self, code: int, out: str, err: str) -> None:
        if code == _MISSING:
            pytest.skip(f"not available: an emulated machine, for want of {err.strip().splitlines()[-1]}")
        assert code == 0, out[-4000:] + err

    def write_plan(self, name: str, plan: Plan) -> Path:
        path = self.shared / f"{name}.json"
        path.write_text(plan.model_dump_json(by_alias=True, exclude_none=True), encoding="utf-8")
        return path

    def records(self, name: str) -> list[AnyRecord]:
        return list(read_records(self.shared / f"{name}.ndjson").records)

    def phases(self, name: str) -> list[PhaseRecord]:
        return [record for record in self.records(name) if isinstance(record, PhaseRecord)]


def reset(process: "subprocess.Popen[str]") -> None:
    """End the machine as a failure of its power does."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.fixture(scope="module")
def machine(engine: Path, waiting_rank: str) -> Generator[Machine]:
    """The kernel is kept between runs of the tests; the persistent memory is new in each."""
    if os.geteuid() != 0:
        pytest.skip("not available: root, for an emulated machine that reads all of this one")
    libraries = subprocess.run(["ldd", engine], capture_output=True, text=True, check=True).stdout
    if "libmpi.so.40" not in libraries or shutil.which("mpirun.openmpi") is None:
        pytest.skip("not available: the Open MPI of Debian, which starts ranks on the emulated machine")
    if shutil.which("ndctl") is None:
        pytest.skip("not available: ndctl")
    (_FOLDER / "pmem.img").unlink(missing_ok=True)
    shutil.rmtree(_FOLDER / "shared", ignore_errors=True)
    (_FOLDER / "shared").mkdir(parents=True)
    yield Machine(_FOLDER, engine.resolve(), waiting_rank)
    for image in ("pmem.img", "devdax.img"):
        (_FOLDER / image).unlink(missing_ok=True)


def case(target: Target, dataset: str = "", backend: str = "mmap", **words: object) -> Case:
    """Each rank has a file of 256 KiB."""
    parameters: Document = {"transfer_bytes": 64 * KIB, "block_bytes": 256 * KIB, "file_mode": "per-process", **words}
    own: Document = {"map_sync": "needed"} if target.uri.startswith("posix:/mnt/dax") else {}
    if backend == "devdax":
        own = {"device": _DEVICE}
    named, workload = Named(name=backend, parameters=own), Named(name="transfer", parameters=parameters)
    identity = sha256(f"{dataset} {case_id(named, workload, target, Layout(ranks=1))}".encode()).hexdigest()[:16]
    return Case(id=identity, target=target.name, backend=named, workload=workload, dataset=dataset)


def plan(
    machine: Machine, name: str, cases: "list[Case]", *targets: Target, ranks: int = _RANKS, **more: object
) -> Plan:
    return Plan(
        run_id=f"run-{targets[0].name}",
        suite="test",
        records=str(machine.shared / f"{name}.ndjson"),
        layout=Layout(ranks=ranks),
        targets=[*targets],
        stop_rule=Named(name="fixed", parameters={"count": 1}),
        limits=Limits(space_fraction=0.9, reserve_bytes=0),
        order="listed",
        cases=cases,
        **more,  # type: ignore[arg-type]
    )


# What a run has left must be as before, so nothing but zeros; then a byte is written in the part of the second rank.
_TOUCH: Final = f"""
import glob, mmap, os
device = os.open("{_DEVICE}", os.O_RDWR)
[of_size] = glob.glob("/sys/bus/dax/devices/dax*/size")
size = int(open(of_size).read())
with mmap.mmap(device, size) as memory:
    print(memory[:] == bytes(size))
    memory[size - 5] = 7
"""
PATHS: Final = ("as-is", "local", "remote", "interleave")
_DAX: Final = Target(name="dax", uri="posix:/mnt/dax")
_MEMORY: Final = Target(name="memory", uri="posix:/dev/shm")
_NUMA: Final = Target(name="numa", uri="posix:/mnt/dax/numa{numa}")
_DEVDAX: Final = Target(name="devdax", uri="devdax:")


@pytest.fixture(scope="module")
def writes(machine: Machine) -> "list[Case]":
    """Many small datasets, by all that write to persistent memory in turn."""
    available = {backend.name for backend in describe(machine.engine).backends if backend.available}
    kinds = [name for name in ("mmap", "pmem") if name in available]
    names = [f"d{number:03}" for number in range(_DATASETS)]
    return [case(_DAX, name, kinds[n % len(kinds)], phases=["write"]) for n, name in enumerate(names)]


@pytest.fixture(scope="module")
def first_start(machine: Machine, writes: "list[Case]") -> Machine:
    """Everything in one start of the machine, which ends with a reset in the middle of ``writes``."""
    paths = [case(_DAX, numa_path=path) for path in PATHS]
    bound = case(_DAX, numa_path="local", buffer_node=0)
    machine.write_plan("paths", plan(machine, "paths", [*paths, bound, case(_MEMORY)], _DAX, _MEMORY))
    machine.write_plan("words", plan(machine, "words", [case(_NUMA)], _NUMA, keep=True))
    for name in ("empty", "full"):
        machine.write_plan(name, plan(machine, name, [case(_DEVDAX, backend="devdax", verify="full")], _DEVDAX))
    machine.write_plan("writes", plan(machine, "writes", writes, _DAX, ranks=1))
    said = "import pathlib, runpy, sys; is_dax = runpy.run_path(sys.argv[1])['is_dax']; "
    said += "print([is_dax(pathlib.Path(one)) for one in sys.argv[2:]])"
    statx, shared = Path(ullage.__file__).parent / "system" / "statx.py", machine.shared
    has_pmem = "pmem" in {backend.name for backend in describe(machine.engine).backends if backend.available}
    libpmem = "true" if has_pmem else "false"
    python = f"{sys.executable} -S -E -c {shlex.quote(said)} {shlex.quote(str(statx))}"
    machine.run_until(
        f"""
        run {_RANKS} none {shared}/paths.json
        mkdir /mnt/dax/numa0 /mnt/dax/numa1
        run {_RANKS} core {shared}/words.json
        (cd /mnt/dax && ls numa0/*/c-*/data* numa1/*/c-*/data*) > {shared}/files
        {python} /mnt/dax /dev/shm > {shared}/is_dax
        if {libpmem}; then
          run {_RANKS} none {shared}/empty.json
          {sys.executable} -S -E -c {shlex.quote(_TOUCH)} > {shared}/empty.out
          run {_RANKS} none {shared}/full.json 2> {shared}/full.err || echo $? > {shared}/full.code
        fi
        run 1 none {shared}/writes.json
    """,
        lambda: len(confirmed(machine)) >= _CONFIRMED,
    )
    return machine


def test_persistent_memory_grants_map_sync_and_memory_refuses_it(first_start: Machine) -> None:
    granted = {(phase.file_system == "tmpfs", phase.hints_granted["map"]) for phase in first_start.phases("paths")}
    assert granted == {(False, "MAP_SYNC"), (True, "MAP_SHARED")}
    assert (first_start.shared / "is_dax").read_text().strip() == "[True, False]"


def test_ranks_and_buffers_are_where_the_path_says(first_start: Machine) -> None:
    phases = [phase for phase in first_start.phases("paths") if phase.phase == "write" and phase.dax]
    nodes = [(phase.gauges["rank_numa_node"].least, phase.gauges["rank_numa_node"].most) for phase in phases]
    assert nodes[1:] == [(1, 1), (0, 0), (0, 1), (1, 1)]
    assert {phase.gauges["device_numa_node"].most for phase in phases} == {1}
    assert [phase.gauges["bound_ranks"].sum for phase in phases] == [0, 2, 2, 2, 2]
    assert phases[-1].gauges["buffer_numa_node"].most == 0
    assert [phase.gauges["buffer_pages_elsewhere"].sum for phase in phases[1:]] == [0, 0, 0, 0]


def test_a_path_with_words_in_braces_is_another_folder_on_each_node(first_start: Machine) -> None:
    files = (first_start.shared / "files").read_text().split()
    assert sorted((Path(file).parts[0], Path(file).name) for file in files) == [
        ("numa0", "data.00000000"),
        ("numa1", "data.00000001"),
    ]


def test_a_device_without_files_is_used_while_it_is_empty_and_left_empty(first_start: Machine) -> None:
    if not (first_start.shared / "empty.ndjson").exists():
        pytest.skip("not available: libpmem")
    phases = first_start.phases("empty")
    assert [phase.status for phase in phases] == ["ok", "ok"]
    assert {(phase.file_system, phase.dax) for phase in phases} == {("devdax", True)}
    assert {phase.hints_granted["persistent"] for phase in phases} == {"yes"}
    assert phases[1].verified_bytes == _RANKS * 256 * KIB
    assert (first_start.shared / "empty.out").read_text().strip() == "True"
    assert (first_start.shared / "full.code").read_text().strip() == "4"
    said = (first_start.shared / "full.ndjson").read_text()
    assert _DEVICE in said
    assert "is not empty: a byte at offset" in said
    assert first_start.phases("full") == []


@pytest.mark.fault("the machine is reset in the middle of a write to persistent memory", "what was confirmed is there")
def test_what_was_confirmed_before_a_reset_is_there_after_it(first_start: Machine, writes: "list[Case]") -> None:
    machine, whole = first_start, confirmed(first_start)
    assert _CONFIRMED <= len(whole) < _DATASETS
    backends = {one.dataset: one.backend.name for one in writes}
    ids = {one.id: one.dataset for one in writes}
    again = [case(_DAX, name, backends[name], phases=["read"], verify="full") for name in map(ids.__getitem__, whole)]
    machine.write_plan("reads", plan(machine, "reads", again, _DAX, ranks=1, continues=True, keep=True))
    machine.run(f"run 1 none {machine.shared}/reads.json")
    phases = machine.phases("reads")
    assert [phase.status for phase in phases] == ["ok"] * len(whole)
    assert {(phase.verified_bytes, phase.bad_blocks) for phase in phases} == {(256 * KIB, 0)}


def confirmed(machine: Machine) -> "list[str]":
    """The cases of the writing plan of which the record is there: their data was made durable before."""
    path = machine.shared / "writes.ndjson"
    if not path.exists():
        return []
    return [one.case for one in read_records(path).records if isinstance(one, CaseRecord) and one.status == "ok"]
