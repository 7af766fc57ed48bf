# SPDX-License-Identifier: Apache-2.0
"""From words to a plan, and from constructed records to the value, rows, sentences, tables and pictures of b_eff."""

import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.b_eff_world import b_eff_describe, four, launch, usual_bandwidth, usual_patterns, write
from support.simulated_engine import DESCRIBE
from ullage.errors import UserError
from ullage.launch import base
from ullage.launch.base import place_ranks
from ullage.model.plan import Layout
from ullage.model.request import Request
from ullage.model.summary import Finding, Summary
from ullage.model.system import Memory
from ullage.report.contents import documents
from ullage.report.data import FinishedResult, ReportData, load
from ullage.report.vega import to_svg
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import Quick, find_suite
from ullage.runs.summary import build_summary
from ullage.suites.b_eff import suite as prepare
from ullage.suites.b_eff.formula import ADDITIONAL
from ullage.suites.b_eff.options import BEffOptions
from ullage.suites.b_eff.report import figures as build_charts
from ullage.suites.b_eff.report import tables
from ullage.suites.b_eff.suite import expected_s, prepare_b_eff, with_lmax

MIB = 1 << 20
USUAL: dict[str, object] = {"ranks": 4, "memory": 128 * MIB, "lmax": MIB}


def summary_of(folder: Path, records: Sequence[AnyRecord], **options: object) -> Summary:
    return build_summary(write(folder, records, {**USUAL, **options}))


def of_kind(summary: Summary, kind: str) -> list[Finding]:
    return [finding for finding in summary.findings if finding.kind == kind]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    result = write(tmp_path_factory.mktemp("usual") / "r", launch(degenerate=["ring-4", "ring-5"]), USUAL)
    return load(FinishedResult(result.path), build_summary(result))


def request_of(asked_options: dict[str, object]) -> Request:
    return Request(run_id="r1", suite="b_eff", created="now", options=asked_options)


def plan_case(*, ranks: int = 2, lmax: str | None = "64K", **words: object) -> tuple[dict[str, object], object]:
    asked = parse_options(BEffOptions, ranks=ranks, lmax=lmax, **words)  # type: ignore[arg-type]
    prepared = prepare_b_eff(request_of(asked.options), EngineContext(Path("/engine"), b_eff_describe()))
    (plan,) = prepared.plans(ResultFolder(Path("/nowhere")))
    (case,) = plan.cases
    return dict(case.workload.parameters), plan


def test_the_plan_has_one_case_of_all_ranks_repeated_three_times() -> None:
    parameters, plan = plan_case(ranks=2)
    assert parameters == {"lmax_bytes": 65536}
    assert plan.layout.ranks == 2  # type: ignore[attr-defined]
    assert plan.stop_rule.parameters == {"count": 3}  # type: ignore[attr-defined]


def test_every_word_reaches_the_engine() -> None:
    parameters, plan = plan_case(
        budget="20ms", random_rings=4, seed=7, faithful=True, no_additional=True, no_short_last_two=True, repetitions=2
    )
    assert parameters == {
        "lmax_bytes": 65536,
        "budget_s": 0.02,
        "random_rings": 4,
        "seed": 7,
        "permutation": "slot-probe",
        "timed_check": True,
        "additional": False,
        "short_last_two": False,
    }
    assert plan.stop_rule.parameters == {"count": 2}  # type: ignore[attr-defined]
    assert plan_case(short=True)[0]["budget_s"] == 0.05


