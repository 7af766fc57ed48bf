# SPDX-License-Identifier: Apache-2.0
"""The calls of a command line on names, made again on a tmpfs: what is asked there, and what it bounds."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from support.make_records import SECOND_NS, make_case, make_launch, make_phase, make_row, make_run
from support.simulated_engine import SilentProgress
from ullage.engine import Describe
from ullage.identity import plan_bytes
from ullage.launch.mpich import Mpich
from ullage.launch.process import LaunchOutcome
from ullage.model.plan import Case, Layout, Named, Plan, Target
from ullage.model.request import Request
from ullage.model.system import Memory, Place
from ullage.results.folder import PROBE, ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext
from ullage.runs.inputs import EngineContext
from ullage.runs.no_device import FOLDER, NAME, SAMPLES, measure_names, under_names
from ullage.runs.session import Session

DISK = Place(target="t", path="/data", exists=True, file_system="ext4", is_memory=False)


def case(number: int, **parameters: object) -> Case:
    usual = {"items": 50_000, "items_per_directory": 50_000, "phases": ["tree-create", "create"]}
    workload = Named.model_validate({"name": "metadata", "parameters": {**usual, **parameters}})
    return Case(id=f"{number:016x}", target="t", backend=Named(name="posix"), workload=workload, dataset="files")


def plan(*cases: Case, nodes: int | None = None) -> Plan:
    return Plan(
        run_id="r1", suite="from-mdtest", records="/r", layout=Layout(ranks=2, nodes=nodes), order="listed",
        targets=[Target(name="t", uri="posix:/data")], cases=list(cases),
        stop_rule=Named(name="fixed", parameters={"count": 6}),
    )  # fmt: skip


class World:
    """A result with one launch, and an engine that notes what it is asked, and makes phases of ``grades`` in turn."""

    def __init__(self, path: Path, whole: Plan, grades: str = "") -> None:
        self.grades = iter(grades)
        request = Request(run_id="r1", suite="from-mdtest", created="now", targets=whole.targets, options={})
        self.result = ResultFolder.create(path / "result", request)
        self.result.prepare_launch(1, whole)
        self.asked: list[Plan] = []
        self.session = Session(
            self.result, EngineContext(Path("/e"), Describe.model_construct()), Mpich(Path("/m")), SilentProgress(),
            None, self.start,
        )  # fmt: skip

    def start(self, *words: object) -> LaunchOutcome:
        asked = next(word for word in words if isinstance(word, Plan))
        self.asked.append(asked)
        if grade := next(self.grades, ""):
            phases = [make_phase(asked.cases[0].id, index, phase="create", grade=grade) for index in range(SAMPLES)]
            write_launch(Path(asked.records), make_launch(phases, run=make_run(ranks=2)))
        return LaunchOutcome(0, None, Path(asked.records), "complete", "", [], elapsed_s=1.0)

    def events(self) -> list[str]:
        return [event.text for file in self.result.read_records() for event in file.events]


def write_launch(path: Path, records: Iterable[AnyRecord]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{record.model_dump_json(by_alias=True)}\n" for record in records))


@pytest.fixture(autouse=True)
def tmpfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(target=NAME, path=str(tmp_path / "shm"), exists=True, file_system="tmpfs", is_memory=True)
    monkeypatch.setattr("ullage.runs.no_device.find_tmpfs", lambda _memory, _needed: place)


def test_the_calls_are_the_same_and_their_names_few(tmp_path: Path) -> None:
    transfer = Case(id="f" * 16, target="t", backend=Named(name="posix"), workload=Named(name="transfer"))
    whole = plan(case(1), case(2, phases=["stat", "unlink"], items=10, items_per_directory=10), transfer)
    world = World(tmp_path, whole)
    assert measure_names(whole, world.session, [DISK], Memory(), 60.0) is None
    (asked,) = world.asked
    assert [found.workload.parameters["phases"] for found in asked.cases] == [
        ["tree-create", "create"],
        ["stat", "unlink"],
    ]
    assert [found.workload.parameters["items"] for found in asked.cases] == [2000, 10]
    assert {found.target for found in asked.cases} == {NAME} == {target.name for target in asked.targets}
    assert not {found.id for found in asked.cases} & {found.id for found in whole.cases}
    assert (asked.run_id, asked.stop_rule.parameters, asked.keep) == ("r1-probe", {"count": SAMPLES}, False)
    assert world.events() == []


@pytest.mark.parametrize(
    ("whole", "place", "seconds", "said"),
    [
        (plan(case(1)), DISK, 0.5, ""),
        (plan(case(1)), DISK.model_copy(update={"is_memory": True}), 60.0, ""),
        (plan(case(1, write_bytes=1 << 20)), DISK, 60.0, ""),
        (plan(case(1), nodes=2), DISK, 60.0, "ranks on several nodes have no file system in memory in common"),
        (plan(case(1, items_per_directory=10)), DISK, 60.0, "the trees have too many names"),
    ],
)
def test_where_nothing_is_measured(tmp_path: Path, whole: Plan, place: Place, seconds: float, said: str) -> None:
    world = World(tmp_path, whole)
    assert measure_names(whole, world.session, [place], Memory(), seconds) is None
    assert world.asked == []
    assert world.events() == ([f"the bound of work on names is not available: {said}"] if said else [])


@pytest.mark.parametrize(("grades", "launches"), [("A", 1), ("CA", 2), ("CCCA", 3)])
def test_a_disturbed_bound_is_measured_again_a_few_times(tmp_path: Path, grades: str, launches: int) -> None:
    whole = plan(case(1))
    world = World(tmp_path, whole, grades)
    assert measure_names(whole, world.session, [DISK], Memory(), 60.0) is None
    assert len(world.asked) == launches
    assert len({asked.records for asked in world.asked}) == launches


def test_rates_on_names_stand_under_what_was_found(tmp_path: Path) -> None:
    whole = plan(case(1))
    world = World(tmp_path, whole)
    measure_names(whole, world.session, [DISK], Memory(), 60.0)
    (asked,) = world.asked
    folder = world.result.path / PROBE / FOLDER / "lines-001"
    (folder / "plan.json").write_bytes(plan_bytes(asked))
    identity = asked.cases[0].id
    records = [
        record
        for index in range(SAMPLES)
        for record in (
            make_phase(
                identity, index, phase="create", access="metadata", operations=(index + 1) * 10_000,
                elapsed_ns=SECOND_NS, latency=None, file_system="tmpfs",
            ),
            make_case(identity, index, target=NAME),
        )
    ]  # fmt: skip
    write_launch(folder / "records.ndjson", make_launch(records, run=make_run(ranks=2)))
    fields = {"metric": "operation_rate", "unit": "op/s", "verdict": "cached", "case": whole.cases[0].id, "target": "t"}
    made, removed = (make_row([6_000.0] * 6, access=access, **fields) for access in ("create", "unlink"))  # type: ignore[arg-type]
    first, second = under_names([made, removed], world.result, RowContext())
    assert first.ceiling is not None
    assert (first.ceiling.value, first.ceiling.kind) == (SAMPLES * 10_000, "measured")
    assert first.share == pytest.approx(6_000 / (SAMPLES * 10_000))
    assert first.ceiling.source == "the same calls by 2 ranks on tmpfs"
    assert second.ceiling is None
