# SPDX-License-Identifier: Apache-2.0
"""From a Darshan log to a decision: what is wrong, what it costs at known rates, and the time that is predicted."""

import json
from pathlib import Path

import pytest

from support.darshan_log import made, record, trace, transfers
from ullage.campaign.rows import kept_rows
from ullage.campaign.store import write_rows
from ullage.cli.app import run
from ullage.importers.darshan.rates import Rates, Span, UnknownRateError, Work
from ullage.importers.rows import imported_row
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder

MIB = 1 << 20


def row(block: int, mb_per_s: float, **params: bool | float | str) -> Row:
    said: dict[str, bool | int | float | str] = {"access": "write", "ranks": 4, "block_bytes": block, **params}
    return imported_row("x", "bandwidth", "B/s", "here", said, [mb_per_s * 1e6])


def test_the_time_of_an_operation_is_interpolated_between_sizes() -> None:
    # A latency and a bandwidth give back the time of every size between.
    def rate(size: int) -> float:
        return size / (1e-4 + size / 1e9) / 1e6

    rates = Rates([row(4096, rate(4096)), row(MIB, rate(MIB))])
    expected = 1000 * (1e-4 + 65536 / 1e9)
    assert rates.seconds([Work("write", 1000 * 65536.0, 65536, ranks=4)]).value == pytest.approx(expected)
    below = rates.seconds([Work("write", 1000 * 1024.0, 1024, ranks=4)]).value
    assert below == pytest.approx(1000 * (1e-4 + 4096 / 1e9))
    above = rates.seconds([Work("write", 4.0 * MIB, 4 * MIB, ranks=4)]).value
    assert above == pytest.approx(4 * (1e-4 + MIB / 1e9))


def test_rates_of_other_work_are_not_taken() -> None:
    rates = Rates([row(4096, 100), row(4096, 50, file_mode="shared"), row(4096, 10, order="random")])
    assert rates.seconds([Work("write", 1e8, 4096, ranks=4)]).value == pytest.approx(1.0)
    assert rates.seconds([Work("write", 1e8, 4096, file_mode="shared", ranks=4)]).value == pytest.approx(2.0)
    assert rates.seconds([Work("write", 1e8, 4096, "random", ranks=4)]).value == pytest.approx(10.0)
    for work in (Work("read", 1.0, 4096), Work("create", 1.0)):
        with pytest.raises(UnknownRateError):
            rates.seconds([work])
    assert Span(3, 2, 4).less(Span(1, 0.5, 2.5)) == Span(2, 0, 3.5)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "app.darshan"
    writes = transfers("write", 1000, 4096, seconds=20.0)
    path.write_bytes(made({"POSIX": [record("POSIX", 7 + rank, rank, writes) for rank in range(4)]}))
    return path


@pytest.fixture
def rates(tmp_path: Path) -> Path:
    """1 MB/s with 4 KiB, 100 MB/s with 4 MiB."""
    table = tmp_path / "rates.csv"
    head = "target,access,ranks,block_bytes,bandwidth_mb_per_s"
    table.write_text(f"{head}\nhere,write,4,4096,1\nhere,write,4,{4 * MIB},100\n")
    assert run(["import", str(table), "--result", str(tmp_path / "rates")]) == 0
    return tmp_path / "rates"


MOVED = 4 * 1000 * 4096


