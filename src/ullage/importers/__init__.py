# SPDX-License-Identifier: Apache-2.0
"""Results of others as results of ours. A module sets ``IMPORTERS``.

Forms of what one suite measures stand in its ``importer.py``, all others here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar, cast

from pydantic import ValidationError

from ullage.analysis.statistics import median_interval
from ullage.discovery import gathered, modules_in, suite_modules
from ullage.errors import UserError
from ullage.harmless import harmless_json
from ullage.model.base import Strict, first_mistake
from ullage.model.flags import Flag, interval_below
from ullage.model.plan import Scalar
from ullage.model.request import Request
from ullage.model.summary import Row, Summary
from ullage.reading import TABLE_BYTES, as_text, content_of
from ullage.results.folder import ResultFolder

DocumentT = TypeVar("DocumentT", bound=Strict)
IMPORT_SUITE: Final = "import"
_FOLDER: Final = "imported"
# How files begin that gzip, zip, bzip2, xz and zstd have made.
_PACKED: Final = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
# Words of outputs that are not read, and how the same program writes one that is.
_WAYS: Final = {
    "MPI Coordinated Test of Parallel I/O": "run ior with -O summaryFormat=JSON",
}


@dataclass(frozen=True, slots=True)
class Importer:
    """Reads the numbers of another program.

    ``recognises`` looks at a text, ``read`` turns it into a summary.

    ``read`` gets the text and the name to use in its errors, and raises ``UserError`` with line and column. ``files``:
    names under which such a text lies in a folder of results, the best one first. ``read_all`` takes several files at
    once, by their names, where their numbers belong together; a folder then stands for all of ``files``.
    """

    name: str
    doc: str
    recognises: Callable[[str], bool]
    read: Callable[[str, str], Summary]
    files: tuple[str, ...] = ()
    read_all: Callable[[Mapping[str, str]], Summary] | None = None


def imported_row(
    name: str,
    metric: str,
    unit: str,
    target: str,
    params: dict[str, Scalar],
    samples: Sequence[float],
    flags: Sequence[Flag] = (),
) -> Row:
    """Make a row of what the file ``name`` says; without counters its verdict is ``unknown(imported)``."""
    interval, several = median_interval(samples), len(samples) > 1
    return Row(
        metric=metric,
        unit=unit,
        better="less" if unit == "s" else "more",
        target=target,
        params=params,
        median=interval.median,
        low=interval.low if several else None,
        high=interval.high if several else None,
        repetitions=list(samples),
        verdict="unknown(imported)",
        verdict_reasons=[f"imported from {name}, which has no counters"],
        grade=None,
        flags=[*flags, *([Flag(code=interval_below())] if interval.below_level else [])],
    )


def document_of(model: type[DocumentT], text: str, name: str, right: str) -> DocumentT:
    """Read a document of JSON; raise ``UserError`` with the place of the first mistake, and what would be ``right``."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        place, why = first_mistake(error)
        raise UserError(f"{place}: {why}" if place else why, name, right) from error


def load_importers() -> dict[str, Importer]:
    """Return all importers by name: those of this package, and those of suites that have a form of their own."""
    found: list[Importer] = gathered([*modules_in(__name__), *suite_modules("importer")], "IMPORTERS")
    return {importer.name: importer for importer in sorted(found, key=lambda importer: importer.name)}


def read(path: Path | Sequence[Path], form: str | None = None) -> Summary:
    """Read files in a known form (by their content, or as ``form`` says); raise ``UserError`` for an unknown form.

    A folder stands for the files that an importer knows it by, here as in the functions below.
    """
    contents = _contents(path)
    # Texts of JSON may have escapes, so what was read is cleaned and not the file.
    found = harmless_json(_read(contents, form)[1].model_dump_json().encode())
    changed = datetime.fromtimestamp(next(iter(contents)).stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Summary.model_validate_json(found).model_copy(update={"created": changed, "run_id": "imported"})


def _read(contents: Mapping[Path, bytes], form: str | None) -> tuple[Importer, Summary]:
    texts = {path: _text(content, path) for path, content in contents.items()}
    importer = _importer(texts, form)
    if importer.read_all is not None:
        return importer, importer.read_all({path.name: text for path, text in texts.items()})
    if len(texts) > 1:
        right = "import them one by one"
        raise UserError(f"files of the form '{importer.name}' do not belong together", str(next(iter(texts))), right)
    ((path, text),) = texts.items()
    return importer, importer.read(text, path.name)


def write_import(path: Path | Sequence[Path], result: ResultFolder) -> None:
    """Copy the files into ``result``, whose request must come from ``import_options``."""
    from ullage.results.folder import write_atomically

    for one, content in _contents(path).items():
        write_atomically(result.path / _FOLDER / one.name, content)


def import_options(path: Path | Sequence[Path], form: str | None = None) -> dict[str, object]:
    """Make the options of an import's request; read the whole files first, so that a bad one leaves no result."""
    import hashlib

    contents = _contents(path)
    importer, _ = _read(contents, form)
    digests = [hashlib.sha256(content).hexdigest() for content in contents.values()]
    return {"form": importer.name, "files": [one.name for one in contents], "sha256": digests}


def imported_summary(result: ResultFolder, request: Request) -> Summary:
    """Make the summary of an imported result again, from the copies of its files."""
    named, form = request.options.get("files"), request.options.get("form")
    names = [str(name) for name in cast("list[object]", named)] if isinstance(named, list) else []
    if not names or any(Path(name).name != name for name in names) or not isinstance(form, str):
        raise UserError("is damaged: it names no imported file", str(result.path / "request.json"), "import it again")
    summary = read([result.path / _FOLDER / name for name in names], form)
    own = request.model_dump(include={"run_id", "created", "command"})
    return summary.model_copy(update={**own, "versions": request.versions})


def _contents(path: Path | Sequence[Path]) -> dict[Path, bytes]:
    """Return what the files hold, with those that stand for a folder; raise ``UserError`` for two of one name."""
    asked = [path] if isinstance(path, Path) else list(path)
    found = [one for part in asked for one in (_known_in(part) if part.is_dir() else [part])]
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError("two files have the same name", twice, "import them one by one")
    return {one: content_of(one, "name a file to import", most_bytes=TABLE_BYTES) for one in found}


def _known_in(folder: Path) -> list[Path]:
    importers = load_importers().values()
    for importer in importers:
        found = [folder / name for name in importer.files if (folder / name).is_file()]
        if found:
            return found if importer.read_all is not None else found[:1]
    names = [name for importer in importers for name in importer.files]
    raise UserError(
        "contains no result that can be imported", str(folder), f"name a file, or a folder with {' or '.join(names)}"
    )


def _importer(texts: Mapping[Path, str], form: str | None) -> Importer:
    """Return the importer that recognises the first file, or the one named ``form``; it reads all files."""
    (path, text), importers = next(iter(texts.items())), load_importers()
    if form is not None:
        if form not in importers:
            raise UserError("no such form", f"'{form}'", f"one of {', '.join(importers)}")
        return importers[form]
    found = [importer for importer in importers.values() if importer.recognises(text)]
    if not found:
        way = next((way for words, way in _WAYS.items() if words in text), f"one of {', '.join(importers)}")
        raise UserError("has no format that can be imported", str(path), way)
    return found[0]


def _text(content: bytes, path: Path) -> str:
    if content.startswith(_PACKED) or content[257:262] == b"ustar":
        raise UserError("is packed or compressed", str(path), "unpack it, and give the file or folder in it")
    return as_text(content, str(path))
