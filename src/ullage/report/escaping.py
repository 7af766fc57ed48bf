# SPDX-License-Identifier: Apache-2.0
"""Text from a machine as the plain words of a Markdown document."""

import re
from typing import Final

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def escape(text: str) -> str:
    """``text`` on one line, with nothing in it that Markdown or HTML would act on."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
