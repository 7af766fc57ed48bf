# SPDX-License-Identifier: Apache-2.0
"""What a member and the run it belongs to say to each other: lines through the launcher that has started it.

A member writes lines of JSON after a mark, since launchers and libraries write to the same stream. It reads ``go
STAGE``. The end of its input asks it to end: nobody has to be on its node for that, and nothing has to be polled.
"""

import json
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from ullage.model.base import Strict

MARK: Final = "ullage-member "
GO: Final = "go "
START: Final = "start"
"""The first stage: the member has checked all it was asked for, and has measured nothing."""


BEAT_S: Final = 15.0
SILENCE_S: Final = 120.0
"""A member that has said nothing for so long is lost."""


class StageReached(Strict):
    """It waits for the others."""

    kind: Literal["at"] = "at"
    stage: str


class Alive(Strict):
    """It is there; said every ``BEAT_S``, so that a node that is gone is missed."""

    kind: Literal["alive"] = "alive"


class Printed(Strict):
    """A line for people."""

    kind: Literal["said"] = "said"
    text: str


class NextWork(Strict):
    """What it does next, for about so many seconds."""

    kind: Literal["doing"] = "doing"
    text: str
    left_s: float


class Refused(Strict):
    """It cannot measure what it was asked for, and has not begun."""

    kind: Literal["refused"] = "refused"
    text: str
    code: int


class Ended(Strict):
    """It has ended. ``code``: that of ``ullage run``."""

    kind: Literal["ended"] = "ended"
    code: int
    messages: list[str]


MemberMessage: TypeAlias = Annotated[
    StageReached | Alive | Printed | NextWork | Refused | Ended, Field(discriminator="kind")
]
_WORD: Final[TypeAdapter[MemberMessage]] = TypeAdapter(MemberMessage)


def line_of(word: MemberMessage) -> str:
    """Return the line that says ``word``."""
    return f"{MARK}{json.dumps(word.model_dump(mode='json'))}\n"


def message_of(line: str) -> MemberMessage | None:
    """Return what a line says; None for one of somebody else, or a damaged one."""
    _, mark, text = line.partition(MARK)
    if not mark:
        return None
    try:
        return _WORD.validate_json(text)
    except ValidationError:
        return None
