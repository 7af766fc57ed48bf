# SPDX-License-Identifier: Apache-2.0
"""What a report answers of a sweep; its tables and charts are those of any result."""

from typing import Final

from ullage.report.answers import AnswerRule

ANSWER: Final = AnswerRule("sweep", "Which target, with how many ranks and which block size?")
