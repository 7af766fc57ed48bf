# SPDX-License-Identifier: Apache-2.0
"""Plants: each makes something slow for a while, and says how much by a bare program. What cannot be had is skipped."""

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from tests.causes.bare import left_by, rate
from tests.places.fuse import passthrough
from tests.places.hosts import hosts_up
from tests.places.slow_disk import slow_for

HERE: Final = Path(__file__).parent
_CPU_GROUPS: Final = Path("/sys/fs/cgroup/cpu")
_UNIFIED: Final = Path("/sys/fs/cgroup")
_PERIOD_US: Final = 100_000
_ENDING_S: Final = 20.0
_BLOCK: Final = 1 << 20
_SMALL: Final = 4 << 10
_SLOW_BYTES_PER_S: Final = 100_000_000
_SLOW_LINK: Final = "200mbit"


@dataclass(frozen=True)
class Plant:
    """``prefix`` and ``environment`` of what runs where the cause is; ``target``: a place for files there.

    ``right``: the factor that the cause leaves, measured without Ullage. ``words``: further ones for Ullage.
    """

    right: Callable[[], float]
    prefix: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    target: Path | None = None
    words: Sequence[str] = ()


def compiled(name: str, compiler: str = "cc", *flags: str) -> Path:
    """Return the program of ``name``, made once a process."""
    return _compiled(name, compiler, flags)


@cache
def _compiled(name: str, compiler: str, flags: tuple[str, ...]) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"not available: no {compiler}")
    made = HERE.parents[1] / "build" / f"cause-{Path(name).stem}-{os.getpid()}"
    made.parent.mkdir(exist_ok=True)
    subprocess.run([compiler, "-O2", *flags, "-o", str(made), str(HERE / name)], check=True, capture_output=True)
    return made


def _cpus(count: int) -> list[int]:
    found = sorted(os.sched_getaffinity(0))
    if len(found) < count:
        pytest.skip(f"not available: {count} CPUs")
    return found[:count]


@contextlib.contextmanager
def half_a_cpu(_folder: Path) -> Generator[Plant]:
    """A control group, of version 1 or 2, whose processes get half of a CPU's time."""
    is_first = (_CPU_GROUPS / "cpu.cfs_quota_us").exists()
    group = (_CPU_GROUPS if is_first else _UNIFIED) / f"ullage-test-{secrets.token_hex(4)}"
    try:
        group.mkdir()
        if is_first:
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(_PERIOD_US // 2))
        else:
            (group / "cpu.max").write_text(f"{_PERIOD_US // 2} {_PERIOD_US}")
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        pytest.skip(f"not available: a control group with a quota ({error.strerror})")
    prefix, cpu = inside(group), str(_cpus(1)[0])
    try:
        yield Plant(lambda: left_by(lambda: rate(prefix, ["spin", cpu]), lambda: rate((), ["spin", cpu])), prefix)
    finally:
        _remove(group)


def inside(group: Path) -> list[str]:
    """Words before a command that run it in ``group``."""
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs")]


def _remove(group: Path) -> None:
    deadline = time.monotonic() + _ENDING_S
    while group.exists() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):  # as long as the last process is still ending
            group.rmdir()
        time.sleep(0.05)


@contextlib.contextmanager
def busy_core(_folder: Path) -> Generator[Plant]:
    """A process that is always busy on one of the CPUs."""
    cpus = _cpus(2)
    all_of_them = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    words = ["spin", all_of_them]

    def spinning() -> subprocess.Popen[bytes]:
        loop = f"import os; os.sched_setaffinity(0, {{{cpus[0]}}})\nwhile True: pass"
        return subprocess.Popen([sys.executable, "-c", loop])

    def alone() -> float:
        other.send_signal(19)
        try:
            return rate((), words)
        finally:
            other.send_signal(18)

    other = spinning()
    try:
        yield Plant(lambda: left_by(lambda: rate((), words), alone))
    finally:
        other.kill()
        other.wait()


