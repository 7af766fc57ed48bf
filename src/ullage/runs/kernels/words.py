# SPDX-License-Identifier: Apache-2.0
"""Words that suites of work on cores and memory have in common. Imported for every command: nothing heavy up here."""

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from ullage.runs.kernels.options import CaseOptions
    from ullage.runs.kernels.resources import Resources

OptionsT = TypeVar("OptionsT", bound="CaseOptions")
_ALL = "all"


def typed(model: "type[OptionsT]", **members: object) -> "OptionsT":
    """``members`` as options; ``UserError`` for the first that is none."""
    from pydantic import ValidationError

    from ullage.errors import UserError

    try:
        return model.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        raise UserError(first["msg"], f"--{place.replace('_', '-')}") from error


def thread_counts(text: str | None, resources: "Resources", *, quick: bool = False) -> list[int]:
    """From ``1,2,all`` or ``1:8:x2``; rising. Default: powers of 2 up to all, and all; ``quick``: 1 and all.

    ``UserError`` for 0 and for more threads than CPUs.
    """
    from ullage.suites.sweep.words import rising_axis
    from ullage.units import parse_axis

    if text is None:
        powers = [1] if quick else [1 << power for power in range(resources.threads.bit_length())]
        return sorted({*powers, resources.threads})
    words = [str(resources.threads) if word.strip() == _ALL else word for word in text.split(",")]
    counts = rising_axis("--threads", ",".join(words), parse_axis)
    resources.check(counts)
    return counts
