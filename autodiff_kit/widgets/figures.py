"""Plots by matplotlib: what ``view/plots.py`` describes, drawn for a page or a slide.

After reading you know how each mark becomes an artist, in the looks that the screen has, and that
the axes of a figure are matplotlib's own: their limits are data, and all can be changed. Read next:
``plotted.py``, the labs that have a figure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Affine2D, ScaledTranslation, Transform

from autodiff_kit.view.charts import looks
from autodiff_kit.view.plots import (
    PIXELS,
    Area,
    Arrows,
    Bars,
    Curve,
    Dots,
    Drawing,
    Group,
    Handle,
    Key,
    Mark,
    Plot,
    Pointer,
    Sample,
    Words,
)
from autodiff_kit.view.scales import Scale

__all__ = ["INCH", "PlotFigure", "dashes", "figure_of"]

Properties = dict[str, Any]  # of an artist, by matplotlib's names

INCH = 72.0  # pixels of a drawing: one is a point, in which matplotlib counts widths of lines
SIZE = 11.0  # of letters; matplotlib's own font is wider than those of browsers
ANCHORS = {"start": "left", "middle": "center", "end": "right"}


class PlotFigure(Figure):
    """A figure that a notebook shows though pyplot has nothing to do with it."""

    def _repr_png_(self) -> bytes:
        """Return what a cell shows that ends with the figure."""
        buffer = BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def figure_of(drawing: Drawing) -> PlotFigure:
    """Return a drawing as a matplotlib Figure of its own, without pyplot; in light colours.

    Each plot is one of ``figure.axes``, and the key is a legend of the figure.
    """
    size = drawing.width / INCH, drawing.height / INCH
    figure = PlotFigure(figsize=size, facecolor=looks()["paper"]["fill"])
    around = _Sheet(figure, None, _pixels(figure, drawing), PIXELS, PIXELS)
    for part in drawing.parts:
        if isinstance(part, Plot):
            _axes(figure, drawing, part)
        else:
            around.draw(part)
    return figure


def _pixels(figure: Figure, drawing: Drawing) -> Transform:
    """Return what leads from the drawing's pixels into the figure."""
    part = Affine2D().scale(1 / drawing.width, -1 / drawing.height).translate(0.0, 1.0)
    return part + figure.transFigure


# -- a plot ---------------------------------------------------------------------------------------


def _axes(figure: Figure, drawing: Drawing, plot: Plot) -> None:
    wide, high = drawing.width, drawing.height
    box = plot.x.start / wide, 1 - plot.y.start / high, plot.wide / wide, plot.high / high
    axes = figure.add_axes(box, axisbelow=True, facecolor="none")
    axes.set_xscale("log" if plot.x.log else "linear")
    axes.set_yscale("log" if plot.y.log else "linear")
    axes.set_xlim(plot.x.low, plot.x.high)
    axes.set_ylim(plot.y.low, plot.y.high)
    quiet = looks()["tick"]["fill"]
    for axis, ticks in ((axes.xaxis, plot.x_ticks()), (axes.yaxis, plot.y_ticks())):
        axis.set_ticks([value for value, _ in ticks], [text for _, text in ticks])
        axis.set_ticks([], minor=True)
        for text in axis.get_ticklabels():
            text.set_parse_math(False)
    axes.tick_params(length=0, pad=6, labelsize=SIZE, labelcolor=quiet)
    axes.grid(True, color=looks()["grid-line"]["stroke"], linewidth=1.0)
    for spine in axes.spines.values():
        spine.set(edgecolor=looks()["frame"]["stroke"], linewidth=1.0)
    words: Properties = {"fontsize": SIZE, "color": looks()["axis"]["fill"]}
    pixels, top, middle = _pixels(figure, drawing), plot.y.end, (plot.y.start + plot.y.end) / 2
    if plot.x_label:
        axes.set_xlabel(plot.x_label, va="baseline", **words)
        axes.xaxis.set_label_coords(
            (plot.x.start + plot.x.end) / 2, plot.y.start + 35, transform=pixels
        )
    if plot.y_label and plot.has_wide_numbers():
        axes.set_ylabel(plot.y_label, rotation=0, ha="left", va="baseline", **words)
        axes.yaxis.set_label_coords(2.0, top - 8, transform=pixels)
    elif plot.y_label:
        axes.set_ylabel(plot.y_label, va="baseline", **words)
        axes.yaxis.set_label_coords(13.0, middle, transform=pixels)
    sheet = _Sheet(figure, axes, axes.transData, plot.x, plot.y)
    for mark in (*(plot.under.marks if plot.under else ()), *plot.marks):
        sheet.draw(mark)
    for mark in plot.over:
        sheet.draw(mark, is_cut_off=False)


