# SPDX-License-Identifier: Apache-2.0
"""Workload `b-eff-io` beside bare MPI-IO loops of the same calls (b_eff_io_loop.c), in pairs; and what its loop costs.

python -m benchmarks.b_eff_io_pairs FOLDER [PAIRS [UNIT_S]] [--engine PATH|PRESET]

A row a type and access: the geometric mean over its patterns of the ratio of bandwidths, the median of all pairs; then
the same of each pattern. The last table is of backend `null`: time of a repetition that moves nothing, on one rank.
"""

import secrets
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, build_mpi, mpi_name, run_mpi, run_plan
from ullage.model.plan import Case, Layout, Limits, Named, Parameters, Plan, Target
from ullage.model.record import PhaseRecord

SOURCE: Final = Path(__file__).with_name("b_eff_io_loop.c")
LAYOUT: Final = Layout(ranks=2, nodes=1, ranks_per_node=2)
TYPES: Final = ("scatter", "shared", "separated", "segmented", "seg_coll")
LMAX: Final = 2 << 20
STEM: Final = "h0-n2"
Key = tuple[str, str, int]  # type, access, place among the type's patterns


def plan_of(uri: str, backend: str, accesses: tuple[str, ...], unit_s: float, layout: Layout = LAYOUT) -> Plan:
    """Every type by each access, in one launch; what is read is not verified."""
    cases: list[Case] = []
    for access in accesses:
        for kind in TYPES:
            parameters: Parameters = {"type": kind, "access": access, "lmax_bytes": LMAX, "unit_s": unit_s}
            parameters |= {"verify": "none"} if access == "read" else {}
            if access == "write":
                parameters |= {"counts_of": STEM} if kind.startswith("seg") else {"most_bytes": 512 << 20}
            workload = Named(name="b-eff-io", parameters=parameters)
            backend_of = Named(name=backend)
            identity = secrets.token_hex(8)
            cases.append(Case(id=identity, target="t", backend=backend_of, workload=workload, dataset=f"{STEM}-{kind}"))
    return Plan(
        run_id="bench-" + secrets.token_hex(4),
        suite="benchmark",
        records="",
        layout=layout,
        targets=[Target(name="t", uri=uri)],
        stop_rule=Named(name="fixed", parameters={"count": 1}),
        limits=Limits(space_fraction=0.9),
        order="listed",
        cases=cases,
    )


def ullage(folder: Path, unit_s: float) -> dict[Key, PhaseRecord]:
    """Every pattern of every type, written and read."""
    found: dict[Key, PhaseRecord] = {}
    places: dict[tuple[str, str], int] = defaultdict(int)
    for record in run_plan(plan_of(f"posix:{folder}", "mpiio", ("write", "read"), unit_s)):
        kind, access = str(record.facts["type"]), str(record.facts["access"])
        found[kind, access, places[kind, access]] = record
        places[kind, access] += 1
    return found


def bare(program: Path, folder: Path, like: dict[Key, PhaseRecord]) -> dict[Key, float]:
    """Bytes/s of the same patterns with the same counts."""
    found: dict[Key, float] = {}
    for kind in TYPES:
        patterns = [record for key, record in like.items() if key[:2] == (kind, "write")]
        jobs = [":".join(str(r.facts[name]) for name in ("chunk_bytes", "call_bytes", "repetitions")) for r in patterns]
        segment = patterns[0].facts.get("segment_bytes", 0)
        told = run_mpi(program, LAYOUT, [kind, str(folder / "bare"), str(segment), *jobs])
        for line, record in zip(told.splitlines(), patterns, strict=True):
            place, write_s, read_s = line.split()
            found[kind, "write", int(place)] = record.bytes / float(write_s)
            found[kind, "read", int(place)] = record.bytes / float(read_s)
    return found


def compare(program: Path, folder: Path, pairs: int, unit_s: float) -> None:
    """Print the tables of both sides."""
    like = ullage(folder, unit_s)
    ours, theirs = defaultdict[Key, list[float]](list), defaultdict[Key, list[float]](list)
    for i in range(pairs):
        for side in (0, 1) if i % 2 == 0 else (1, 0):
            if side == 0:
                for key, record in ullage(folder, unit_s).items():
                    ours[key].append(record.bytes / record.gauges["pattern_s"].most)
            else:
                for key, rate in bare(program, folder, like).items():
                    theirs[key].append(rate)
    ratios = {key: [a / b for a, b in zip(ours[key], theirs[key], strict=True)] for key in like}
    print("| type | access | ratio of bandwidths | of all pairs |\n|---|---|---|---|")
    for kind in TYPES:
        for access in ("write", "read"):
            own = [ratios[key] for key in like if key[:2] == (kind, access) and like[key].facts["units"]]
            means = sorted(statistics.geometric_mean(pair) for pair in zip(*own, strict=True))
            print(f"| {kind} | {access} | {statistics.median(means):.3f} | {means[0]:.3f} to {means[-1]:.3f} |")
    print("\n| type | access | size | ullage | bare loop | ratio |\n|---|---|---|---|---|---|")
    for key, record in like.items():
        medians = [f"{statistics.median(side[key]) / 1e6:,.4g} MB/s" for side in (ours, theirs)]
        row = (*key[:2], str(record.facts["size"]), *medians, f"{statistics.median(ratios[key]):.3f}")
        print(f"| {' | '.join(row)} |")


def cost(unit_s: float) -> None:
    """Print what a repetition takes that moves nothing: our own work, and a barrier and a broadcast of one rank."""
    print("\n| pattern of `null`, 1 rank | repetitions | a repetition |\n|---|---|---|")
    for record in run_plan(plan_of("null:", "null", ("write",), unit_s, Layout(ranks=1, nodes=1))):
        loop_s = record.gauges["pattern_s"].most - record.gauges["sync_s"].most
        count = int(str(record.facts["repetitions"]))
        if count > 1:
            print(f"| {record.facts['type']}, {record.facts['size']} | {count} | {loop_s / count * 1e9:.0f} ns |")


def main() -> None:
    """Print all tables."""
    words = arguments()
    folder = Path(words[0]).resolve()
    pairs = int(words[1]) if len(words) > 1 else 7
    unit_s = float(words[2]) if len(words) > 2 else 0.02
    print(f"{mpi_name()}\n")
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "loop"
        build_mpi(SOURCE, program)
        compare(program, folder, pairs, unit_s)
    cost(unit_s)


if __name__ == "__main__":
    main()
