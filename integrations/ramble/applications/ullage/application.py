# SPDX-License-Identifier: Apache-2.0

from ramble.appkit import *


class Ullage(ExecutableApplication):
    """How fast each part of a machine is, and how far that is below what it could do"""

    name = "ullage"

    tags("benchmark", "i/o", "memory-bandwidth", "network-bandwidth")

    # Ullage starts its ranks by itself. Where it fails there are no headlines, so the experiment fails, too.
    executable(
        "run",
        "ullage run {suite} --result {experiment_run_dir}/result {options} && "
        "ullage report {experiment_run_dir}/result --format github-action-benchmark",
        use_mpi=False,
    )

    workload("headlines", executable="run")

    workload_variable("suite", default="node", description="the suite to run", workload="headlines")
    workload_variable("options", default="--quick", description="its options", workload="headlines")

    figure_of_merit_context("headline", regex=r'\s*"name": "(?P<part>[^"]+)"', output_format="{part}")
    figure_of_merit(
        "value", fom_regex=r'\s*"value": (?P<value>[-+.e\d]+)', group_name="value", units="", contexts=["headline"]
    )
    figure_of_merit(
        "unit", fom_regex=r'\s*"unit": "(?P<unit>[^"]+)"', group_name="unit", units="", contexts=["headline"]
    )

    success_criteria("has_a_headline", mode="string", match=r'\s*"value": ')
