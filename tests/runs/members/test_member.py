# SPDX-License-Identifier: Apache-2.0
"""The run on one node: what it leaves of its surroundings, where its targets lie, and what it says and hears."""

import io
import os
import threading

import pytest

from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.runs.members.member import (
    Alive,
    Ended,
    Line,
    Refused,
    StageReached,
    leave_job,
    line_of,
    localised,
    message_of,
    settings,
)


def test_nothing_of_a_job_or_launcher_is_left_but_settings_of_people() -> None:
    people = {"OMPI_MCA_btl_tcp_if_include": "eth0", "HOME": "/root", "MPIR_CVAR_CH4_NETMOD": "ofi"}
    kept = settings(people)
    launcher = {
        "SLURM_JOB_ID": "7", "PBS_NODEFILE": "x", "LSB_JOBID": "1", "FLUX_URI": "local", "PMI_RANK": "0",
        "PMIX_NAMESPACE": "1", "OMPI_COMM_WORLD_SIZE": "1", "OMPI_MCA_ess": "pmi", "HYDI_CONTROL_FD": "3",
    }  # fmt: skip
    environment = {**people, **launcher}
    leave_job(environment, kept)
    assert environment == people


def test_the_words_of_a_place_are_those_of_the_node_also_in_parts() -> None:
    target = Target(name="t", uri="posix:/local/{host}/{node}/{rank}")
    part = {"suite": "disk", "targets": [target.model_dump()], "options": {"name": "{host}"}}
    request = Request(run_id="r", suite="node", created="", targets=[target], options={"parts": [part]})
    found = localised(request, "n7", 3)
    assert found.targets == [Target(name="t", uri="posix:/local/n7/3/{rank}")]
    (own,) = found.options["parts"]  # type: ignore[misc]
    assert own["targets"][0]["uri"] == "posix:/local/n7/3/{rank}"
    assert own["options"] == {"name": "{host}"}


@pytest.mark.parametrize(
    "word", [Alive(), StageReached(stage="disk"), Refused(text="ä\n", code=3), Ended(code=0, messages=["a"])]
)
def test_a_line_says_what_was_said_whatever_stands_before_it(word: Alive | StageReached | Refused | Ended) -> None:
    line = line_of(word)
    assert line.count("\n") == 1
    assert message_of(f"[1,0]<stdout>: {line}") == word


@pytest.mark.parametrize("line", ["", "hello", "ullage-member {", 'ullage-member {"kind": "unknown"}'])
def test_a_line_of_somebody_else_says_nothing(line: str) -> None:
    assert message_of(line) is None


def test_a_member_waits_until_it_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "kill", lambda *_: None)
    handle, ours = os.pipe()
    told = io.StringIO()
    with os.fdopen(handle) as heard, os.fdopen(ours, "w") as teller:
        line = Line(told, heard)
        line.listen()
        waiting = threading.Thread(target=line.await_others, args=("disk",))
        waiting.start()
        teller.write("go cpu\n")
        teller.flush()
        waiting.join(0.2)
        assert waiting.is_alive()
        teller.write("go disk\n")
        teller.flush()
        waiting.join(10)
        assert not waiting.is_alive()
        line.end(Ended(code=0, messages=[]))
    assert message_of(told.getvalue().splitlines()[0]) == StageReached(stage="disk")


def test_the_end_of_its_input_asks_a_member_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()
    monkeypatch.setattr(os, "kill", lambda *_: asked.set())
    Line(io.StringIO(), io.StringIO("go start\n")).listen()
    assert asked.wait(10)


class Broken(io.StringIO):
    def flush(self) -> None:
        raise BrokenPipeError


def test_who_listened_may_be_gone() -> None:
    Line(Broken(), io.StringIO()).tell(Alive())