# -- marks ----------------------------------------------------------------------------------------


class _Sheet:
    """Where marks are drawn: axes, or the figure around them.

    Attributes
    ----------
    place : Axes or Figure
    transform : Transform
        From the numbers of a mark to the page.
    x, y : Scale
        Of these numbers.
    """

    def __init__(self, figure: Figure, axes: Axes | None, transform: Transform, *scales: Scale):
        self.figure, self.transform = figure, transform
        self.place: Any = axes or figure
        self.x, self.y = scales
        self._order = 0
        self._is_cut_off = True

    def draw(self, mark: Mark, *, is_cut_off: bool = True) -> None:
        """Draw a mark over those before it."""
        self._is_cut_off = is_cut_off
        _draw(mark, self)

    def place_of_next(self) -> Properties:
        """Return the place of an artist: over those before it, as in SVG, and cut off or not."""
        self._order += 1
        return {"zorder": 2 + self._order / 1000, "clip_on": self._is_cut_off}

    def line(self, xs: Sequence[float], ys: Sequence[float], **looks: Any) -> None:
        """Add a line, or markers at its points."""
        from matplotlib.lines import Line2D

        where = {"transform": self.transform, **self.place_of_next()}
        self.place.add_artist(Line2D(xs, ys, **looks, **where))


@singledispatch
def _draw(mark: Mark, sheet: _Sheet) -> None:
    raise TypeError(f"{mark!r} is no mark")


@_draw.register
def _(mark: Curve, sheet: _Sheet) -> None:
    gap = (math.nan, math.nan)
    points = [point for piece in mark.pieces(sheet.y) for point in (*piece, gap)][:-1]
    xs, ys = zip(*points, strict=True) if points else ((), ())
    sheet.line(xs, ys, **_line(mark.look))


@_draw.register
def _(mark: Area, sheet: _Sheet) -> None:

    loops = [Path([*loop, loop[0]], closed=True) for loop in mark.loops]
    if loops:
        path = Path.make_compound_path(*loops)
        where = {"transform": sheet.transform, **sheet.place_of_next()}
        sheet.place.add_artist(
            PathPatch(path, **_patch(mark.look, mark.opacity, mark.dash), **where)
        )


@_draw.register
def _(mark: Arrows, sheet: _Sheet) -> None:
    if not mark.arrows:
        return
    xs, ys = zip(*(point for point, _ in mark.arrows), strict=True)
    right, up = zip(*(arrow for _, arrow in mark.arrows), strict=True)
    width = float(looks()[mark.look]["stroke-width"])
    sheet.place.quiver(
        *(xs, ys, right, up),
        **{"angles": "uv", "pivot": "mid", "scale": INCH, "scale_units": "inches"},
        **{"units": "inches", "width": width / INCH, "minlength": 1.0},
        **{"headwidth": 4.4, "headlength": 3.8, "headaxislength": 3.0},
        **{"color": looks()[mark.look]["stroke"], **sheet.place_of_next()},
    )


@_draw.register
def _(mark: Bars, sheet: _Sheet) -> None:
    low, far = sheet.y.low, sheet.y.high + (sheet.y.high - sheet.y.low)
    lefts, rights = np.array(mark.edges, dtype=float).reshape(-1, 2).T
    heights = np.clip(np.nan_to_num(mark.heights, nan=low, posinf=far, neginf=low), low, far)
    where = {"align": "edge", "bottom": low, **sheet.place_of_next()}
    sheet.place.bar(lefts, heights - low, rights - lefts, **where, **_patch(mark.look))


@_draw.register
def _(mark: Dots, sheet: _Sheet) -> None:
    if points := mark.finite():
        sheet.line(*zip(*points, strict=True), **_marker("o", mark.look, 2 * mark.radius))


@_draw.register
def _(mark: Pointer, sheet: _Sheet) -> None:

    corners = [(right, -down) for right, down in mark.outline()]
    reach = max(abs(part) for corner in corners for part in corner)  # a marker's path is scaled
    shape = Path([*corners, corners[0]], closed=True)
    sheet.line([mark.x], [mark.y], **_marker(shape, "cursor", 2 * reach))


