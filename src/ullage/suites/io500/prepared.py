# SPDX-License-Identifier: Apache-2.0
"""Folders that a user has prepared at a target, as for the official tool: stripes, a pool or a quota are set on them.

The official tool writes into ``DATADIR/ior-easy`` and its likes. Here the directory of that dataset is made inside the
prepared folder, so that it inherits what new directories there get, and is then moved into the run's own folder. The
prepared folder keeps nothing of a run and is never removed.
"""

import os
import stat
from pathlib import Path
from typing import Final

from ullage.cleaning import PREFIX
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.plan import Target
from ullage.uri import target_path

# The only folders that the list's rules allow to make before a run.
FOLDERS: Final = ("ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard")
_EMPTY: Final = "empty it, or give it another name: the rules allow no files made before the run"


def prepared_folders(target: Target, run_id: str = "") -> list[str]:
    """Return those of ``FOLDERS`` at ``target``; raise ``UserError`` for one that is no empty, writable folder.

    What launches of the run ``run_id`` may have left in one, when they were killed, is no obstacle.
    """
    place = target_path(target)
    found = [] if place is None else [name for name in FOLDERS if os.path.lexists(place / name)]
    for name in found:
        if place is not None:
            _check(place, place / name, run_id)
    return found


def _check(place: Path, folder: Path, run_id: str) -> None:
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise UserError("is a symbolic link, which is not followed", str(folder), "make it a folder, or remove it")
    if not stat.S_ISDIR(status.st_mode):
        right = "the run would use a folder of this name; give the file another one"
        raise UserError("is not a folder", str(folder), right)
    if status.st_dev != place.stat().st_dev:
        right = "make it a folder of the target's own file system"
        raise UserError("is on another file system than the target", str(folder), right, EXIT_ENVIRONMENT)
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names only
    except OSError as error:
        what = error.strerror or "cannot be read"
        raise UserError(what, str(folder), "make it readable and writable", EXIT_ENVIRONMENT) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError("is not writable for this user", str(folder), "make it writable", EXIT_ENVIRONMENT)
    strangers = sorted(name for name in names if not run_id or not name.startswith(PREFIX + run_id))
    if strangers:
        is_a_runs = all(name.startswith(PREFIX) for name in strangers)
        right = f"`ullage clean {folder}` removes what a killed run left" if is_a_runs else _EMPTY
        raise UserError(f"is not empty: it holds {strangers[0]}", str(folder), right, EXIT_ENVIRONMENT)
