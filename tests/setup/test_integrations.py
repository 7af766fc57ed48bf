# SPDX-License-Identifier: Apache-2.0
"""The recipes below integrations/: read by the tools that they are for, and true to pyproject.toml."""

import importlib.util
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from steps.process import ROOT
from ullage import __version__

HERE = ROOT / "integrations"
SPACK = HERE / "spack" / "packages" / "ullage" / "package.py"
EASYBUILD = next(HERE.glob("easybuild/*.eb"))
MODULE = HERE / "modulefiles" / "ullage" / __version__
APPTAINER = HERE / "apptainer" / "ullage.def"
CONDA = HERE / "conda" / "recipe.yaml"
ALL = (SPACK, EASYBUILD, MODULE, APPTAINER, CONDA)


def project() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        table: dict[str, Any] = tomllib.load(file)["project"]
    return table


def needed(module: str) -> None:
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        pytest.skip(f"not available: {module} is not installed")


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"not available: {name} is not installed")
    return found


@pytest.mark.parametrize("file", ALL, ids=lambda file: file.name)
def test_a_recipe_is_of_this_version(file: Path) -> None:
    assert __version__ in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(("file", "form"), [(SPACK, 'py-{}@{}:"'), (CONDA, "- {} >={}\n")], ids=["spack", "conda"])
def test_a_recipe_asks_for_what_the_package_asks_for(file: Path, form: str) -> None:
    text, asked = file.read_text(encoding="utf-8"), project()["dependencies"]
    assert len(asked) > 3
    assert [name for name in asked if form.format(*name.split(">=")) not in text] == []
    python = re.sub("[^0-9.]", "", project()["requires-python"])
    assert f"python@{python}:" in text or f"python >={python}\n" in text


def test_spack_takes_the_recipe(tmp_path: Path) -> None:
    compile(SPACK.read_text(encoding="utf-8"), SPACK.name, "exec")
    spack = program("spack")
    (tmp_path / "repos.yaml").write_text(f"repos:\n  ullage: {HERE / 'spack'}\n")
    for words in (["info", "ullage"], ["audit", "packages", "ullage"]):
        argv = [spack, "-C", str(tmp_path), *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if "Failed to clone repository builtin" in done.stderr:
            pytest.skip("not available: this Spack has not fetched its own recipes, which ours imports")
        assert done.returncode == 0, done.stdout + done.stderr


def test_easybuild_reads_the_easyconfig(tmp_path: Path) -> None:
    eb = program("eb")
    own = ["--allow-use-as-root-and-accept-consequences", f"--prefix={tmp_path}"]
    argv = [eb, *own, "--robot", "--dry-run", str(EASYBUILD)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if "modules tool can not be used" in done.stderr:
        pytest.skip("not available: EasyBuild finds no tool for modules")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(module: Python/3.13" in done.stdout
    assert f"(module: {EASYBUILD.stem.replace('-', '/', 1)})" in done.stdout
    assert EASYBUILD.name == f"ullage-{__version__}-gfbf-2025b.eb"


def test_environment_modules_load_the_module(tmp_path: Path) -> None:
    tclsh = program("tclsh")
    modulecmd = next(Path("/usr/lib").glob("*/modulecmd.tcl"), None)
    if modulecmd is None:
        pytest.skip("not available: environment-modules is not installed")
    words = [tclsh, str(modulecmd), "bash", "load", f"ullage/{__version__}"]
    env = {"MODULEPATH": str(MODULE.parents[1]), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert f"PATH=/opt/ullage/{__version__}/bin:/usr/bin:/bin" in done.stdout


def test_the_definition_of_the_container_has_all_sections() -> None:
    needed("spython")
    from spython.main.parse.parsers import SingularityParser

    recipe = SingularityParser(str(APPTAINER)).parse()["spython-base"]
    assert recipe.fromHeader == "rockylinux/rockylinux:9-minimal"
    assert any("pip install" in line for line in recipe.install)
    assert recipe.files[0].endswith(".whl /opt/")
    assert recipe.test


def test_conda_gets_a_package_for_each_mpi() -> None:
    needed("rattler_build")
    from rattler_build import Stage0Recipe, VariantConfig

    rendered = Stage0Recipe.from_file(str(CONDA)).render(VariantConfig({"mpi": ["openmpi", "mpich"]}))
    packages = {one.recipe.package.name: one.recipe.package.version for one in rendered}
    assert packages == {"ullage": __version__}
    assert {mpi for one in rendered for mpi in ("openmpi", "mpich") if mpi in str(one.recipe.to_dict())} == {
        "openmpi",
        "mpich",
    }
