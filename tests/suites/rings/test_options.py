# SPDX-License-Identifier: Apache-2.0
"""What is asked of the suite."""

import pytest

from ullage.errors import UserError
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import Quick, find_suite
from ullage.suites.rings.suite import RingsOptions
from ullage.system.hardware import ranks_by_default


def test_it_has_a_quick_form_of_a_process_a_core() -> None:
    suite = find_suite("rings")
    assert isinstance(suite, Quick)
    asked = suite.quick([])
    assert asked is not None
    assert (asked.options["ranks"], asked.options["repetitions"]) == (max(2, ranks_by_default()), 6)


def test_too_few_processes_are_refused() -> None:
    with pytest.raises(UserError, match="--ranks"):
        parse_options(RingsOptions, ranks=1)