@_draw.register
def _(mark: Words, sheet: _Sheet) -> None:

    look = {"fill": looks()["text"]["fill"], **_look(mark.look)}
    aside = ScaledTranslation(mark.right / INCH, mark.up / INCH, sheet.figure.dpi_scale_trans)
    text = sheet.place.text(
        *(mark.x, mark.y, mark.text),
        **{"ha": ANCHORS[mark.anchor], "va": "baseline", "color": look["fill"]},
        **{"fontsize": SIZE, "fontweight": "bold" if mark.is_bold else "normal"},
        **{"transform": sheet.transform + aside, **sheet.place_of_next()},
    )
    text.set_parse_math(False)
    if "stroke" in look:
        halo = withStroke(linewidth=float(look["stroke-width"]), foreground=look["stroke"])
        text.set_path_effects([halo])


@_draw.register
def _(mark: Handle, sheet: _Sheet) -> None:
    sheet.line([mark.x], [mark.y], **_marker("o", "grip", 14.0))


@_draw.register
def _(mark: Group, sheet: _Sheet) -> None:
    for part in mark.marks:
        _draw(part, sheet)


@_draw.register
def _(mark: Key, sheet: _Sheet) -> None:
    legend = sheet.figure.legend(
        [_sample(sample) for sample in mark.samples],
        ["sample"] * len(mark.samples),
        loc="lower left",
        bbox_to_anchor=(mark.x, mark.y + 3),
        bbox_transform=sheet.transform,
        ncols=len(mark.samples),
        # In sizes of letters, as view/plots.py has them: 22 px, 6 to the words, 18 to the next.
        handlelength=22 / SIZE,
        handletextpad=6 / SIZE,
        columnspacing=18 / SIZE,
        borderpad=0,
        borderaxespad=0,
        frameon=False,
        fontsize=SIZE,
        labelcolor=looks()["text"]["fill"],
    )
    for text, sample in zip(legend.get_texts(), mark.samples, strict=True):
        text.set_parse_math(False)
        text.set_text(sample.text)  # set late: to a legend, "_f" would be no name to show


def _sample(sample: Sample) -> Artist:
    """Return what stands for a look in a legend."""
    if sample.look == "point":
        return Line2D([], [], **_marker("o", "grip", 10.0))
    if sample.look == "arrow":
        return Line2D([], [], **_marker(r"$\rightarrow$", "tick", 18.0))
    if sample.look == "pointer":
        return Line2D([], [], **_marker("v", "cursor", 9.0))
    if sample.is_area:
        return Patch(**_patch(sample.look, dash=sample.dash))
    return Line2D([], [], **_line(sample.look))


# -- looks: from CSS to what matplotlib calls them ------------------------------------------------


def _look(names: str) -> dict[str, str]:
    """Return the CSS of one or several looks, later ones over earlier ones."""
    return {key: text for name in names.split() for key, text in looks().get(name, {}).items()}


def _line(names: str) -> Properties:
    look = _look(names)
    width = float(look.get("stroke-width", 1.0))
    return {
        **{"color": look["stroke"], "linewidth": width, "solid_capstyle": "butt"},
        "linestyle": dashes([float(d) for d in look.get("stroke-dasharray", "").split()], width),
    }


def dashes(dash: Sequence[float], width: float) -> Any:
    """Return a pattern for matplotlib, which counts it in widths of the line."""
    even = [*dash, *dash] if len(dash) % 2 else dash
    return (0, [part / width for part in even]) if dash else "-"


def _patch(name: str, opacity: float = 1.0, dash: Sequence[float] = ()) -> Properties:

    look, width = looks()[name], float(looks()[name].get("stroke-width", 1.0))
    dash = dash or [float(d) for d in look.get("stroke-dasharray", "").split()]
    inside = to_rgba(look["fill"]), float(look.get("fill-opacity", 1.0)) * opacity
    edge = to_rgba(look.get("stroke", "none")), float(look.get("stroke-opacity", 1.0))
    return {
        **{name: (*c[:3], c[3] * a) for name, (c, a) in (("fc", inside), ("ec", edge))},
        **{"linewidth": width, "linestyle": dashes(dash, width)},
    }


def _marker(shape: Any, name: str, size: float) -> Properties:
    """Return the looks of a line that is markers only; half of an outline lies inside."""
    look = looks()[name]
    return {
        **{"linestyle": "none", "marker": shape, "markersize": size},
        **{"markerfacecolor": look["fill"], "markeredgecolor": look.get("stroke", "none")},
        "markeredgewidth": float(look.get("stroke-width", 1.0)) * ("stroke" in look),
    }