def test_a_cause_costs_what_the_rates_say(log: Path, rates: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["diagnose", str(log), "--rates", str(rates), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [one["kind"] for one in found] == ["small-operations"]
    assert found[0]["numbers"]["cost_s"] == pytest.approx(MOVED / 1e6 - MOVED / 100e6)
    assert found[0]["gain"]["factor"] == pytest.approx(100)
    assert run(["diagnose", str(log), "--rates", str(rates)]) == 0
    assert "100.00 x as fast" in " ".join(capsys.readouterr().out.split())


def test_a_campaign_has_rates_over_all_its_runs(
    log: Path, rates: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.csv"
    other.write_text((tmp_path / "rates.csv").read_text().replace(",1\n", ",2\n"))
    assert run(["import", str(other), "--result", str(tmp_path / "other")]) == 0
    for result in map(ResultFolder, (rates, tmp_path / "other")):
        request = result.read_request()
        # What was imported is never sound; a run's rows are.
        rows = [{**row, "sound": True} for _, row in kept_rows(result.read_summary(), request, "n1")]
        write_rows(tmp_path / "kept", "n", "sweep", request, rows)
    capsys.readouterr()
    assert run(["diagnose", str(log), "--rates", str(tmp_path / "kept"), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    expected = [MOVED / rate - MOVED / 100e6 for rate in (1.5e6, 2e6, 1e6)]
    assert [found["numbers"][name] for name in ("cost_s", "cost_low_s", "cost_high_s")] == pytest.approx(expected)


def test_without_rates_it_says_how_to_get_them(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", str(log)]) == 0
    said = capsys.readouterr().out
    assert "Operations are small" in said
    assert "ullage run from-darshan" in said
    assert run(["diagnose", str(log.with_name("none"))]) == 2


def test_the_time_is_predicted_for_the_name_of_a_log(
    log: Path, rates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["predict", str(log)], ["predict", "log", str(log)]):
        capsys.readouterr()
        assert run([*words, "--rates", str(rates)]) == 0
        said = capsys.readouterr().out
        assert "All I/O of the log takes 16.4 s" in said
        assert "at the rates of here" in said
        assert "In the job of the log it took 20.0 s" in said
    assert run(["predict", str(log), "--rates", str(rates), "--target", "there"]) == 2
    assert "--target here" in capsys.readouterr().err


def test_traced_transfers_are_replayed_each_at_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of both ranks, and one of rank 1 alone; of odd sizes, backward, one of them twice."""
    shared = [[(0, 13, 1.0), (26, 13, 2.0), (52, 13, 3.0), (5, 1000, 4.0)], [(4096, 8, 9.0), (13, 13, 1.0)]]
    records = [record("POSIX", 7, -1, transfers("write", 6, 176)), record("POSIX", 8, 1, transfers("read", 3, 100))]
    traces = [trace(7, rank, writes) for rank, writes in enumerate(shared)]
    traces.append(trace(8, 1, [], [(500, 100, 1.0), (400, 100, 2.0), (400, 100, 3.0)]))
    log = tmp_path / "traced.darshan"
    log.write_bytes(made({"POSIX": records, "DXT_POSIX": traces}, ranks=2))
    words = ["plan", "from-darshan", str(log), "--target", f"here={tmp_path}"]
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    works = [case["workload"] for case in json.loads(capsys.readouterr().out)[0]["cases"]]
    lists = {one["parameters"]["list"]: one["parameters"] for one in works if one["name"] == "pio"}
    own, both = "1:500:100:2:-100 1:400:100:1:0", "0:0:13:3:26 0:5:1000:1:0 1:13:13:1:0 1:4096:8:1:0"
    assert set(lists) == {own, both}
    assert (lists[own]["pattern"], lists[both]["pattern"]) == ("listed-own", "listed")
    assert lists[both]["phases"] == ["write"]
    assert run(words) == 0
    assert "2 cases of the transfers that the log has traced: 100 % of its bytes" in " ".join(
        capsys.readouterr().out.split()
    )
    assert run([*words, "--volume", "1M", "--json"]) == 0
    assert "pio" not in capsys.readouterr().out


def test_a_plan_does_the_work_of_the_log_exactly(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["plan", "from-darshan", str(log), "--target", f"here={tmp_path}", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)[0]
    assert plan["layout"]["ranks"] == 4
    works = [case["workload"]["parameters"] for case in plan["cases"]]
    own = next(one for one in works if one["transfer_bytes"] == 4096)
    assert own["block_bytes"] * own.get("segments", 1) == 1000 * 4096
    assert own["file_mode"] == "per-process"
    assert own["sync"] == "none"
    # The other case is the work after the change.
    assert [one["transfer_bytes"] for one in works if one is not own] == [4 * MIB]
    assert run(["plan", "from-darshan", str(log), "--target", f"here={tmp_path}"]) == 0
    assert "100 % of the bytes and 100 % of the operations" in " ".join(capsys.readouterr().out.split())
    assert run(["plan", "from-darshan", str(log)]) == 2
    log.write_bytes(made({}))
    capsys.readouterr()
    assert run(["plan", "from-darshan", str(log), "--target", f"here={tmp_path}"]) == 2
    assert "has no transfers" in capsys.readouterr().err
