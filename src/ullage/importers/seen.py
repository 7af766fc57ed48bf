# SPDX-License-Identifier: Apache-2.0
"""The refusal of a text that no importer reads: one line that names what was seen, and what is read of that kind."""

import re
from collections.abc import Iterable
from typing import Final, Protocol

from ullage.errors import UserError


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...


# Words of outputs that are not read, what they are of, and what that program measures.
_SEEN: Final = (
    ("stress-ng:", "stress-ng, whose bogus operations compare with nothing", "processors"),
    ("proc'd:", "gpu-burn", "accelerators"),
    ("BT-IO Benchmark", "BT-IO", "storage"),
    ("bandwidthTest", "bandwidthTest of CUDA", "accelerators"),
    ("RDMA_Write BW Test", "perftest", "messages"),
    ("#bytes     #iterations", "perftest", "messages"),
    ("MD-Workbench", "md-workbench", "storage"),
    ("=== Model Options ===", "trtexec", "accelerators"),
    ("==PROF==", "Nsight Compute", "accelerators"),
    ("vendid=0x", "ibnetdiscover", "messages"),
    ("# darshan log version", "darshan-parser", "storage"),
    ("Performance counter stats for", "perf stat", "processors"),
    ("io500_info_", "the system information of IO500", "storage"),
)
_INI: Final = re.compile(r"^\s*\[[\w. -]+\]\s*$", re.MULTILINE)
_LONGEST: Final = 60
_HEAD: Final = 1 << 16


def refusal(text: str, place: str, importers: Iterable[_Named]) -> UserError:
    """Return the error for a text without a known form."""
    what, kind = _what(text)
    names = [one.name for one in importers if kind and one.kind == kind]
    right = f"what is read of {kind}: {', '.join(names)}" if names else "`ullage import --help` names what is read"
    return UserError(f"has no format that can be imported: {what}", place, right)


def _what(text: str) -> tuple[str, str]:
    head = text[:_HEAD]
    for words, program, kind in _SEEN:
        if words in head:
            return f"it is of {program}", kind
    first = next((line.strip() for line in head.splitlines() if line.strip()), "")
    if not first:
        return "it is empty", ""
    if first[0] in "{[" and first[1:2] in ('"', "{", "", " ", "}"):
        return "it is JSON with none of the names that are known", ""
    if _INI.search(head) and "=" in head:
        return "it is a file of settings", ""
    shown = first if len(first) <= _LONGEST else f"{first[: _LONGEST - 3]}..."
    return f"it begins with '{shown}'", ""
