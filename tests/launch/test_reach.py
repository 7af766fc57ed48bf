# SPDX-License-Identifier: Apache-2.0
"""Hosts that people name are tried before anything is launched on them."""

import json
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, SilentProgress
from ullage.errors import UserError
from ullage.launch.hosts import Hosts
from ullage.launch.mpich import Mpich
from ullage.launch.reach import unusable_hosts
from ullage.model.plan import Case, Layout, Named, Plan, Target
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.session import Session

# What ssh and loaders say, by the host that is asked.
SAID = {
    "unknown": ("ssh: Could not resolve hostname unknown: Name or service not known", 255),
    "refusing": ("ssh: connect to host refusing port 22: Connection refused", 255),
    "unreached": ("ssh: connect to host unreached port 22: No route to host", 255),
    "silent": ("ssh: connect to host silent port 22: Connection timed out", 255),
    "strange": ("Host key verification failed.", 255),
    "closed": ("me@closed: Permission denied (publickey).", 255),
    "bare": ("", 90),
    "old": ("/x/ullage-engine: error while loading shared libraries: libmpi.so.40: cannot open shared object", 127),
    "odd": ("first\nsomething odd\n", 7),
}
WHY = {
    "unknown": "its name is not known",
    "refusing": "it refuses connections",
    "unreached": "there is no route to it",
    "silent": "it does not answer",
    "strange": "its host key is not known, or has changed",
    "closed": "it refuses the login",
    "bare": "/x/ullage-engine is not there; put it on a file system that all hosts share, or use --stage",
    "old": "the engine needs libmpi.so.40, which is not there",
    "odd": "something odd",
    "other": "its MPI is MPICH 5, here it is fake",
    "garbled": "/x/ullage-engine there is no engine of this version",
}


@pytest.fixture
def agent(tmp_path: Path) -> str:
    """Start nothing: answer as the host would."""
    own = DESCRIBE.model_dump(mode="json", by_alias=True)
    other = {**own, "engine": {**own["engine"], "mpi": {**own["engine"]["mpi"], "library": "MPICH 5, by hand"}}}
    own["engine"]["mpi"]["library"] = "fake"
    (tmp_path / "good").write_text(json.dumps(own))
    (tmp_path / "other").write_text(json.dumps(other))
    lines = [f"{host}) printf '%s' '{text}' >&2; exit {code};;" for host, (text, code) in SAID.items()]
    lines += [f"other) cat {tmp_path}/other;;", "garbled) echo hello;;", f"*) cat {tmp_path}/good;;"]
    script = tmp_path / "agent"
    script.write_text("#!/bin/sh\ncase $1 in\n" + "\n".join(lines) + "\nesac\n")
    script.chmod(0o755)
    return str(script)


def build_of(library: str) -> EngineContext:
    engine = DESCRIBE.engine.model_copy(update={"mpi": DESCRIBE.engine.mpi.model_copy(update={"library": library})})
    return EngineContext(Path("/x/ullage-engine"), DESCRIBE.model_copy(update={"engine": engine}))


def test_the_cause_is_said_in_words_for_each_host_that_refuses(agent: str) -> None:
    context = build_of("fake")
    hosts = Hosts(("here", *WHY, "good"), agent)
    found = unusable_hosts(hosts, context.engine, context.description.engine)
    assert {host: refusal.why for host, refusal in found.items()} == WHY


def test_hosts_that_only_the_mpi_reaches_are_left_to_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    context = build_of("fake")
    build = context.description.engine
    assert unusable_hosts(Hosts(("a", "b")), context.engine, build, {"HYDRA_LAUNCHER": "rsh"}) == {}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert unusable_hosts(Hosts(("a", "b")), context.engine, build, {}) == {}


@pytest.fixture
def session(agent: str, tmp_path: Path) -> Session:
    result = ResultFolder.create(tmp_path / "result", Request(run_id="r", suite="sweep", created="now"))
    launcher = Mpich(Path("/nowhere/mpiexec"), hosts=Hosts(("here", "unknown", "closed", "good", "better"), agent))
    return Session(result, build_of("fake"), launcher, SilentProgress())


def plan_on(nodes: int, session: Session) -> Plan:
    return Plan(
        run_id="r",
        suite="sweep",
        records=str(session.result.records_path(1)),
        layout=Layout(ranks=nodes, nodes=nodes),
        targets=[Target(name="a", uri="null:")],
        stop_rule=Named(name="fixed"),
        cases=[Case(id="0" * 16, target="a", backend=Named(name="null"), workload=Named(name="transfer"))],
    )


def test_a_run_that_needs_a_host_that_refuses_starts_nothing_and_names_all_of_them(session: Session) -> None:
    with pytest.raises(UserError) as refused:
        session.launch(1, plan_on(4, session), lambda _record: None)
    log = session.result.stderr_path(1)
    assert refused.value.code == 3
    assert str(refused.value).startswith("--hosts: unknown: its name is not known; closed: it refuses the login; mend")
    assert f"--exclude unknown,closed; all that was said: {log}" in str(refused.value)
    assert "Could not resolve hostname" in log.read_text()
    assert session.result.launches() == []


def test_a_probe_tries_the_hosts_before_it_starts(session: Session, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--hosts: unknown: its name is not known; closed: it refuses the login"):
        session.launch_apart(tmp_path, plan_on(4, session))


def test_spare_hosts_take_the_places_of_those_that_refuse(session: Session) -> None:
    with pytest.raises(UserError, match="mpiexec"):  # which is not there: the hosts were found before
        session.launch(1, plan_on(3, session), lambda _record: None)
    [said] = session.messages
    why = "unknown: its name is not known; closed: it refuses the login"
    assert said == f"the run goes on without unknown and closed ({why})"
    assert session.lost == ["unknown", "closed"]


def test_a_single_node_needs_no_other_host(session: Session) -> None:
    with pytest.raises(UserError, match="mpiexec"):
        session.launch(1, plan_on(1, session), lambda _record: None)
    assert session.messages == session.lost == []
