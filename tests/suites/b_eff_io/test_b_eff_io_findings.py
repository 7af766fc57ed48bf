# SPDX-License-Identifier: Apache-2.0
"""What is said of a run: what voids it comes first, then what its patterns tell."""

from pathlib import Path

import pytest

from support.b_eff_io_world import At, World, usual_context, usual_options
from ullage.model.record import Moved
from ullage.model.summary import Finding
from ullage.results.rows import RowContext, TargetFacts
from ullage.suites.b_eff_io.hints import HintLine, HintSet
from ullage.suites.b_eff_io.patterns import MISALIGNED, PATTERNS
from ullage.suites.b_eff_io.summarise import summarise

GIB = 1 << 30


def findings_of(folder: Path, world: World, context: RowContext | None = None) -> dict[str, list[Finding]]:
    result = world.write(folder / "result")
    found: dict[str, list[Finding]] = {}
    for finding in summarise(result, result.read_request(), context or usual_context()).findings:
        found.setdefault(finding.kind.removeprefix("b_eff_io-"), []).append(finding)
    return found


def one(**more: object) -> World:
    """A valid run of one partition."""
    return World(usual_options(partitions=[4]), **more)  # type: ignore[arg-type]


def test_a_valid_run_that_outgrows_the_memory_has_no_warning(tmp_path: Path) -> None:
    found = findings_of(tmp_path, World(usual_options(partitions=[4], memory_total=GIB)))
    assert [kind for kind, some in found.items() for finding in some if finding.severity == "warning"] == []
    (headline,) = found["b_eff_io"]
    assert headline.text.startswith("b_eff_io is 100 MB/s with 4 processes. It is the geometric mean of W' = 100 MB/s")
    assert headline.numbers["b_eff_io"] == pytest.approx(1e8, rel=0.01)


def test_a_short_run_says_not_valid_first_and_loudly(tmp_path: Path) -> None:
    world = World(usual_options(partitions=[4], time_s=60.0))
    result = world.write(tmp_path / "result")
    first = summarise(result, result.read_request(), usual_context()).findings[0]
    assert first.kind == "b_eff_io-invalid"
    assert first.severity == "warning"
    assert first.text == (
        "b_eff_io is NOT VALID: the scheduled time is 60.0 s, below 30 min. Do not quote the number as a result."
    )
    assert first.numbers["reasons"] == ["the scheduled time is 60.0 s, below 30 min"]


def repeated(**more: object) -> World:
    """A run of one partition whose rows carry a comparison."""
    return World(usual_options(partitions=[4], repetitions=3), **more)  # type: ignore[arg-type]


def test_which_types_are_fast(tmp_path: Path) -> None:
    def bandwidth(at: At) -> float:
        return 4e8 if at.pattern.type == "separated" else 2e7 if at.pattern.type == "shared" else 1e8

    (finding,) = findings_of(tmp_path, repeated(bandwidth=bandwidth))["types"]
    assert finding.severity == "advice"
    assert "write has its highest median in separated (a file for each process) with 400 MB/s" in finding.text
    assert "shared (one pointer for all)" in finding.text
    assert finding.numbers["best"] == ["write: separated", "rewrite: separated", "read: separated"]
    (alike,) = findings_of(tmp_path / "x", repeated())["types"]
    assert "No type of read is shown to differ from another by 10 %" in alike.text
    assert alike.severity == "info"


def test_what_8_bytes_more_cost(tmp_path: Path) -> None:
    def bandwidth(at: At) -> float:
        is_odd = at.pattern.size in MISALIGNED.values()
        is_worst = at.pattern.size == "32k+8" and at.pattern.type == "shared" and at.access == "rewrite"
        return 1e6 if is_worst else 5e7 if is_odd else 1e8

    (finding,) = findings_of(tmp_path, repeated(bandwidth=bandwidth))["odd-sizes"]
    assert finding.severity == "advice"
    assert "write 0.50 x" in finding.text
    assert "The lowest is rewrite of 32k + 8 B in shared (0.01 x)" in finding.text
    assert finding.numbers["ratio"] is not None
    (none,) = findings_of(tmp_path / "x", repeated())["odd-sizes"]
    assert "are not shown to be slower" in none.text


