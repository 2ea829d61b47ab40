"""What proves the answers of lesson 12: the same data, the same networks, trained again."""

from functools import lru_cache
from itertools import pairwise
from typing import Any

from autodiff_kit.lessons.datasets import digits
from tests.lessons.proofs import proves


def build(torch: Any, layers: int, activation: Any) -> Any:
    torch.manual_seed(0)
    sizes = [64] + [32] * (layers - 1)
    parts = []
    for inputs, outputs in pairwise(sizes):
        parts += [torch.nn.Linear(inputs, outputs), activation()]
    return torch.nn.Sequential(*parts, torch.nn.Linear(sizes[-1], 10))


@lru_cache
def accuracy(torch: Any, layers: int, activation: str) -> float:
    x_train, y_train, x_test, y_test = map(torch.tensor, digits())
    model = build(torch, layers, getattr(torch.nn, activation))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(20):
        for k in range(0, len(x_train), 256):
            out = model(x_train[k : k + 256])
            loss = torch.nn.functional.cross_entropy(out, y_train[k : k + 256])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        right = model(x_test).argmax(1) == y_test
    return float(right.float().mean().item())


@proves("12.start")
def _(torch: Any) -> str:
    nothing = torch.zeros(1, 10)
    loss = torch.nn.functional.cross_entropy(nothing, torch.tensor([3]))
    return str(loss.item())


@proves("12.deep")
def _(torch: Any) -> str:
    shallow = accuracy(torch, 2, "Sigmoid")
    deep = accuracy(torch, 8, "Sigmoid")
    assert accuracy(torch, 2, "Tanh") > 0.9  # "over 90 %", says the lesson
    if deep < 0.15:
        return "no more than by guessing, one in ten"
    if abs(deep - shallow) < 0.03:
        return "about the same"
    return "more than the network of two layers"


@proves("12.slopes")
def _(torch: Any) -> str:
    x = torch.linspace(-5, 5, 101, requires_grad=True)
    torch.sigmoid(x).sum().backward()
    sigmoids = build(torch, 8, torch.nn.Sigmoid)
    count = sum(isinstance(part, torch.nn.Sigmoid) for part in sigmoids)
    return str((1 / x.grad.max().item()) ** count)


@proves("12.race")
def _(torch: Any) -> str:
    x_train, y_train, _, _ = map(torch.tensor, digits())
    chosen = (y_train == 3) | (y_train == 8)
    ink = x_train[chosen].reshape(-1, 8, 8)[:, 2:6, 3:5].mean((1, 2)).double()
    eight = (y_train[chosen] == 8).double()
    ends = {}
    for name, kind, options in (
        ("SGD", torch.optim.SGD, {}),
        ("SGD with momentum 0.9", torch.optim.SGD, {"momentum": 0.9}),
        ("Adam", torch.optim.Adam, {}),
    ):
        point = [torch.tensor(value, requires_grad=True) for value in (-4.0, 4.0)]
        optimizer = kind(point, lr=0.5, **options)
        for _step in range(60):
            w, b = point
            loss = torch.nn.functional.binary_cross_entropy_with_logits(w * ink + b, eight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        ends[name] = loss.item()
    return min(ends, key=ends.__getitem__)


@proves("12.task")
def _(torch: Any) -> str:
    x_train, y_train, _, _ = map(torch.tensor, digits())
    sizes = []
    for factor in (1.0, 4.0):
        model = build(torch, 8, torch.nn.ReLU)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter *= factor
        torch.nn.functional.cross_entropy(model(x_train[:64]), y_train[:64]).backward()
        sizes.append(model[0].weight.grad.norm().item())
    larger = sizes[1] / sizes[0]
    if larger > 1000:
        return "it gets more than 1000 times larger"
    return "it gets about 4 times larger" if larger > 2 else "it stays about the same"