def test_the_largest_message_is_a_share_of_the_memory_of_a_process() -> None:
    asked = parse_options(BEffOptions, ranks=2, memory="2048M")
    prepared = prepare_b_eff(request_of(asked.options), EngineContext(Path("/engine"), b_eff_describe()))
    assert prepared.request.options["lmax"] == 16 * MIB
    capped = parse_options(BEffOptions, ranks=2, memory="2048M", lmax_cap="1M")
    prepared = prepare_b_eff(request_of(capped.options), EngineContext(Path("/engine"), b_eff_describe()))
    assert prepared.request.options["lmax"] == MIB
    layout = place_ranks(8, 2, None, None)
    found = with_lmax(BEffOptions(ranks=8), layout, available=8 << 30)
    assert (found.memory, found.lmax) == (2 << 30, 16 * MIB)
    assert not found.is_lmax_given
    assert found.rounded_from is None
    with pytest.raises(UserError, match="allow messages of"):
        with_lmax(BEffOptions(ranks=8), layout, available=MIB)


def test_on_named_hosts_the_memory_is_that_of_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "read_memory", lambda: Memory(available_bytes=8 << 30))
    for place in (base, prepare):
        monkeypatch.setattr(place, "usable_cores", lambda: 2)
    asked = parse_options(BEffOptions, 4, ranks=8)
    prepared = prepare_b_eff(request_of(asked.options), EngineContext(Path("/engine"), b_eff_describe()))
    assert prepared.request.options["lmax"] == (8 << 30) // 2 // 128
    (plan,) = prepared.plans(ResultFolder(Path("/nowhere")))
    assert plan.layout == Layout(ranks=8, nodes=4, ranks_per_node=2, binding="core")
    assert prepared.notes == (), "no core is shared"


def test_two_runs_that_find_nearly_the_same_memory_have_the_same_largest_message() -> None:
    layout = place_ranks(2, 1, None, None)
    first, second = (
        with_lmax(BEffOptions(ranks=2), layout, available=available) for available in (5_000 * MIB, 5_300 * MIB)
    )
    assert (first.lmax, second.lmax) == (16 * MIB, 16 * MIB)
    assert first.memory == 2_500 * MIB
    assert first.rounded_from == 2_500 * MIB // 128
    said = with_lmax(BEffOptions(ranks=2, memory=2_500 * MIB), layout)
    assert said.lmax == 2_500 * MIB // 128


def test_a_largest_message_that_was_rounded_says_of_what(tmp_path: Path) -> None:
    [headline] = of_kind(summary_of(tmp_path / "r", launch(), memory=200 * MIB), "b_eff")
    assert "Lmax is the power of two below 1/128 of a process's memory (1600K)." in headline.text
    assert headline.numbers["lmax_unrounded"] == 200 * MIB // 128


def test_pages_of_the_messages_are_said_and_set_values_apart(tmp_path: Path) -> None:
    def told(folder: str, asked: str, huge: int, **options: object) -> ReportData:
        pages = {"asked": asked, "bytes": 12 * MIB, "huge_bytes": huge}
        result = write(tmp_path / folder, launch(pages=pages), {**USUAL, **options})
        return load(FinishedResult(result.path), build_summary(result))

    usual, huge, none = told("a", "default", 0), told("b", "huge", 12 * MIB, pages="huge"), told("c", "huge", 0)
    assert "messages lay in ordinary pages" in usual.summary.rows[0].reasons
    assert "pages" not in usual.summary.rows[0].params
    assert huge.summary.rows[0].params["pages"] == "huge"
    assert "100 % of the messages' memory lay in huge pages" in huge.summary.rows[0].reasons
    assert "no-huge-pages" in none.summary.rows[0].flag_codes
    [conditions] = of_kind(huge.summary, "b_eff-conditions")
    assert "messages lie in huge pages, which the original does not ask for" in conditions.text
    page = tables(usual)
    assert page is not None
    assert any("none were requested, as in the original" in note for note in page.notes)


def test_what_says_the_same_thing_twice_is_refused() -> None:
    with pytest.raises(UserError, match="set the largest message"):
        parse_options(BEffOptions, lmax="1M", memory="1G")
    with pytest.raises(UserError, match="set the time of a loop"):
        parse_options(BEffOptions, budget="1s", short=True)
    with pytest.raises(UserError, match="--lmax 'x'"):
        parse_options(BEffOptions, lmax="x")
    with pytest.raises(UserError, match="--lmax"):
        parse_options(BEffOptions, lmax="1K")


