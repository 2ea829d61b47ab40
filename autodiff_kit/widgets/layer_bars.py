"""One bar for each layer of a network: how large its gradient is, or its signal.

After reading you know on which scale sizes from very small to very large are drawn. Read next:
``training.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from autodiff_kit.view.plots import Bars, Mark, Plot, Words
from autodiff_kit.view.scales import Scale, label, text_width
from autodiff_kit.widgets.gradients import LEFT, RIGHT

__all__ = ["evenly", "layer_bars", "powers_of_ten"]

LIMITS = (1e-12, 1e12)  # sizes are drawn between these


def layer_bars(
    names: Sequence[str],
    sizes: Sequence[float | None],
    up: Scale,
    limits: Sequence[float] = (),
    *,
    heading: str = "",
    x_label: str = "",
) -> list[Plot | Mark]:
    """Return a plot with a bar for each layer, and the words above it.

    Parameters
    ----------
    names : sequence of str
        Of the layers.
    sizes : sequence of (float or None)
    up : Scale
    limits : sequence of float
        Of gradients, what is too small and too large; without limits, sizes are those of signals.
    heading, x_label : str
    """
    has_room = max(map(text_width, names)) < (RIGHT - LEFT) / (len(names) + 0.2)
    ticks = [(i + 1.0, names[i] if has_room else str(i + 1)) for i in evenly(len(names), 20)]
    across = Scale(0.4, len(names) + 0.6, LEFT, RIGHT)
    plot = Plot(across, up, x_label=x_label, y_label="size", x_ticks=ticks)
    for limit in limits:
        plot.level(limit)
    heights = [math.nan if size is None else size for size in sizes]
    edges = [(i + 0.65, i + 1.35) for i in range(len(names))]
    nothing = "no gradient" if limits else "no signal"
    words = [
        f"{name}: {nothing if size is None else label(size)}"
        for name, size in zip(names, sizes, strict=True)
    ]
    plot.add(Bars(edges, heights, words, "grad-bar" if limits else "bar"))
    for i, size in enumerate(sizes):
        if size is None or size == 0 or not math.isfinite(size):
            text = "\N{EM DASH}" if size is None else f"{size:g}"
            plot.add(Words(i + 1.0, up.low, text, anchor="middle", up=4))
    return [plot, Words(LEFT, up.end - 8, heading, look="ink")] if heading else [plot]


def powers_of_ten(sizes: Iterable[float | None]) -> tuple[float, float]:
    """Return the powers of ten between which all sizes lie that can be drawn."""
    low, high = LIMITS
    powers = [math.log10(v) for v in sizes if v is not None and low <= v <= high] or [-1.0, 0.0]
    bottom, top = math.floor(min(powers)), math.ceil(max(powers))
    return 10.0**bottom, 10.0 ** max(top, bottom + 1)


def evenly(count: int, most: int) -> list[int]:
    """Return at most so many of 0 ... count-1, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
