"""The controls of a lab: what each is, what it can be set to, and what the browser is told of it.

After reading you can give a lab of your own a slider, a choice, a switch, a number, a text, a
button, or a line of code with a choice beside it. A control is no widget: it is a ``value`` with
bounds, and the lab that holds it draws it in its own card, by one script
(``view/static/labs/controls.mjs``). ``ipywidgets.link`` and ``observe`` take it as they take a
widget. Read next: ``lab.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import traitlets

from autodiff_kit.free_form import Json

__all__ = [
    "Button",
    "Choice",
    "CodeLine",
    "Control",
    "Number",
    "SelectionSlider",
    "Slider",
    "Switch",
    "Text",
]

Pressed = Callable[["Button"], object]


class Control(traitlets.HasTraits):
    """What all controls share: a name on the screen, and a value that can be observed and linked.

    Attributes
    ----------
    description : str
        What stands beside it; the name that the lab has for it, by default.
    help : str
        What it changes, in a sentence or two.
    is_visible : bool
        Whether it is drawn.
    value : anything
        What it is set to.
    """

    kind: ClassVar[str]
    value: Any
    description = traitlets.Unicode("")
    help = traitlets.Unicode("")
    is_visible = traitlets.Bool(True)

    def look(self) -> Json:
        """Return all that the browser draws it from, besides the value."""
        words = {"label": self.description, "help": self.help}
        return {"kind": self.kind, "visible": self.is_visible, **words}

    def sent(self) -> Any:
        """Return the value as the browser knows it."""
        return self.value

    def receive(self, value: Any) -> None:
        """Set the value to what the browser says."""
        self.value = value


def _number(value: Any, *, whole: bool, name: str) -> float | int:
    """Return a finite number, of ints an int."""
    try:
        number = int(value) if whole else float(value)
        if not isinstance(value, str) and math.isfinite(number):
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    what = "an integer" if whole else "a finite number"
    raise traitlets.TraitError(f"{name} is {what}, and not {value!r}")


class _Bounded(Control):
    """A number between two others; one that lies outside of them becomes the nearer of the two."""

    value = traitlets.Any()
    min = traitlets.Any()
    max = traitlets.Any()

    def __init__(
        self, value: float, min: float, max: float, *, whole: bool, unit: str, **traits: Any
    ) -> None:
        self.whole, self.unit = whole, unit
        self._is_set = False
        super().__init__(min=min, max=max, **traits)
        self._is_set = True
        if self.min > self.max:
            raise traitlets.TraitError(f"min is at most max, and not {min} to {max}")
        self.value = value

    @traitlets.validate("value")
    def _within(self, proposal: Any) -> float | int:
        value = _number(proposal["value"], whole=self.whole, name="the value")
        low, high = self.min, self.max
        return low if value < low else high if value > high else value

    @traitlets.validate("min", "max")
    def _ends(self, proposal: Any) -> float | int:
        name = proposal["trait"].name
        return _number(proposal["value"], whole=self.whole, name=name)

    @traitlets.observe("min", "max")
    def _keep_within(self, change: Any) -> None:
        if self._is_set:
            self.value = self.value

    def look(self) -> Json:
        """Add the bounds and the unit."""
        bounds = {"min": self.min, "max": self.max, "whole": self.whole, "unit": self.unit}
        return {**super().look(), **bounds}


class Slider(_Bounded):
    """A number that is dragged, moved by keys, or typed beside the slider.

    Parameters
    ----------
    value : int or float
        What it begins with. An int makes a slider of integers.
    min, max : int or float
    step : int or float, optional
        1 for integers, else a hundredth of the range. A value between two steps stays what it is
        until the slider is moved.
    unit : str
        Stands behind the number: ``"s"``.

    Attributes
    ----------
    mark : float or None
        Another value of interest, shown as a tick: what a comparison is made with.
    continuous_update : bool
        Whether it follows each step of a drag, or waits until it is released.

    Examples
    --------
    >>> slider = Slider(3, 0, 10)
    >>> slider.value = 12
    >>> slider.value
    10
    """

    kind = "slider"
    step = traitlets.Any()
    mark = traitlets.Any(None)
    continuous_update = traitlets.Bool(True)

    def __init__(
        self,
        value: float = 0,
        min: float = 0,
        max: float = 100,
        step: float | None = None,
        *,
        unit: str = "",
        **traits: Any,
    ) -> None:
        whole = type(value) is int
        if step is None:
            step = 1 if whole else (max - min) / 100
        super().__init__(value, min, max, whole=whole, unit=unit, step=step, **traits)

    def look(self) -> Json:
        """Add steps and tick."""
        more = {"step": self.step, "mark": self.mark, "live": self.continuous_update}
        return {**super().look(), **more}


class Number(_Bounded):
    """A number that is typed, where a slider would be too coarse.

    Examples
    --------
    >>> Number(7, 0, 10**6).value
    7
    """

    kind = "number"

    def __init__(
        self, value: float = 0, min: float = -1e9, max: float = 1e9, *, unit: str = "", **more: Any
    ) -> None:
        super().__init__(value, min, max, whole=type(value) is int, unit=unit, **more)


class _Selection(Control):
    """One of several values, each with a label; they are told apart as ``==`` tells them apart.

    The browser knows the labels, and the place of the one that is chosen.
    """

    value = traitlets.Any()
    options = traitlets.Any()

    def __init__(self, options: Sequence[Any], value: Any = ..., **traits: Any) -> None:
        self._labels: list[str] = []
        self._items: list[Any] = []
        super().__init__(options=options, **traits)
        self.value = self._items[0] if value is ... else value

    @traitlets.validate("options")
    def _pairs(self, proposal: Any) -> list[Any]:
        options = list(proposal["value"])
        if not options:
            raise traitlets.TraitError("there must be something to choose from")
        return options

    @traitlets.observe("options")
    def _keep_one_of_them(self, change: Any) -> None:
        pairs = [
            option if isinstance(option, tuple) else (option, option) for option in self.options
        ]
        self._labels, self._items = [str(label) for label, _ in pairs], [item for _, item in pairs]
        if change["old"] is not traitlets.Undefined and self.value not in self._items:
            self.value = self._items[0]

    @traitlets.validate("value")
    def _one_of_them(self, proposal: Any) -> Any:
        value = proposal["value"]
        if value not in self._items:
            raise traitlets.TraitError(
                f"{value!r} cannot be chosen; there are: {', '.join(self._labels)}"
            )
        return self._items[self._items.index(value)]

    def look(self) -> Json:
        """Add the labels."""
        return {**super().look(), "words": self._labels}

    def sent(self) -> int:
        """Return the place of the value."""
        return self._items.index(self.value)

    def receive(self, value: Any) -> None:
        """Choose by place."""
        if not isinstance(value, int) or not 0 <= value < len(self._items):
            raise traitlets.TraitError(f"there is no choice number {value!r}")
        self.value = self._items[value]


class Choice(_Selection):
    """A list to choose from.

    Parameters
    ----------
    options : sequence
        Values, or pairs of a label and a value.
    value : anything, optional
        What is chosen at first; the first of them by default.

    Examples
    --------
    >>> choice = Choice(["SGD", "Adam"])
    >>> choice.value = "Adam"
    """

    kind = "choice"


class SelectionSlider(_Selection):
    """Values in an order that are dragged through, such as 0.001, 0.01, 0.1.

    Examples
    --------
    >>> SelectionSlider([("0.1", 0.1), ("1", 1.0)], 1.0).value
    1.0
    """

    kind = "slider"
    continuous_update = traitlets.Bool(True)

    def look(self) -> Json:
        """Add what makes it a slider of places."""
        place = {"min": 0, "max": len(self._labels) - 1, "step": 1, "whole": True, "unit": ""}
        return {**super().look(), **place, "mark": None, "live": self.continuous_update}


class CodeLine(_Selection):
    """A line of code with a choice beside it: what is to be done with this line.

    Parameters
    ----------
    options, value
        As of ``Choice``.
    number : int
        Of the line.
    code : str
        Its text.
    before, after : sequence of (int, str)
        Lines without a choice that stand above and below it, with their numbers.

    Attributes
    ----------
    remark : str
        What is to be said of the line now, such as that it fails.

    Examples
    --------
    >>> CodeLine(["as written", "no_grad"], number=3, code="y = x * w").look()["code"]
    'y = x * w'
    """

    kind = "line"

    remark = traitlets.Unicode("")

    def __init__(
        self,
        options: Sequence[Any],
        value: Any = ...,
        *,
        number: int,
        code: str,
        before: Sequence[tuple[int, str]] = (),
        after: Sequence[tuple[int, str]] = (),
        **traits: Any,
    ) -> None:
        self._line = {"number": number, "code": code}
        self._lines = {"before": [*map(list, before)], "after": [*map(list, after)]}
        super().__init__(options, value, **traits)

    def look(self) -> Json:
        """Add the line, and those around it."""
        return {**super().look(), **self._line, **self._lines, "remark": self.remark}


class Switch(Control):
    """Something that is on or off.

    Examples
    --------
    >>> Switch(True).value
    True
    """

    kind = "switch"
    value = traitlets.Bool(False)

    def __init__(self, value: bool = False, **traits: Any) -> None:
        super().__init__(value=value, **traits)


class Text(Control):
    """A line of text, taken when Enter is pressed or the field is left.

    Examples
    --------
    >>> Text("5, 2, 3").value
    '5, 2, 3'
    """

    kind = "text"
    value = traitlets.Unicode("")

    def __init__(self, value: str = "", **traits: Any) -> None:
        super().__init__(value=value, **traits)


class Button(Control):
    """Something to be done when it is pressed.

    Examples
    --------
    >>> button = Button(description="again")
    >>> button.on_click(lambda pressed: print("pressed"))
    >>> button.click()
    pressed
    """

    kind = "button"
    value = None

    def __init__(self, **traits: Any) -> None:
        self._answers: list[Pressed] = []
        super().__init__(**traits)

    def on_click(self, answer: Pressed) -> None:
        """Have ``answer`` called with this button each time that it is pressed."""
        self._answers.append(answer)

    def click(self) -> None:
        """Press it."""
        for answer in self._answers:
            answer(self)

    def receive(self, value: Any) -> None:
        """Press it."""
        self.click()
