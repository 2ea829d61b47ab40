"""What is said of a curve at a point, and of autograd's slope there.

After reading you know which sentences a kink, a jump, an end and a steep place get, and that a
slope of autograd's is called the curve's own only where the values beside the point agree. Read
next: ``slope.py``.
"""

from __future__ import annotations

import math

from autodiff_kit.view.scales import MINUS, label
from autodiff_kit.widgets.one_sided import Curve, Side, agree, is_kink

__all__ = [
    "AT_THE_POINT",
    "HIDDEN",
    "against",
    "by_autograd",
    "direction",
    "goes_on",
    "rounded",
    "slope_text",
]

HIDDEN = (
    "part of the computation is not in the graph, as after detach() or float() or under no_grad(), "
    "or a hook or a rule of your own changes it"
)
AT_THE_POINT = (
    "Just left and right of this point, autograd and the curve agree: at the point itself, an "
    "operation has a kink, where PyTorch chooses a slope, or a condition picks something else."
)


def rounded(value: float) -> float:
    """Leave out the digits that a difference cannot know."""
    return float(f"{value:.3g}") if abs(value) > 1e-6 else 0.0


def slope_text(slope: float) -> str:
    """Return a slope as it is written in a sentence."""
    return label(slope) if math.isfinite(slope) else f"{slope:g}"


def direction(slope: float, error: float) -> str:
    """Return ``"rises"``, ``"falls"``, or that the curve is level."""
    if abs(slope) <= error:
        return "is level here"
    steep = " infinitely steeply" if math.isinf(slope) else ""
    return f"{'rises' if slope > 0 else 'falls'}{steep}"


def by_autograd(slope: float | None, end: str) -> str:
    """Return the end of a sentence: autograd's slope, if it gives one."""
    return f"{end}." if slope is None else f", and autograd's slope is {slope_text(slope)}{end}."


def _apart(slope: float, other: float) -> str:
    """Return a slope with as many digits as tell it from the other one."""
    room = 0.1 * abs(slope - other)
    for digits in range(3, 8):
        text = f"{slope:.{digits}g}"
        if abs(float(text) - slope) <= room:
            break
    return label(rounded(slope)) if digits == 3 else text.replace("-", MINUS)


def goes_on(curve: Curve, left: Side, right: Side, what: str = "the curve") -> str:
    """Say how a curve goes on at both sides of the point."""
    subject = what[:1].upper() + what[1:]
    if "jump" in (left.kind, right.kind):
        beside = [
            f"just {name} of it the value is {label(rounded(side.limit))}"
            for name, side in (("left", left), ("right", right))
            if side.kind == "jump"
        ]
        return f"{subject} jumps here: {' and '.join(beside)}."
    if left.kind == right.kind == "slope":
        if not is_kink(curve, left, right):
            return f"{subject} has the slope {label(rounded(left.slope))} here."
        return (
            f"{subject} has a kink here: its slope is {_apart(left.slope, right.slope)} on the "
            f"left and {_apart(right.slope, left.slope)} on the right."
        )
    if left.kind == right.kind:
        same = {
            "steep": f"{subject} is infinitely steep here.",
            "none": "Beside it, on both sides, there is no value, so there is no curve to follow.",
            "unclear": "No slope can be measured here: it depends on how near one looks.",
        }
        return same[left.kind]
    sides = " and ".join(f"on the {n} {_side(s)}" for n, s in (("left", left), ("right", right)))
    return f"{sides[:1].upper()}{sides[1:]}."


def _side(side: Side) -> str:
    return {
        "slope": f"the slope is {label(rounded(side.slope))}",
        "steep": "the curve is infinitely steep",
        "none": "there is no value",
        "unclear": "no slope can be measured",
    }[side.kind]


def against(curve: Curve, slope: float, left: Side, right: Side) -> str:
    """Say what autograd's slope is, where it is not that of the curve on both sides."""
    gives = f"Autograd gives {slope_text(slope)}"
    if math.isnan(slope):
        return f"{gives}: somewhere in the backward pass, 0 was multiplied by inf, or the like."
    sides = (("left", left), ("right", right))
    fits = [n for n, side in sides if agree(curve, slope, side)]
    if is_kink(curve, left, right):
        gap = abs(left.slope - right.slope)
        fits = [n for n, side in sides if abs(slope - side.slope) <= 0.05 * gap]
    if fits:
        return f"{gives}, the slope on the {fits[0]}."
    if left.kind == right.kind == "slope":
        low, high = sorted((left.slope, right.slope))
        if is_kink(curve, left, right):
            if low <= slope <= high:
                return f"{gives}, a number between the two: at a kink, PyTorch has to choose one."
            return f"{gives}, which is neither of the two."
        return f"{gives}, and that is not its slope: {HIDDEN}."
    if "unclear" in (left.kind, right.kind):
        return f"{gives}."
    return f"{gives}, which is the slope of neither side."
