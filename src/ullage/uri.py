# SPDX-License-Identifier: Apache-2.0
"""Targets as people write them: ``NAME=PATH`` or ``NAME=SCHEME:PATH``."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ullage.errors import UserError
from ullage.model.plan import Target

MEMORY: Final = "memory"
DEVDAX: Final = "devdax"
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+]*):(.*)", re.DOTALL)
_LONGEST_NAME: Final = 64
_FOLDERS: Final = (".", "..", "~")
_FORMS: Final = (
    "write NAME=PATH, a path with a /, NAME=posix:PATH, NAME=memory:, NAME=devdax:, NAME=null: or NAME=model:"
)


def parse_target(text: str) -> Target:
    """Read the target of ``nvme=/local/tmp`` (the path becomes absolute), ``x=null:`` or ``x=model:``.

    A path alone, such as ``/local/tmp`` or ``.``, is named by its last part. Names may hold any printable character but
    ``=``: they are escaped where they are shown. Raise UserError for anything else.
    """
    name, place = _name_and_place(text)
    if not name or not place.strip():
        raise UserError("not a target", f"'{text}'", _FORMS)
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise UserError(
            "target name is too long or not printable", f"'{text}'", f"at most {_LONGEST_NAME} printable characters"
        )
    return Target(name=name, uri=_uri(place, text))


def _name_and_place(text: str) -> tuple[str, str]:
    head, slash, _ = text.partition("/")
    if "=" not in head and (slash or text in _FOLDERS):
        path = Path(text).expanduser()
        return (path.resolve() if path.name in ("", "..") else path).name or "/", text
    name, _, place = text.partition("=")
    return name.strip(), place


def _uri(place: str, text: str) -> str:
    match = _SCHEME.fullmatch(place)
    scheme, path = (match.group(1), match.group(2)) if match else ("posix", place)
    if scheme in {"null", "model", MEMORY, DEVDAX}:
        if path:
            raise UserError(f"{scheme}: takes no path", f"'{text}'", f"write NAME={scheme}:")
        return f"{scheme}:"
    if scheme != "posix":
        raise UserError(
            f"unknown scheme '{scheme}:'", f"'{text}'", f"{_FORMS}; a path with a colon starts with ./ or /"
        )
    if not path.strip() or "\0" in path:
        raise UserError("target has no usable path", f"'{text}'", _FORMS)
    for word in _BRACED.findall(path):
        if word not in _WORDS:
            known = ", ".join(f"{{{one}}}" for one in _WORDS)
            raise UserError(f"unknown word {{{word}}} in a path", f"'{text}'", f"use {known}")
    return f"{scheme}:{Path(path).expanduser().absolute()}"


def parse_targets(texts: Iterable[str]) -> list[Target]:
    """Read all targets in the order written; raise UserError for a name or a place given twice."""
    targets: list[Target] = []
    for text in texts:
        target = parse_target(text)
        for other in targets:
            if other.name == target.name:
                raise UserError("two targets have the same name", f"'{target.name}'", "give each target its own name")
            if target_path(target) is not None and target_path(other) == target_path(target):
                raise UserError("two targets are the same place", target.uri, "give each target its own path")
        targets.append(target)
    return targets


def target_scheme(target: Target) -> str:
    """Return the scheme: ``posix``, ``null``, ``model`` ..."""
    return target.uri.partition(":")[0]


def target_path(target: Target) -> Path | None:
    """Return where the target lies in the file system; None when it has no path."""
    path = target.uri.partition(":")[2]
    return Path(path) if path else None


# What may stand in braces in a path, for where a rank is: the engine replaces it.
_WORDS: Final = ("rank", "local_rank", "node", "host", "socket", "numa")
_BRACED: Final = re.compile(r"\{([^{}]*)\}")


def words_of_path(target: Target) -> list[str]:
    """Return the words in braces of the target's path, such as ``rank``; none where all ranks have the same."""
    return _BRACED.findall(target.uri.partition(":")[2])


def target_folder(target: Target) -> Path | None:
    """Return an existing folder of the target: its path, or the first that its words in braces may stand for.

    Return the path as it is where there is none, and None when it has no path.
    """
    path = target_path(target)
    if path is None or not _BRACED.search(str(path)):
        return path
    pattern = _BRACED.sub("?*", str(path)).lstrip("/")
    return next((found for found in sorted(Path("/").glob(pattern)) if found.is_dir()), path)
