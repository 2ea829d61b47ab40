"""The looks of one svg: rules that name the colours and fonts of ``kit.css``, written out.

After reading you know how a picture carries its own looks and leaves the others on a page alone.
Read next: ``charts.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import sha256

from autodiff_kit.view.viewer import static

__all__ = ["picture_style", "scoped"]

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
    names_used = set(re.findall(r"@([\w-]+)", rules))
    pairs = {name: pair for name, *pair in _COLOUR.findall(sheet) if name in names_used}
    light, dark = (
        "".join(f"--adk-{name}:{pair[i]};" for name, pair in pairs.items()) for i in (0, 1)
    )
    fonts = re.findall(r"--adk-(sans|mono): ([^;]+);", sheet)
    both = "".join(f"--adk-{name}:{font};" for name, font in fonts if name in names_used)
    plainly = _FONTS | {name: pair[0] for name, pair in pairs.items()}
    written = []
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", rules):
        text = ""
        for line in (line.strip() for line in body.split(";")):
            plain = re.sub(r"@([\w-]+)", lambda m: plainly[m[1]], line)
            live = re.sub(r"@([\w-]+)", r"var(--adk-\1)", line)
            text += f"{plain};" + f"{live};" * (live != plain)
        written.append(f".% {selector.strip()}{{{text}}}")
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


_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_VARIABLE = re.compile(r"--adk-([\w-]+):\s*([^;]+);")
_PAIR = re.compile(r"light-dark\(([^,]+),\s*([^)]+)\)")


@lru_cache(maxsize=1)
def picture_style() -> tuple[str, str]:
    """Take the colours and the rules for the drawing out of kit.css, for one svg only.

    Old browsers and converters that know no variables get the light colours written out. The
    class that scopes the rules is made from their text: stills of two versions of the kit on one
    page leave each other alone.

    Returns
    -------
    tuple of str - the style, and the class.
    """
    sheet = re.sub(r"/\*(?!\s*----).*?\*/", "", static("kit.css"), flags=re.DOTALL)
    colours, drawing = re.split(r"/\*\s*---- \d\. .*?\*/", sheet, flags=re.DOTALL)[1:3]
    blocks = {selector.strip(): text for selector, text in _RULE.findall(colours)}
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    for name, value in _VARIABLE.findall(blocks[".adk-root"]):
        light[name], dark[name] = _PAIR.sub(r"\1", value), _PAIR.sub(r"\2", value)
    names_used: dict[str, None] = {}
    rules = []
    for selectors, declarations in (*_RULE.findall(drawing), *_OWN_RULES):
        if re.search(r"ring|hidden|selected|adk-root", selectors):
            continue
        properties = []
        for declaration in declarations.split(";"):
            name, _, value = (part.strip() for part in declaration.partition(":"))
            if not value or name in ("cursor", "outline", "transition"):
                continue
            if "var(" in value:
                names_used |= dict.fromkeys(re.findall(r"var\(--adk-([\w-]+)", value))
                properties.append(f"{name}:{_written_out(value, light)}")
            properties.append(f"{name}:{value}")
        if properties:
            scoped = ",".join(f"%s {selector.strip()}" for selector in selectors.split(","))
            rules.append(f"{scoped}{{{';'.join(properties)}}}")
    names = dict.fromkeys(names_used)
    for name in names_used:
        names |= dict.fromkeys(re.findall(r"var\(--adk-([\w-]+)", light[name]))
    phases = {
        phase: dict(_VARIABLE.findall(blocks[f'.adk-root[data-phase="{phase}"]']))
        for phase in ("backward", "update")
    }
    stopped = dict(_VARIABLE.findall(blocks[".adk-root.adk-stopped"]))
    for value in (value for phase in (*phases.values(), stopped) for value in phase.values()):
        names |= dict.fromkeys(re.findall(r"var\(--adk-([\w-]+)", value))

    def block(values: Mapping[str, str]) -> str:
        return "".join(f"--adk-{n}:{values[n]};" for n in names if n in values)

    only_dark = {n: v for n, v in dark.items() if v != light[n]}
    only_light = {n: light[n] for n in only_dark}
    of_states = (
        f"%s{selector}{{{''.join(f'--adk-{n}:{v};' for n, v in values.items())}}}"
        for selector, values in (
            *((f'[data-phase="{phase}"]', values) for phase, values in phases.items()),
            (" .adk-stopped", stopped),
        )
    )
    text = (
        f"%s{{{block(light)}}}"
        f"@media (prefers-color-scheme:dark){{%s{{{block(only_dark)}}}}}"
        f'[data-jp-theme-light="true"] %s{{{block(only_light)}}}'
        f'[data-jp-theme-light="false"] %s{{{block(only_dark)}}}' + "".join((*of_states, *rules))
    )
    text = re.sub(r"\s+", " ", text)
    scope = "adk-s" + sha256(text.encode()).hexdigest()[:8]
    return text.replace("%s", f".{scope}"), scope


_OWN_RULES = (
    (".adk-paper", "fill: var(--adk-paper)"),
    (".adk-caption-line", "fill: var(--adk-ink); font: 13px var(--adk-sans)"),
)


def _written_out(value: str, colours: Mapping[str, str]) -> str:
    """Replace ``var(--adk-x)`` by its colour, and a variable of the host by its fallback."""
    for _ in range(4):
        value = re.sub(r"var\(--adk-([\w-]+)\)", lambda m: colours[m[1]], value)
        value = re.sub(r"var\(--jp-[\w-]+,\s*((?:[^()]|\([^()]*\))*)\)", r"\1", value)
    return value
