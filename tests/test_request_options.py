# SPDX-License-Identifier: Apache-2.0
"""Options of a request.json that somebody changed."""

import pytest

from ullage.errors import UserError
from ullage.model.request import Request
from ullage.request_options import typed_options
from ullage.suites.sweep.options import RunOptions


def request(**options: object) -> Request:
    return Request(run_id="r", suite="s", created="2026-01-01T00:00:00Z", options=options)


def test_what_was_written_comes_back() -> None:
    options = RunOptions(time_s=7, ceilings={"a:read": 1e9})
    assert typed_options(RunOptions, request(**options.model_dump(mode="json"))) == options


def test_the_first_mistake_is_named_with_its_place() -> None:
    with pytest.raises(UserError) as caught:
        typed_options(RunOptions, request(ceilings={"a:read": "fast"}))
    assert str(caught.value).startswith("request.json: options/ceilings/a:read: ")
    assert caught.value.code == 2
