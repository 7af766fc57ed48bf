# SPDX-License-Identifier: Apache-2.0
"""Scripts within the page: packed as letters, and allowed by their hashes."""

import base64
import hashlib
import zlib
from functools import cache
from importlib.metadata import version

from ullage.report.cache import cached_text
from ullage.report.vega import VEGA_LITE_VERSION


@cache
def chart_library() -> tuple[str, str] | None:
    """Return Vega, Vega-Lite and vega-embed as one script, ``packed``, and the script's ``policy_hash``.

    None where vl-convert is not installed. Putting it together takes more than a second and packing it a tenth, most of
    what an ordinary report takes, so a file of this user's cache has both.
    """

    def make() -> str:
        import vl_convert

        script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE_VERSION)
        return f"{policy_hash(script)}\n{packed(script)}"

    try:
        name = f"vega-lite-{VEGA_LITE_VERSION}-of-vl-convert-{version('vl-convert-python')}.packed"
        allowed, _, library = cached_text(name, make).partition("\n")
    except ImportError:
        return None
    return library, allowed


def packed(text: str, level: int = 9) -> str:
    """Deflate ``text`` and write it as letters that are safe within a script element."""
    return base64.b64encode(zlib.compress(text.encode(), level)).decode("ascii")


def policy_hash(script: str) -> str:
    """Return the words with which the page's policy allows ``script``."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
