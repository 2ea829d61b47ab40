"""Text and numbers inside an SVG: how wide, how escaped, how short.

After reading you can say how much room a text takes without asking a browser. Read next:
``svg.py``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from unicodedata import combining, east_asian_width

__all__ = ["escaped", "pixels", "text_width"]

CHARACTER = 0.6125  # em, advance of a monospaced font; the widest in use have 0.61
BOLD = 1.02  # some fonts are wider in bold


def text_width(text: str, bold: bool = False, size: float = 12) -> float:
    """Return the width of monospaced text in pixels, generously, without a browser.

    Parameters
    ----------
    text : str
    bold : bool
    size : float
        Of the font, in pixels.

    Examples
    --------
    >>> text_width("abc") < text_width("abcd") < text_width("\u8a08\u7b97")+20
    True
    """
    if text.isascii():
        cells = float(len(text))
    else:
        # Outside ASCII another font may have to help out, so leave some room.
        cells = sum(
            0 if combining(c) else 1 if c.isascii() else 2 if east_asian_width(c) in "WF" else 1.15
            for c in text
        )
    return cells * CHARACTER * size * (BOLD if bold else 1)


@lru_cache(maxsize=16384)  # boxes in a column, arrows at a row: most places occur many times
def pixels(value: float) -> str:
    """Return a number of pixels, to a tenth."""
    return f"{round(value, 1):g}" if abs(value) < 1e5 else f"{value:.1f}"


_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def escaped(text: str) -> str:
    """Escape text for XML, which has no way at all to write some characters."""
    return escape(_FORBIDDEN.sub("\ufffd", text), quote=True)
