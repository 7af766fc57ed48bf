# SPDX-License-Identifier: Apache-2.0
"""Ullage as a test of ReFrame: a run of a suite, whose headlines are the performance variables.

    reframe -c ullage_check.py -r -S suite=disk -S options=--target,scratch=/scratch/me

Derive a class from it where a site has references or whole allocations of its own.
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher


@rfm.simple_test
class UllageCheck(rfm.RunOnlyRegressionTest):
    """A run of ``suite``. Disturbed numbers (grade C) are left out: they fail no reference."""

    descr = "Ullage: how fast the parts of this machine are"
    suite = variable(str, value="node")
    options = variable(typ.List[str], value=[])
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "ullage"
    tags = {"ullage"}

    @run_before("run")
    def prepare(self):
        # Ullage starts its ranks by itself, on the nodes of the job.
        self.job.launcher = getlauncher("local")()
        self.executable_opts = ["run", self.suite, "--result", "result", *self.options]

    @sanity_function
    def is_complete(self):
        return sn.all(
            [
                sn.assert_eq(self.job.exitcode, 0, msg="ullage ended with exit code {0}"),
                sn.assert_true(self.headlines(), msg="the result has no headline"),
            ]
        )

    @run_before("performance")
    def name_headlines(self):
        for part, one in self.headlines().items():
            if one["grade"] != "C":
                self.perf_variables[part] = sn.make_performance_function(sn.defer(one["value"]), one["unit"])

    def headlines(self):
        summary = Path(self.stagedir, "result", "summary.json")
        return json.loads(summary.read_text(encoding="utf-8"))["headline"] if summary.is_file() else {}
