"""What the step of an optimizer does to a parameter, as a formula with the learner's names.

After reading you can say how ``opt.step()`` is told: the formula of the optimizer, its learning
rate, and the numbers of this run where they are few. Read next: ``steps_changes.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from autodiff_kit.record.events import Value
from autodiff_kit.view.rules import LONG, fill
from autodiff_kit.view.values import TIMES, number, shape_text, short
from autodiff_kit.view.words import sentence, spoken

__all__ = ["optimizer_step"]

# By optimizer: the new parameter, and what the names in it are. `w` is the parameter and `grad` its
# gradient, to which weight_decay * w was added before.
_MEANS = "m and v are running means of {grad} and of {grad ** 2}, corrected for their start at 0"
_FORMULAS = {
    "SGD": ("w - lr * grad", ""),
    "SGD with momentum": (
        "w - lr * buffer",
        "buffer is {momentum * buffer + grad}, and {grad} alone at the first step",
    ),
    "Adam": ("w - lr * m / (sqrt(v) + eps)", _MEANS),
    "AdamW": ("(1 - lr * weight_decay) * w - lr * m / (sqrt(v) + eps)", _MEANS),
    "RMSprop": ("w - lr * grad / (sqrt(v) + eps)", "v is a running mean of {grad ** 2}"),
    "Adagrad": ("w - lr * grad / (sqrt(v) + eps)", "v is the sum of {grad ** 2} so far"),
}
# With these settings a formula is the whole truth: what is in it, how a step is computed, and what
# schedulers note. With any other that is not 0, no formula is told.
_COVERED = {
    *("lr", "weight_decay", "eps", "alpha", "foreach", "fused", "capturable", "differentiable"),
    *("initial_lr", "max_lr", "min_lr", "base_momentum", "max_momentum"),
}
_ALSO = {"SGD with momentum": {"momentum"}, "AdamW": {"decoupled_weight_decay"}}
_NAMED = ("lr", "momentum", "weight_decay")  # settings that are told, unless they are 0


def optimizer_step(
    name: str,
    how: str,
    settings: Mapping[str, float],
    before: Value,
    after: Value,
    grad: Value | None,
    *,
    is_first: bool = True,
) -> str:
    """Tell what a step has done to a parameter.

    Parameters
    ----------
    name : str
        The parameter's.
    how : str
        ``"SGD.step"``.
    settings : dict from str to float
        Of the parameter's group, with ``lr``.
    before, after : Value
        Of the parameter.
    grad : Value or None
        Its gradient, if it is known.
    is_first : bool
        Whether it is the first that the step changes: then names in the formula are explained.

    Examples
    --------
    >>> one, two = ({"shape": [], "dtype": "float32", "data": [x]} for x in (1.0, 2.0))
    >>> optimizer_step("w", "SGD.step", {"lr": 0.5}, two, one, two)
    'SGD.step sets w to w - lr × w.grad = 2.0 - 0.5 × 2.0 = 1.0'
    """
    optimizer = how.removesuffix(".step")
    if optimizer == "SGD" and settings.get("momentum"):
        optimizer = "SGD with momentum"
    if optimizer == "Adam" and settings.get("decoupled_weight_decay"):
        optimizer = "AdamW"
    formula, meaning = _FORMULAS.get(optimizer, ("", ""))
    effective = {setting for setting, value in settings.items() if value}
    if effective - _COVERED - _ALSO.get(optimizer, set()):
        formula, meaning = "", ""
    decays = settings.get("weight_decay", 0) and optimizer != "AdamW"
    gradient = f"{name}.grad + weight_decay * {name}" if decays else f"{name}.grad"
    names = {"w": name, "grad": gradient}
    words = f"{how} sets {name} to {_signs(fill(formula, names))}" if formula else ""
    first = ""
    if formula == "w - lr * grad" and not decays and grad is not None and "lr" in settings:
        rate = float(settings["lr"])
        if text := _in_numbers(rate, before, after, grad):
            return f"{words} = {text}"
        first = _in_numbers(rate, *(_first(v) for v in (before, after, grad)))
    options = [f"{k} = {number(float(settings[k]))}" for k in _NAMED if settings.get(k)]
    with_settings = f"with {spoken(', '.join(options))}"
    words = f"{words}, {with_settings}" if words else f"{how} changes {name} {with_settings}"
    if meaning and is_first:
        words += f"; {_signs(_in_braces(meaning, names))}"
    old, new = short(before), short(after)
    if first:
        return f"{words}: a {shape_text(after['shape'])} tensor. Its first element: {first}"
    if old and new and old != new:
        return f"{words}: {spoken(old)} becomes {spoken(new)}"
    return sentence(words)


def _in_braces(text: str, names: Mapping[str, str]) -> str:
    """Replace the names in the expressions of a sentence: they stand in braces."""
    return re.sub(r"{(.+?)}", lambda match: fill(match[1], names), text)


def _signs(formula: str) -> str:
    return formula.replace(" * ", f" {TIMES} ")


def _first(value: Value) -> Value:
    return {"shape": [], "dtype": value["dtype"], "data": value["data"][:1]}


def _in_numbers(lr: float, before: Value, after: Value, grad: Value) -> str:
    """Return ``2.0 - 0.5 × 2.0 = 1.0``, if that is what has happened and it is short."""
    values = before["data"], after["data"], grad["data"]
    old, new, slope = short(before), short(after), short(grad)
    if not old or not new or not slope or len({len(v) for v in values}) != 1 or not values[0]:
        return ""
    numbers = [(float(x), float(y), lr * float(g)) for x, y, g in zip(*values, strict=True)]
    if not all(abs(x - step - y) <= 1e-3 * (abs(x) + abs(step)) for x, y, step in numbers):
        return ""  # a closure, or another gradient in between
    text = f"{old} - {number(lr)} {TIMES} {f'({slope})' if slope[0] == '-' else slope} = {new}"
    text = spoken(text)
    return text if len(text) <= LONG else ""
