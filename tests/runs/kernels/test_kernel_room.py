# SPDX-License-Identifier: Apache-2.0
"""What suites of work on cores and memory share: words, resources, cases."""

import pytest

from support.cpu_world import describe_cpu
from ullage.errors import UserError
from ullage.runs.kernels.options import CPU, KernelOptions, thread_counts
from ullage.runs.kernels.prepared import by_launch, kernel_case
from ullage.runs.kernels.resources import Resources, read_resources
from ullage.runs.options.kinds import ThreadAxis
from ullage.runs.options.reading import parse_options


@pytest.mark.parametrize(
    ("text", "resources", "counts"),
    [
        (None, Resources(8, 8, None), [1, 2, 4, 8]),
        (None, Resources(6, 6, None), [1, 2, 4, 6]),
        (None, Resources(1, 1, None), [1]),
        ("1,all", Resources(16, 8, None), [1, 8]),
        ("all,2,1", Resources(4, 4, None), [1, 2, 4]),
        ("1:16:x4", Resources(16, 8, None), [1, 4, 16]),
        (None, Resources(8, 8, 2.0), [1, 2]),
    ],
)
def test_thread_counts(text: str | None, resources: Resources, counts: list[int]) -> None:
    asked = None if text is None else ThreadAxis().parse(text)
    assert thread_counts(asked, resources) == counts  # type: ignore[arg-type]


def test_a_first_look_has_one_thread_and_all() -> None:
    assert thread_counts(None, Resources(8, 8, None), quick=True) == [1, 8]
    assert thread_counts(None, Resources(1, 1, None), quick=True) == [1]


@pytest.mark.parametrize("text", ["0", "1,,2", "x", "9", "-1"])
def test_bad_thread_counts_name_the_option(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.runs.kernels.resources.read_resources", lambda: Resources(8, 8, None))
    with pytest.raises(UserError, match="--threads"):
        parse_options(KernelOptions, threads=text)


@pytest.mark.parametrize(
    ("resources", "threads", "noted"),
    [
        (Resources(4, 2, None), 2, False),
        (Resources(4, 4, 4.0), 4, False),
        (Resources(4, 4, 2.5), 2, True),
        (Resources(2, 2, 0.5), 1, True),
    ],
)
def test_a_quota_below_the_cores_is_what_all_means(resources: Resources, threads: int, noted: bool) -> None:
    assert resources.threads == threads
    assert bool(resources.notes()) is noted


def test_this_process_may_use_something() -> None:
    assert 1 <= read_resources().threads <= read_resources().cpus


def test_a_case_is_known_by_what_differs_from_the_engines_defaults() -> None:
    description = describe_cpu()
    plain = kernel_case("gemm", {"n": 512}, CPU, ("gemm",), description, seconds=1)
    aloud = kernel_case("gemm", {"n": 512, "threads": 1, "core": ""}, CPU, ("gemm",), description, seconds=1)
    other = kernel_case("gemm", {"n": 512, "threads": 2}, CPU, ("gemm",), description, seconds=1)
    assert plain.case.id == aloud.case.id != other.case.id
    assert plain.case.workload.parameters == {"n": 512}


def test_a_windowed_case_takes_its_windows_and_warm_up() -> None:
    parameters = {"isa": "avx2", "type": "fp64", "operation": "fma", "windows": 20, "window_s": 0.02, "warm_up_s": 0.3}
    case = kernel_case("compute", parameters, CPU, (), describe_cpu())  # type: ignore[arg-type]
    assert case.seconds == pytest.approx(0.4 + 0.3, abs=0.2)


def test_a_workload_or_parameter_the_engine_lacks_is_one_line() -> None:
    with pytest.raises(UserError, match="unknown workload 'stream'"):
        kernel_case("stream", {}, CPU, (), describe_cpu())
    with pytest.raises(UserError, match="unknown parameter 'm'"):
        kernel_case("gemm", {"m": 1}, CPU, (), describe_cpu())


def test_cases_of_a_launch_are_together_and_each_once() -> None:
    description = describe_cpu()
    first, second = (kernel_case("gemm", {"n": n}, CPU, (), description, seconds=1, launch="a") for n in (8, 16))
    third = kernel_case("gemm", {"n": 32}, CPU, (), description, seconds=1, launch="b")
    assert list(by_launch([first, third, second, first]).values()) == [[first, second], [third]]


def test_options_that_are_none_name_their_word() -> None:
    with pytest.raises(UserError, match="--repetitions 0: "):
        parse_options(KernelOptions, threads="1", repetitions=0)
