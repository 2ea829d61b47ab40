"""One small lab of each kind, for the page that shows the design.

After reading you have an example for each lab of the kit. Read next: ``widgets/gallery.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import autodiff_kit as torch
from autodiff_kit.tensor import Tensor
from autodiff_kit.widgets.batching import Batching
from autodiff_kit.widgets.compare import Compare
from autodiff_kit.widgets.control_flow import ControlFlow
from autodiff_kit.widgets.costs import Costs
from autodiff_kit.widgets.descent import Descent
from autodiff_kit.widgets.grad_mode import GradMode
from autodiff_kit.widgets.histogram import GradientHistogram
from autodiff_kit.widgets.lab import Lab
from autodiff_kit.widgets.memory import MemoryTimeline
from autodiff_kit.widgets.slope import Slope
from autodiff_kit.widgets.stories import ErrorStory
from autodiff_kit.widgets.training import GradientFlow

__all__ = ["sample_labs"]


def branch(x: float = 2.0, w: float = 1.5) -> Any:
    y = w * x
    if y > 0:
        return y * y
    return 0.1 * y


def shares(w: Tensor, x: Tensor) -> Tensor:
    h = x * w
    total = h.sum()
    return (h / total)[0]


def held(depth: int = 3) -> Tensor:
    x = torch.ones(1000, requires_grad=True)
    for _ in range(depth):
        x = x.sin().exp()
    return x.sum()


def twice() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    y.backward()
    y.backward()


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    layers: list[torch.nn.Module] = []
    for _ in range(4):
        layers += [torch.nn.Linear(8, 8), torch.nn.Sigmoid()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(8, 1))


def train(model: torch.nn.Module) -> float:
    x = torch.randn(32, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(20):
        optimizer.zero_grad()
        loss = ((model(x) - 1) ** 2).mean()
        loss.backward()
        optimizer.step()
    return float(loss.item())


def sample_labs() -> Iterator[Lab]:
    first = ControlFlow(branch)
    yield first
    changed = ControlFlow(branch)
    changed.state = {"x": -2.0}
    yield changed
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    yield GradMode(shares, w=w, x=torch.tensor([1.0, 2.0]))
    yield Slope(lambda x: (2 * x).sin() + x * x / 5)
    yield Descent(lambda x, y: x * x + 4 * y * y, start=(2.0, 1.0), lr=0.1, steps=20)
    model = network()
    yield GradientFlow(model, train)
    yield GradientHistogram(model)
    yield MemoryTimeline(held)
    wide = torch.ones(1000, requires_grad=True)
    yield Costs([wide], recorded=torch.sin, no_grad=torch.no_grad()(torch.sin))
    yield Batching(lengths=[5, 2, 3])
    yield Compare(branch)
    yield ErrorStory(twice)
