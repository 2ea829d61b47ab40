"""The slope of a curve: drag the point, and hold any function of one number against its gradient.

After reading you know how value, slope and second derivative are drawn as a curve, its tangent and
a parabola (``view/charts.py`` draws them), and what is said where autograd's slope is not that of
the curve: at a kink, at a jump, behind a ``detach``. Read next: ``sampling.py``, ``descent.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_kit.view.plots import Drawing, Handle, Key, Plot, Sample
from autodiff_kit.view.scales import Scale, label, seen_range
from autodiff_kit.widgets.at_points import (
    SECONDS,
    Function,
    bounded,
    curve_along,
    everywhere,
    gradient_at,
    slopes_of,
    what_ran,
)
from autodiff_kit.widgets.controls import Slider, Switch
from autodiff_kit.widgets.curve_words import (
    AT_THE_POINT,
    HIDDEN,
    against,
    by_autograd,
    direction,
    goes_on,
    rounded,
    slope_text,
)
from autodiff_kit.widgets.distrust import Examined, contents, examined, pair_of, subject_of
from autodiff_kit.widgets.gradients import (
    LEFT,
    RIGHT,
    STEPS,
    WIDTH,
    Further,
    LivePlot,
    check_takes,
    defaults_of,
    ends_of,
    function_of,
    gaps,
    within,
)
from autodiff_kit.widgets.one_sided import NEAR, Curve, Side, agree, bends_of, is_kink, sides_of
from autodiff_kit.widgets.running import name_of
from autodiff_kit.widgets.sampling import Touch, refined

__all__ = ["Slope", "touch"]

_HELP = {
    "x": "The point. You can also drag it in the plot.",
    "tangent": "Draw the line with the slope that autograd computes at the point.",
    "bend": "Draw the parabola with the same slope and second derivative.",
}
POINTS = STEPS + 1  # of a curve


def touch(function: Function, at: float, twice: bool = True) -> Touch:
    """Return value and slope of a function at a place; its bend too, if ``twice``."""
    out, (x,), (slope,) = gradient_at(function, at)
    if slope is None:
        return Touch(at, float(out.item()), None, None)
    # The slope of a straight line is a constant: its graph leads nowhere, and it bends by 0.
    (bend,) = slopes_of(slope, x) if twice else (None,)
    second = 0.0 if bend is None else float(bend.item())
    return Touch(at, float(out.item()), float(slope.item()), second)


class Slope(LivePlot):
    """Touch a curve: its slope, its tangent and its second derivative where you drag the point.

    The slope is autograd's. It is held against how the curve itself goes on to the left and to the
    right, and where the two differ the lab says so. The function runs at 161 points for the curve,
    at up to eight times as many where its tangents do not lead from one point to the next, and some
    25 times, at the point and near it, for each place that you drag it to.

    Parameters
    ----------
    function : callable
        Takes one tensor of one number, gives one.
    low, high : float
        From where to where.
    x : float, optional
        Where the point begins, rounded to whole steps of the slider. By default it is what the
        function's own argument begins with, as in ``def f(x=0.5)``, or a third of the way.
    **arguments
        What further arguments of the function begin with: each has a control. By default it is
        what the function says, as in ``def f(x, a=2.0)``, or 1.0.

    Raises
    ------
    TypeError, ValueError
        If this is no function, or `low` is not below `high`. What the function itself does wrong
        is said in the lab.

    Examples
    --------
    >>> lab = Slope(lambda x: x * x, -2, 2, x=1.5)
    >>> lab
    Slope(At x = 1.5 the value is 2.25 and the slope 3: going right, the curve rises. ...)
    >>> lab.controls["x"].value = -1.0
    """

    def __init__(
        self,
        function: Function,
        low: float = -3.0,
        high: float = 3.0,
        *,
        x: float | None = None,
        title: str = "",
        **arguments: Any,
    ) -> None:
        function = function_of(function, "Slope", "Slope(f) or Slope(torch.sin)")
        self._further = Further(function, ["x"], arguments)
        self.function, (self._name,) = self._further.function, self._further.names
        low, high = ends_of(self._name, (low, high))
        self._across = Scale(low, high, LEFT, RIGHT)
        self._curve: list[Touch] = []
        self._at: Touch | None = None
        self._runs: Examined[list[Touch | None]] | None = None
        self._is_tangent = self._has_bend = False
        step = self._across.step
        # Whole steps, as those of the point when it is dragged; 12 digits hide what rounding adds.
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        at = low + (high - low) / 3 if x is None else float(x)
        if x is None and (default := defaults_of(self.function, 1)[0]) is not None:
            at = default
        ends = [float(f"{k * step:.12g}") for k in (first, last, round(at / step))]
        slider = Slider(
            min(max(ends[2], ends[0]), ends[1]),
            ends[0],
            ends[1],
            step,
            description=self._name,
            help=_HELP["x"],
        )
        boxes = {
            "tangent": Switch(True, description="tangent", help=_HELP["tangent"]),
            "bend": Switch(True, description="second derivative", help=_HELP["bend"]),
        }
        super().__init__({"x": slider, **boxes}, further=self._further, title=title)

    def dragged(self, *point: float) -> None:
        """Follow the point; the slider draws."""
        if point:
            self.controls["x"].value = point[0]

    def draw(self) -> None:
        """Compute the curve once, and the point each time."""
        place = float(self.controls["x"].value)
        if self._drawn_with != (further := contents(self._further.values)):
            if not self._further.values:
                check_takes(self.function, self._name)
            self._drawn_with = None
            bounded(SECONDS, self._sweep, place, of=self.function)
            self._drawn_with = further
        at = bounded(SECONDS, touch, self.function, place, of=self.function)
        self._at = at
        words = bounded(SECONDS, self._words, at, of=self.function) + self._note
        self.show(self._picture(at, words), words, (at.x, at.y if math.isfinite(at.y) else 0.0))

    def _sweep(self, place: float) -> None:
        low, high = self._across.low, self._across.high
        # At one place alone, such as 0, the value may be the same by chance.
        places = [place, low + 0.37 * (high - low), low + 0.71 * (high - low)]

        def touches() -> list[Touch | None]:
            return list(
                everywhere(lambda x: touch(self.function, x), [(x,) for x in places]).values
            )

        runs = examined(
            self.function,
            touches,
            _numbers,
            changed_arguments=lambda _: self._further.changed_at(place),
        )
        xs = [low + (high - low) * i / (POINTS - 1) for i in range(POINTS)]
        outcomes = everywhere(lambda x: touch(self.function, x, twice=False), [(x,) for x in xs])
        empty = (math.nan, math.nan, math.nan)
        curve = [
            Touch(x, *((t and t[1:]) or empty)) for x, t in zip(xs, outcomes.values, strict=True)
        ]
        note = gaps([t.y for t in curve], outcomes, "points")
        if not runs.differs:
            curve, is_too_fast = refined(
                lambda x: touch(self.function, x, twice=False), curve, SECONDS / 8
            )
            if is_too_fast:
                note += (
                    f" This picture cannot show all of {name_of(self.function)}: it changes too "
                    f"fast, even for {len(curve):,} points."
                )
        ys = [t.y for t in curve]
        slopes = [math.nan if t.slope is None else t.slope for t in curve]
        self._ys, self._slopes = ys, slopes
        self._up = Scale(*seen_range(ys), 248.0, 44.0)
        self._slope_up = Scale(*seen_range(slopes, 0.0), 390.0, 294.0)
        self._note = note + within(self._up, ys)
        if not runs.differs:
            now, then = _numbers(touches()), _numbers(runs.first)
            pair = next(
                (p for p in zip(then, now, strict=True) if contents(p[0]) != contents(p[1])), None
            )
            if pair is not None:
                doubt = f"{subject_of(self.function)} returned different results at the same "
                doubt += f"{self._name}: {pair_of(*pair)}."
                runs = Examined(runs.first, doubt, True, runs.has_effects)
        self._runs = runs
        self._curve = curve

    def _words(self, at: Touch) -> str:
        """Say what the slope is here, and whether it is that of the curve."""
        self._is_tangent = self._has_bend = False
        doubt = self._runs.doubt if self._runs else ""
        if self._runs and self._runs.differs:
            return f"{doubt} So the picture shows one run at each point, and no slope of a curve."
        further = self._further.words
        begin = f"{doubt} " * bool(doubt) + (f"With {further}: at" if further else "At")
        if not math.isfinite(at.y):
            return f"{begin} {self._name} = {label(at.x)} the value is {at.y:g}: there is no slope."
        here = f"{begin} {self._name} = {label(at.x)} the value is {label(at.y)}"
        width = self._across.high - self._across.low
        curve = curve_along(self.function, (at.x,), 0, width)
        if not math.isfinite(curve.value(at.x)):
            return f"{here}{by_autograd(at.slope, '; a second time there was none')}"
        left, right = sides_of(curve, at.x)
        if at.slope is None or at.bend is None:
            return (
                f"{here}, and no path in the graph leads from it back to {self._name}: autograd "
                f"gives no slope. {goes_on(curve, left, right)}"
            )
        has_kink = is_kink(curve, left, right)
        if not has_kink and agree(curve, at.slope, left) and agree(curve, at.slope, right):
            self._is_tangent = math.isfinite(at.slope)
            way = direction(at.slope, max(left.error, right.error))
            return (
                f"{here} and the slope {slope_text(at.slope)}: going right, the curve {way}. "
                f"{self._words_of_bend(curve, at.x, at.slope, at.bend)}"
            )
        contrast = against(curve, at.slope, left, right)
        if has_kink or left.kind == right.kind == "slope":
            contrast = self._of_a_branch(at) or contrast
            if not has_kink and contrast.endswith(f"{HIDDEN}.") and self._slopes_agree_beside(at.x):
                contrast = f"Autograd gives {slope_text(at.slope)}. {AT_THE_POINT}"
        elif "jump" in (left.kind, right.kind) and not math.isnan(at.slope):
            contrast = self._of_a_jump(at, left, right)
        return f"{here}. {goes_on(curve, left, right)} {contrast}"

    def _of_a_branch(self, at: Touch) -> str:
        """Say that autograd's slope is that of a branch which runs at this point alone."""
        before, here, after = self._ran_around(at.x)
        if here in (before, after):
            return ""
        return (
            f"Autograd gives {slope_text(at.slope or 0.0)}, the slope of the operations that ran "
            "at this point. Just left and right of it others run: a branch of the code is taken "
            "here alone."
        )

    def _of_a_jump(self, at: Touch, left: Side, right: Side) -> str:
        """Say whether a branch of the code jumps, or what runs on both sides of the jump."""
        before, here, after = self._ran_around(at.x)
        jumps = [
            (name, ran)
            for name, side, ran in (("left", left, before), ("right", right, after))
            if side.kind == "jump"
        ]
        gives = f"Autograd gives {slope_text(at.slope or 0.0)}"
        begin = f"{gives}, the slope of the operations that ran at"
        others = [name for name, ran in jumps if ran != here]
        if others:
            where = " and ".join(f"just {name} of it" for name in others)
            return f"{begin} this point. {where.capitalize()} the code takes another branch."
        if not self._slopes_agree_beside(at.x, unknown=True):
            return f"{gives}. Beside the jump, too, its slope is not that of the curve: {HIDDEN}."
        return (
            f"{begin} this point. The same ones run beside it: one of them jumps, or a number "
            "that Python computes for them does, and autograd's slope leaves that jump out."
        )

    def _beside(self, x: float) -> Iterator[tuple[float, Curve]]:
        """Yield two places near a point, and the curve as it is seen from there."""
        width = self._across.high - self._across.low
        for place in (x - 1e-2 * width, x + 1e-2 * width):
            curve = curve_along(self.function, (place,), 0, width)
            if math.isfinite(curve.value(place)):
                yield place, curve

    def _slopes_agree_beside(self, x: float, unknown: bool = False) -> bool:
        """Return whether autograd's slope is the curve's near a point; `unknown` if none is."""
        verdicts = []
        for place, curve in self._beside(x):
            sides = sides_of(curve, place)
            if all(side.kind == "slope" for side in sides) and not is_kink(curve, *sides):
                slope = touch(self.function, place, twice=False).slope or 0.0
                verdicts.append(all(agree(curve, slope, side) for side in sides))
        return all(verdicts) if verdicts else unknown

    def _bends_agree_beside(self, x: float) -> bool:
        """Return whether autograd's second derivative is the curve's near a point."""
        verdicts = []
        for place, curve in self._beside(x):
            left, right, error = bends_of(curve, place)
            room = 4 * (error + 1e-2 * max(abs(left), abs(right)))
            bend = touch(self.function, place).bend or 0.0
            verdicts.append(max(abs(left - bend), abs(right - bend)) <= room)
        return bool(verdicts) and all(verdicts)

    def _ran_around(self, x: float) -> list[list[Any] | None]:
        """Return what runs just left of a point, at it, and just right of it."""
        near = max(1e-5 * (self._across.high - self._across.low), 64 * abs(np.spacing(x)))
        return [what_ran(self.function, at) for at in (x - near, x, x + near)]

    def _words_of_bend(self, curve: Curve, x: float, slope: float, bend: float) -> str:
        if not (math.isfinite(slope) and math.isfinite(bend)):
            return f"Autograd's second derivative is {slope_text(bend)}."
        left, right, error = bends_of(curve, x)
        room = error + 1e-2 * max(abs(bend), abs(left), abs(right))
        begin = f"The second derivative is {label(bend)}"
        if abs(left - right) > 4 * room:
            return (
                f"The curve bends differently on its two sides: its second derivative is "
                f"{label(rounded(left))} on the left and {label(rounded(right))} on the right. "
                f"Autograd gives {label(bend)}."
            )
        if abs(left - bend) > 4 * room:
            words = (
                f"Autograd's second derivative is {label(bend)}, and that of the curve is "
                f"{label(rounded((left + right) / 2))}"
            )
            is_here_alone = self._bends_agree_beside(x)
            return f"{words}. {AT_THE_POINT}" if is_here_alone else f"{words}: {HIDDEN}."
        self._has_bend = True
        if bend:
            return f"{begin}: the curve bends {'up' if bend > 0 else 'down'}."
        near = NEAR * curve.width
        here = curve.value(x)
        offs = [abs(curve.value(x + d) - here - slope * d) for d in (-near, near)]
        is_straight = max(offs) <= 1e-3 * curve.scale * near + curve.noise(here)
        return f"{begin}: the curve does not bend." if is_straight else f"{begin}."

    def _lines(self, at: Touch) -> dict[str, list[float]]:
        """Return the heights of tangent and parabola at every x; none that cannot be."""
        if at.slope is None or at.bend is None or not math.isfinite(at.y + at.slope):
            return {}
        if self._runs and self._runs.differs:
            return {}
        steps = [t.x - at.x for t in self._curve]
        lines = {}
        if self.controls["tangent"].value:
            lines["tangent"] = [at.y + at.slope * d for d in steps]
        if self.controls["bend"].value and self._has_bend:
            lines["parabola"] = [at.y + at.slope * d + at.bend / 2 * d * d for d in steps]
        return lines

    def _picture(self, at: Touch, words: str) -> Drawing:
        xs = [t.x for t in self._curve]
        lines = self._lines(at)
        above = Plot(self._across, self._up, y_label="value")
        below = Plot(self._across, self._slope_up, x_label=self._name, y_label="autograd's slope")
        above.curve(xs, self._ys)
        below.level(0.0)
        below.curve(xs, self._slopes)
        for look, ys in lines.items():
            above.curve(xs, ys, look)
        if "parabola" in lines and at.slope is not None and at.bend is not None:
            reach = 0.12 * (self._across.high - self._across.low)
            near = [at.x - reach, at.x + reach]
            below.curve(near, [at.slope - at.bend * reach, at.slope + at.bend * reach], "parabola")
        if at.slope is not None and math.isfinite(at.slope):
            below.dots([(at.x, at.slope)], "grip", 5.0)
        y = at.y if math.isfinite(at.y) else self._up.low
        y = min(max(y, self._up.low), self._up.high)
        above.add(Handle(at.x, y, f"{self._name}, on the curve", along="x"))
        tangent = "tangent" if self._is_tangent else "line with autograd's slope"
        names = {"tangent": tangent, "parabola": "parabola of the same bend"}
        samples = [Sample("curve", name_of(self.function))]
        key = Key(samples + [Sample(look, names[look]) for look in lines], LEFT, 26.0)
        title = f"Slope of {name_of(self.function)}"
        return Drawing([above, below, key], WIDTH, 434.0, title, words)


@dataclass(frozen=True)
class _Gradient:
    """Autograd's slope, which says what it is where it is compared with another one."""

    slope: float | None

    def __repr__(self) -> str:
        return "no slope" if self.slope is None else f"the slope {slope_text(self.slope)}"


def _numbers(touches: list[Touch | None]) -> list[Any]:
    return [value for t in touches if t for value in (t.y, _Gradient(t.slope))]