def test_an_engine_without_the_workload_is_refused() -> None:
    with pytest.raises(UserError, match="b-eff"):
        prepare_b_eff(
            request_of(parse_options(BEffOptions, ranks=2, lmax="64K").options),
            EngineContext(Path("/engine"), DESCRIBE),
        )


def test_its_first_look_is_short_and_its_thousand_rows_are_no_part_of_an_overview() -> None:
    options = parse_options(BEffOptions, ranks=2, quick=True)
    asked = BEffOptions.model_validate(options.options)
    assert (asked.lmax, asked.budget_s, asked.random_rings) == (MIB, 0.03, 30)
    assert asked.repetitions * expected_s(asked, 49) < 9
    assert not isinstance(find_suite("b_eff"), Quick)


def test_the_value_is_a_score_that_counts(usual: ReportData) -> None:
    scores = {score.name: score for score in usual.summary.scores}
    assert set(scores) == {"b_eff", "b_eff per process", "b_eff at Lmax", "b_eff by medians"}
    assert all(score.valid and score.unit == "MB/s" for score in scores.values())
    assert scores["b_eff per process"].value == pytest.approx(scores["b_eff"].value / 4)
    middle = scores["b_eff by medians"]
    assert (middle.low, middle.high) == (None, None), "3 repetitions have no interval of this value"
    assert middle.value <= scores["b_eff"].value
    assert "b_eff" not in {row.metric for row in usual.summary.rows}, "what a repetition gives alone is named apart"
    # Random rings carry half: at 1 MiB 4 GB/s x sqrt(1/2), 2 % more in the best repetition.
    assert scores["b_eff at Lmax"].value == pytest.approx(4000 * 0.5**0.5 * MIB / (MIB + 1000) * 1.02)
    assert not of_kind(usual.summary, "b_eff-invalid")
    assert not of_kind(usual.summary, "b_eff-self-check")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"run": four(oversubscribed=True)}, "oversubscribed: 4 processes on a node share 2 cores"),
        ({"patterns": usual_patterns(12)}, "12 of 30 patterns of random rings have all sizes"),
        ({"repetitions": 2}, "2 of 3 repetitions were made"),
        ({"skipped": lambda name, size, _m: name == "ring-2" and size == 4}, "5 of 6 patterns of rings"),
    ],
)
def test_what_breaks_the_definition_is_not_valid(tmp_path: Path, more: dict[str, object], reason: str) -> None:
    summary = summary_of(tmp_path / "r", launch(**more))  # type: ignore[arg-type]
    assert all(not score.valid and reason in score.reasons[0] for score in summary.scores)
    (finding,) = of_kind(summary, "b_eff-invalid")
    assert finding.severity == "warning"
    assert "NOT VALID" in finding.text
    assert reason in finding.text
    (value,) = [row for row in summary.rows if row.metric == "b_eff_one_repetition" and "method" not in row.params]
    assert "INVALID:b_eff" in value.flag_codes


def test_a_missing_size_is_not_valid(tmp_path: Path) -> None:
    records = [record for record in launch() if not (record.kind == "phase" and record.phase == "size-20")]
    summary = summary_of(tmp_path / "r", records)
    assert summary.scores[0].reasons == ["20 of 21 message sizes were measured"]


def test_a_machine_that_is_not_ones_own_is_a_warning(tmp_path: Path) -> None:
    (finding,) = of_kind(summary_of(tmp_path / "r", launch(elapsed=1.2)), "b_eff-self-check")
    assert finding.severity == "warning"
    assert "(17 % is missing)" in finding.text


