"""Graphs by matplotlib: an SVG of the kit's own, drawn for a page or a slide.

After reading you know how a picture that has its looks from CSS becomes artists: which rule wins,
what an element inherits, and how rectangles, paths and words are placed. It knows what the kit's
own pictures are made of and no more; what it does not know is an error. Read next: ``figures.py``,
which draws plots from data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree

from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Affine2D

from autodiff_kit.widgets.figures import INCH, PlotFigure, dashes

__all__ = ["figure_of_svg"]

SANS = 0.88  # matplotlib's own proportional font is wider than those of browsers
MONO = 0.602  # width of a character of its monospaced font, in sizes of letters
CORNER = 0.5523  # of a quarter of a circle, as a Bézier curve

Looks = dict[str, str]  # CSS properties
_NOT_INHERITED = {"opacity", "rx", "cursor", "pointer-events"}
_SHAPES = ("svg", "g", "rect", "path", "text", "tspan")
_PRESENTATION = ("fill", "stroke", "text-anchor", "opacity")  # attributes that are looks


def figure_of_svg(text: str) -> PlotFigure:
    """Return a picture as a matplotlib Figure of its own, without pyplot; in light colours.

    Parameters
    ----------
    text : str
        SVG that the kit has made.

    Raises
    ------
    ValueError
        If there is something in it that the kit's pictures are not made of.
    """
    root = ElementTree.fromstring(text)
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    figure = PlotFigure(figsize=(width / INCH, height / INCH), facecolor="white")
    _Painter(figure, width, height).draw(root, (), {})
    return figure


# -- looks ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Element:
    """What selectors see of an element."""

    tag: str
    attributes: Mapping[str, str]

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())


class _Rule(NamedTuple):
    """A selector, from left to right, and what it says."""

    parts: Sequence[tuple[str, str]]  # a combinator, " " or ">", and what the element must be
    weight: tuple[int, int, int]
    looks: Looks

    def holds(self, path: Sequence[_Element]) -> bool:
        return _holds(self.parts, path)


_ATOM = re.compile(r'(?P<not>:not\(([^()]*)\))|\.([\w-]+)|\[([\w-]+)(\^?)="([^"]*)"\]|([a-z]+)')
# Of themes and of what a widget is in: a figure is light, and on no page.
_ELSEWHERE = re.compile(r"@media[^{]*\{[^{}]*\{[^{}]*\}\s*\}|\[data-jp-theme[^{}]*\{[^{}]*\}")


def _with_rules(before: list[_Rule], sheet: str) -> list[_Rule]:
    """Return rules with those of one more sheet, such that later ones win."""
    sheet = _ELSEWHERE.sub("", sheet).replace(":not(.adk-root *)", "")
    rules = list(before)
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        looks: Looks = {}
        for line in body.split(";"):
            name, _, value = (part.strip() for part in line.partition(":"))
            looks |= _written(name, value) if value else {}
        for selector in selectors.split(","):
            words = selector.replace(">", " > ").split()
            parts = [
                (">" if before == ">" else " ", word)
                for before, word in zip(["", *words], words, strict=False)
                if word != ">"
            ]
            atoms = [atom for _, word in parts for atom in _atoms(word)]
            tags = sum(atom[6] != "" for atom in atoms)
            rules.append(_Rule(parts, (len(atoms) - tags, tags, len(rules)), looks))
    return sorted(rules, key=lambda rule: rule.weight)


def _written(name: str, value: str) -> Looks:
    """Return a property as several plain ones, if it is short for them."""
    if name != "font":
        return {name: value}
    match = re.fullmatch(r"(?:(\d+|bold) )?([\d.]+px)(?:/\S+)? (.+)", value)
    if match is None:
        raise ValueError(f"no font that the kit's pictures have: {value}")
    return {
        **{"font-weight": match[1] or "400", "font-size": match[2]},
        "font-family": match[3],
    }


def _atoms(word: str) -> list[tuple[str, ...]]:
    atoms = list(_ATOM.finditer(word))
    if "".join(atom[0] for atom in atoms) != word:
        raise ValueError(f"no selector that the kit's pictures have: {word}")
    return [tuple(atom.group(k) or "" for k in range(8))[1:] for atom in atoms]


def _holds(parts: Sequence[tuple[str, str]], path: Sequence[_Element]) -> bool:
    """Return whether the last element of a path is what the parts say."""
    if not parts:
        return True
    (combinator, word), outer = parts[-1], path[:-1]
    if not path or not _is(path[-1], word):
        return False
    if len(parts) == 1:
        return True
    ends = [len(outer)] if combinator == ">" else range(len(outer), 0, -1)
    return any(_holds(parts[:-1], outer[:end]) for end in ends)


def _is(element: _Element, word: str) -> bool:
    for negation, inner, name, attribute, begins, value, tag in _atoms(word):
        if negation:
            is_so = not _is(element, inner)
        elif name:
            is_so = name in element.classes
        elif attribute:
            own = element.attributes.get(attribute, "")
            is_so = own.startswith(value) if begins else own == value
        else:
            is_so = element.tag == tag
        if not is_so:
            return False
    return True


def _resolved(value: str, looks: Looks) -> str:
    """Return a value with what its variables stand for."""
    while match := re.search(r"var\((--[\w-]+)(?:,\s*((?:[^()]|\([^()]*\))*))?\)", value):
        value = value.replace(match[0], looks.get(match[1], match[2] or ""))
    return value


# -- drawing --------------------------------------------------------------------------------------


class _Painter:
    """Makes artists of elements, in the order in which they lie over each other."""

    def __init__(self, figure: PlotFigure, width: float, height: float) -> None:
        self._figure = figure
        page = Affine2D().scale(1 / width, -1 / height).translate(0.0, 1.0)
        self._page = page + figure.transFigure
        self._rules: list[_Rule] = []

    def draw(
        self,
        node: ElementTree.Element,
        outer: tuple[_Element, ...],
        inherited: Looks,
        at: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Draw an element, and what is inside of it; ``at`` is where its coordinates begin."""
        tag = node.tag.rpartition("}")[2]
        if tag in ("title", "desc", "style"):
            return
        if tag not in _SHAPES:
            raise ValueError(f"no element that the kit's pictures have: {tag}")
        rules = self._rules
        if tag == "svg":
            sheets = [part.text or "" for part in node if part.tag.endswith("}style")]
            self._rules = _with_rules(rules, "".join(sheets))
        path = (*outer, _Element(tag, node.attrib))
        looks = self._looks(path, node, inherited)
        at = _moved(node, at)
        if looks.get("visibility") != "hidden" and looks.get("display") != "none":
            if tag == "path":
                self._shape(_path(node.attrib["d"]), looks, at)
            elif tag == "rect" and node.get("width") != "100%":  # else it is the paper
                self._shape(_rectangle(node), looks, at)
            elif tag == "text":
                self._text(node, path, looks, at)
        if tag in ("svg", "g"):
            for part in node:
                self.draw(part, path, looks, at)
        self._rules = rules

    def _looks(
        self, path: tuple[_Element, ...], node: ElementTree.Element, inherited: Looks
    ) -> Looks:
        """Return the looks of an element: its own, and those that it inherits."""
        looks = {name: value for name, value in inherited.items() if name not in _NOT_INHERITED}
        looks |= {name: node.attrib[name] for name in _PRESENTATION if name in node.attrib}
        for rule in self._rules:
            if rule.holds(path):
                looks |= rule.looks
        opacity = float(looks.get("opacity", "1")) * float(inherited.get("opacity-of-all", "1"))
        return looks | {"opacity-of-all": str(opacity)}

    def _shape(self, shape: Path, looks: Looks, at: tuple[float, float]) -> None:
        width = float(_resolved(looks.get("stroke-width", "1"), looks).removesuffix("px"))
        dash = _resolved(looks.get("stroke-dasharray", "none"), looks)
        pattern = [] if dash == "none" else [float(d) for d in re.split(r"[\s,]+", dash)]
        self._figure.add_artist(
            PathPatch(
                shape,
                **{"facecolor": self._colour("fill", looks, "black"), "linewidth": width},
                **{"edgecolor": self._colour("stroke", looks, "none"), "joinstyle": "miter"},
                **{"linestyle": dashes(pattern, width), "capstyle": "butt"},
                **{"transform": Affine2D().translate(*at) + self._page, "zorder": self._order()},
            )
        )

    def _colour(self, name: str, looks: Looks, otherwise: str) -> tuple[str, float] | str:
        colour = _resolved(looks.get(name, otherwise), looks)
        if colour == "none":
            return "none"
        share = float(looks.get(f"{name}-opacity", "1")) * float(looks["opacity-of-all"])
        return colour, share

    def _order(self) -> float:
        return 2 + len(self._figure.get_children()) / 10_000  # over all that is there

    def _text(
        self,
        node: ElementTree.Element,
        path: tuple[_Element, ...],
        looks: Looks,
        at: tuple[float, float],
    ) -> None:
        """Draw words: runs of letters, each of one look, one after the other."""
        runs = list(self._runs(node, path, looks))
        lines: list[list[tuple[str, Looks, float, float]]] = []
        x, y = float(node.get("x", 0)), float(node.get("y", 0))
        for part, own, move in runs:
            if "x" in move or not lines:
                lines.append([])
            x = float(move.get("x", x)) + float(move.get("dx", 0))
            y = float(move.get("y", y)) + float(move.get("dy", 0))
            lines[-1].append((part, own, x, y))
            x += _width(part, own)
        for line in lines:
            begin = line[0][2]
            end = line[-1][2] + _width(line[-1][0], line[-1][1])
            room = float(node.get("textLength", end - begin))
            scale = min(1.0, room / (end - begin)) if end > begin else 1.0
            anchors = {"middle": (end - begin) * scale / 2, "end": (end - begin) * scale}
            left = begin - anchors.get(looks.get("text-anchor", "start"), 0.0)
            for part, own, x, y in line:
                place = at[0] + left + (x - begin) * scale, at[1] + y
                self._run(part, own, place, scale)

    def _runs(
        self, node: ElementTree.Element, path: tuple[_Element, ...], looks: Looks
    ) -> Iterator[tuple[str, Looks, Mapping[str, str]]]:
        """Return runs of letters with their looks, and how each is moved."""
        if node.text:
            yield node.text, looks, {}
        for part in node:
            inner = (*path, _Element("tspan", part.attrib))
            own = self._looks(inner, part, looks)
            for k, (text, run, move) in enumerate(self._runs(part, inner, own)):
                yield text, run, {**move, **part.attrib} if k == 0 else move
            if part.tail:
                yield part.tail, looks, {}

    def _run(self, text: str, looks: Looks, at: tuple[float, float], scale: float) -> None:
        colour = self._colour("fill", looks, "black")
        artist = Text(*at, text.replace("\N{NO-BREAK SPACE}", " "), parse_math=False)
        artist.set(va="baseline", ha="left", color=colour, fontproperties=_font(looks, scale))
        artist.set(transform=self._page, zorder=self._order())
        halo = self._colour("stroke", looks, "none")
        if halo != "none":
            wide = float(looks.get("stroke-width", "1").removesuffix("px"))
            artist.set_path_effects([withStroke(linewidth=wide, foreground=halo[0])])
        self._figure.add_artist(artist)
        if looks.get("text-decoration") == "underline":
            ends = [at[0], at[0] + _width(text, looks) * scale]
            line = Line2D(ends, [at[1] + 2, at[1] + 2], linewidth=1, color=colour)
            line.set(transform=self._page, zorder=self._order())
            self._figure.add_artist(line)


