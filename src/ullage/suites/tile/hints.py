# SPDX-License-Identifier: Apache-2.0
"""Sets of MPI-IO hints that are measured side by side, as they are typed: ``NAME:KEY=VALUE,KEY=VALUE``."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from pydantic import Field

from ullage.errors import UserError
from ullage.model.base import Strict

DEFAULT: Final = "default"
# ROMIO's two ways to move a strided part: by the ranks together, or by each with more than it needs.
KNOWN: Final[Mapping[str, Mapping[str, str]]] = {
    DEFAULT: {},
    "two-phase": {"romio_cb_write": "enable", "romio_cb_read": "enable"},
    "sieving": {
        "romio_cb_write": "disable",
        "romio_cb_read": "disable",
        "romio_ds_write": "enable",
        "romio_ds_read": "enable",
    },
    "plain": {
        "romio_cb_write": "disable",
        "romio_cb_read": "disable",
        "romio_ds_write": "disable",
        "romio_ds_read": "disable",
    },
}
_FORM: Final = f"write {', '.join(KNOWN)}, or NAME:KEY=VALUE,KEY=VALUE"
_LONGEST: Final = 64


class TileHints(Strict):
    """Hints that are given together when the file is opened."""

    name: Annotated[str, Field(min_length=1, max_length=_LONGEST)]
    hints: dict[str, str] = {}


def read_hints(texts: Sequence[str]) -> list[TileHints]:
    """Read sets of hints; raise ``UserError`` for what is none and where two sets have one name."""
    sets = [_read(text) for text in texts]
    names = [one.name for one in sets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"two sets of hints are called '{twice}'", twice, "give each set a name of its own")
    return sets


def _read(text: str) -> TileHints:
    name, colon, rest = text.partition(":")
    if not colon and name in KNOWN:
        return TileHints(name=name, hints=dict(KNOWN[name]))
    if not colon or not name.strip() or not name.isprintable() or len(name) > _LONGEST or name in KNOWN:
        raise UserError("is not a set of hints", text, _FORM)
    hints: dict[str, str] = {}
    for word in rest.split(","):
        key, joined, value = word.partition("=")
        if not key.strip() or not joined or not value.strip():
            raise UserError(f"'{word}' is not a hint", text, _FORM)
        hints[key.strip()] = value.strip()
    return TileHints(name=name, hints=hints)
