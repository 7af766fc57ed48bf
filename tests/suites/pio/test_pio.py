# SPDX-License-Identifier: Apache-2.0
"""The options, directives, cases and sentences of suite ``pio``."""

import random
from pathlib import Path

import pytest

from support.data import some
from support.make_records import plain_row
from support.simulated_engine import DESCRIBE, as_of_engine, built_engine, cells_of
from support.suite_words import options_of, request_of
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.summary import Row
from ullage.runs.cells.planning import Cell
from ullage.runs.inputs import EngineContext
from ullage.runs.options.engine import values_of
from ullage.runs.options.reading import parse_options
from ullage.suites.pio.findings import findings_of
from ullage.suites.pio.options import OPERATIONS, PATTERNS, PioOptions, Spatial, parse_directives
from ullage.suites.pio.suite import calls_of, is_of, pattern_of
from ullage.suites.pio.suite import prepare as prepare_pio

MIB = 1 << 20


def describe() -> Describe:
    """The simulated engine with workload ``pio`` and views in backend mpiio."""
    backends = [
        one.model_copy(update={"capabilities": [*one.capabilities, "views"]}) if one.name == "mpiio" else one
        for one in DESCRIBE.backends
    ]
    backends.append(as_of_engine("hdf5", "path", "data", "arrays"))
    workloads = [*DESCRIBE.workloads, as_of_engine("pio")]
    return DESCRIBE.model_copy(update={"workloads": workloads, "backends": backends})


def options(**words: object) -> PioOptions:
    return options_of(PioOptions, **{"target": ["a=/a"], "ranks": "2", **words})


def cells(**words: object) -> list[Cell]:
    asked = parse_options(PioOptions, **{"target": ["a=/a"], "ranks": "2", **words})  # type: ignore[arg-type]
    return cells_of(prepare_pio, PioOptions.model_validate(asked.options), {"a": "posix:/a"}, describe(), 2)


def test_defaults_measure_every_pattern_and_operation() -> None:
    found = options()
    assert found.patterns == list(PATTERNS)
    assert found.operations == list(OPERATIONS)
    assert (found.requests, found.calls, found.bases) == ([4096, 65536, MIB], ["independent", "collective"], [0, 8])
    assert PioOptions.model_validate_json(found.model_dump_json()) == found
    quick = options(quick=True)
    assert (quick.operations, quick.requests, quick.volume) == (["write", "read"], [65536], 16 * MIB)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"pattern": "stride"}, "--pattern"),
        ({"operation": "append"}, "--operation"),
        ({"request": "12"}, "--request 12: 12 bytes are not a multiple of 8"),
        ({"base": ["0,4"]}, "4 bytes are not a multiple of 8"),
        ({"hint": ["cb_nodes"]}, "--hint cb_nodes: not a hint"),
        ({"record": "24", "request": "64"}, "--record 24: requests of 64 bytes are no multiple of it"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)


GOOD = """
# two patterns
[[pattern]]
name = "nested-strided"
label = "three levels"
levels = 3
request = ["4K", 65536]
operation = "write"

[[pattern]]
name = "mesh"
record = 64
base = [0, "8"]
"""


