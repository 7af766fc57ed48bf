# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``apps``: what is asked of each kernel is what stands in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, cast

from ullage.parameters import suggest
from ullage.runs.composite.options import CompositeOptions, PartRequest, asked_of, part_of
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import CeilingOptions, QuickOptions, SeedOptions, TimeBudgetOptions, cores_of_nodes
from ullage.runs.options.kinds import Names
from ullage.runs.options.model import OptionError
from ullage.runs.suite import load_suites

# The kernels in their small forms: the share of the measuring time, and what differs from the quick form of the suite.
# A further kernel is a further line. One that this version lacks is left out, and its share goes to the others.
SMALL: Final[Mapping[str, tuple[float, Mapping[str, object]]]] = {
    "spio": (0.13, {"operations": ["write", "read", "reread"]}),
    "tile": (0.09, {"cache": "drop"}),
    "pio": (0.20, {"patterns": ["simple-strided", "segmented"], "requests": [4 << 10, 1 << 20]}),
    "flash": (0.09, {"cache": "drop"}),
    "vpic": (0.08, {"layouts": ["CC", "CI"], "compute_s": 0.0}),
    "bdcats": (0.06, {"layouts": ["CC"], "compute_s": 0.0, "cache": "drop"}),
    "sar": (0.09, {}),
    "checkpoint": (0.09, {"layouts": ["rank", "shared"]}),
    "stepfile": (0.08, {"orders": ["reverse", "forward"], "cache": "drop"}),
    "loader": (0.04, {"sample_bytes": 1 << 20, "samples": 64, "accelerators": [2], "step_s": 0.0}),
    "overlap": (0.05, {"sizes": [1 << 20], "depths": [4], "backends": ["posix"]}),
}
# These choose their ranks themselves: they need cores for threads besides the ranks.
_OWN_RANKS: Final = frozenset({"loader", "overlap"})


class AppsOptions(CompositeOptions, CeilingOptions, TimeBudgetOptions, QuickOptions, SeedOptions):
    """The options of suite ``apps``, which it shares out to its kernels."""

    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Keep the files at this place. Repeat the option to compare several places."),
        "time_s": Change("Limit the time of the measurements. The kernels share it.", usual="2m", quick="50s"),
        "quick": Change("Take a first look in 50 s."),
    }

    without: Annotated[list[str], Names(), Option("Leave out these kernels, for example flash,stepfile.")] = []

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Make a request of each kernel that is not left out; raise ``OptionError`` for an unknown one."""
        values = super().settle(said)
        suites = load_suites()
        known = [name for name in SMALL if name in suites]
        without = cast("list[str]", values.get("without", []))
        unknown = next((name for name in without if name not in known), None)
        if unknown is not None:
            raise OptionError("without", f"unknown word '{unknown}'", suggest(unknown, known))
        names = [name for name in known if name not in without]
        if not names:
            raise OptionError("without", "no kernel is left", f"leave out fewer of {', '.join(known)}")
        return {**values, "parts": [_part(name, values, names) for name in names]}


def _part(name: str, asked: Mapping[str, object], names: list[str]) -> PartRequest:
    share, form = SMALL[name]
    seconds = cast("float", asked["time_s"]) * share / sum(SMALL[one][0] for one in names)
    own = {"targets": asked.get("targets"), "seed": asked.get("seed"), "ceilings": asked.get("ceilings")}
    if name not in _OWN_RANKS:
        own["ranks"] = [max(2, cores_of_nodes({}))]
    return part_of(name, asked_of(load_suites()[name], {**own, **form, "time_s": round(seconds, 1), "quick": True}))
