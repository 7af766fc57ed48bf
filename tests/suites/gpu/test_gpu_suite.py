# SPDX-License-Identifier: Apache-2.0
"""From devices to cases, and from the records of accelerators to rows, ceilings and sentences."""

import pytest

import gpu_check
from support.data import some
from support.devices import device
from support.make_records import around, make_case, make_launch, make_phase, plain_row
from ullage.model.describe import Devices
from ullage.model.record import Gauge
from ullage.model.summary import Row, Summary
from ullage.report.headlines import vessels
from ullage.results.rows import RowContext
from ullage.runs.told import Launches
from ullage.suites.gpu.suite import findings_of, rows_of

TRIAD = {"kernel": "triad", "working_set_bytes": 1 << 30}
COPY = {"direction": "to-device", "host_memory": "pinned", "size_bytes": 64 << 20}


def launches(workload: str, parameters: dict[str, object], **gauges: float) -> Launches:
    found = {"device_s": 1.0, "kernel_s": 1.0, "limit": 0.0, "cache_bytes": 50e6, **gauges}
    shown = {name: Gauge(sum=value, least=value, most=value) for name, value in found.items()}
    given = {"device": "cuda:0", **parameters}
    case = {"target": "cuda:0", "backend": "null", "workload": workload, "workload_parameters": given}
    facts = {"device": "cuda:0", "name": "card"}
    return [
        make_launch(
            *(
                [
                    make_phase(repetition=index, phase=workload, access="none", gauges=shown, hints_granted=facts),
                    make_case(repetition=index).model_copy(update=case),
                ]
                for index in range(6)
            )
        )
    ]


def row_of(metric: str, found: Launches) -> Row:
    (row,) = [row for row in rows_of(found, RowContext(), None) if row.metric == metric]  # type: ignore[arg-type]
    return row


def test_memory_has_the_ceiling_that_the_driver_states_where_no_cache_holds_the_set() -> None:
    found = launches("device-stream", TRIAD, device_bytes=3e12, used_bytes=1e9, limit=3.35e12)
    row = row_of("device_bandwidth", found)
    assert (row.params["measure"], row.params["kernel"], row.params["device"]) == ("memory", "triad", "card")
    assert row.ceiling is not None
    assert (row.ceiling.kind, row.share) == ("detected", pytest.approx(3 / 3.35))
    in_cache = launches("device-stream", TRIAD, device_bytes=9e12, used_bytes=1e8, limit=3.35e12)
    assert row_of("device_bandwidth", in_cache).ceiling is None


def test_units_are_under_their_ceiling_and_without_one_where_the_card_is_unknown() -> None:
    found = launches("device-compute", {"type": "fp64"}, device_operations=32e12, limit=33.5e12)
    row = row_of("device_compute_rate", found)
    assert (row.params["measure"], row.share) == ("fp64", pytest.approx(32 / 33.5))
    unknown = launches("device-compute", {"type": "fp32"}, device_operations=32e12)
    assert row_of("device_compute_rate", unknown).ceiling is None


def test_what_is_above_a_ceiling_is_invalid() -> None:
    found = launches("device-compute", {"type": "fp64"}, device_operations=40e12, limit=33.5e12)
    assert row_of("device_compute_rate", found).is_invalid


def test_a_launch_has_its_time() -> None:
    row = row_of("device_launch_time", launches("device-launch", {"wait": "each"}, launches=100_000.0))
    assert (row.median, row.unit, row.params["measure"]) == (pytest.approx(1e-5), "s", "launch")


def test_a_narrow_link_is_named() -> None:
    narrow = launches("device-copy", COPY, device_bytes=14e9, limit=15.75e9, widest_link=63e9)
    found = {finding.kind: finding for finding in findings_of([row_of("device_bandwidth", narrow)], 0.95)}
    assert found["link"].severity == "warning"
    assert "15.8 GB/s of 63.0 GB/s" in found["link"].text
    whole = launches("device-copy", COPY, device_bytes=55e9, limit=63e9, widest_link=63e9)
    assert "link" not in {one.kind for one in findings_of([row_of("device_bandwidth", whole)], 0.95)}


