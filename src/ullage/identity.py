# SPDX-License-Identifier: Apache-2.0
"""Names that follow from content: case ids and plan hashes; and fresh run ids."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from ullage.model.plan import Layout, Named, Plan, Target


def canonical_json(value: object) -> bytes:
    """Write UTF-8 JSON with sorted keys and no blanks; a float without a fraction becomes the integer it equals.

    So the same content has the same bytes, whoever wrote ``1`` or ``1.0``. Raise ValueError for NaN and infinity.
    """
    return json.dumps(
        _plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {key: _plain(item) for key, item in items}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def case_id(
    backend: Named, workload: Named, target: Target, layout: Layout, dataset: str = "", spill: Sequence[Target] = ()
) -> str:
    """Return the first 16 hex digits of the SHA-256 of a case's canonical JSON, with its target and its layout.

    The name of the dataset it shares with others belongs to it where it has one, and so do further targets. The elapsed
    times of earlier launches do not, so a resumed case keeps its id.
    """
    content = {
        "backend": backend.model_dump(mode="json"),
        "workload": workload.model_dump(mode="json"),
        "target": target.model_dump(mode="json"),
        "layout": layout.model_dump(mode="json"),
        **({"dataset": dataset} if dataset else {}),
        **({"spill": [one.model_dump(mode="json") for one in spill]} if spill else {}),
    }
    return hashlib.sha256(canonical_json(content)).hexdigest()[:16]


def plan_bytes(plan: Plan) -> bytes:
    """Return the plan as it is written to a file; the SHA-256 of these bytes is the plan's hash."""
    return json.dumps(
        plan.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def new_run_id(now: datetime | None = None) -> str:
    """Make a run id of UTC time and a random end, safe as a file name on all systems: ``20261121T041530Z-1f0c9a``."""
    instant = now or datetime.now(UTC)
    return f"{instant.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
