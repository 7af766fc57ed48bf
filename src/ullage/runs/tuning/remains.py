# SPDX-License-Identifier: Apache-2.0
"""What trials have left at the targets because they were killed: other trials need the room."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ullage.cleaning import find_run_folders, remove
from ullage.errors import UserError
from ullage.model.plan import Target
from ullage.uri import target_path


def remove_remains(targets: Sequence[Target], is_one: Callable[[str], bool], engine: Path) -> list[str]:
    """Remove the run folders whose run id ``is_one``; return why some were left, a text each."""
    left: list[str] = []
    for target in targets:
        path = target_path(target)
        try:
            folders = [] if path is None else find_run_folders(path)
        except UserError as error:
            left.append(str(error))
            continue
        left += [
            f"data was left in {folder.path}: {why}"
            for folder in folders
            if is_one(folder.run_id) and (why := folder.refused or remove(engine, folder)) is not None
        ]
    return left
