# SPDX-License-Identifier: Apache-2.0
"""Cases that failed, and rows that cannot be: neither counts in any other finding."""

from collections import Counter

from ullage.analysis.findings.study import Failed, Study
from ullage.analysis.findings.words import columns
from ullage.model.flags import Flag
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, plural

ORDER = 5


def find(study: Study) -> list[Finding]:
    """One finding for each target and error, one for each target and INVALID flag."""
    failed: dict[tuple[str, str], list[Failed]] = {}
    for case in study.failed:
        failed.setdefault((case.target, case.text), []).append(case)
    invalid: dict[tuple[str, str], list[Row]] = {}
    for row in study.main_rows:
        for flag in row.flags:
            if flag.is_invalid:
                invalid.setdefault((row.target, flag.code), []).append(row)
    return [
        *(_failed(target, text, cases) for (target, text), cases in failed.items()),
        *(_invalid(target, Flag(code=code), rows) for (target, code), rows in invalid.items()),
    ]


def _failed(target: str, text: str, cases: list[Failed]) -> Finding:
    lost = sum(case.repetitions_failed == case.repetitions for case in cases)
    kept = "" if lost == len(cases) else f", {lost} of them in every repetition"
    first = f" (first: {cases[0].where})" if cases[0].where else ""
    numbers = columns(
        target=target,
        cases=len(cases),
        without_rows=lost,
        case=[case.case for case in cases],
        repetitions_failed=sum(case.repetitions_failed for case in cases),
        repetitions=sum(case.repetitions for case in cases),
    )
    sentence = f"{plural(len(cases), 'case')} failed on {target}{kept}: {text}{first}."
    return Finding(kind="failure", text=sentence, severity="warning", numbers=numbers)


def _invalid(target: str, flag: Flag, rows: list[Row]) -> Finding:
    accesses = Counter(str(row.params.get("access", "")) for row in rows)
    where = listing([f"{count} {access}" for access, count in accesses.items()])
    text = (
        f"{plural(len(rows), 'row')} of {target} ({where}) cannot be right and count nowhere: "
        f"{flag.detail.replace('-', ' ')}."
    )
    numbers = columns(target=target, flag=flag.code, rows=len(rows), case=[row.case for row in rows])
    return Finding(kind="invalid", text=text, severity="warning", numbers=numbers)