def test_directives_are_patterns_with_their_own_sizes() -> None:
    nested, mesh = parse_directives(GOOD, "d.toml")
    assert (nested.title, nested.levels, nested.request, nested.operation) == (
        "three levels",
        3,
        [4096, 65536],
        ["write"],
    )
    assert (mesh.title, mesh.record, mesh.base, mesh.calls) == ("mesh", 64, [0, 8], None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", "d.toml: not TOML: Expected '=' after a key in a key/value pair (at end of document)"),
        ("", "d.toml: no table [[pattern]]"),
        ("size = 3\n", "d.toml:1: unknown key 'size'; write tables [[pattern]]"),
        ("[[pattern]]\nlevels = 2\n", "d.toml:1: the pattern has no name"),
        ('[[pattern]]\nname = "mesh"\n\n[[pattern]]\nname = "tiled"\nrecords = 8\n', "d.toml:6: unknown key 'records'"),
        ('[[pattern]]\nname = "meshes"\n', "d.toml:2: must be 'simple-strided'"),
        ('[[pattern]]\nname = "tiled"\nlevels = 2\n', "d.toml:3: is for pattern nested-strided; leave it out"),
        ('[[pattern]]\nname = "tiled"\nrequest = "7"\n', "d.toml:3:"),
        ('[[pattern]]\nname = "tiled"\nrequest = "4Q"\n', "d.toml:3: not a size"),
        ('[[pattern]]\nname = "tiled"\nrequest = []\n', "d.toml:3: an empty list; leave request out"),
        ('[[pattern]]\nname = "mesh"\nunsorted = 1\n', "d.toml:3:"),
        ('[[pattern]]\nname = "mesh"\n[[pattern]]\nname = "mesh"\n', "d.toml:4: 'mesh' stands twice; set label"),
    ],
)
def test_a_mistake_in_directives_has_its_line(text: str, expected: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_directives(text, "d.toml")
    assert str(caught.value).startswith(expected)


def test_a_file_of_directives_replaces_the_patterns(tmp_path: Path) -> None:
    path = tmp_path / "d.toml"
    path.write_text(GOOD)
    found = cells(directives=path, calls="independent", volume="1M", operation="read")
    assert {(pattern_of(one), one.block_bytes) for one in found} == {
        *(("nested-strided", size) for size in (4096, 65536)),
        *(("mesh", size) for size in (4096, 65536, MIB)),
    }
    assert {tuple(one.phases) for one in found if pattern_of(one) == "mesh"} == {("write", "read")}
    assert {tuple(one.phases) for one in found if pattern_of(one) == "nested-strided"} == {("write",)}
    assert PioOptions.model_validate_json(options(directives=path).model_dump_json()).directives[0].levels == 3


def test_every_case_moves_the_volume() -> None:
    for cell in some(cells(volume="16M", ranks="4")):
        moved = cell.dataset_bytes * (4 if pattern_of(cell) == "sequential-shared" else 1)
        # Ranks of flash have at least a block of each variable, and others 1 or 2 more. Gaps of nested-strided are
        # filled through views.
        if pattern_of(cell) == "flash":
            assert moved >= 24 * 4 * cell.block_bytes
        elif pattern_of(cell) == "nested-strided":
            assert moved >= 16 * MIB
        else:
            assert moved == 16 * MIB, cell.kind


def test_what_cannot_be_is_left_out() -> None:
    found = cells()
    ways = {(pattern_of(one), bool(one.parameters.get("collective"))) for one in found}
    assert ("sequential-own", True) not in ways
    assert len(ways) == 2 * len(PATTERNS) - 1
    assert {str(one.parameters.get("through")) for one in found} == {"view"}
    shared = next(one for one in found if pattern_of(one) == "sequential-shared")
    assert shared.phases == ["write", "read", "reread"]
    unsorted = cells(pattern="mesh", unsorted=True)
    assert [one for one in unsorted if {"through", "collective"} & one.parameters.keys()] == []
    posix = cells(backend="posix", calls="independent")
    assert [one for one in posix if "through" in one.parameters] == []
    assert next(one for one in posix if pattern_of(one) == "sequential-own").files == 2
    with pytest.raises(UserError, match="no case is left"):
        cells(backend="posix", calls="collective")
    with pytest.raises(UserError, match="takes no hints"):
        cells(backend="posix", hint=["cb_nodes=1"])
    with pytest.raises(UserError, match="2 ranks are no multiple of 3 tiles"):
        cells(pattern="tiled", tiles_x=3)


def test_hdf5_is_collective_by_its_own_parameter_and_by_offsets() -> None:
    found = cells(backend="hdf5", param=["hdf5.alignment_bytes=4K"])
    assert {(pattern_of(one), (calls_of(one) == "collective")) for one in found} == {
        (pattern, collective) for pattern in PATTERNS for collective in (False, True)
    } - {("sequential-own", True)}
    assert [one for one in found if {"through", "collective"} & one.parameters.keys()] == []
    assert all(one.case.backend.parameters["alignment_bytes"] == 4096 for one in found)
    assert all(bool(one.case.backend.parameters.get("collective")) == (calls_of(one) == "collective") for one in found)
    assert {(calls_of(one) == "collective") for one in cells(backend="hdf5", pattern="mesh", unsorted=True)} == {
        False,
        True,
    }
    with pytest.raises(UserError, match="has an option of its own; use --calls"):
        cells(backend="hdf5", param=["hdf5.collective=true"])


def test_a_plan_says_what_is_left_out(tmp_path: Path) -> None:
    words = {"target": [f"here={tmp_path}"], "ranks": "2", "volume": "1M", "quick": True}
    request = request_of("pio", PioOptions, **words)
    prepared = prepare_pio(request, EngineContext(built_engine(), describe()))
    explained = prepared.explain()
    assert any("Not available: collective calls of sequential-own" in line for line in explained.head)
    assert len(explained.rows) == len(prepared.cells) == (2 * 4 - 1) * 2
    bare = [Cell(one.case, one.target, one.layout) for one in prepared.cells]
    assert prepared.kinds(bare) == prepared.cells


def test_rows_find_their_directive() -> None:
    (levels,) = (one for one in options(pattern="nested-strided", levels=3).spatials)
    assert is_of(levels, values_of("pio", {"pattern": "nested-strided", "levels": 3}))
    assert not is_of(levels, values_of("pio", {"pattern": "nested-strided"}))
    mesh = Spatial(name="mesh", record=512, unsorted=True)
    assert is_of(mesh, values_of("pio", {"pattern": "mesh", "record_bytes": 512, "sorted": False}))
    assert not is_of(mesh, values_of("pio", {"pattern": "mesh", "record_bytes": 512}))


def row(rate: float, noise: random.Random, **params: str | int) -> Row:
    samples = [rate * noise.lognormvariate(0, 0.02) for _ in range(8)]
    usual = {"access": "write", "pattern": "segmented", "block_bytes": 4096, "calls": "independent", "base_bytes": 0}
    usual |= {"ranks": 4, "nodes": 1, "backend": "mpiio"}
    return plain_row(samples, {**usual, **params}, case="-".join(map(str, params.values())) or "segmented")


def test_slow_patterns_are_named_with_their_interval() -> None:
    noise = random.Random(1)
    rows = [row(1e9, noise), row(1e8, noise, pattern="mesh"), row(9.9e8, noise, pattern="tiled")]
    (found,) = findings_of(rows, 0.95)
    assert found.kind == "pio-slow-pattern"
    assert found.numbers["patterns"] == ["mesh"]
    assert "The slowest independent writes on disk (mpiio, 4 ranks) are those of mesh with 4K" in found.text


def test_collective_calls_and_shifts_are_told_where_the_comparison_holds() -> None:
    noise = random.Random(2)
    rows = [
        row(1e8, noise, pattern="mesh"),
        row(5e8, noise, pattern="mesh", calls="collective"),
        row(8e7, noise, pattern="mesh", base_bytes=8),
        row(5.01e8, noise, pattern="mesh", calls="collective", base_bytes=8),
    ]
    found = {one.kind: one for one in findings_of(rows, 0.95)}
    assert set(found) == {"pio-collective", "pio-shift"}
    assert found["pio-collective"].change == "--calls collective"
    assert found["pio-collective"].gain is not None
    assert found["pio-collective"].gain.factor == pytest.approx(5, rel=0.1)
    assert (len(found["pio-shift"].numbers["slower"]), found["pio-shift"].numbers["faster"]) == (1, [])  # type: ignore[arg-type]
    assert "Writes (8 bytes off, independent) on disk" in found["pio-shift"].text


def test_a_command_for_all_patterns_is_advised_only_where_all_gain() -> None:
    """Collective calls are faster with one pattern of three, and slower with the two others."""
    noise = random.Random(4)
    rates = {"mesh": (1e8, 5e8), "tiled": (5e8, 1e8), "segmented": (5e8, 3e8)}
    rows = [
        row(rate, noise, pattern=pattern, calls=calls)
        for pattern, both in rates.items()
        for calls, rate in zip(("independent", "collective"), both, strict=True)
    ]
    (found,) = [one for one in findings_of(rows, 0.95) if one.kind == "pio-collective"]
    assert found.title == "Collective writes on disk are faster in 1 and slower in 2 than independent ones (of 3 cases)"
    assert (found.change, found.gain) == ("", None)
    assert "mesh 4K" in found.text
    assert "tiled 4K" in found.text


def test_what_a_cache_answered_is_not_compared_with_the_storage() -> None:
    noise = random.Random(5)
    rows = [row(1e8, noise, access="read"), row(5e9, noise, access="read", calls="collective")]
    rows += [row(5e9, noise, access="read", pattern="mesh")]
    warm = [one.model_copy(update={"verdict": "warm"}) for one in rows[1:]]
    assert findings_of([rows[0], *warm], 0.95) == []


@pytest.mark.parametrize("samples", [1, 2])
def test_few_samples_of_a_pattern_tell_nothing(samples: int) -> None:
    noise = random.Random(6)
    rows = [row(1e8, noise, pattern="mesh"), row(5e8, noise, pattern="mesh", calls="collective"), row(1e9, noise)]
    few = [one.model_copy(update={"repetitions": one.repetitions[:samples]}) for one in rows]
    assert findings_of(few, 0.95) == []


def test_equal_things_are_seldom_told_apart() -> None:
    """All sentences of a report together are wrong at most once in 20 reports."""
    noise, wrong, reports = random.Random(3), 0, 200
    for _ in range(reports):
        rows = [
            row(1e9, noise, pattern=pattern, calls=calls, base_bytes=base)
            for pattern in ("segmented", "mesh", "tiled", "flash")
            for calls in ("independent", "collective")
            for base in (0, 8)
        ]
        wrong += bool(findings_of(rows, 0.95))
    assert wrong <= 20  # 10 are expected at most; 21 or more come about once in 1,000 times