def test_sentences_name_the_best_way_to_send_and_what_distance_costs(usual: ReportData) -> None:
    (methods,) = of_kind(usual.summary, "b_eff-methods")
    assert methods.text.startswith(
        "The fastest MPI calls in rings are nonblocking at all sizes (1.67 x the slowest call). A program can use"
    )
    assert methods.numbers["methods"] == ["nonblocking"] * 3
    (order,) = of_kind(usual.summary, "b_eff-order")
    assert order.severity == "advice"
    assert "0.50 x" in order.text
    (latency,) = of_kind(usual.summary, "b_eff-latency")
    # 4 processes x 1 B over 4 GB/s x sqrt(1/2) x 1/1001 x 1.02.
    assert latency.numbers["latency_s"] == pytest.approx(4 / (4e9 * 0.5**0.5 / 1001 * 1.02))
    (degenerate,) = of_kind(usual.summary, "b_eff-degenerate")
    assert degenerate.numbers["patterns"] == ["ring-4", "ring-5"]


def test_neighbouring_ranges_with_the_same_best_call_are_one(tmp_path: Path) -> None:
    """The sizes of each third are 1 to 64 B, 128 B to 4K and 8K to 1M."""

    def bandwidth(pattern: str, size: int, method: str, repetition: int) -> float:
        small = {"alltoallv": 3.0}.get(method, 1.0) if size < 7 else 1.0
        return small * usual_bandwidth(pattern, size, method, repetition)

    (methods,) = of_kind(summary_of(tmp_path / "r", launch(bandwidth)), "b_eff-methods")
    assert methods.numbers["methods"] == ["alltoallv", "nonblocking", "nonblocking"]
    assert methods.text == (
        "The fastest MPI calls in rings are alltoallv up to 64 B (2.25 x the slowest call) and nonblocking from 128 B "
        "(1.67 x the slowest call). A program can use any of them."
    )


def test_a_call_is_the_fastest_where_it_is_proved_and_nowhere_else(tmp_path: Path) -> None:
    def bandwidth(pattern: str, size: int, method: str, repetition: int) -> float:
        del pattern, repetition
        return (1.13e9 if method == "sendrecv" else 1e9) if size < 7 else 1e9

    (methods,) = of_kind(summary_of(tmp_path / "r", launch(bandwidth)), "b_eff-methods")
    assert methods.numbers["methods"] == ["sendrecv", "", ""]
    assert methods.title == "sendrecv is the fastest MPI call in rings up to 64 B"
    assert methods.text == (
        "The fastest MPI calls in rings are sendrecv up to 64 B (1.13 x the slowest call). Which MPI call is fastest "
        "in rings from 128 B cannot be told."
    )


def noisy(pattern: str, _size: int, method: str, repetition: int) -> float:
    """Every call and pattern is alike, but for noise of 40 %; the median of one is the highest all the same."""
    return 1e9 * (1 + 0.4 * (zlib.crc32(f"{pattern[:6]} {method} {repetition}".encode()) / 2**32 - 0.5))


def test_nothing_is_told_of_calls_orders_and_halves_that_differ_by_noise(tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "r", launch(noisy))
    (methods,) = of_kind(summary, "b_eff-methods")
    assert methods.title == "Which MPI call is fastest in rings cannot be told"
    assert methods.severity == "info"
    assert of_kind(summary, "b_eff-order") == []
    (halves,) = of_kind(summary, "b_eff-bisection")
    assert halves.title.startswith("All pairs together reach")
    assert halves.numbers["ratio"] is None


def test_two_repetitions_compare_nothing(tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "r", launch(repetitions=2))
    (methods,) = of_kind(summary, "b_eff-methods")
    assert methods.title == "Which MPI call is fastest in rings cannot be told"
    assert of_kind(summary, "b_eff-order") == []


def test_a_call_is_best_only_at_the_sizes_that_all_calls_were_measured_with(tmp_path: Path) -> None:
    def skipped(_pattern: str, size: int, method: str) -> bool:
        return size == 20 and method == "alltoallv"

    records = launch(skipped=skipped)
    (methods,) = of_kind(summary_of(tmp_path / "r", records), "b_eff-methods")
    assert "nonblocking up to" in methods.text
    assert "all sizes" not in f"{methods.title}{methods.text}"


