"""The looks of one svg: rules that name the colours and fonts of ``kit.css``, written out.

After reading you know how a picture carries its own looks and leaves the others on a page alone.
Read next: ``charts.py``.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256

from autodiff_kit.view.page import static

__all__ = ["scoped"]

_COLOUR = re.compile(r"--adk-([\w-]+): (?:var\([^,]+, )?light-dark\((#\w+), (#\w+)\)")
_FONTS = {"mono": "monospace", "sans": "sans-serif"}  # what programs get that know no variables


@cache
def scoped(rules: str, prefix: str) -> tuple[str, str]:
    """Write rules out for one svg only, and the class that scopes them.

    Inside a widget the colours are the widget's own; elsewhere they follow light and dark.
    Programs that know no variables get the light colours.

    Parameters
    ----------
    rules : str
        CSS in which ``@name`` is a colour or a font of ``kit.css``.
    prefix : str
        With what the class begins; it ends with a hash of the text.

    Returns
    -------
    tuple of str - the style, and the class.
    """
    sheet = static("kit.css")
    used = set(re.findall(r"@([\w-]+)", rules))
    pairs = {name: pair for name, *pair in _COLOUR.findall(sheet) if name in used}
    light, dark = (
        "".join(f"--adk-{name}:{pair[i]};" for name, pair in pairs.items()) for i in (0, 1)
    )
    fonts = re.findall(r"--adk-(sans|mono): ([^;]+);", sheet)
    both = "".join(f"--adk-{name}:{font};" for name, font in fonts if name in used)
    plainly = _FONTS | {name: pair[0] for name, pair in pairs.items()}
    written = []
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", rules):
        done = ""
        for line in (line.strip() for line in body.split(";")):
            plain = re.sub(r"@([\w-]+)", lambda m: plainly[m[1]], line)
            live = re.sub(r"@([\w-]+)", r"var(--adk-\1)", line)
            done += f"{plain};" + f"{live};" * (live != plain)
        written.append(f".% {selector.strip()}{{{done}}}")
    alone = ".%:not(.adk-root *)"
    text = " ".join(
        (
            f"{alone}{{{both}{light}}}@media (prefers-color-scheme:dark){{{alone}{{{dark}}}}}"
            f'[data-jp-theme-light="true"] {alone}{{{light}}}'
            f'[data-jp-theme-light="false"] {alone}{{{dark}}}' + "".join(written)
        ).split()
    )
    scope = prefix + sha256(text.encode()).hexdigest()[:8]
    return text.replace(".%", f".{scope}"), scope
