# SPDX-License-Identifier: Apache-2.0
"""The site file: what every batch job of a machine needs, said once."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from ullage.errors import UserError, plain_fault
from ullage.model.base import HostName, OneLine, Strict, first_mistake
from ullage.reading import read_toml
from ullage.system.allocation import allocation


class Site(Strict):
    """Defaults of a site, below the command line. ``mpi``: launcher inside a job. ``targets``, ``machine``: suites'."""

    launcher: OneLine = ""
    mpi: OneLine = ""
    account: OneLine = ""
    queue: OneLine = ""
    walltime: OneLine = ""
    reservation: OneLine = ""
    constraint: OneLine = ""
    ppn: Annotated[int, Field(ge=0)] = 0
    exclusive: bool = True
    exclude: list[HostName] = []
    extra: list[OneLine] = []
    modules: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+/:@=-]*$")]] = []
    stage: OneLine = ""
    targets: list[Annotated[OneLine, Field(min_length=1)]] = []
    machine: OneLine = ""

    @property
    def stage_here(self) -> Path | None:
        """Where the engine is staged in the batch job that we are in; None outside of one."""
        return Path(self.stage) if self.stage and allocation() is not None else None


NO_SITE: Final = Site()


def read_site(path: Path | None = None) -> Site:
    """Read a site file, by default the user's, which may be missing; raise ``UserError`` for what is wrong in it."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    place = path or (Path(home) / "ullage" / "site.toml")
    if path is None and not os.path.lexists(place):
        return NO_SITE
    document = read_toml(place, "write it as TOML: queue = 'main'", "" if path is None else f"--site {path}")
    try:
        return Site.model_validate(document)
    except ValidationError as error:
        pointer, why = first_mistake(error)
        known = ", ".join(Site.model_fields)
        raise UserError(plain_fault(why), f"{place} /{pointer}", f"its keys are {known}") from error


def with_words(site: Site, said: Mapping[str, object]) -> Site:
    """Return ``site`` with what the command line says; raise ``UserError`` that names the option that is wrong."""
    try:
        return Site.model_validate({**site.model_dump(), **said})
    except ValidationError as error:
        place, why = first_mistake(error)
        raise UserError(plain_fault(why), f"--{place.partition('/')[0]}") from error
