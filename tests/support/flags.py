# SPDX-License-Identifier: Apache-2.0
"""Flags of rows, where a test cares for their codes only."""

from ullage.model.flags import Flag


def flags_of(*codes: str) -> list[Flag]:
    """One of each code, in their order."""
    return [Flag(code=code, reason=f"because of {code}") for code in codes]
