"""Gradients of whole networks: their size in every layer, over a training run, and their spread.

After reading you can see whether the gradient of your network vanishes or explodes before it
reaches the first layer, and what the numbers of one gradient are like. Read next:
``gradients.py``, functions of one and two numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import autodiff_kit as ak
from autodiff_kit.view.plots import Bars, Curve, Drawing, Handle, Mark, Plot, Words, spread
from autodiff_kit.view.scales import Scale, label, text_width
from autodiff_kit.widgets.controls import Choice, Slider
from autodiff_kit.widgets.gradient_sizes import gradient_sizes
from autodiff_kit.widgets.gradients import LEFT, RIGHT, WIDTH, LivePlot
from autodiff_kit.widgets.running import (
    OTHER_TENSORS,
    Refused,
    is_pytorch,
    refuse_class,
    with_article,
)

__all__ = ["GradientFlow"]

NAMED = 12  # lines that get their names; of more, some are named
DOTS = {"tangent": "dot", "curve": "bar", "middle": "frame"}  # in the colour of their line
LIMITS = (1e-12, 1e12)  # sizes are drawn between these


class GradientFlow(LivePlot):
    """Size of the gradient in every layer over a training run; drag the line to any step.

    Above, one line a layer over the steps, below, all layers at one step. What is under
    `vanishing` or over `exploding` is said in words.

    Parameters
    ----------
    source : Module or mapping
        A model to be trained; or sizes that were noted already, ``{"layer 1": [0.1, 0.2], ...}``,
        from the first layer to the last. None, or a list that is shorter than others, says that a
        layer got no gradient at a step.
    train : callable, optional
        With a model: called with it, once, does the training. See ``gradient_sizes``.
    vanishing, exploding : float
        Rules of thumb: below 1e-6 a step of gradient descent hardly moves a weight any more, and
        above 1e3 it throws it far off.

    Raises
    ------
    TypeError
        If `source` is neither; the message says what to give. What goes wrong in the training is
        said in the lab.

    Examples
    --------
    >>> lab = GradientFlow({"first": [1e-8, 2e-8], "last": [0.1, 0.2]})
    >>> lab.sizes["last"]
    [0.1, 0.2]
    >>> lab.controls["step"].value = 0
    """

    def __init__(
        self,
        source: ak.nn.Module | Mapping[str, Sequence[float | None]],
        train: Callable[[ak.nn.Module], Any] | None = None,
        *,
        vanishing: float = 1e-6,
        exploding: float = 1e3,
        title: str = "",
    ) -> None:
        if isinstance(source, ak.nn.Module) and not callable(train):
            raise TypeError(
                "GradientFlow needs a function that trains the model.\n"
                "-> GradientFlow(model, train) with def train(model): ... and its training loop."
            )
        refuse_class(source)
        if is_pytorch(source):
            raise TypeError(f"the model is one of PyTorch itself.\n{OTHER_TENSORS}")
        if not isinstance(source, ak.nn.Module | Mapping):
            raise TypeError(
                "GradientFlow shows a model or sizes of gradients, and this is "
                f"{with_article(type(source).__name__)}.\n"
                '-> GradientFlow(model, train), or GradientFlow({"layer 1": [0.1, 0.2], ...}).'
            )
        self._source, self._train = source, train
        self._limits = vanishing, exploding
        self.sizes: dict[str, list[float | None]] = {}
        self._frozen: list[str] = []  # what does not require a gradient
        self._plots: dict[
            str, tuple[Plot, list[float]]
        ] = {}  # the lines of each kind, and their ends
        controls = {
            "kind": Choice(["weights", "biases", "all parameters"], description="show"),
            "step": Slider(0, 0, 0),
        }
        super().__init__(controls, title=title)

    def dragged(self, *point: float) -> None:
        """Go to the step that the line was dragged to."""
        if point:
            self.controls["step"].value = round(point[0])

    def draw(self) -> None:
        """Train once; then show what was noted."""
        if not self.sizes:
            self._note_sizes()
        layers = self._layers()
        step = self.controls["step"].value
        words = self._words(layers, step)
        self.show(self._picture(layers, step, words), words, (step, self._grip))

    def _note_sizes(self) -> None:
        if isinstance(self._source, ak.nn.Module):
            assert self._train is not None
            self.sizes = gradient_sizes(self._source, self._train)
            parameters = self._source.named_parameters()
            self._frozen = [name for name, parameter in parameters if not parameter.requires_grad]
        else:
            self.sizes = {
                str(name): [None if v is None else _size_of(name, v) for v in _listed(name, values)]
                for name, values in self._source.items()
            }
        steps = max(map(len, self.sizes.values()), default=0)
        if not steps:
            raise Refused('There are no sizes to show.\n-> Give {"layer 1": [0.1, 0.2], ...}.')
        kinds = {name.rpartition(".")[2] for name in self.sizes}
        if not {"weight", "bias"} <= kinds:
            self.controls["kind"].value = "all parameters"
            self.controls["kind"].is_visible = False
        self.controls["step"].set_trait("max", steps - 1)
        self.controls["step"].value = steps - 1

    @property
    def _ending(self) -> str:
        return {"weights": ".weight", "biases": ".bias"}.get(self.controls["kind"].value, "")

    def _layers(self) -> dict[str, list[float | None]]:
        """Return the chosen parameters, all of one length; a layer's name loses ``.weight``."""
        ending = self._ending
        layers = {
            _layer(name.removesuffix(ending)): values
            for name, values in self.sizes.items()
            if f".{name}".endswith(ending)
        }
        if not layers:
            raise Refused(f"The model has no {self.controls['kind'].value}.")
        steps = max(map(len, layers.values()))
        return {name: vs + [None] * (steps - len(vs)) for name, vs in layers.items()}

    def _words(self, layers: Mapping[str, Sequence[float | None]], step: int) -> str:
        vanishing, exploding = self._limits
        all_now = {name: values[step] for name, values in layers.items()}
        now = {name: value for name, value in all_now.items() if value is not None}
        missing = [name for name in all_now if name not in now]
        steps = max(map(len, layers.values()))
        names = list(now)
        words = f"Step {step} (of {steps}, counted from 0). "
        if not names:
            elsewhere = self._others(step, lambda _: True)
            words += "No gradient reached any layer at this step"
            words += f", of the {self.controls['kind'].value} shown." if elsewhere else "."
            return words
        first, last = now[names[0]], now[names[-1]]
        if len(names) > 1:
            only = " that has one" * bool(missing)
            words += f"Size of the gradient in the first layer{only}, {names[0]}: {label(first)}, "
            words += f"in the last, {names[-1]}: {label(last)}."
            if 0 < first < last < math.inf and last / first >= 2:
                words += f" In the first it is {_times(last / first)} times smaller."
            elif 0 < last < first < math.inf and first / last >= 2:
                words += f" In the first it is {_times(first / last)} times larger."
        else:
            words += f"Size of the gradient: {label(first)}."
        small = [name for name, v in now.items() if v < vanishing]
        large = [name for name, v in now.items() if v > exploding]
        undefined = [name for name, v in now.items() if v != v]
        among = None if len(small) == len(now) else small
        learning = self._others(step, lambda size: not size < vanishing, among)
        if len(small) == len(now):
            where = "in all layers that have one" if missing else "everywhere"
            words += f" It is below {label(vanishing)} {where}"
            words += "." if learning else ": a step of gradient descent changes hardly anything."
        elif small:
            words += f" It vanishes in {_some(small, len(now))}, below {label(vanishing)}"
            words += "." if learning else ": a step of gradient descent hardly changes them."
        if learning:
            words += f" That is said of the {self.controls['kind'].value} shown: "
            words += f"the gradient of {_listing(learning)} is not so small."
        if large:
            words += f" It explodes in {_some(large, len(now))}, above {label(exploding)}: "
            words += "without clipping, a step of gradient descent throws these weights far off."
        if undefined:
            words += f" It is nan in {_some(undefined, len(now))}: not a number, as after 0 / 0 or "
            words += "inf - inf; a step makes these weights nan."
        if not small and not large and not undefined:
            odd = self._others(step, lambda size: not vanishing <= size <= exploding)
            words += " It neither vanishes nor explodes"
            words += f" in the {self.controls['kind'].value} shown; " if odd else "."
            words += f"it does, or is nan, in {_listing(odd)}." if odd else ""
        never = [name for name in missing if _is_empty(layers[name])]
        for when, which in (
            ("this", [name for name in missing if name not in never]),
            ("any", never),
        ):
            if which:
                words += f" No gradient at {when} step: {_some(which, len(all_now))}."
        frozen_names = {_layer(name.removesuffix(self._ending)) for name in self._frozen}
        frozen = [name for name in never if name in frozen_names]
        if frozen:
            words += f" requires_grad is False in {_some(frozen, len(all_now))}."
        return words

    def _others(
        self, step: int, holds: Callable[[float], bool], layers: Collection[str] | None = None
    ) -> list[str]:
        """Return what is not shown, of these layers or of all, and has such a size at a step."""
        ending = self._ending
        return [
            name
            for name, values in self.sizes.items()
            if not f".{name}".endswith(ending) and step < len(values)
            if (size := values[step]) is not None and holds(size)
            if layers is None or _layer(name.rpartition(".")[0]) in layers
        ]

    def _up(self, layers: Mapping[str, Sequence[float | None]], start: float, end: float) -> Scale:
        low, high = LIMITS
        sizes = [v for vs in layers.values() for v in vs if v is not None and low <= v <= high]
        powers = [math.log10(v) for v in sizes] or [-1.0, 0.0]
        bottom, top = math.floor(min(powers)), math.ceil(max(powers))
        return Scale(10.0**bottom, 10.0 ** max(top, bottom + 1), start, end, True)

    def _lines(
        self, layers: Mapping[str, Sequence[float | None]], across: Scale, up: Scale
    ) -> tuple[Plot, list[float]]:
        """Return the lines and where they end; they stay while only the step changes."""
        kind = self.controls["kind"].value
        if kind not in self._plots:
            plot, ends = Plot(across, up), []
            present = [i for i, values in enumerate(layers.values()) if not _is_empty(values)]
            for i, values in enumerate(layers.values()):
                # What is 0, nan or inf cannot stand on a scale of powers of ten.
                ys = [v if v is not None and v > 0 else math.nan for v in values]
                look = "tangent" if i in present[:1] else "curve" if i in present[-1:] else "middle"
                plot.curve([float(k) for k in range(len(ys))], ys, look)
                padded = [math.nan, *ys, math.nan]
                alone = [
                    (float(k), y)
                    for k, y in enumerate(ys)
                    if not math.isfinite(padded[k]) and not math.isfinite(padded[k + 2])
                ]
                if alone:  # no line goes through them
                    plot.dots(alone, DOTS[look])
                ends.append(next((v for v in reversed(ys) if math.isfinite(v)), up.low))
            self._plots[kind] = plot, ends
        return self._plots[kind]

    def _picture(
        self, layers: Mapping[str, Sequence[float | None]], step: int, words: str
    ) -> Drawing:
        names = list(layers)
        steps = max(map(len, layers.values()))
        present = [i for i, values in enumerate(layers.values()) if not _is_empty(values)]
        to_name = [present[k] for k in _evenly(len(present), NAMED)] or [0]
        room = min(max(len(names[i]) for i in to_name), 18) * 7.2 + 12
        up = self._up(layers, 270.0, 18.0)
        across = Scale(0.0, float(max(steps - 1, 1)), LEFT, RIGHT - room, whole=True)
        lines, ends = self._lines(layers, across, up)
        plot = Plot(across, up, x_label="step", y_label="size of gradient", under=lines)
        plot.level(self._limits[0], "below: vanishing", below=True)
        plot.level(self._limits[1], "above: exploding")
        rows = [min(max(up(ends[i]), 18.0), 270.0) for i in to_name]
        names_of_lines: list[Mark] = []
        left = RIGHT - room
        for i, row, y in zip(to_name, rows, spread(rows, 15.0, 22.0, 270.0), strict=True):
            text = names[i] if len(names[i]) <= 18 else f"{names[i][:17]}…"
            names_of_lines.append(Curve([left + 2, left + 9], [row, y], "lead"))
            names_of_lines.append(Words(left + 12, y + 4, text, look="ink"))
        self._grip = up.high / (up.high / up.low) ** 0.06
        plot.curve([step, step], [up.low, up.high], "cursor")
        plot.add(Handle(float(step), self._grip, "Step", along="x", step=1.0))
        top = 330.0
        has_room = max(map(text_width, names)) < (RIGHT - LEFT) / (len(names) + 0.2)
        ticks = [(i + 1.0, names[i] if has_room else str(i + 1)) for i in _evenly(len(names), 20)]
        below = Plot(
            Scale(0.4, len(names) + 0.6, LEFT, RIGHT),
            Scale(up.low, up.high, top + 100, top, True),
            x_label=f"layers at step {step}, from the first to the last",
            y_label="size",
            x_ticks=ticks,
        )
        for limit in self._limits:
            below.level(limit)
        sizes = [vs[step] for vs in layers.values()]
        now = [math.nan if v is None else v for v in sizes]
        edges = [(i + 0.65, i + 1.35) for i in range(len(names))]
        values = [
            f"{name}: {'no gradient' if v is None else label(v)}"
            for name, v in zip(names, sizes, strict=True)
        ]
        below.add(Bars(edges, now, values))
        for i, v in enumerate(sizes):
            if v is None or v == 0 or not math.isfinite(v):
                text = "\N{EM DASH}" if v is None else f"{v:g}"
                below.add(Words(i + 1.0, up.low, text, anchor="middle", up=4))
        title = "Size of the gradient in each layer"
        return Drawing([plot, *names_of_lines, below], WIDTH, top + 145, title, words)


