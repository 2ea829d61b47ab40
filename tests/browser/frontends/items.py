"""What the suite opens in each front end: a cell for each widget, and how it is made to answer."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ITEMS", "Item", "cell"]


class Item(NamedTuple):
    """One widget in a cell of its own.

    Attributes
    ----------
    code : str
        The body of a function that returns it.
    acts : tuple of str
        What is done, in order, each a role with a name or a key: ``button Step forward``,
        ``slider ArrowRight``, ``choice`` for another of several. Without any, to be drawn is all.
    needs_python : bool
        Whether only Python can answer.
    """

    code: str
    acts: tuple[str, ...] = ()
    needs_python: bool = True


_RECORDED = """\
import autodiff_kit as torch
x = torch.tensor(3.0, requires_grad=True)
with torch.record() as rec:
    y = x * x + x
    y.backward()
"""
SLIDE = "slider ArrowRight"

ITEMS = {
    "Stepper": Item(
        _RECORDED + "from autodiff_kit.widgets import Stepper\nreturn Stepper(rec)",
        ("button Step forward",),
        needs_python=False,
    ),
    "BeTheEngine": Item(
        _RECORDED + "from autodiff_kit.widgets import BeTheEngine\nreturn BeTheEngine(rec)",
        ("any Enter",),
        needs_python=False,
    ),
    "ControlFlow": Item(
        "from autodiff_kit.widgets import ControlFlow\n"
        "return ControlFlow(lambda x=1.0: x * 2 if x > 0 else -x)",
        (SLIDE,),
    ),
    "StepThrough": Item(
        "from autodiff_kit.widgets import StepThrough\nreturn StepThrough(lambda x=3.0: x * x)",
        (SLIDE,),
    ),
    "GradMode": Item(
        "import autodiff_kit as torch\nfrom autodiff_kit.widgets import GradMode\n"
        'return GradMode("y = x * x\\ny * 3", x=torch.tensor(2.0, requires_grad=True))',
        ("choice",),
    ),
    "Slope": Item(
        "from autodiff_kit.widgets import Slope\nreturn Slope(lambda x: x * x, -2, 2, x=1.5)",
        (SLIDE,),
    ),
    "Descent": Item(
        "from autodiff_kit.widgets import Descent\n"
        "return Descent(lambda x, y: x * x + 4 * y * y, start=(2.0, 1.0), lr=0.1, steps=20)",
        (SLIDE,),
    ),
    "GradientFlow": Item(
        "from autodiff_kit.widgets import GradientFlow\n"
        'return GradientFlow({"first": [1e-8, 2e-8], "last": [0.1, 0.2]})',
        ("slider ArrowLeft",),
    ),
    "GradientHistogram": Item(
        "import autodiff_kit as torch\nfrom autodiff_kit.widgets import GradientHistogram\n"
        "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n(x * x).sum().backward()\n"
        "return GradientHistogram(x)",
    ),
    "MemoryTimeline": Item(
        "import autodiff_kit as torch\nfrom autodiff_kit.widgets import MemoryTimeline\n"
        "x = torch.ones(1000, requires_grad=True)\n"
        "return MemoryTimeline(lambda depth=3: sum(x.sin().exp() for _ in range(depth)).sum())",
        (SLIDE,),
    ),
    "Costs": Item(
        "import autodiff_kit as torch\nfrom autodiff_kit.widgets import Costs\n"
        "x = torch.ones(1000, requires_grad=True)\n"
        "return Costs([x], recorded=torch.sin, no_grad=torch.no_grad()(torch.sin))",
    ),
    "Batching": Item(
        "from autodiff_kit.widgets import Batching\nreturn Batching(lengths=[3, 1, 2])",
        ("choice",),
    ),
    "Compare": Item(
        "from autodiff_kit.widgets import Compare\n"
        "return Compare(lambda x=1.0: x * 2 if x > 0 else -x)",
        (SLIDE,),
    ),
    "ErrorStory": Item(
        "import autodiff_kit as torch\nfrom autodiff_kit.widgets import ErrorStory\n"
        "def twice():\n    x = torch.tensor(3.0, requires_grad=True)\n    y = x * x\n"
        "    y.backward()\n    y.backward()\nreturn ErrorStory(twice)",
    ),
    "BesidePyTorch": Item(
        "from autodiff_kit.widgets import BesidePyTorch\n"
        'return BesidePyTorch("x = torch.tensor(3., requires_grad=True)\\ny = x * x")',
    ),
    "a question": Item(
        "from autodiff_kit.lessons import predict\n"
        'return predict("What is 3 * 2?", choices=["5", "6"], answer="6", why={"5": "Add."})',
        ("radio Space", "button *"),
    ),
    "an exercise's feedback": Item(
        'from autodiff_kit.grading import check\nreturn check("04.accumulate")',
    ),
}


def cell(item: Item) -> str:
    """Return the code of a notebook's cell."""
    body = "".join(f"    {line}\n" if line else "\n" for line in item.code.splitlines())
    return f"def item():\n{body}\n\nitem()"
