# SPDX-License-Identifier: Apache-2.0
"""What became of the floors that were declared, in one sentence."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.phrasing import finding
from ullage.model.acceptance import Judged
from ullage.model.summary import Finding
from ullage.quantity import listing, plural

REQUIRED: Final = "required"
_MOST_NODES: Final = 8


def findings_on_floors(judged: Sequence[Judged]) -> list[Finding]:
    """Return one finding on all floors; none where nothing was required."""
    if not judged:
        return []
    counts = Counter(one.verdict for one in judged)
    failed, unknown = counts["fail"], counts["cannot tell"]
    nodes = listing(sorted({one.node for one in judged if one.verdict == "fail" and one.node}), _MOST_NODES)
    where = f" on {nodes}" if nodes else ""
    if failed:
        title = f"{failed} of {plural(len(judged), 'required number')} fail{'s' if failed == 1 else ''}{where}"
    elif unknown:
        title = f"{unknown} of {plural(len(judged), 'required number')} cannot be told"
    else:
        title = f"All {plural(len(judged), 'required number')} pass"
    also = f" {unknown} cannot be told." if failed and unknown else ""
    advice = " Repeat more often, on idle nodes." if unknown else ""
    severity = "warning" if failed else "advice" if unknown else "info"
    text = f"{title}.{also}{advice}"
    passed = counts["pass"]
    return [finding(REQUIRED, title, text, severity, passed=passed, failed=failed, cannot_tell=unknown)]
