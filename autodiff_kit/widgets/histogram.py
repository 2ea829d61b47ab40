"""One gradient as a histogram: how its numbers spread, and how many are exactly 0.

After reading you can say why a mean hides dead units. All numbers are the kit's own.
Read next: ``descent.py``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

import autodiff_kit as ak
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.plots import Bars, Drawing, Plot
from autodiff_kit.view.scales import Scale, label
from autodiff_kit.widgets.controls import Choice, Slider, Switch
from autodiff_kit.widgets.gradients import LEFT, RIGHT, WIDTH, LivePlot
from autodiff_kit.widgets.running import (
    OTHER_TENSORS,
    Refused,
    is_pytorch,
    with_article,
)

__all__ = ["GradientHistogram"]

_HELP = {
    "tensor": "Whose .grad is counted.",
    "bins": "How many bars there are.",
    "log": "Count on a scale of powers of ten, on which a few numbers are seen beside many.",
}


class GradientHistogram(LivePlot):
    """What the numbers of one gradient are like: how many are large, small, nothing at all.

    The standard deviation is that of ``x.grad.std()``: the squares are divided by n - 1.

    Parameters
    ----------
    source : Tensor, Module or mapping
        A tensor with a ``.grad``; or several by name, to choose from: a model, or
        ``{"first": w1, "second": w2}``.

    Raises
    ------
    TypeError
        If it is none of these. A gradient that is not there yet is said in the lab.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> GradientHistogram(x)
    GradientHistogram(3 numbers from 2 to 6, mean 4, standard deviation 2.)
    """

    def __init__(
        self,
        source: Tensor | ak.nn.Module | Mapping[str, Tensor],
        *,
        bins: int = 30,
        title: str = "",
    ) -> None:
        tensors: Mapping[str, Tensor]
        if is_pytorch(source):
            raise TypeError(f"this {type(source).__name__} is of PyTorch itself.\n{OTHER_TENSORS}")
        if isinstance(source, Tensor):
            tensors = {"": source}
        elif isinstance(source, ak.nn.Module):
            tensors = dict(source.named_parameters())
        else:
            tensors = source if isinstance(source, Mapping) else {}
        if not tensors or not all(isinstance(value, Tensor) for value in tensors.values()):
            raise TypeError(
                "GradientHistogram shows the gradient of a tensor, and this is "
                f"{with_article(type(source).__name__)} without one.\n"
                "-> Give a tensor or parameter, a model, or tensors by name."
            )
        self._tensors = dict(tensors)
        controls = {
            "tensor": Choice(list(self._tensors), description="gradient of", help=_HELP["tensor"]),
            "bins": Slider(min(max(bins, 2), 80), 2, 80, description="bars", help=_HELP["bins"]),
            "log": Switch(description="powers of ten", help=_HELP["log"]),
        }
        if len(self._tensors) == 1:
            controls["tensor"].is_visible = False
        super().__init__(controls, title=title)

    def draw(self) -> None:
        """Count and draw; ``refresh()`` does it again after another backward."""
        numbers = self._numbers()
        words = self._words(numbers)
        self.show(self._picture(numbers, words), words)

    def _numbers(self) -> NDArray[np.float64]:
        name = self.controls["tensor"].value
        tensor, title = self._tensors[name], name or "the tensor"
        if not tensor.requires_grad:
            raise Refused(
                f"{title} does not ask for a gradient.\n"
                "-> Make it with requires_grad=True, then call backward() on a result."
            )
        if not tensor.is_leaf and not tensor.retains_grad:
            raise Refused(
                f"{title} is not a leaf: backward() passes its gradient on without retaining it.\n"
                "-> Call .retain_grad() on it before backward()."
            )
        if tensor.grad is None:
            raise Refused(
                f"{title} has no gradient yet: its .grad is None.\n"
                "-> Call backward() on a result that depends on it, then refresh() here."
            )
        return np.array(tensor.grad.detach().numpy(), dtype=float).ravel()

    def _words(self, numbers: NDArray[np.float64]) -> str:
        finite = numbers[np.isfinite(numbers)]
        name = self.controls["tensor"].value
        words = f"{name}: " if name else ""
        only = "finite " * (finite.size < numbers.size)
        words += f"{finite.size or 'no'} {only}number{'s' * (finite.size != 1)}"
        if finite.size > 1:
            low, high = label(finite.min()), label(finite.max())
            words += f" from {low} to {high}" if low != high else f", all of them {low}"
            words += (
                f", mean {label(finite.mean())}, standard deviation {label(finite.std(ddof=1))}"
            )
        elif finite.size:
            words += f": {label(finite[0])}"
        words += "."
        zeros = int((finite == 0).sum())
        if zeros and finite.size > 1:
            part = label(100 * zeros / finite.size)
            words += f" Exactly 0: {zeros} of them ({part} %)."
        if only:
            words += f" Besides, nan or inf, and not drawn: {numbers.size - finite.size}."
        return words[:1].upper() + words[1:] if not name else words

    def _counts(
        self, numbers: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        finite = numbers[np.isfinite(numbers)]
        low, high = (finite.min(), finite.max()) if finite.size else (-1.0, 1.0)
        room = 0.0 if high - low > 1e-12 * max(abs(low), abs(high)) else abs(low) / 10 or 1.0
        return np.histogram(finite, int(self.controls["bins"].value), (low - room, high + room))

    def _picture(self, numbers: NDArray[np.float64], words: str) -> Drawing:
        counts, edges = self._counts(numbers)
        highest = max(int(counts.max()), 1)
        log = self.controls["log"].value
        top = 10.0 ** math.ceil(math.log10(highest) + 0.05) if log else highest * 1.06
        up = Scale(0.7 if log else 0.0, top, 270.0, 20.0, log, whole=True)
        room = 0.03 * (edges[-1] - edges[0])
        across = Scale(float(edges[0] - room), float(edges[-1] + room), LEFT, RIGHT)
        plot = Plot(across, up, x_label="value in .grad", y_label="how many")
        pairs = [(float(a), float(b)) for a, b in pairwise(edges)]
        heights = [float(count) if count else (0.0 if not log else math.nan) for count in counts]
        names = [
            f"{count} from {label(a)} to {label(b)}"
            for count, (a, b) in zip(counts, pairs, strict=True)
        ]
        plot.add(Bars(pairs, heights, names, "grad-bar"))
        if across.holds(0.0):
            plot.curve([0.0, 0.0], [up.low, up.high], "level")
        name = self.controls["tensor"].value
        return Drawing([plot], WIDTH, 318.0, f"Gradient of {name or 'a tensor'}", words)
