# SPDX-License-Identifier: Apache-2.0
"""How long does training wait for a checkpoint?

Each rank writes its part of the state of a large language model and syncs it. Then all of it is read back. The suite
compares a file for each rank, a file for each tensor and one shared file.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("checkpoint", __doc__ or "", "options:CheckpointOptions", "suite:prepare", "suite:summarise")
