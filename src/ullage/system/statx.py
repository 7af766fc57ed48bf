# SPDX-License-Identifier: Apache-2.0
"""What statx(2) says of a file beyond what Python asks of it.

Needs the standard library alone: a test of persistent memory runs this file in a machine that has nothing else.
"""

import ctypes
import os
from pathlib import Path
from typing import Final

# These are from statx(2): flags, the mask that asks for the alignment, an attribute, the size of the answer, and where
# its parts stand.
_AT_EMPTY_PATH: Final = 0x1000
_DIOALIGN: Final = 0x2000
_ATTR_DAX: Final = 0x200000
_BYTES: Final = 256
_MASK_AT: Final = 0
_ATTRIBUTES_AT: Final = 8
_MEMORY_AT: Final = 152
_OFFSET_AT: Final = 156


def is_dax(folder: Path) -> bool:
    """Tell whether a file in ``folder`` (one without a name) is persistent memory past the page cache."""
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        answer = _statx(handle, 0)
        return answer is not None and bool(_word(answer, _ATTRIBUTES_AT) & _ATTR_DAX)
    finally:
        os.close(handle)


def direct_alignment(handle: int) -> int | None:
    """Return the alignment that the kernel (6.1 or newer) states for this file, or None where it does not say."""
    answer = _statx(handle, _DIOALIGN)
    if answer is None or not _word(answer, _MASK_AT) & _DIOALIGN:
        return None
    return max(_word(answer, _MEMORY_AT), _word(answer, _OFFSET_AT)) or None


def _statx(handle: int, mask: int) -> bytes | None:
    """Return what statx(2) says of an open file; None where the C library or the kernel has no such call."""
    answer = ctypes.create_string_buffer(_BYTES)
    statx = getattr(ctypes.CDLL(None), "statx", None)
    return None if statx is None or statx(handle, b"", _AT_EMPTY_PATH, mask, answer) != 0 else answer.raw


def _word(answer: bytes, at: int) -> int:
    return int.from_bytes(answer[at : at + 4], "little")