def test_a_pattern_of_a_few_calls_tells_nothing_of_odd_sizes(tmp_path: Path) -> None:
    def bandwidth(at: At) -> float:
        return 1e5 if at.pattern.number == 31 else 1e8

    def facts(at: At) -> dict[str, object]:
        return {"end": "overtime"} if at.pattern.number == 31 else {}

    (finding,) = findings_of(tmp_path, repeated(bandwidth=bandwidth, facts=facts))["odd-sizes"]
    assert "are not shown to be slower" in finding.text


def test_reads_against_writes_and_rewrites(tmp_path: Path) -> None:
    by_access = {"write": 1e8, "rewrite": 1.5e8, "read": 3e8}
    (finding,) = findings_of(tmp_path, repeated(bandwidth=lambda at: by_access[at.access]))["read-write"]
    assert "reads reach 3.0" in finding.text.replace("2.99", "3.00")
    assert finding.numbers["read_over_write"] == pytest.approx(3, rel=0.01)
    assert finding.numbers["rewrite_over_write"] == pytest.approx(1.5, rel=0.01)
    short = World(usual_options(partitions=[4], rewrite=False, repetitions=3), lambda at: by_access[at.access])
    (finding,) = findings_of(tmp_path / "x", short)["read-write"]
    assert "rewrites in type scatter reach 1.5" in finding.text


@pytest.mark.parametrize("repetitions", [1, 2])
def test_few_repetitions_tell_neither_types_nor_sizes_nor_accesses(tmp_path: Path, repetitions: int) -> None:
    def bandwidth(at: At) -> float:
        return 1e7 if at.pattern.size in MISALIGNED.values() else 1e9 if at.access == "read" else 1e8

    found = findings_of(tmp_path, World(usual_options(partitions=[4], repetitions=repetitions), bandwidth))
    assert not {"odd-sizes", "read-write"} & set(found)
    (types,) = found["types"]
    assert types.title == "Pattern types, sizes and accesses are not compared"
    assert types.severity == "info"


def test_reads_that_a_cache_answered_are_compared_with_nothing(tmp_path: Path) -> None:
    def change(at: At) -> dict[str, object]:
        warm = Moved(requested_bytes=100, process_bytes=0, device_bytes=0)
        return {"moved": warm} if at.access == "read" else {}

    def bandwidth(at: At) -> float:
        return (4e9 if at.pattern.type == "separated" else 1e9) if at.access == "read" else 1e8

    found = findings_of(tmp_path, repeated(bandwidth=bandwidth, change=change))
    assert "read" not in found["types"][0].text
    assert all("reads reach" not in one.text for one in found.get("read-write", []))


def test_a_value_that_does_not_count_says_nothing_of_the_whole_memory(tmp_path: Path) -> None:
    known = usual_options(partitions=[4], memory_total=GIB)
    assert "memory-time" in findings_of(tmp_path, World(known))
    assert "memory-time" not in findings_of(tmp_path / "x", World(known.model_copy(update={"time_s": 60.0})))