def _moved(node: ElementTree.Element, at: tuple[float, float]) -> tuple[float, float]:
    """Return where the coordinates inside of an element begin."""
    x, y = at
    if node.tag.endswith("}svg"):
        x, y = x + float(node.get("x", 0)), y + float(node.get("y", 0))
    if transform := node.get("transform"):
        match = re.fullmatch(r"translate\(([-\d.e]+)[ ,]+([-\d.e]+)\)", transform)
        if match is None:
            raise ValueError(f"nothing that the kit's pictures are moved by: {transform}")
        x, y = x + float(match[1]), y + float(match[2])
    return x, y


def _is_mono(looks: Looks) -> bool:
    return "mono" in _resolved(looks.get("font-family", "sans-serif"), looks).lower()


def _size(looks: Looks) -> float:
    return float(looks.get("font-size", "14px").removesuffix("px"))


def _font(looks: Looks, scale: float = 1.0) -> FontProperties:
    is_bold = looks.get("font-weight", "400") in ("bold", "600", "700")
    size = _size(looks) * scale
    return FontProperties(
        family="monospace" if _is_mono(looks) else "sans-serif",
        weight="bold" if is_bold else "normal",
        size=size if _is_mono(looks) else SANS * size,
    )


def _width(text: str, looks: Looks) -> float:
    """Return the width of a run of letters, in pixels."""
    if _is_mono(looks):
        return MONO * _size(looks) * len(text)
    plain = text.replace("\N{NO-BREAK SPACE}", " ")
    return float(text_to_path.get_text_width_height_descent(plain, _font(looks), False)[0])


