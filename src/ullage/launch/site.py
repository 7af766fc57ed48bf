# SPDX-License-Identifier: Apache-2.0
"""The site file: what every batch job of a machine needs, said once."""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from ullage.errors import UserError, plain_fault
from ullage.model.base import Strict
from ullage.system.allocation import allocation

_NO_LINE_END = r"^[^\r\n]*$"


class Site(Strict):
    """Defaults of a site. What the command line says takes precedence.

    ``mpi``: the launcher that starts ranks inside a job. ``targets`` and ``machine``: of suites with these.
    """

    launcher: str = ""
    mpi: str = ""
    account: Annotated[str, Field(pattern=_NO_LINE_END)] = ""
    queue: Annotated[str, Field(pattern=_NO_LINE_END)] = ""
    walltime: Annotated[str, Field(pattern=_NO_LINE_END)] = ""
    reservation: Annotated[str, Field(pattern=_NO_LINE_END)] = ""
    constraint: Annotated[str, Field(pattern=_NO_LINE_END)] = ""
    ppn: Annotated[int, Field(ge=0)] = 0
    exclusive: bool = True
    exclude: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]] = []
    extra: list[Annotated[str, Field(pattern=_NO_LINE_END)]] = []
    modules: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+/:@=-]*$")]] = []
    stage: str = ""
    targets: list[Annotated[str, Field(min_length=1)]] = []
    machine: str = ""

    @property
    def stage_here(self) -> Path | None:
        """Where the engine is staged in the batch job that we are in; None outside of one."""
        return Path(self.stage) if self.stage and allocation() is not None else None


NO_SITE: Final = Site()


def default_place() -> Path:
    """Return where a user's site file is, whether there is one or not."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "ullage" / "site.toml"


def read_site(path: Path | None = None) -> Site:
    """Read a site file, by default the user's, which may be missing; raise ``UserError`` for what is wrong in it."""
    place = path or default_place()
    try:
        document = tomllib.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if path is None:
            return Site()
        raise UserError("no such file", f"--site {path}", "name a TOML file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"cannot be read: {reason}", str(place), "write it as TOML: queue = 'main'") from error
    try:
        return Site.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        pointer = "".join(f"/{part}" for part in first["loc"])
        known = ", ".join(Site.model_fields)
        raise UserError(plain_fault(first["msg"]), f"{place} {pointer}", f"its keys are {known}") from error