class TestCache:
    def test_less_than_the_memory_may_be_the_cache(self, tmp_path: Path) -> None:
        world = World(usual_options(partitions=[4], memory_total=10_000 * GIB))
        (finding,) = findings_of(tmp_path, world)["cache"]
        assert finding.severity == "warning"
        assert finding.text.endswith("A cache of the size of the memory can hold all of it.")
        assert finding.numbers["memory"] == 10_000 * GIB

    def test_reads_from_memory_are_told(self, tmp_path: Path) -> None:
        def change(at: At) -> dict[str, object]:
            warm = Moved(requested_bytes=100, process_bytes=0, device_bytes=0)
            return {"moved": warm} if at.access == "read" else {}

        world = World(usual_options(partitions=[4], memory_total=GIB), change=change)
        (finding,) = findings_of(tmp_path, world)["cache"]
        assert finding.severity == "warning"
        assert "Reads came from memory of this machine: they measure the cache." in finding.text

    def test_writes_without_a_sync_are_doubted(self, tmp_path: Path) -> None:
        world = World(usual_options(partitions=[4], memory_total=GIB), change=lambda _: {"syncs": 0})
        (finding,) = findings_of(tmp_path, world)["cache"]
        assert "It is not known whether all bytes of write and rewrite reached the storage." in finding.text

    def test_without_a_known_memory_only_volumes_are_told(self, tmp_path: Path) -> None:
        world = World(usual_options(partitions=[4], memory=None, memory_total=None))
        (finding,) = findings_of(tmp_path, world)["cache"]
        assert "% of the memory" not in finding.text
        assert finding.severity == "info"

    def test_where_nothing_is_stored_there_is_no_cache(self, tmp_path: Path) -> None:
        context = RowContext(targets={"disk": TargetFacts(holds_data=False)})
        found = findings_of(tmp_path, one(), context)
        assert not {"cache", "memory-time", "hints-ignored"} & set(found)
        assert "no storage is behind the target" in found["invalid"][0].text


def test_the_time_for_the_memory_is_in_units_that_fit(tmp_path: Path) -> None:
    """8 GiB at 100 MB/s: 85.9 s; 8192 over 100 would be 81.9."""
    (finding,) = findings_of(tmp_path, one())["memory-time"]
    assert "is moved in 1.4 min. That is no longer than the 10 min" in finding.text
    assert finding.numbers["seconds"] == pytest.approx(85.9, rel=0.01)


def test_what_was_lost_is_told_with_the_first_error(tmp_path: Path) -> None:
    found = findings_of(tmp_path, one(hangs=lambda at: at.pattern.number == 12))
    (finding,) = found["lost"]
    assert finding.text.startswith(
        "Pattern 12 of type shared hung, left out from then on (write, rewrite and read with 4 processes): rank 3 on"
    )
    assert (finding.numbers["patterns"], finding.numbers["why"]) == ([12], "timeout")
    assert "b_eff_io" in found


def test_what_ended_early_is_told(tmp_path: Path) -> None:
    (finding,) = findings_of(tmp_path, one(facts=lambda at: {"end": "space"} if at.pattern.number == 1 else {}))["cut"]
    assert finding.text.startswith(
        "3 patterns ended early for lack of space (write, rewrite and read with 4 processes)."
    )
    assert (finding.numbers["access"], finding.numbers["patterns"]) == (["write", "rewrite", "read"], [1])
    assert finding.severity == "warning"


