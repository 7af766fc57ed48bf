# SPDX-License-Identifier: Apache-2.0
"""Results of others as results of ours. One file a form, found by walking this package: it sets ``IMPORTER``."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.result import ResultFolder

IMPORT_SUITE: Final = "import"
_FOLDER: Final = "imported"
_LARGEST_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Importer:
    """``recognises`` looks at a text, ``read`` turns it into a summary.

    ``read`` gets the text and the name to use in its errors, and raises ``UserError`` with line and column. ``files``:
    names under which such a text lies in a folder of results, the best one first.
    """

    name: str
    doc: str
    recognises: Callable[[str], bool]
    read: Callable[[str, str], Summary]
    files: tuple[str, ...] = ()


def load_importers() -> dict[str, Importer]:
    """All importers of this package by name."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found: list[Importer] = [importlib.import_module(f"{__name__}.{name}").IMPORTER for name in names]
    return {importer.name: importer for importer in found}


def read(path: Path, form: str | None = None) -> Summary:
    """The summary of a file in a known form (by its content, or as ``form`` says). ``UserError`` when it is none.

    Of a folder it is the file that an importer knows it by, here as in the functions below.
    """
    path = _file(path)
    text = _text(_content(path), path)
    summary = _importer(text, path, form).read(text, path.name)
    return summary.model_copy(update={"created": _changed(path), "run_id": "imported"})


def write_import(path: Path, result: ResultFolder) -> None:
    """Copy ``path`` into ``result``, whose request must come from ``import_request``."""
    from ullage.result import write_atomically

    path = _file(path)
    write_atomically(result.path / _FOLDER / path.name, _content(path))


def import_options(path: Path, form: str | None = None) -> dict[str, object]:
    """Options of the request of an import; reads the whole file, so that a bad one leaves no result behind."""
    import hashlib

    path = _file(path)
    content = _content(path)
    text = _text(content, path)
    importer = _importer(text, path, form)
    importer.read(text, path.name)
    return {"form": importer.name, "file": path.name, "sha256": hashlib.sha256(content).hexdigest()}


def imported_summary(result: ResultFolder, request: Request) -> Summary:
    """The summary of a result that was made by an import, from the copy of its file."""
    name, form = request.options.get("file"), request.options.get("form")
    if not isinstance(name, str) or Path(name).name != name or not isinstance(form, str):
        raise UserError("is damaged: it names no imported file", str(result.path / "request.json"), "import it again")
    summary = read(result.path / _FOLDER / name, form)
    return summary.model_copy(
        update={
            "run_id": request.run_id,
            "created": request.created,
            "command": request.command,
            "versions": request.versions,
        }
    )


def _file(path: Path) -> Path:
    """``path`` itself, or the file that stands for a folder."""
    if not path.is_dir():
        return path
    names = [name for importer in load_importers().values() for name in importer.files]
    found = [path / name for name in names if (path / name).is_file()]
    if not found:
        raise UserError(
            "holds no result that can be imported", str(path), f"name a file, or a folder with {' or '.join(names)}"
        )
    return found[0]


def _importer(text: str, path: Path, form: str | None) -> Importer:
    importers = load_importers()
    if form is not None:
        if form not in importers:
            raise UserError("no such form", f"'{form}'", f"one of {', '.join(importers)}")
        return importers[form]
    found = [importer for importer in importers.values() if importer.recognises(text)]
    if not found:
        forms = "; ".join(f"{importer.name}: {importer.doc}" for importer in importers.values())
        raise UserError("is in no form that can be imported", str(path), f"known are {forms}")
    return found[0]


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST_BYTES + 1)
    except OSError as error:
        code = EXIT_ENVIRONMENT if isinstance(error, PermissionError) else 2
        raise UserError(error.strerror or "cannot be read", str(path), "name a file to import", code) from error
    if len(content) > _LARGEST_BYTES:
        raise UserError(f"is larger than {_LARGEST_BYTES} bytes", str(path), "import a part of it")
    return content


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError("is no UTF-8 text", f"{path}:{line}", "save it as UTF-8") from error


def _changed(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