def _listed(name: Any, values: Any) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise Refused(
            f"{name} has the sizes {values!r}, and not a list.\n"
            '-> Give one number for each step: {"layer 1": [0.1, 0.2], ...}.'
        ) from None


def _size_of(name: Any, value: Any) -> float:
    try:
        size = float(value)
    except (TypeError, ValueError):
        size = -1.0
    if size < 0:
        raise Refused(
            f"{name} has the size {value!r}, which is not a number from 0 on.\n"
            "-> Give a number for each step, or None where there was no gradient."
        )
    return size


def _is_empty(values: Sequence[float | None]) -> bool:
    """Return whether there was no gradient at any step."""
    return all(value is None for value in values)


def _times(ratio: float) -> str:
    return label(float(f"{ratio:.2g}"))


def _layer(name: str) -> str:
    """Write a number as ``Sequential`` prints it: ``(0)``."""
    return f"({name})" if name.isdigit() else name


def _some(names: Sequence[str], of: int) -> str:
    """Return ``"2 of 8 layers, (0), (2)"``."""
    return f"{len(names)} of {of} layers, {_listing(names)}"


def _listing(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + ", ..." * (len(names) > 6)


def _evenly(count: int, most: int) -> list[int]:
    """Return at most so many of 0 ... count-1, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
