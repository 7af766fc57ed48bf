# SPDX-License-Identifier: Apache-2.0
"""The PTX of the kernels was made of their source as it is."""

import re

from tests.support.data import some

import kernels


def test_ptx_was_made_of_the_source_as_it_is() -> None:
    source = kernels.SOURCE.read_text(encoding="utf-8")
    assert kernels.PTX.read_text(encoding="utf-8").startswith(kernels.mark(source))


def test_ptx_is_old_and_has_each_kernel() -> None:
    ptx = kernels.PTX.read_text(encoding="utf-8")
    assert float(re.findall(r"^\.version (\S+)", ptx, re.MULTILINE)[0]) <= 8.0
    assert ".target sm_50" in ptx
    source = kernels.SOURCE.read_text(encoding="utf-8")
    named = re.findall(
        r"KERNEL void (\w+)\(GLOBAL|KERNEL void (\w+)\(const|^MULTIPLY_ADD\((\w+),", source, re.MULTILINE
    )
    for names in some(named):
        name = "".join(names).replace("name", "")
        assert not name or f".entry {name}(" in ptx
