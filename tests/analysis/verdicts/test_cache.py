# SPDX-License-Identifier: Apache-2.0
"""Which counter is believed, and what is said where none can be."""

import pytest

from support.make_records import MIB, make_latency, make_phase
from ullage.analysis.verdicts.cache import Verdict, cache_verdict, combine_verdicts
from ullage.model.record import Moved, PhaseRecord, Resident

ALL = 1000 * MIB


def _moved(process: float | None = None, device: float | None = None, client: float | None = None) -> Moved:
    """Shares of what was asked for."""
    process_bytes, device_bytes, client_bytes = (
        None if share is None else round(share * ALL) for share in (process, device, client)
    )
    return Moved(requested_bytes=ALL, process_bytes=process_bytes, device_bytes=device_bytes, client_bytes=client_bytes)


def _read(moved: Moved | None, **fields: object) -> PhaseRecord:
    return make_phase(phase="read", moved=moved, **fields)


def _resident(before: float) -> Resident:
    return Resident(source="cachestat", total_pages=1000, before_pages=round(before * 1000), after_pages=1000)


@pytest.mark.parametrize(
    ("share", "text"),
    [(1.0, "cold"), (0.95, "cold"), (0.94, "mixed 94 %"), (0.37, "mixed 37 %"), (0.06, "mixed 6 %"), (0.0, "warm")],
)
def test_reads_are_judged_by_the_share_that_came_from_the_device(share: float, text: str) -> None:
    found = cache_verdict(_read(_moved(process=share, device=share)))
    assert found.text == text
    assert found.share == pytest.approx(share)
    assert found.reasons


def test_the_process_is_believed_before_a_device_that_others_use() -> None:
    found = cache_verdict(_read(_moved(process=0.0, device=1.0)))
    assert found.text == "warm"
    assert any("others may use it" in reason for reason in found.reasons)


def test_pages_that_were_not_in_memory_prove_the_device_right() -> None:
    found = cache_verdict(_read(_moved(process=0.0, device=1.0), resident=_resident(0.0)))
    assert found.text == "cold"
    assert any("the count of the device is used" in reason for reason in found.reasons)


def test_for_direct_reads_counters_decide_and_resident_pages_do_not() -> None:
    found = cache_verdict(_read(_moved(process=1.0, device=1.0), cache_control="direct", resident=_resident(1.0)))
    assert found.text == "cold"


def test_a_direct_read_that_no_device_answered_is_explained() -> None:
    found = cache_verdict(_read(_moved(process=0.0, device=0.0), cache_control="direct"))
    assert found.text == "warm"
    assert any("holes" in reason for reason in found.reasons)


def test_read_ahead_is_no_more_than_cold() -> None:
    found = cache_verdict(_read(_moved(process=3.0, device=3.0)))
    assert (found.text, found.share) == ("cold", 1.0)
    assert any("3.0 times" in reason for reason in found.reasons)


def test_without_a_block_device_a_silent_process_counter_proves_nothing() -> None:
    assert cache_verdict(_read(_moved(process=0.0))).text == "unknown"
    assert cache_verdict(_read(_moved(process=1.0))).text == "cold"
    assert cache_verdict(_read(_moved(process=0.0), resident=_resident(1.0))).text == "warm"


@pytest.mark.parametrize("moved", [None, _moved(), Moved(requested_bytes=0)])
def test_without_counters_nothing_is_claimed(moved: Moved | None) -> None:
    assert cache_verdict(_read(moved)).text == "unknown"


def test_wire_bytes_prove_the_client_only() -> None:
    found = cache_verdict(_read(_moved(process=0.0, client=1.0)))
    assert found.text == "unknown(server)"
    assert found.reasons[0].startswith("client cold, server unknown")


def test_a_client_that_moved_little_answered_from_its_own_memory() -> None:
    assert cache_verdict(_read(_moved(client=0.02))).text == "warm"
    assert cache_verdict(_read(_moved(client=0.5))).text == "mixed 50 %"


def test_a_network_target_without_client_counters_is_unknown() -> None:
    assert cache_verdict(_read(_moved(process=0.0)), remote_target=True).text == "unknown(server)"
    assert cache_verdict(_read(_moved()), remote_target=True).text == "unknown(server)"


def test_memory_is_never_reported_as_a_disk() -> None:
    assert cache_verdict(_read(_moved(process=1.0, device=1.0)), memory_target=True).text == "memory"
    assert cache_verdict(_read(_moved(process=1.0, device=1.0), file_system="tmpfs")).text == "memory"


def test_nothing_is_behind_a_target_without_a_place() -> None:
    assert cache_verdict(_read(None), holds_data=False).text == "none"


