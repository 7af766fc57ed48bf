# SPDX-License-Identifier: Apache-2.0
"""Seeded damage to bytes and to JSON documents: the same seed makes the same damage."""

import json
import os
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

SECONDS: Final = float(os.environ.get("ULLAGE_FUZZ_S", "2"))
"""That each kind of input is fuzzed for; at least some inputs are tried however short it is."""
SEED: Final = int(os.environ.get("ULLAGE_FUZZ_SEED", "1"))
_FEWEST: Final = 5

_STRANGE: Final[tuple[object, ...]] = (
    *(None, True, "", "x", "\x00", "\u202e<script>", "=1+1", "../../etc", -1, 0, 0.5, 1e308, -1e308, 2**63, 2**64 + 1),
    *([], {}, [[]], {"": None}, "9" * 400, "../x", "two\nlines", "\x1b[2J", "\ud800", [[[[[]]]]], ["x", {}], {"x": {}}),
)
_WORDS: Final = (
    b"\x00",
    b"\xff\xfe",
    b"NaN",
    b"1e999",
    b"{",
    b"}",
    b"[",
    b'"',
    b",",
    b"\n",
    b"-",
    b"99999999999999999999",
)


def seeds() -> Iterator[int]:
    """Rising seeds from ``$ULLAGE_FUZZ_SEED`` on, for ``$ULLAGE_FUZZ_S`` seconds."""
    deadline = time.monotonic() + SECONDS
    seed = SEED
    while seed < SEED + _FEWEST or time.monotonic() < deadline:
        yield seed
        seed += 1


def damaged_bytes(content: bytes, random: Random) -> bytes:
    """Some bytes flipped, cut, doubled, moved or replaced by ones that parsers stumble over."""
    data = bytearray(content)
    for _ in range(random.randint(1, 8)):
        place = random.randrange(len(data) + 1)
        match random.randrange(6):
            case 0 if data:
                data[min(place, len(data) - 1)] ^= 1 << random.randrange(8)
            case 1:
                del data[place : place + random.randint(1, 200)]
            case 2:
                data[place:place] = random.choice(_WORDS)
            case 3:
                other = random.randrange(len(data) + 1)
                data[place:place] = data[other : other + random.randint(1, 200)]
            case 4 if random.random() < 0.2:
                del data[place:]
            case _:
                data[place : place + 1] = bytes([random.randrange(256)])
    return bytes(data)


def damaged_value(value: Any, random: Random) -> Any:  # noqa: ANN401 - any JSON value
    """A JSON value of which one member, at any depth, is gone, doubled or another thing."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        return _damaged_member(value, key, random)
    if isinstance(value, list) and value and random.random() < 0.85:
        index = random.randrange(len(value))
        head, tail = value[:index], value[index + 1 :]
        change = random.randrange(3)
        if change == 0:
            return head + tail
        return (
            [*head, value[index], value[index], *tail]
            if change == 1
            else [*head, damaged_value(value[index], random), *tail]
        )
    return random.choice(_STRANGE)


def _damaged_member(value: dict[str, Any], key: str, random: Random) -> dict[str, Any]:
    rest = {name: one for name, one in value.items() if name != key}
    if random.random() < 0.4:
        return rest
    if random.random() < 0.1:
        return {**rest, f"{key}?": value[key]}
    return {**rest, key: damaged_value(value[key], random)}


def damaged_document(content: bytes, random: Random) -> bytes:
    """A JSON document, still one."""
    return json.dumps(damaged_value(json.loads(content), random)).encode()


def changed_value(content: bytes, random: Random) -> bytes:
    """A JSON document, of which one value, however deep, is another thing or gone: each is as likely."""
    document = json.loads(content)
    holder, key = random.choice(list(_places(document)))
    if random.random() < 0.15:
        del holder[key]
    else:
        holder[key] = random.choice(_STRANGE)
    return json.dumps(document).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - any JSON value
    """Every object or list with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def damaged_lines(content: bytes, random: Random, damage: Callable[[bytes, Random], bytes]) -> bytes:
    """Some of the lines of an NDJSON file, each by ``damage``; some are gone, doubled or elsewhere."""
    lines = content.splitlines()
    for _ in range(random.randint(1, 6)):
        if not lines:
            break
        index = random.randrange(len(lines))
        match random.randrange(5):
            case 0:
                del lines[index]
            case 1:
                lines.insert(random.randrange(len(lines)), lines[index])
            case _:
                lines[index] = damage(lines[index], random)
    return b"\n".join(lines) + b"\n"
