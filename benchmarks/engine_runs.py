# SPDX-License-Identifier: Apache-2.0
"""One case on the real engine, and its phase records."""

import os
import secrets
import subprocess
import tempfile
from pathlib import Path

from ullage.engine import describe, find_engine
from ullage.launch import choose_launcher
from ullage.model.plan import Case, Layout, Limits, Named, Parameters, Plan, Target
from ullage.model.record import PhaseRecord
from ullage.results.records import read_records


def plan_of(
    uri: str,
    backend: Named,
    workload: Parameters | Named,
    layout: Layout,
    records: Path,
    repetitions: int = 1,
) -> Plan:
    """A plan of one case; of workload transfer where only parameters are given."""
    named = workload if isinstance(workload, Named) else Named(name="transfer", parameters=workload)
    return Plan(
        run_id="bench-" + secrets.token_hex(4),
        suite="benchmark",
        records=str(records),
        layout=layout,
        targets=[Target(name="t", uri=uri)],
        stop_rule=Named(name="fixed", parameters={"count": repetitions}),
        dirty_retries=0,
        limits=Limits(space_fraction=0.9),
        cases=[
            Case(
                id=secrets.token_hex(8),
                target="t",
                backend=backend,
                workload=named,
            )
        ],
    )


def phases(
    uri: str,
    backend: Named,
    workload: Parameters | Named,
    ranks: int = 1,
    repetitions: int = 1,
    layout: Layout | None = None,
) -> list[PhaseRecord]:
    """Run the case on so many ranks, or by ``layout``, and return its phases; a failure is an error."""
    return run_plan(plan_of(uri, backend, workload, layout or Layout(ranks=ranks), Path(), repetitions))


def run_plan(plan: Plan) -> list[PhaseRecord]:
    """Run a plan, whose records go where they are forgotten, and return its phases; a failure is an error."""
    engine = find_engine()
    launcher = choose_launcher(describe(engine))
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records.ndjson"
        path = Path(folder) / "plan.json"
        path.write_text(plan.model_copy(update={"records": str(records)}).model_dump_json(by_alias=True))
        environment = {**os.environ, **launcher.environment(plan.layout)}
        words = launcher.argv(engine, path, plan.layout)
        done = subprocess.run(words, check=False, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return read_records(records).phases
