# SPDX-License-Identifier: Apache-2.0
"""The cases of a run that did not go well, each with its first error in plain words."""

from collections.abc import Iterable
from dataclasses import dataclass

from ullage.analysis.findings import Failed
from ullage.model.record import CaseRecord, EventRecord, Failure, PhaseRecord, RunRecord
from ullage.results.records import AnyRecord


@dataclass
class _Account:
    """What is known of one case while reading."""

    target: str = ""
    ranks: int = 0
    failed: int = 0
    repetitions: int = 0
    text: str = ""
    where: str = ""


def failed_cases(launches: Iterable[Iterable[AnyRecord]]) -> list[Failed]:
    """Cases with at least one repetition that failed or hung, in the order in which they were met.

    A repetition that somebody interrupted did not fail.
    """
    accounts: dict[str, _Account] = {}
    for records in launches:
        ranks = 0
        for record in records:
            match record:
                case RunRecord():
                    ranks = record.layout.ranks
                case PhaseRecord(status="failed" | "timeout") if record.failures:
                    _note(accounts.setdefault(record.case, _Account()), *describe_failure(record.failures[0]))
                case EventRecord(severity="error", case=str() as case):
                    _note(accounts.setdefault(case, _Account()), record.text, "")
                case CaseRecord(warmup=False) if record.status != "interrupted":
                    _count(accounts.setdefault(record.case, _Account()), record, ranks)
                case _:
                    pass
    return [_failed(case, account) for case, account in accounts.items() if account.failed]


def _note(account: _Account, text: str, where: str) -> None:
    """The first error counts: what follows is often its consequence."""
    if not account.text:
        account.text, account.where = text, where


def _count(account: _Account, record: CaseRecord, ranks: int) -> None:
    account.target, account.ranks = record.target, ranks
    account.repetitions += 1
    account.failed += record.status in ("failed", "timeout")


def _failed(case: str, account: _Account) -> Failed:
    text = account.text or "it ended without an error being recorded"
    return Failed(account.target, case, account.ranks, account.failed, account.repetitions, text, account.where)


def describe_failure(failure: Failure) -> tuple[str, str]:
    """What went wrong, the same for all cases that failed alike, and where."""
    text = f"{failure.operation}: {failure.text}" + (f" (errno {failure.errno})" if failure.errno else "")
    where = f"rank {failure.rank} on {failure.node}"
    if failure.path:
        where += f", {failure.path}"
    if failure.offset_bytes is not None:
        where += f" at byte {failure.offset_bytes}"
    if failure.expected is not None:
        where += f": expected {failure.expected}, found {failure.found or 'nothing'}"
    return text, where