@contextlib.contextmanager
def one_cpu_for_two(_folder: Path) -> Generator[Plant]:
    """Two ranks may use one CPU only."""
    first, second = _cpus(2)
    both, same = f"{first},{second}", f"{first},{first}"
    right = lambda: left_by(lambda: rate((), ["spin", same]), lambda: rate((), ["spin", both]))  # noqa: E731
    yield Plant(right, ["taskset", "-c", str(first)], words=("--oversubscribe",))


@contextlib.contextmanager
def shared_core(_folder: Path) -> Generator[Plant]:
    """A false topology: whatever is bound to CPU 1 runs on CPU 0."""
    if _cpus(2) != [0, 1]:
        pytest.skip("not available: CPUs 0 and 1")
    library = compiled("one_cpu.c", "cc", "-shared", "-fPIC")
    right = lambda: left_by(lambda: rate((), ["spin", "0,0"]), lambda: rate((), ["spin", "0,1"]))  # noqa: E731
    yield Plant(right, environment={"LD_PRELOAD": str(library)})


@contextlib.contextmanager
def small_pages(_folder: Path) -> Generator[Plant]:
    """Programs that ask for nothing get small pages, as the system's setting has it."""
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
    if "[madvise]" not in setting:
        pytest.skip(f"not available: huge pages only for those who ask ({setting.strip()})")
    program = str(compiled("pages.c"))
    yield Plant(lambda: left_by(lambda: _said([program]), lambda: _said([program, "huge"])))


