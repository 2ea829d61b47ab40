"""One HTML page that is safe to open: it fetches nothing, and runs no script but its own.

After reading you can say what forbids the rest: a policy in the page, by which a browser runs and
applies only what has the digest that is written there.
"""

from __future__ import annotations

import base64
import hashlib
import re

__all__ = ["html_page"]


def html_page(
    title: str, body: str, *, style: str, code: str = "", look: str = "", is_strict: bool = True
) -> str:
    """Return a whole page.

    Parameters
    ----------
    title, body : str
        As HTML.
    style, code : str
        CSS, and an ES module that the page runs.
    look : str
        Classes of the body, for the CSS.
    is_strict : bool
        Whether `style` is all the CSS there may be; else what stands in the body may bring its own.

    Raises
    ------
    ValueError
        If `style` or `code` would close the tag around it.
    """
    scripts = f"script-src '{_digest(code)}'; " if code else ""
    styles = _digest(style) if is_strict else "unsafe-inline"
    policy = (
        f"default-src 'none'; {scripts}style-src '{styles}'; base-uri 'none'; form-action 'none'"
    )
    module = f'<script type="module">{code}</script>\n' * bool(code)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="autodiff_kit">
<title>{title}</title>
<style>{style}</style>
</head>
<body class="{look}">
{body}
{module}</body>
</html>
"""


def _digest(text: str) -> str:
    """Return the name by which a content security policy allows exactly this script or style."""
    if re.search("</(script|style)", text, re.IGNORECASE):
        raise ValueError("a style or script inside of HTML must not close its own tag")
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
