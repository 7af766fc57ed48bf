# SPDX-License-Identifier: Apache-2.0
"""Memory of this node."""

from pathlib import Path

from ullage.model.system import Memory
from ullage.system.files import ROOT, bracketed, read_fields, read_kib, read_text


def read_memory(root: Path = ROOT) -> Memory:
    """Sizes and page settings."""
    info = read_fields(root / "proc/meminfo")
    pages = info.get("HugePages_Total", "")
    return Memory(
        total_bytes=read_kib(info, "MemTotal"),
        available_bytes=read_kib(info, "MemAvailable"),
        swap_total_bytes=read_kib(info, "SwapTotal"),
        huge_page_bytes=read_kib(info, "Hugepagesize"),
        huge_pages_total=int(pages) if pages.isdigit() else None,
        transparent_huge_pages=bracketed(read_text(root / "sys/kernel/mm/transparent_hugepage/enabled")),
    )
