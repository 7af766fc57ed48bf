# SPDX-License-Identifier: Apache-2.0
"""What voids a b_eff_io value by what is asked for: known before anything runs, and told alike afterwards. Pure."""

from typing import Final

from ullage.suites.b_eff_io.options import VALID_S, BEffIoOptions
from ullage.suites.b_eff_io.patterns import SMALLEST_LMAX
from ullage.units import format_bytes, format_time

WITHOUT_SHARED_POINTERS: Final = "pattern type shared does without shared file pointers"


def reasons_of_options(options: BEffIoOptions) -> list[str]:
    """Empty: nothing that is asked for speaks against a valid value."""
    found: list[str] = []
    if options.partition_s < VALID_S:
        each = " for each partition" if len(options.partitions) > 1 else ""
        found.append(f"the scheduled time is {format_time(options.partition_s)}{each}, below 30 min")
    if options.rule != "2.1":
        found.append(f"loops end by the rule of release {options.rule}, not that of 2.1")
    if not options.shared_pointer:
        found.append(WITHOUT_SHARED_POINTERS)
    if options.verify == "none":
        found.append("what is read is not verified")
    if options.lmax is not None and options.lmax < SMALLEST_LMAX:
        found.append(f"Lmax is {format_bytes(options.lmax)}, below {format_bytes(SMALLEST_LMAX)}")
    return found
