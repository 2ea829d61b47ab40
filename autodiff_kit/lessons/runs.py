"""The results of an experiment that is run several times, with other random numbers each time.

After reading you know how ``Runs`` draws them: a dot for each run, a line from the lowest to the
highest of a row. Read next: ``../view/plots.py``, which describes a plot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autodiff_kit.view.charts import chart_svg
from autodiff_kit.view.plots import Drawing, Plot, Words
from autodiff_kit.view.scales import Scale, label, seen_range, text_width

if TYPE_CHECKING:
    from autodiff_kit.widgets.figures import PlotFigure

__all__ = ["Runs"]

ROW = 30.0  # pixels from one row to the next
PLOT = 420.0  # pixels from the left edge of the axes to the right one


class Runs:
    """What an experiment gave, a row for each setting and a dot for each run.

    Rows that do not overlap tell of the settings; where they overlap, it may have been chance.

    Parameters
    ----------
    rows : mapping of str to sequence of float
        For each setting what the runs gave, one number each.
    measure : str
        What these numbers are, with their unit: it stands at the axis.
    limits : (float, float), optional
        From where to where the axis goes; as far as the numbers by default.
    marks : mapping of str to float, optional
        Values to compare with, drawn as a dashed line and named.

    Raises
    ------
    ValueError
        If there is no row, or a row without a run.

    Examples
    --------
    >>> Runs({"without": [10.0, 12.0, 11.0], "with": [40.0, 44.0, 47.0]}, "right, in %")
    Runs(right, in %)
      without  10 to 12
      with     40 to 47
    """

    def __init__(
        self,
        rows: Mapping[str, Sequence[float]],
        measure: str,
        *,
        limits: tuple[float, float] | None = None,
        marks: Mapping[str, float] | None = None,
    ) -> None:
        self.rows = {name: [float(value) for value in values] for name, values in rows.items()}
        self.measure, self.marks = measure, dict(marks or {})
        empty = [name for name, values in self.rows.items() if not values]
        if empty or not self.rows:
            raise ValueError(
                f"There is no run of {empty[0]!r}." if empty else "There is no row to draw."
            )
        values = (value for row in self.rows.values() for value in row)
        self.limits = limits or seen_range(values, *self.marks.values())

    def _ranges(self) -> dict[str, str]:
        """Return from where to where each row goes, in as many figures as the axis needs."""
        step = (self.limits[1] - self.limits[0]) / 40
        words = {}
        for name, values in self.rows.items():
            low, high = (label(end, step) for end in (min(values), max(values)))
            words[name] = low if low == high else f"{low} to {high}"
        return words

    def __repr__(self) -> str:
        wide = max(len(name) for name in self.rows)
        lines = (f"\n  {name:{wide}}  {words}" for name, words in self._ranges().items())
        return f"{type(self).__name__}({self.measure}){''.join(lines)}"

    def _drawing(self) -> Drawing:
        left = 20 + max(text_width(name) for name in self.rows)
        ranges = self._ranges()
        right = left + PLOT
        width = right + 24 + max(text_width(words) for words in ranges.values())
        top, low = (34.0 if self.marks else 12.0), 0.5 - len(self.rows)
        height = top + ROW * len(self.rows) + 48
        x = Scale(*self.limits, left, right)
        y = Scale(low, 0.5, top + ROW * len(self.rows), top)
        ticks = [(-k, name) for k, name in enumerate(self.rows)]
        plot = Plot(x, y, x_label=self.measure, y_ticks=ticks)
        for name, value in self.marks.items():
            plot.curve([value, value], [0.5, low], "level")
            plot.add(Words(value, 0.5, name, "middle", up=8))
        for k, (name, values) in enumerate(self.rows.items()):
            plot.curve([min(values), max(values)], [-k, -k])
            plot.dots(((value, -k) for value in values), "bar", radius=4.5)
            plot.add(Words(x.high, -k, ranges[name], right=10, up=-4))
        words = "; ".join(f"{name}: {words}" for name, words in ranges.items())
        return Drawing([plot], width, height, self.measure, words)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "image/svg+xml": chart_svg(self._drawing())}

    def figure(self) -> PlotFigure:
        """Return the picture as a matplotlib Figure of its own, for a paper or a slide."""
        from autodiff_kit.widgets.figures import figure_of  # and with it matplotlib

        return figure_of(self._drawing())
