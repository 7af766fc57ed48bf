# SPDX-License-Identifier: Apache-2.0
"""The rows that stand for a part of the machine: of each kind of number the best valid one. Pure.

Rules go by what rows say of themselves, so that a suite that comes later has its headlines without being known here.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Headline, Row
from ullage.units import format_bytes

_TYPES: Final = ("fp64", "fp32", "bf16", "int8")
_KERNELS: Final = ("read", "write", "copy", "triad")
_DRAM: Final = "DRAM"
_SMALL_BYTES: Final = 8
_LINEAR: Final = {
    "gemm": "matrix product",
    "solve": "linear solve (HPL)",
    "distributed-solve": "linear solve (HPL) over ranks",
}


@dataclass(frozen=True)
class Rule:
    """Rows of ``metric`` for which ``applies``. Of those with the same ``key`` the best stands on the front page."""

    part: str
    metric: str
    applies: Callable[[Row], bool]
    key: Callable[[Row], Hashable]
    what: Callable[[Row], str]


def headlines(rows: Sequence[Row]) -> list[Headline]:
    """In the order of the rules; ``row`` counts within ``rows``."""
    return [headline for rule in RULES for headline in _by_rule(rule, rows)]


def _by_rule(rule: Rule, rows: Sequence[Row]) -> list[Headline]:
    groups: dict[Hashable, list[int]] = {}
    for index, row in enumerate(rows):
        if row.metric == rule.metric and rule.applies(row):
            groups.setdefault((row.target, rule.key(row)), []).append(index)
    chosen = [_best(indices, rows) for indices in groups.values()]
    return [Headline(part=_part(rule, rows[index]), what=rule.what(rows[index]), row=index) for index in chosen]


def _best(indices: Sequence[int], rows: Sequence[Row]) -> int:
    """A row that breaks physics only where all do; it then says so."""

    def rank(index: int) -> tuple[bool, float]:
        row = rows[index]
        is_valid = not row.is_invalid
        return is_valid, row.median if row.better == "more" else -row.median

    return max(indices, key=rank)


def _part(rule: Rule, row: Row) -> str:
    return "file system in memory" if rule.part == "disk" and row.verdict.startswith("memory") else rule.part


def _word(row: Row, name: str) -> str:
    return str(row.params.get(name, ""))


def _threads(row: Row) -> str:
    count = row.params.get("threads", row.params.get("ranks", 1))
    return f"{count} thread{'' if count == 1 else 's'}"


def _is_dram(row: Row) -> bool:
    return _word(row, "level") == _DRAM


def _arithmetic(row: Row) -> str:
    kernel = " ".join(filter(None, (_word(row, "isa"), _word(row, "operation"))))
    return f"{_word(row, 'type')} by {kernel}, {_threads(row)}"


def _linear(row: Row) -> str:
    name = _LINEAR[_word(row, "operation")]
    size = f", n={row.params['n']}" if "n" in row.params else ""
    return f"{name}{size}, {_threads(row)}"


def _stream(row: Row) -> str:
    stores = f", {_word(row, 'stores')} stores" if "stores" in row.params else ""
    return f"{_word(row, 'kernel')}{stores}, {_threads(row)}"


def _chase(row: Row) -> str:
    size = row.params.get("working_set_bytes")
    place = f" of {format_bytes(size)}" if isinstance(size, int) else ""
    pages = f", {_word(row, 'pages')} pages" if "pages" in row.params else ""
    return f"one load{place}{pages}"


def _transfer(row: Row) -> str:
    order = f"{_word(row, 'order')} " if "order" in row.params else ""
    size = row.params.get("block_bytes")
    block = f" of {format_bytes(size)}" if isinstance(size, int) else ""
    return f"{row.target}: {order}{_word(row, 'access')}s{block}, {_threads(row)}"


def _small(row: Row) -> str:
    return f"{_transfer(row)}, depth {row.params['queue_depth']}"


def _is_arithmetic(row: Row) -> bool:
    return "isa" in row.params and _word(row, "type") in _TYPES


def _is_linear(row: Row) -> bool:
    return _word(row, "operation") in _LINEAR


def _is_stream(row: Row) -> bool:
    return _is_dram(row) and _word(row, "kernel") in _KERNELS and "block_bytes" not in row.params


def _is_chase(row: Row) -> bool:
    whole = _word(row, "locality") in ("", "whole set")
    return _is_dram(row) and whole and row.params.get("chains", 1) == 1 and row.params.get("threads", 1) == 1


def _is_transfer(row: Row) -> bool:
    return _word(row, "access") in ("read", "write") and "phase" not in row.params and "queue_depth" not in row.params


def _is_small(row: Row) -> bool:
    return _word(row, "access") in ("read", "write") and "queue_depth" in row.params


def _is_name_work(row: Row) -> bool:
    return _word(row, "phase").startswith(("mdtest-", "find"))


def _word_of_ranks(row: Row) -> Hashable:
    return row.params.get("ranks")


def _is_b_eff(row: Row) -> bool:
    return "method" not in row.params


def _parallel_io(row: Row) -> str:
    ranks = int(row.params["ranks"])
    return f"MPI-IO, {_word(row, 'access')} of all patterns, {ranks} process{'' if ranks == 1 else 'es'}"


def _is_random_ring(row: Row) -> bool:
    return _word(row, "order") == "random"


def _ring(row: Row) -> str:
    size = row.params.get("message_bytes")
    message = f", {size} B" if isinstance(size, int) else ""
    return f"each of {row.params['ranks']} processes in random rings{message}"


def _is_small_allreduce(row: Row) -> bool:
    shape = _word(row, "operation"), _word(row, "mode"), row.params.get("message_bytes")
    return shape == ("allreduce", "blocking", _SMALL_BYTES)


def _is_noise(row: Row) -> bool:
    return _word(row, "access") == "fixed-work"


def _is_socket(row: Row) -> bool:
    return _word(row, "access") == "sockets" and _word(row, "protocol") in ("tcp", "udp")


def _is_one_request(row: Row) -> bool:
    return _is_socket(row) and row.params.get("streams") == 1


def _socket_stream(row: Row) -> str:
    size, count = format_bytes(int(row.params["block_bytes"])), int(row.params["streams"])
    return f"{_word(row, 'protocol').upper()}, blocks of {size}, {count} stream{'' if count == 1 else 's'}"


def _socket_request(row: Row) -> str:
    size = int(row.params["block_bytes"])
    return f"{_word(row, 'protocol').upper()}, {size} byte{'' if size == 1 else 's'} there and back"


RULES: Final = (
    Rule("cores", "compute_rate", _is_arithmetic, lambda row: row.params["type"], _arithmetic),
    Rule("cores", "compute_rate", _is_linear, lambda row: row.params["operation"], _linear),
    Rule("memory", "memory_bandwidth", _is_stream, lambda row: row.params["kernel"], _stream),
    Rule("memory", "access_time", _is_chase, lambda row: row.metric, _chase),
    Rule("memory", "update_rate", _is_dram, lambda row: row.metric, lambda row: f"random updates, {_threads(row)}"),
    Rule("disk", "bandwidth", _is_transfer, lambda row: row.params["access"], _transfer),
    Rule("disk", "operation_rate", _is_small, lambda row: row.params["access"], _small),
    Rule("disk", "access_bandwidth", lambda _row: True, lambda row: row.params["access"], _parallel_io),
    Rule("messages", "b_eff", _is_b_eff, _word_of_ranks, lambda row: f"b_eff of {row.params['ranks']} processes"),
    Rule("messages", "ring_bandwidth", _is_random_ring, _word_of_ranks, _ring),
    Rule("messages", "ring_latency", _is_random_ring, _word_of_ranks, _ring),
    Rule(
        "messages",
        "collective_latency",
        _is_small_allreduce,
        _word_of_ranks,
        lambda row: f"allreduce of {_SMALL_BYTES} bytes, {row.params['ranks']} ranks",
    ),
    Rule("network", "network_bandwidth", _is_socket, lambda row: row.params["protocol"], _socket_stream),
    Rule("network", "latency_p50", _is_one_request, lambda row: row.params["protocol"], _socket_request),
    Rule("noise", "noise_share", _is_noise, _threads, lambda row: f"time lost to others, {_threads(row)}"),
    Rule("metadata", "operation_rate", _is_name_work, lambda row: row.params["phase"], lambda row: _word(row, "phase")),
)