def _files_synced(syncs: int, what: str = "states") -> dict[str, object]:
    return {"counters": {what: 4}, "latency_parts": {"sync": make_latency(syncs, 1000)}}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"moved": _moved(device=1.0), "syncs": 2}, "synced"),
        ({"moved": _moved(process=1.0), "syncs": 2}, "synced"),
        ({"moved": _moved(process=1.0, device=0.4), "syncs": 2}, "partly synced 40 %"),
        ({"moved": _moved(process=1.0, device=0.0), "syncs": 0}, "cached"),
        # Charged when the pages become dirty, so it proves nothing without a sync.
        ({"moved": _moved(process=1.0, device=1.0), "syncs": 0}, "cached"),
        ({"moved": _moved(process=1.0, device=1.0), "syncs": 0, "cache_control": "direct"}, "direct"),
        # All 4 files or one of them were synced before they were closed.
        ({"moved": _moved(device=1.0), "syncs": 0, **_files_synced(4)}, "synced"),
        ({"moved": _moved(device=1.0), "syncs": 0, **_files_synced(1)}, "cached"),
        ({"moved": _moved(device=1.0), "syncs": 0, **_files_synced(4, "files")}, "synced"),
        ({"moved": _moved(client=1.0), "syncs": 2}, "unknown(server)"),
        ({"moved": _moved(client=0.1), "syncs": 0}, "cached"),
        ({"moved": None, "syncs": 2}, "unknown"),
    ],
)
def test_writes(fields: dict[str, object], text: str) -> None:
    assert cache_verdict(make_phase(**fields)).text == text  # type: ignore[arg-type]


@pytest.mark.parametrize("fields", [{"syncs": 2}, {"syncs": 0}, {"syncs": 0, "cache_control": "direct"}])
def test_a_share_that_stands_at_all_of_it_says_what_more_was_moved(fields: dict[str, object]) -> None:
    verdict = cache_verdict(make_phase(moved=_moved(device=2.5), **fields))  # type: ignore[arg-type]
    assert verdict.share == 1.0
    assert any(reason.startswith("2.5 times what was asked was written: ") for reason in verdict.reasons)
    exact = cache_verdict(make_phase(moved=_moved(device=1.0), **fields))  # type: ignore[arg-type]
    assert not any("times what was asked" in reason for reason in exact.reasons)
    client = cache_verdict(_read(_moved(client=3.0)))
    assert any(reason.startswith("3.0 times what was asked was moved: ") for reason in client.reasons)


def test_the_repetitions_of_a_row_have_one_verdict() -> None:
    shares = [cache_verdict(_read(_moved(process=share, device=share))) for share in (0.3, 0.4, 0.5)]
    assert combine_verdicts(shares).text == "mixed 40 %"


def test_repetitions_that_differ_are_told_apart_in_the_reasons() -> None:
    shares = [cache_verdict(_read(_moved(process=share, device=share))) for share in (1.0, 1.0, 0.0)]
    found = combine_verdicts(shares)
    assert found.text == "cold"
    assert found.reasons[0] == "repetitions differ: 2 cold, 1 warm"


def test_the_weakest_verdict_stands_for_what_has_no_share() -> None:
    found = combine_verdicts([Verdict("synced", "synced"), Verdict("unknown", "unknown")])
    assert found.text == "unknown"


def test_no_verdicts_are_an_error() -> None:
    with pytest.raises(ValueError, match="no verdicts"):
        combine_verdicts([])


@pytest.mark.parametrize(
    ("phase", "fields", "text"),
    [
        ("stat", {}, "warm"),
        ("find", {}, "warm"),
        ("stat", {"cache_control": "drop"}, "cold"),
        ("create", {"syncs": 2}, "synced"),
        ("create", {}, "cached"),
        ("unlink", {}, "cached"),
        ("stat", {"file_system": "tmpfs"}, "memory"),
    ],
)
def test_work_on_names_is_judged_by_who_made_them_and_what_was_synced(
    phase: str, fields: dict[str, object], text: str
) -> None:
    """Today's fault: a warm inode cache was called ``none``, as if nothing had been behind."""
    found = cache_verdict(make_phase(phase=phase, access="metadata", moved=None, **{"syncs": 0, **fields}))
    assert found.text == text
    assert found.reasons


def test_names_of_a_server_or_of_no_storage() -> None:
    phase = make_phase(phase="stat", access="metadata", moved=None)
    assert cache_verdict(phase, remote_target=True).text == "unknown(server)"
    assert cache_verdict(phase, holds_data=False).text == "none"


@pytest.mark.parametrize("phase", ["read", "write"])
def test_without_a_page_cache_nothing_is_cold_or_warm(phase: str) -> None:
    found = cache_verdict(make_phase(phase=phase, access=phase, moved=_moved(process=0.0, device=0.0), dax=True))
    assert (found.text, found.kind) == ("direct (dax)", "direct")
    names = cache_verdict(make_phase(phase="stat", access="metadata", dax=True))
    assert names.kind == "warm"


def test_memory_of_the_ranks_is_no_storage() -> None:
    found = cache_verdict(_read(_moved(process=0.0), file_system="memory"))
    assert found.kind == "memory"
