# SPDX-License-Identifier: Apache-2.0
"""How long does a simulation wait for its states?

Each rank computes a step and writes its state, for all steps. Then its adjoint reads the states again, mostly from the
last to the first, and computes with each. The suite compares layouts of the files, and keeping every state with
computing some again.
"""

from ullage.runs.suite import UsualSuite

_PREDICTION = """How long will a simulation wait for its states on storage?

Rates of the calls are measured without computation, with the number of ranks and files that is asked for. A model makes
the time of both phases of them, and a run is compared with it.
"""

SUITE = UsualSuite(
    "stepfile", __doc__ or "", "options:StepfileOptions", "suite:prepare_stepfile", "summarise:summarise"
)
# The verb ``ullage predict`` runs it.
SUITE_OF_VERB = UsualSuite(
    "predict-stepfile",
    _PREDICTION,
    "predicted:PredictOptions",
    "predict:prepare_prediction",
    "predict:summarise_prediction",
    package="stepfile",
)
