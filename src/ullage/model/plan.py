# SPDX-License-Identifier: Apache-2.0
"""The plan: everything one launch of the engine has to do (schema ``ullage.plan/1``).

Sizes are bytes, times are seconds unless the name says ``_ns``. The engine reads the same document with
the same strictness: an unknown key or a bad value ends it with exit code 2 and the JSON pointer.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Strict, doc

PLAN_SCHEMA = "ullage.plan/1"

Scalar: TypeAlias = bool | int | float | str
Value: TypeAlias = Scalar | list[str] | dict[str, Scalar]
Parameters: TypeAlias = dict[str, Value]
RunId: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class Layout(Strict):
    """How the ranks must be placed; the engine refuses (exit 3) when the launch differs."""

    ranks: Annotated[int, Field(ge=1)]
    nodes: Annotated[int, Field(ge=1, description="null: not checked")] | None = None
    ranks_per_node: Annotated[int, Field(ge=1, description="null: not checked")] | None = None
    threads: Annotated[int, Field(ge=1)] = 1
    binding: Literal["core", "none"] = "none"


class Target(Strict):
    """The place exercised. ``uri`` is ``SCHEME:PATH``; a backend without storage has an empty path (``null:``)."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    uri: Annotated[str, Field(min_length=2)]


class Named(Strict):
    """A registered thing of the engine with the parameters that differ from their defaults."""

    name: str
    parameters: Parameters = {}


class Case(Strict):
    """Workload x backend x target x parameters, fully bound, for the plan's layout.

    ``id`` is the first 16 hex digits of the SHA-256 of the canonical JSON of the case, its target and its
    layout (``ullage.identity``). ``prior_elapsed_ns`` holds the elapsed times that earlier launches of the
    same case have measured, by phase, so that a stop rule judges all samples and not only this launch's.
    """

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    target: str
    backend: Named
    workload: Named
    dataset: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9_-]{0,64}$",
            description="named: outlives the case, and other cases of the target use it; empty: one of its own",
        ),
    ] = ""
    spill: Annotated[list[str], doc("further targets, in this order, for data that finds no room at those before")] = []
    first_repetition: Annotated[
        int, Field(ge=0, le=2**30, description="number of the first repetition; those below are of earlier launches")
    ] = 0
    prior_elapsed_ns: dict[str, list[int]] = {}


class Limits(Strict):
    """What a run may take of other people's storage (DESIGN section 6)."""

    space_bytes: (
        Annotated[int, Field(ge=0, description="most bytes at any one target; null: only the fraction counts")] | None
    ) = None
    space_fraction: Annotated[float, Field(gt=0, le=1, description="of what is free when the run starts")] = 0.5
    reserve_bytes: Annotated[int, Field(ge=0, description="never taken from what is free")] = 1 << 30


class Plan(Strict):
    """Ordered cases for one layout, with the rule that ends their repetitions."""

    schema_: Annotated[Literal["ullage.plan/1"], Field(alias="schema")] = PLAN_SCHEMA
    run_id: RunId
    suite: str
    records: Annotated[str, doc("file the engine appends NDJSON to; made if missing")]
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    layout: Layout
    targets: list[Target]
    stop_rule: Named
    time_budget_s: (
        Annotated[
            float, Field(gt=0, description="no repetition is begun that is not expected to end in it; null: no budget")
        ]
        | None
    ) = None
    warmups: Annotated[
        int, Field(ge=0, description="flagged repetitions before the first counted one of each case")
    ] = 0
    watchdog_s: Annotated[float, Field(gt=0, description="a phase without progress for this long is a timeout")] = 120.0
    limits: Limits = Limits()
    order: Annotated[Literal["shuffled", "listed"], doc("in which a round goes through the cases")] = "shuffled"
    keep: Annotated[bool, doc("leave datasets in place")] = False
    keep_when_interrupted: Annotated[bool, doc("leave datasets for a launch that goes on")] = False
    continues: Annotated[bool, doc("go on with the datasets an earlier launch of this run left")] = False
    prepared: Annotated[
        list[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]],
        doc("datasets whose directory is made in a folder of that name at the target, and moved"),
    ] = []
    cases: Annotated[list[Case], Field(min_length=1)]
