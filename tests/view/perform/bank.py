"""Programs to be performed: each recorded once, with what the tests must know of its branches."""

from __future__ import annotations

import linecache
from functools import cache
from typing import Any, NamedTuple

import autodiff_kit
from autodiff_kit.record import Recording, record


class Program(NamedTuple):
    """A program, and the first lines of the branches that run, in their order."""

    source: str
    ran: tuple[str, ...] = ()


def _leaves(**values: str) -> str:
    return "".join(
        f"{name} = torch.tensor({value}, requires_grad=True)\n" for name, value in values.items()
    )


TWO = _leaves(w="3.0", x="2.5")

PROGRAMS: dict[str, Program] = {
    "a product": Program(TWO + "a = w * x\na.backward()"),
    "the mock": Program(
        _leaves(w="3.0", x="2.0") + "a = w * x\nb = a + w\nloss = a * b\nloss.backward()"
    ),
    "a square": Program(_leaves(x="3.0") + "y = x * x\nz = y * 4\nz.backward()"),
    "a square and more": Program(TWO + "y = x * x + w * x\nz = y * w\nz.backward()"),
    "a difference": Program(TWO + "d = w - x\nloss = d * d * w\nloss.backward()"),
    "a quotient": Program(TWO + "q = w / x\nloss = q * 5 - w\nloss.backward()"),
    "functions": Program(
        _leaves(x="0.5", w="1.5")
        + "a = x.exp()\nb = (a * w).sin()\nloss = b.tanh() * 3 + a\nloss.backward()"
    ),
    "powers": Program(_leaves(x="1.5") + "y = x ** 3 + 2 * x\nz = y ** 2 / 7\nz.backward()"),
    "two diamonds": Program(
        TWO + "a = w * x\nb = a * w\nc = a * x\nd = b + c\ne = d * b\ne.backward()"
    ),
    "independent paths": Program(
        _leaves(u="2.0", v="3.0", w="5.0")
        + "a = u * v\nb = v * w\nc = u * w\nloss = a * 2 + b * 3 + c * 4\nloss.backward()"
    ),
    "data": Program(TWO + "t = torch.tensor(7.0)\ny = w * x - t\nloss = y * y\nloss.backward()"),
    "constants in a sum": Program(
        _leaves(w="3.0")
        + "x = torch.tensor(2.0)\nc = torch.tensor(4.0)\nloss = (w * x + c) * w\nloss.backward()"
    ),
    "vectors": Program(
        _leaves(w="[1.0, 2.0, -3.0]", v="[0.5, 4.0, 2.0]")
        + "h = w * v\nk = h * w\nloss = k.sum()\nloss.backward()"
    ),
    "a scalar broadcast": Program(
        _leaves(w="[1.0, 2.0, 4.0]", s="3.0") + "h = w * s\nloss = (h * h).sum()\nloss.backward()"
    ),
    "a bias broadcast": Program(
        _leaves(x="[[1.0, 2.0], [3.0, 5.0], [7.0, -4.0]]", b="[0.5, -1.0]")
        + "h = x + b\nloss = (h * h).sum()\nloss.backward()"
    ),
    "a column broadcast": Program(
        _leaves(x="[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", c="[[2.0], [-3.0]]")
        + "h = x * c\nloss = (h * h).mean()\nloss.backward()"
    ),
    "a matrix product": Program(
        _leaves(W="[[1.0, 2.0], [3.0, -1.0]]", V="[[2.0, 0.5], [1.0, 4.0]]")
        + "P = W @ V\nloss = (P * P).sum()\nloss.backward()"
    ),
    "a wide matrix product": Program(
        _leaves(W="[[1.0, 2.0, 0.5], [3.0, -1.0, 2.0]]", V="[[2.0, 1.0], [1.0, 4.0], [0.5, 3.0]]")
        + "P = W @ V\nQ = P @ P\nloss = Q.sum()\nloss.backward()"
    ),
    "a layer": Program(
        _leaves(W="[[0.5, -1.0], [2.0, 1.0]]", b="[0.1, -0.3]")
        + "x = torch.tensor([[1.0, 2.0], [3.0, -1.0]])\n"
        "h = (x @ W + b).tanh()\nloss = (h * h).mean()\nloss.backward()"
    ),
    "a matrix and a vector": Program(
        _leaves(W="[[1.0, 2.0], [3.0, -1.0]]", v="[2.0, 3.0]")
        + "h = W @ v\nloss = (h * v).sum()\nloss.backward()"
    ),
    "in place": Program(TWO + "h = w * x\nh.mul_(w)\nloss = h * 2\nloss.backward()"),
    "in place, twice": Program(
        _leaves(w="3.0", v="1.5") + "h = w * 2\nh.mul_(v)\nh.mul_(w)\nloss = h * 5\nloss.backward()"
    ),
    "changed too late": Program(
        TWO + "h = w * x\np = h.exp()\np += 1\nloss = p * 2\nloss.backward()"
    ),
    "changed data": Program(
        _leaves(w="3.0")
        + "x = torch.tensor(2.0)\ny = w * x\nx += 1\nloss = y * 2\nloss.backward()"
    ),
    "no_grad": Program(
        TWO + "a = w * x\nwith torch.no_grad():\n    q = a * 2\nloss = a * q\nloss.backward()"
    ),
    "detach": Program(TWO + "a = w * x\nd = a.detach()\nloss = a * d + w\nloss.backward()"),
    "a leaf behind detach": Program(
        TWO + "a = x * 2\nd = a.detach()\nloss = w * d * 3\nloss.backward()"
    ),
    "an integer": Program(
        TWO + "n = (w * x).long()\nloss = w * n + x * 4\nloss.backward()"
    ),
    "a branch": Program(
        TWO + "y = w * x\nif y > 3:\n    z = y * w\nelse:\n    z = y * 0.1\nz.backward()",
        ("z = y * w",),
    ),
    "the other branch": Program(
        TWO + "y = w - x\nif y > 3:\n    z = y * w\nelse:\n    z = y * x\nz.backward()",
        ("z = y * x",),
    ),
    "a choice": Program(
        TWO + "y = w * x\nz = y * 2 if y < 0 else y * w\nz.backward()", ("y * w",)
    ),
    "a loop": Program(TWO + "h = x\nfor i in range(3):\n    h = h * w\nh.backward()"),
    "shared weights": Program(
        _leaves(w="1.5", b="0.5") + "h = w * 2 + b\nh = w * h + b\nloss = h * h\nloss.backward()"
    ),
    "two passes": Program(TWO + "y = w * x\ny.backward()\nz = w * w * x\nz.backward()"),
    "two passes of one graph": Program(
        TWO + "y = w * x * 2\ny.backward(retain_graph=True)\ny.backward()"
    ),
    "a graph that is kept": Program(TWO + "y = w * x * 4\ny.backward(retain_graph=True)"),
    "sums alone": Program(TWO + "y = w + x\nz = y + w\nz.backward()"),
    "two passes, cleared": Program(
        TWO + "y = w * x\ny.backward()\nw.grad = None\nz = w * w * x\nz.backward()"
    ),
    "cleared at the end": Program(TWO + "y = w * x\ny.backward()\nw.grad = None"),
    "gradients that are returned": Program(
        TWO + "y = w * x * w\n(g,) = torch.autograd.grad(y, [w])\nz = x * 3\nz.backward()"
    ),
    "gradients of some inputs": Program(TWO + "a = x * 2\ny = w * a\ny.backward(inputs=[w])"),
    "equal factors": Program(
        _leaves(w="2.0", x="2.0") + "a = w * x\nloss = a * a\nloss.backward()"
    ),
}  # fmt: skip


class Run(NamedTuple):
    """A program that was run: its recording, and the variables that it has left."""

    recording: Recording
    names: dict[str, Any]


def execute(source: str, torch: Any = autodiff_kit, more: str = "") -> dict[str, Any]:
    """Run a program with the kit, or with PyTorch itself, and return its variables."""
    names: dict[str, Any] = {"torch": torch}
    exec(compile(f"{source}\n{more}", "<program>", "exec"), names)
    return names


@cache
def run(title: str) -> Run:
    """Record a program; an error of its backward pass is part of the recording."""
    source = PROGRAMS[title].source + "\n"
    name = f"<{title}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"torch": autodiff_kit}
    recorder = record()
    try:
        with recorder as recording:
            exec(compile(source, name, "exec"), names)
    except RuntimeError:
        assert "changed" in title
    return Run(recording, names)
