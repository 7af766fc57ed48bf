# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``node``: what is asked of each part is what stands in request.json."""

from collections.abc import Mapping
from typing import ClassVar, Final, cast

from ullage.runs.composite.options import CompositeOptions, PartRequest, asked_of, goes_between_hosts, part_of
from ullage.runs.options.declared import Change
from ullage.runs.options.each_node import EACH_NODE, REQUIRE, EachNodeOptions
from ullage.runs.options.groups import MachineOptions, PeerOptions, QuickOptions, SeedOptions, TimeBudgetOptions
from ullage.runs.suite import load_suites
from ullage.system.readiness import gpu_makers

# Shares of the measuring time; the share of a part that this version lacks goes to the others.
SHARES: Final[Mapping[str, float]] = {
    "cpu": 0.36,
    "memory": 0.34,
    "disk": 0.22,
    "network": 0.2,
    "noise": 0.06,
    "gpu": 0.2,
}


class NodeOptions(
    EachNodeOptions, CompositeOptions, TimeBudgetOptions, QuickOptions, PeerOptions, MachineOptions, SeedOptions
):
    """The options of suite ``node``, which it shares out to its parts."""

    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Measure the disk that holds this folder.", usual="here=.", required=False),
        "time_s": Change("Limit the time of the whole run, other tools included.", usual="2m40s", quick="1m"),
        "quick": Change("Run the quick form of every part, in 1m."),
        "peer": Change("Do not run other tools for comparison."),
    }

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Make a request of each part that this version has."""
        values = super().settle(said)
        return {**values, "parts": _parts({k: v for k, v in values.items() if k not in (*EACH_NODE, REQUIRE)})}


def _parts(asked: Mapping[str, object]) -> list[PartRequest]:
    suites = load_suites()
    seconds = cast("float", asked["time_s"])
    names = [name for name in SHARES if name in suites]
    # Where no driver is loaded, the part ends with one line, and the others have its time.
    total = sum(SHARES[name] for name in names if name != "gpu" or gpu_makers())
    parts: list[PartRequest] = []
    for name in names:
        on_hosts = bool(asked.get("hosts")) and goes_between_hosts(suites[name])
        share = {"time_s": round(seconds * SHARES[name] / total, 1)}
        own = {**asked, **share}
        if name != "disk":
            del own["targets"]
        parts.append(part_of(name, asked_of(suites[name], own), on_hosts=on_hosts))
    return parts
