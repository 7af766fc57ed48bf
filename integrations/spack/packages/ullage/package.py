# SPDX-License-Identifier: Apache-2.0
"""Spack recipe: the engine from source with the MPI of the spec, and the front as a Python package around it."""

from spack_repo.builtin.build_systems.cmake import CMakeBuilder, CMakePackage

from spack.package import *


class Ullage(CMakePackage):
    """Measures how fast each part of a machine runs and how far that is below what it could do."""

    homepage = "https://pypi.org/project/ullage"
    # `git archive --prefix=ullage-0.1.0/ -o ullage-0.1.0.tar.gz HEAD`, in a mirror or beside the recipe.
    url = "file:///ullage-0.1.0.tar.gz"
    manual_download = True

    license("Apache-2.0")

    version("0.1.0")

    variant("mpi", default=True, description="Measure with ranks; without, by one process")
    variant("pictures", default=False, description="Pages as PNG and PDF")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-pip", type="build")
    depends_on("py-hatchling@1.27:", type="build")
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-numpy@2.2:", type=("build", "run"))
    depends_on("py-pydantic@2.12:", type=("build", "run"))
    depends_on("py-rich@14:", type=("build", "run"))
    depends_on("py-typer@0.20:", type=("build", "run"))
    depends_on("py-vl-convert-python@1.9:", type="run", when="+pictures")

    conflicts("%gcc@:11", msg="the engine needs std::expected")
    conflicts("%clang@:18", msg="the engine needs std::expected")

    extends("python")
    generator("ninja")

    def cmake_args(self):
        return [self.define("ULLAGE_MPI_SINGLE", not self.spec.satisfies("+mpi"))]


class CMakeBuilder(CMakeBuilder):
    build_targets = ["ullage-engine"]

    def install(self, pkg, spec, prefix):
        """The hook of the wheel (scripts/steps/wheel_hook.py) takes the engine from the folder that it was built in."""
        python.add_default_env("ULLAGE_WHEEL_ENGINES", self.build_directory)
        with working_dir(pkg.stage.source_path):
            python("-m", "pip", "install", "--no-deps", "--no-build-isolation", f"--prefix={prefix}", ".")