def test_a_link_that_sysfs_makes_up_is_no_ceiling() -> None:
    made_up = launches("device-copy", COPY, device_bytes=55e9, limit=0.25e9, widest_link=0.25e9)
    row = row_of("device_bandwidth", made_up)
    assert (row.ceiling, row.is_invalid) == (None, False)
    assert row.notes == ["sysfs states less than was copied: 250 MB/s of 250 MB/s"]


def copies(rate: float, memory: str) -> Row:
    params = {"access": "none", "device": "card", "measure": "link", **COPY, "host_memory": memory}
    own = {"metric": "device_bandwidth", "target": "cuda:0", "verdict": "none"}
    return plain_row(around(rate), params, **own, launches=[index % 3 for index in range(8)])


def test_what_pinned_memory_gains_is_said_with_its_factor() -> None:
    found = {one.kind: one for one in findings_of([copies(55e9, "pinned"), copies(9.3e9, "pageable")], 0.95)}
    gain = found["pageable"].gain
    assert gain is not None
    assert gain.factor == pytest.approx(5.9, rel=0.05)
    assert "cudaHostRegister" in found["pageable"].change
    same = [copies(55e9, "pinned"), copies(55e9, "pageable")]
    assert "pageable" not in {one.kind for one in findings_of(same, 0.95)}


def test_each_device_has_a_row_of_vessels() -> None:
    rows = [
        row_of("device_bandwidth", launches("device-stream", TRIAD, device_bytes=3e12, used_bytes=1e9)),
        row_of("device_compute_rate", launches("device-compute", {"type": "fp64"}, device_operations=32e12)),
        row_of("device_bandwidth", launches("device-copy", COPY, device_bytes=55e9)),
    ]
    made = Summary(suite="gpu", run_id="r", created="now", rows=rows)
    assert [vessel.part for vessel in some(vessels(made))] == ["cuda:0 memory", "cuda:0 fp64", "cuda:0 link"]


def test_a_card_that_two_libraries_show_is_measured_once_and_a_cpu_is_none() -> None:
    cuda, opencl = device("cuda:0", pci="0000:17:00.0"), device("opencl:0", pci="0000:17:00.0")
    other, cpu = device("opencl:1", pci="0000:18:00.0"), device("opencl:2", kind="cpu", name="pocl")
    found = Devices(devices=[cuda, opencl, other, cpu], missing=[])
    assert [one.id for one in found.accelerators] == ["cuda:0", "opencl:1"]
    none = Devices(devices=[cpu], missing=["libcuda.so.1 is not there"])
    assert none.accelerators == []
    assert none.why_none == "no accelerator: libcuda.so.1 is not there; opencl:2 is a CPU (pocl)"


def test_the_check_of_a_real_gpu_names_what_is_not_as_it_should_be() -> None:
    good = row_of(
        "device_compute_rate", launches("device-compute", {"type": "fp64"}, device_operations=33e12, limit=33.5e12)
    )
    slow = row_of(
        "device_compute_rate", launches("device-compute", {"type": "fp64"}, device_operations=9e12, limit=33.5e12)
    )
    above = row_of(
        "device_compute_rate", launches("device-compute", {"type": "fp64"}, device_operations=40e12, limit=33.5e12)
    )
    assert gpu_check.complaints([good]) == []
    assert gpu_check.complaints([slow]) == ["fp64: 27 % of its ceiling, should be 95 %"]
    assert gpu_check.complaints([good, above]) == ["cuda:0 fp64: above its ceiling"]
    assert "| cuda:0 | fp64, fp64 | 33.0 Top/s |" in gpu_check.lines([good])[2]