def test_conditions_are_said(tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "r", launch(), memory=None, budget_s=0.05)
    (finding,) = of_kind(summary, "b_eff-conditions")
    assert "1M, was chosen" in finding.text
    assert "50.0 ms" in finding.text
    assert summary.scores[0].valid


def test_every_pattern_and_size_has_a_row(usual: ReportData) -> None:
    rows = usual.summary.rows
    single = [row for row in rows if row.metric == "pattern_bandwidth"]
    assert len(single) == (6 + 30 + 13) * 21
    assert all(len(row.repetitions) == 3 for row in single)
    flagged = {row.params["patterns"] for row in rows if "degenerate" in row.flag_codes}
    assert flagged == {"ring-4", "ring-5"}
    (pair,) = [row for row in rows if row.metric == "one_pair_bandwidth"]
    assert pair.repetitions[0] == pytest.approx(usual_bandwidth("ping-pong", 20, "sendrecv", 0))
    assert {row.params["method"] for row in rows if "method" in row.params} == {"sendrecv", "alltoallv", "nonblocking"}


def test_the_tables(usual: ReportData) -> None:
    content = tables(usual)
    assert content is not None
    titles = [grid.title for grid in content.grids]
    assert titles[0] == "4 processes, Lmax 1M"
    summary, methods, sizes, patterns, repetitions, check = content.grids
    each = [cell.text for cell in summary.rows[1]]
    assert each[1] == f"{usual.summary.scores[0].value / 4:.1f}"
    assert len(methods.rows) == 3
    assert [row[0].text for row in sizes.rows][:3] == ["1", "2", "4"]
    assert [row[0].text for row in patterns.rows][-13:] == list(ADDITIONAL)
    assert {row[0].text for row in patterns.rows if row[-1].text == "degenerate"} == {"ring-4", "ring-5"}
    assert patterns.rows[0][1].text == "1 of 4"
    assert len(repetitions.rows) == 3
    assert len(check.rows) == 3
    assert all(word in " ".join(content.notes) for word in ("D1", "D2", "D3", "D4", "D5", "D6", "D7", "seed 1"))


def test_ten_figures_are_drawn(usual: ReportData) -> None:
    figures = build_charts(usual)
    assert [figure.title for figure in figures] == [
        *(
            f"{what}, {method}"
            for method in ("Sendrecv", "Alltoallv", "nonblocking", "the best method")
            for what in ("rings and random rings", "additional patterns")
        ),
        "methods",
        "rings against random rings",
    ]
    names = {value["name"] for value in figures[0].spec["data"]["values"]}
    assert names == {*(f"ring-{number}" for number in range(6)), "random, best", "random, mean", "random, worst"}
    # The one pair is measured by one method.
    assert "ping-pong" in {value["name"] for value in figures[1].spec["data"]["values"]}
    assert "ping-pong" not in {value["name"] for value in figures[3].spec["data"]["values"]}
    found = [document for name, document in documents(usual) if name.startswith("b_eff")]
    assert len(found) == 10
    assert "<svg" in to_svg(found[9])


def test_other_suites_have_none_of_it() -> None:
    data = ReportData(Summary(suite="disk", run_id="r", created="now", rows=[]))
    assert tables(data) is None
    assert build_charts(data) == []


def test_without_additional_patterns_there_are_six_figures(tmp_path: Path) -> None:
    patterns = {name: count for name, count in usual_patterns().items() if name not in ADDITIONAL}
    result = write(tmp_path / "r", launch(patterns=patterns), USUAL)
    data = load(FinishedResult(result.path), build_summary(result))
    assert len(build_charts(data)) == 6
    assert data.summary.scores[0].valid