def _rectangle(node: ElementTree.Element) -> Path:
    x, y = float(node.get("x", 0)), float(node.get("y", 0))
    wide, high = (float(node.attrib[name]) for name in ("width", "height"))
    r = min(float(node.get("rx", 0)), wide / 2, high / 2)
    if not r:
        return Path([(x, y), (x + wide, y), (x + wide, y + high), (x, y + high), (x, y)])
    k, right, low = r * (1 - CORNER), x + wide, y + high
    points = [
        *((x + r, y), (right - r, y), (right - k, y), (right, y + k), (right, y + r)),
        *((right, low - r), (right, low - k), (right - k, low), (right - r, low)),
        *((x + r, low), (x + k, low), (x, low - k), (x, low - r)),
        *((x, y + r), (x, y + k), (x + k, y), (x + r, y)),
    ]
    side = [Path.LINETO, *[Path.CURVE4] * 3]
    return Path(points, [Path.MOVETO, *side * 4])


_STEPS = {"M": int(Path.MOVETO), "L": int(Path.LINETO), "Q": int(Path.CURVE3)}


def _path(text: str) -> Path:
    """Return a path of lines and quadratic curves."""
    points: list[tuple[float, float]] = []
    codes: list[int] = []
    for letter, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", text):
        if letter not in _STEPS:
            raise ValueError(f"no step of a path that the kit's pictures have: {letter}")
        values = [float(part) for part in re.findall(r"-?[\d.]+(?:e-?\d+)?", numbers)]
        new = list(zip(values[::2], values[1::2], strict=True))
        code = _STEPS[letter]
        points += new
        codes += [code, *[_STEPS["L"] if letter == "M" else code] * (len(new) - 1)]
    return Path(points, codes)
