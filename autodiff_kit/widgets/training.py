"""Gradients of whole networks: their size in every layer, over a training run, beside the signal.

After reading you can see whether the gradient of your network vanishes or explodes before it
reaches the first layer, whether what tells the examples apart reaches the last one, and what a
frozen layer changes. Read next: ``gradients.py``, functions of one and two numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import autodiff_kit as ak
from autodiff_kit.view.plots import Curve, Drawing, Handle, Mark, Plot, Words, spread
from autodiff_kit.view.scales import Scale, label
from autodiff_kit.widgets.controls import Choice, Control, Slider
from autodiff_kit.widgets.gradient_sizes import Sizes, measure_training
from autodiff_kit.widgets.gradients import LEFT, RIGHT, WIDTH, LivePlot
from autodiff_kit.widgets.layer_bars import evenly, layer_bars, powers_of_ten
from autodiff_kit.widgets.running import (
    OTHER_TENSORS,
    Refused,
    is_pytorch,
    name_of,
    refuse_class,
    with_article,
)

__all__ = ["GradientFlow"]

KINDS = ["weights", "biases", "all parameters"]
_HELP = {
    "kind": "Which parameters of the layers are shown.",
    "step": "The backward pass that the bars are of. You can also drag the line in the plot.",
    "frozen": "The layer that keeps its first weights. The model is trained anew from the start.",
}
NAMED = 12  # lines that get their names; of more, some are named
DOTS = {"tangent": "dot", "path": "dot", "middle": "frame"}  # in the colour of their line
_NOTHING = "nothing"  # is frozen
BOTTOM = 210.0  # px, of the lines; the bars stand below


class GradientFlow(LivePlot):
    """Size of the gradient in every layer over a training run; drag the line to any step.

    Above, one line a layer over the steps; below, all layers at one step: in the forward pass, how
    much their results differ from example to example, and in the backward pass, how large the
    gradient is. What is under `vanishing` or over `exploding` is said in words.

    A layer that is frozen keeps its first weights: the model is trained anew, from the same start,
    and stays as the latest training has left it. Layers before it may still be trained.

    Parameters
    ----------
    source : Module or mapping
        A model to be trained; or sizes that were noted already, ``{"layer 1": [0.1, 0.2], ...}``,
        from the first layer to the last. None, or a list that is shorter than others, says that a
        layer got no gradient at a step.
    train : callable, optional
        With a model: called with it, does the training, once for each choice of what is frozen. If
        it returns a number, such as an accuracy, the caption says it. See ``measure_training``.
    vanishing, exploding : float
        Rules of thumb: below 1e-6 a step of gradient descent hardly moves a weight any more, and
        above 1e3 it throws it far off.

    Attributes
    ----------
    sizes : dict from str to list of (float or None)
        Of the gradients, by the names of the parameters.
    signals : dict from str to list of (float or None)
        How much the results of each layer differ from example to example; empty without a model.

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
        self.sizes: Sizes = {}
        self.signals: Sizes = {}
        self._paths: dict[str, list[str]] = {_NOTHING: []}  # of layers, by what can be frozen
        self._values: dict[str, float] = {}  # what the training returned, by what was frozen
        self._without_grad: list[str] = []  # what does not require a gradient
        # The lines of each kind, and their ends.
        self._plots: dict[str, tuple[Plot, list[float]]] = {}
        self._count = 0  # of steps
        self._start: Any = None  # weights and random numbers before the first training
        controls: dict[str, Control] = {
            "kind": Choice(KINDS, description="show", help=_HELP["kind"]),
            "step": Slider(0, 0, 0, help=_HELP["step"]),
        }
        if isinstance(source, ak.nn.Module) and len(paths := _trained_paths(source)) > 1:
            self._paths |= {_layer(path): [path] for path in paths}
            if len(paths) > 2:
                self._paths[f"all but {_layer(paths[-1])}"] = paths[:-1]
            controls["frozen"] = Choice(list(self._paths), help=_HELP["frozen"])
        super().__init__(controls, title=title)

    def dragged(self, *point: float) -> None:
        """Go to the step that the line was dragged to."""
        if point:
            self.controls["step"].value = round(point[0])

    def draw(self) -> None:
        """Train once for each choice of what is frozen; then show what was noted."""
        frozen = self._frozen()
        if not self.sizes or self._drawn_with != frozen:
            self._note_sizes(frozen)
            self._drawn_with = frozen
        layers = self._layers()
        step = self.controls["step"].value
        words = self._words(layers, step)
        self.show(self._picture(layers, step, words), words, (step, self._grip))

    def _frozen(self) -> str:
        """Return what is to keep its weights."""
        return str(self.controls["frozen"].value) if "frozen" in self.controls else _NOTHING

    def _note_sizes(self, frozen: str) -> None:
        if isinstance(self._source, ak.nn.Module):
            self._train_model(self._source, frozen)
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
        is_same = bool(self._plots) and self._count == steps
        self._count, self._plots = steps, {}
        self.controls["step"].set_trait("max", steps - 1)
        if not is_same:
            self.controls["step"].value = steps - 1

    def _train_model(self, model: ak.nn.Module, frozen: str) -> None:
        """Train with some layers frozen: always from the same weights and random numbers."""
        assert self._train is not None
        if self._start is None:
            state = {name: value.clone() for name, value in model.state_dict().items()}
            self._start = state, ak.random.get_rng_state()
        else:
            model.load_state_dict(self._start[0])
            ak.random.set_rng_state(self._start[1])
            model.zero_grad()
        parameters = dict(model.named_parameters())
        own = {name for name in parameters if name.rpartition(".")[0] in self._paths[frozen]}
        own = {name for name in own if parameters[name].requires_grad}
        try:
            for name in own:
                parameters[name].requires_grad_(False)
            run = measure_training(model, self._train)
            self._without_grad = [n for n, p in parameters.items() if not p.requires_grad]
        finally:
            for name in own:
                parameters[name].requires_grad_(True)
        self.sizes, self.signals = run.gradients, run.signals
        value = run.value
        if isinstance(value, ak.Tensor) and value.numel() == 1:
            value = value.item()
        if isinstance(value, int | float) and not isinstance(value, bool):
            self._values[frozen] = value

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
        without = {_layer(name.removesuffix(self._ending)) for name in self._without_grad}
        frozen = [name for name in never if name in without]
        if frozen:
            words += f" requires_grad is False in {_some(frozen, len(all_now))}."
        return words + self._signal_words(layers, step) + self._value_words()

    def _signal_words(self, layers: Iterable[str], step: int) -> str:
        """Return how far the differences between the examples come in the forward pass."""
        signals = [(name, self._signal(name, step)) for name in layers]
        values = [(name, value) for name, value in signals if value is not None]
        if len(values) < 2 or values[0][1] == values[-1][1]:
            return ""
        (first, begin), (last, end) = values[0], values[-1]
        return (
            f" Forward, the results for different examples differ by {label(begin)} in {first} "
            f"and by {label(end)} in {last}."
        )

    def _value_words(self) -> str:
        """Return what the training returned, if that is a number."""
        frozen = self._frozen()
        value = self._values.get(frozen)
        if value is None or self._train is None:
            return ""
        words = f" {name_of(self._train)} returned {label(value)}".replace(" the", " The", 1)
        if frozen != _NOTHING and _NOTHING in self._values:
            words += f", and {label(self._values[_NOTHING])} with no layer frozen"
        return f"{words}."

    def _signal(self, layer: str, step: int) -> float | None:
        """Return the signal of what is shown as ``(0)``, ``block.0`` or ``0.weight``."""
        path = layer.rpartition(".")[0] if not self._ending else layer
        for name, values in self.signals.items():
            if path in (name, _layer(name)) and step < len(values):
                return values[step]
        return None

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
        return Scale(*powers_of_ten([v for vs in layers.values() for v in vs]), start, end, True)

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
                look = "tangent" if i in present[:1] else "path" if i in present[-1:] else "middle"
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
        to_name = [present[k] for k in evenly(len(present), NAMED)] or [0]
        room = min(max(len(names[i]) for i in to_name), 18) * 7.2 + 12
        up = self._up(layers, BOTTOM, 18.0)
        across = Scale(0.0, float(max(steps - 1, 1)), LEFT, RIGHT - room, whole=True)
        lines, ends = self._lines(layers, across, up)
        plot = Plot(across, up, x_label="step", y_label="size of gradient", under=lines)
        plot.level(self._limits[0], "below: vanishing", below=True)
        plot.level(self._limits[1], "above: exploding")
        rows = [min(max(up(ends[i]), 18.0), BOTTOM) for i in to_name]
        names_of_lines: list[Mark] = []
        left = RIGHT - room
        for i, row, y in zip(to_name, rows, spread(rows, 15.0, 22.0, BOTTOM), strict=True):
            text = names[i] if len(names[i]) <= 18 else f"{names[i][:17]}…"
            names_of_lines.append(Curve([left + 2, left + 9], [row, y], "lead"))
            names_of_lines.append(Words(left + 12, y + 4, text, look="ink"))
        self._grip = up.high / (up.high / up.low) ** 0.06
        plot.curve([step, step], [up.low, up.high], "cursor")
        plot.add(Handle(float(step), self._grip, "Step", along="x", step=1.0))
        parts: list[Plot | Mark] = [plot, *names_of_lines]
        top = BOTTOM + 76.0
        words_above = "forward: how much results differ from example to example"
        if self.signals:
            signals = [self._signal(name, step) for name in names]
            every = [v for values in self.signals.values() for v in values]
            scale = Scale(*powers_of_ten(every), top + 80, top, True)
            parts += layer_bars(names, signals, scale, heading=words_above)
            top += 80 + 60
        sizes = [values[step] for values in layers.values()]
        scale = Scale(up.low, up.high, top + 80, top, True)
        heading = "backward: size of the gradient" if self.signals else ""
        x_label = f"layers at step {step}, from the first to the last"
        parts += layer_bars(names, sizes, scale, self._limits, heading=heading, x_label=x_label)
        title = "Size of the gradient in each layer"
        return Drawing(parts, WIDTH, top + 125, title, words)


def _trained_paths(model: ak.nn.Module) -> list[str]:
    """Return the paths of the modules that have parameters to be trained, in order."""
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    return list(dict.fromkeys(name.rpartition(".")[0] for name in names))


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
