# SPDX-License-Identifier: Apache-2.0
"""The scripts in a page: how they are compressed, and the hashes by which its Content-Security-Policy allows them.

The chart library and compiled templates stay in the user's cache. One that cannot be read or written is done without.
"""

import base64
import hashlib
import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from ullage.reading import read_bytes
from ullage.report.vega import VEGA_LITE_VERSION

if TYPE_CHECKING:
    from jinja2 import BytecodeCache

_PACKAGED: Final = Path(__file__).with_name("chart-library.txt")


def cached_text(name: str, make: Callable[[], str]) -> str:
    """Return what ``make`` returns, from the file ``name`` of an earlier run where that is whole."""
    known = _read(name)
    if known is not None:
        with suppress(UnicodeDecodeError):
            return known.decode()
    text = make()
    _keep(name, text.encode())
    return text


def compiled_templates() -> "BytecodeCache":
    """Return a cache of compiled templates, each in a file named after the template and its version of Jinja."""
    from jinja2 import BytecodeCache, __version__
    from jinja2.bccache import Bucket

    def name(bucket: Bucket) -> str:
        return f"template-{bucket.key}-of-jinja2-{__version__}.bin"

    class Compiled(BytecodeCache):
        """Jinja itself refuses code that was compiled by another Python or from another text of the template."""

        def load_bytecode(self, bucket: Bucket) -> None:
            known = _read(name(bucket))
            if known is not None:
                bucket.bytecode_from_string(known)

        def dump_bytecode(self, bucket: Bucket) -> None:
            _keep(name(bucket), bucket.bytecode_to_string())

    return Compiled()


def _read(name: str) -> bytes | None:
    """Return what was kept under ``name``; None where there is nothing, or not all of it."""
    try:
        digest, _, content = read_bytes(_folder() / name).partition(b"\n")
    except OSError:
        return None
    return content if digest == _digest(content) else None


def _keep(name: str, content: bytes) -> None:
    """Write the whole file or none, since other runs may read it meanwhile."""
    file = _folder() / name
    whole = file.with_name(f"{file.name}.{token_hex(4)}")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            whole.write_bytes(_digest(content) + b"\n" + content)
            whole.replace(file)
        finally:
            whole.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "ullage"


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()


@cache
def chart_library() -> tuple[str, str] | None:
    """Return Vega, Vega-Lite and vega-embed as one script: what ``packed`` and ``policy_hash`` make of it.

    Return None where vl-convert is not installed; the package of a wheel has both strings. Building the script takes
    more than a second, longer than the rest of an ordinary report, so the user's cache keeps both strings.
    """

    def make() -> str:
        import vl_convert

        script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE_VERSION)
        return f"{policy_hash(script)}\n{packed(script)}"

    if _PACKAGED.is_file():
        allowed, _, library = read_bytes(_PACKAGED).decode().partition("\n")
        return library, allowed
    try:
        name = f"vega-lite-{VEGA_LITE_VERSION}-vl-convert-{version('vl-convert-python')}.js.zlib.base64"
        allowed, _, library = cached_text(name, make).partition("\n")
    except ImportError:
        return None
    return library, allowed


def packed(text: str, level: int = 9) -> str:
    """Compress ``text`` with zlib and encode it in Base64, which needs no escapes in a script element."""
    return base64.b64encode(zlib.compress(text.encode(), level)).decode("ascii")


def policy_hash(script: str) -> str:
    """Return the hash source (CSP Level 3, 2.3.1) with which a Content-Security-Policy allows ``script`` to run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