def _said(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    env = {**os.environ, **(environment or {})}
    return float(subprocess.run(argv, env=env, check=True, capture_output=True, text=True, timeout=120).stdout)


@contextlib.contextmanager
def throttled_disk(folder: Path) -> Generator[Plant]:
    """A control group whose processes may move few bytes a second on this disk."""
    with slow_for(folder, _SLOW_BYTES_PER_S) as group:
        prefix, words = inside(group), ["write", str(folder), str(_BLOCK), "direct"]
        right = lambda: left_by(lambda: rate(prefix, words), lambda: rate((), words))  # noqa: E731
        yield Plant(right, prefix, target=folder, words=_declared(rate((), words)))


@contextlib.contextmanager
def slow_file_system(folder: Path) -> Generator[Plant]:
    """A file system in user space before the folder."""
    with passthrough(folder) as served:

        def through(place: Path) -> float:
            return rate((), ["write", str(place), str(8 * _BLOCK), "direct"])

        right = lambda: left_by(lambda: through(served.mount), lambda: through(served.behind))  # noqa: E731
        yield Plant(right, target=served.mount, words=_declared(through(served.behind)))


def _declared(bytes_per_s: float) -> tuple[str, str]:
    """Return the words for a datasheet of the drive: without one its limit is all that Ullage can know of it."""
    return "--ceiling", f"t:write={bytes_per_s / 1e6:.0f}MB/s"


@contextlib.contextmanager
def mounted_sync(folder: Path) -> Generator[Plant]:
    """An ext4 of its own that was mounted ``sync``."""
    if os.geteuid() != 0 or shutil.which("mkfs.ext4", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
        pytest.skip("not available: root and mkfs.ext4")
    image, disk = folder / "image", folder / "disk"
    disk.mkdir()
    with image.open("wb") as file:
        file.truncate(2 << 30)
    made = [["mkfs.ext4", "-q", str(image)], ["mount", "-o", "loop,sync", str(image), str(disk)]]
    for words in made:
        if subprocess.run(words, capture_output=True, check=False).returncode != 0:
            pytest.skip(f"not available: {words[0]} of an image")

    program, memory = str(compiled("create.c")), Path("/dev/shm") / f"ullage-test-{secrets.token_hex(4)}"
    memory.mkdir()
    try:
        yield Plant(
            lambda: left_by(lambda: _said([program, str(disk)]), lambda: _said([program, str(memory)])), target=disk
        )
    finally:
        memory.rmdir()
        subprocess.run(["umount", "-l", str(disk)], check=False)


def _storage(
    planted: Sequence[str], without: Sequence[str]
) -> Callable[[Path], contextlib.AbstractContextManager[Plant]]:
    """Return a plant that is a way of using storage: of two bare works, the one that ends in the folder."""

    @contextlib.contextmanager
    def plant(folder: Path) -> Generator[Plant]:
        def work(words: Sequence[str]) -> float:
            return rate((), [words[0], str(folder), *words[1:]])

        yield Plant(lambda: left_by(lambda: work(planted), lambda: work(without)), target=folder)

    return plant


synced_writes = _storage(("write", str(_BLOCK), "synced"), ("write", str(_BLOCK), "plain"))
one_in_flight = _storage(("read", str(_SMALL), "1"), ("read", str(_SMALL), "64"))
small_blocks = _storage(("write", str(_SMALL), "plain"), ("write", str(8 * _BLOCK), "plain"))


def _mpi(**settings: str) -> Callable[[Path], contextlib.AbstractContextManager[Plant]]:
    """Return a plant that is a setting of Open MPI."""

    @contextlib.contextmanager
    def plant(_folder: Path) -> Generator[Plant]:
        program = str(compiled("messages.c", "mpicc"))
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        said = subprocess.run(["mpiexec", "--version"], capture_output=True, text=True, check=False)
        if not any(name in said.stdout for name in ("Open MPI", "OpenRTE")):
            pytest.skip("not available: the mpiexec of Open MPI")

        def messages(own: Mapping[str, str]) -> float:
            return _said(["mpiexec", "-n", "2", program], {**root, **own})

        yield Plant(lambda: left_by(lambda: messages(settings), lambda: messages({})), environment=settings)

    return plant


over_tcp = _mpi(OMPI_MCA_pml="ob1", OMPI_MCA_btl="self,tcp")
no_single_copy = _mpi(OMPI_MCA_btl_vader_single_copy_mechanism="none")


@contextlib.contextmanager
def _slow_host(folder: Path, count: int) -> Generator[Plant]:
    with hosts_up(folder / "hosts", count, f"{count - 1}:{_SLOW_LINK}") as place:
        slow, names = place.names[-1], ",".join(place.names)
        program = str(compiled("messages.c", "mpicc"))
        environment = dict(place.environment("openmpi"))

        def between(one: str, other: str) -> float:
            agent = environment["ULLAGE_RSH_AGENT"]
            words = ["mpiexec", "--allow-run-as-root", "--mca", "plm_rsh_agent", agent]
            words += ["--host", f"{one}:1,{other}:1", "-n", "2", program]
            return _said(place.command(one, words), environment)

        yield Plant(
            lambda: left_by(lambda: between(place.names[0], slow), lambda: between(*place.names[:2])),
            place.command(place.names[0], []),
            environment,
            folder,
            ("--hosts", names),
        )


@contextlib.contextmanager
def shaped_link(folder: Path) -> Generator[Plant]:
    """Two hosts, each a network namespace, with a slow link between them."""
    with _slow_host(folder, 3) as plant:
        *_, names = plant.words
        first, _, last = names.split(",")
        yield Plant(plant.right, plant.prefix, plant.environment, folder, ("--hosts", f"{first},{last}"))


@contextlib.contextmanager
def slow_member(folder: Path) -> Generator[Plant]:
    """Four hosts, one of which has a slow link."""
    with _slow_host(folder, 4) as plant:
        yield plant


@contextlib.contextmanager
def remote_numa(_folder: Path) -> Generator[Plant]:
    """Memory of another NUMA node, where the machine has one that differs."""
    nodes = list(Path("/sys/devices/system/node").glob("node[0-9]*"))
    if len(nodes) < 2:
        pytest.skip("not available: one NUMA node here, and all memory of an emulated machine is as fast")
    cpus = (nodes[0] / "cpulist").read_text().strip()
    program = str(compiled("pages.c"))
    prefix = ["numactl", f"--membind={nodes[1].name[4:]}", f"--physcpubind={cpus}"]
    local = ["numactl", f"--membind={nodes[0].name[4:]}", f"--physcpubind={cpus}"]
    if shutil.which("numactl") is None:
        pytest.skip("not available: numactl is not installed")
    yield Plant(lambda: left_by(lambda: _said([*prefix, program]), lambda: _said([*local, program])), prefix)