class TestHints:
    GIVEN = {"cb_nodes": "4", "IBM_largeblock_io": "true"}

    def test_what_the_mpi_ignored_or_changed(self, tmp_path: Path) -> None:
        def change(at: At) -> dict[str, object]:
            granted = {"cb_nodes": "1"} if at.pattern.type == "scatter" else {"cb_nodes": "4"}
            return {"hints_given": self.GIVEN, "hints_granted": granted}

        found = findings_of(tmp_path, one(change=change))["hints-ignored"]
        assert {finding.numbers["key"] for finding in found} == set(self.GIVEN)
        (nodes,) = (finding for finding in found if finding.numbers["key"] == "cb_nodes")
        (large,) = (finding for finding in found if finding.numbers["key"] != "cb_nodes")
        assert (
            nodes.text
            == "The MPI library was given the hint cb_nodes = 4 (set default) and used 1 instead in 27 of 129 patterns."
        )
        assert large.text == (
            "The MPI library was given the hint IBM_largeblock_io = true (set default) and did not use it."
        )
        assert (large.numbers["patterns"], large.numbers["of"]) == (129, 3 * len(PATTERNS))

    def test_what_was_taken_is_no_news(self, tmp_path: Path) -> None:
        granted = {**self.GIVEN, "cb_buffer_size": "16777216"}
        change = {"hints_given": self.GIVEN, "hints_granted": granted}
        assert "hints-ignored" not in findings_of(tmp_path, one(change=lambda _: change))

    def test_sets_are_compared_by_pattern(self, tmp_path: Path) -> None:
        sets = [HintSet(name="default"), HintSet(name="frost", lines=[HintLine(key="k", value="v")])]

        def bandwidth(at: At) -> float:
            if not at.hints:
                return 1e8
            return 1e10 if at.pattern.number == 5 else 1e7 if at.pattern.number == 42 else 1.5e8

        world = World(usual_options(partitions=[4], hint_sets=sets, repetitions=3), bandwidth)
        found = findings_of(tmp_path, world)
        (finding,) = found["hint-sets"]
        assert finding.severity == "advice"
        assert "b_eff_io has its highest median with hints frost" in finding.text
        assert "frost is shown to be faster than default in 126 of 129 patterns (most: " in finding.text
        assert "of 1k in scatter, 100 x" in finding.text
        assert "and slower in 3 (most: write of fill-up in seg_coll, 0.10 x)." in finding.text
        assert (finding.numbers["better"], finding.numbers["worse"]) == ([126], [3])
        assert [one.text.split(":")[0] for one in found["b_eff_io"]] == ["hints default", "hints frost"]

    def test_one_repetition_of_each_set_advises_none(self, tmp_path: Path) -> None:
        sets = [HintSet(name="default"), HintSet(name="frost", lines=[HintLine(key="k", value="v")])]
        world = World(usual_options(partitions=[4], hint_sets=sets), lambda at: 2e8 if at.hints else 1e8)
        (finding,) = findings_of(tmp_path, world)["hint-sets"]
        assert (finding.severity, finding.gain, finding.change) == ("info", None, "")
        assert finding.title == "No set of hints is shown to raise b_eff_io above that of default"
        assert "frost is shown to be faster than default in 0 of 129 patterns and slower in 0." in finding.text


class TestTime:
    def test_a_run_that_kept_its_time(self, tmp_path: Path) -> None:
        (finding,) = findings_of(tmp_path, World(usual_options(partitions=[4], time_s=1920.0)))["time"]
        assert finding.severity == "info"
        assert finding.text.startswith("Loops took 31m")
        assert "starting launches 1.0" in finding.text
        loops = finding.numbers["loops"]
        assert isinstance(loops, float)
        assert loops <= 1.1 * 1920

    def test_one_that_took_too_long(self, tmp_path: Path) -> None:
        """Reads of the same amount at a tenth of the bandwidth."""
        slow = World(usual_options(partitions=[4], time_s=1920.0), _slow_reads)
        (finding,) = findings_of(tmp_path, slow)["time"]
        assert finding.severity == "warning"
        assert finding.text.endswith("took longer than their part. Use --overtime to end them.")


def _slow_reads(at: At) -> float:
    """The world schedules by bandwidth, so writes are slow here: the short patterns last a second at least."""
    return 1e8 if at.access == "write" else 5e4


def test_conditions_are_advice(tmp_path: Path) -> None:
    world = World(usual_options(partitions=[4], lmax=4 << 20, memory=None))
    (finding,) = findings_of(tmp_path, world)["conditions"]
    assert finding.severity == "advice"
    assert "was chosen and is not 1/128" in finding.text
    assert "conditions" not in findings_of(tmp_path / "x", one())


def test_a_run_in_which_nothing_works_still_says_what_was_wrong(tmp_path: Path) -> None:
    sets = [HintSet(name="default"), HintSet(name="frost", lines=[HintLine(key="k", value="v")])]
    world = World(usual_options(partitions=[4], hint_sets=sets), fails=lambda at: at.pattern.size == "first")
    found = findings_of(tmp_path, world)
    assert {finding.numbers["why"] for finding in found["lost"]} >= {"failed", "missing"}
    assert [finding.numbers["b_eff_io"] for finding in found["b_eff_io"]] == [0.0, 0.0]
    assert len(found["invalid"]) == 2
