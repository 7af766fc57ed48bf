# SPDX-License-Identifier: Apache-2.0
"""The scripts in a page: how they are compressed, and the hashes by which its Content-Security-Policy allows them."""

import base64
import hashlib
import zlib
from functools import cache
from importlib.metadata import version

from ullage.report.cache import cached_text
from ullage.report.vega import VEGA_LITE_VERSION


@cache
def chart_library() -> tuple[str, str] | None:
    """Return Vega, Vega-Lite and vega-embed as one script: what ``packed`` and ``policy_hash`` make of it.

    Return None where vl-convert is not installed. Building the script takes more than a second, longer than the rest of
    an ordinary report, so the user's cache keeps both strings.
    """

    def make() -> str:
        import vl_convert

        script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE_VERSION)
        return f"{policy_hash(script)}\n{packed(script)}"

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
