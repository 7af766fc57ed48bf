# SPDX-License-Identifier: Apache-2.0
"""What a text that people read must keep to: length of sentences, their ends, and no idioms. See docs/style.md."""

import re
from collections.abc import Iterator

MOST_WORDS = 25
# Phrases that say less than they seem to, or that only a native speaker of another language would write.
IDIOMS = (
    "a look at", "as it is", "at most so many", "beside us", "by heart", "go on with", "has to be said", "hides behind",
    "in a nutshell", "is said", "kin", "left alone", "looked at", "of one's own", "on the fly", "out of the box",
    "stands beside", "stand beside", "to and fro", "under the hood", "under way", "what walls leave", "with ours",
)  # fmt: skip
# A stop within these ends no sentence.
_NO_END = re.compile(r"\b(?:e\.g|i\.e|etc|vs|\d)\.(?=\d|\s[a-z])|\*\.toml|machine\.toml|\.\.\.|=\w+:\.|ullage\.1")


def sentences(text: str) -> Iterator[str]:
    """The sentences of ``text``; what stands in backticks counts as one word."""
    plain = re.sub(r"`[^`]*`", "CODE", text)
    plain = _NO_END.sub(lambda match: match[0].replace(".", "\x00"), plain)
    for part in re.split(r"(?<=[.?!])\s+(?=\S)", plain.strip()):
        yield part.replace("\x00", ".")


def faults(text: str) -> list[str]:
    """What is wrong with each sentence of ``text``, as lines; empty if nothing is."""
    found: list[str] = []
    for sentence in sentences(text):
        words = len(sentence.split())
        if words > MOST_WORDS:
            found.append(f"{words} words: {sentence}")
        if not sentence.endswith((".", "?")):
            found.append(f"no full stop: {sentence}")
        found += [f"'{one}': {sentence}" for one in IDIOMS if re.search(rf"\b{re.escape(one)}\b", sentence.lower())]
    return found
