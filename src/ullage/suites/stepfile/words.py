# SPDX-License-Identifier: Apache-2.0
"""Words of options that stand for parameters of the engine's workload: ``stride:4``, ``hashed:2``, ``every:16``."""

from collections.abc import Mapping
from typing import Final

from ullage.errors import UserError
from ullage.model.plan import Parameters
from ullage.parameters import suggest
from ullage.units import parse_count

Forms = Mapping[str, str]
# Each word, and the parameter that the number behind its colon sets; empty where it takes none.
ORDERS: Final[Forms] = {"reverse": "", "forward": "", "stride": "stride", "revolve": "checkpoints"}
LAYOUTS: Final[Forms] = {"flat": "", "dir-per-rank": "", "dir-per-step": "", "hashed": "hash_levels", "log": ""}
SYNCS: Final[Forms] = {"none": "", "close": "", "fsync": "", "every": "sync_every"}


def parameters_of(name: str, text: str, forms: Forms) -> Parameters:
    """Return the parameter ``name`` and, for a word with a number, that of the number; raise ``UserError``."""
    word, colon, number = text.partition(":")
    if word not in forms:
        raise UserError("unknown word", text, suggest(word, forms))
    own = forms[word]
    if not own:
        if colon:
            raise UserError(f"'{word}' takes no number", text, f"write {word}")
        return {name: word}
    if not colon:
        raise UserError(f"'{word}' needs a number", text, f"write {word}:4")
    count = parse_count(number)
    if count < 1:
        raise UserError("the number is below 1", text, f"write {word}:4")
    return {name: word, own: count}
