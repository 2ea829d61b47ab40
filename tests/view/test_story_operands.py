"""Errors of what does not fit - shapes, dtypes, numbers, None - in the learner's names.

The programs are run with the kit and with PyTorch. Each fix is tried: the program with it runs.
"""

import re
from typing import Any

import pytest

from autodiff_kit.record import Recording
from autodiff_kit.view import build
from autodiff_kit.view.story import Story, story
from autodiff_kit.view.story_operands import SHARED
from tests.record.libraries import LIBRARIES, recorded

NP = "import numpy as np\n"
W = "w = torch.tensor([1., 2.], requires_grad=True)\n"
X = "x = torch.tensor(3., requires_grad=True)\n"

# name: (program, lines of the places, what the words say, what the fix says, the fixed program)
MISFITS = {
    "product": (
        "x = torch.ones(4)\nw = torch.ones(2, 3, requires_grad=True)\nh = x * 2\n"
        "loss = (w @ h).sum()", [1, 2, 3, 4],
        ["`w` has shape (2, 3)", "columns of `w`, 3", "elements of `h`, 4"],
        "`w` with 4 columns",
        "x = torch.ones(4)\nw = torch.ones(2, 4, requires_grad=True)\nh = x * 2\n"
        "loss = (w @ h).sum()"),
    "transposed": (
        "x = torch.ones(5, 3)\nw = torch.ones(2, 3)\ny = x @ w", [1, 2, 3],
        ["columns of `x`, 3", "rows of `w`, 2"], "`x @ w.T`",
        "x = torch.ones(5, 3)\nw = torch.ones(2, 3)\ny = x @ w.T"),
    "in a function": (
        "def product(left, right):\n    return left @ right\n\nx = torch.ones(5, 3)\n"
        "w = torch.ones(2, 3)\ny = product(x, w)", [4, 5, 2],
        ["`left`, which is `x`, has shape (5, 3)", "columns of `left`, 3"], "`left @ right.T`",
        "def product(left, right):\n    return left @ right.T\n\nx = torch.ones(5, 3)\n"
        "w = torch.ones(2, 3)\ny = product(x, w)"),
    "layer": (
        "X = torch.ones(5, 3)\nlayer = torch.nn.Linear(4, 2)\ny = layer(X)", [1, 2, 3],
        ["`X` has shape (5, 3)", "takes 4 features for each example, and `X` has 3"],
        "`Linear(3, 2)` instead of `Linear(4, 2)`",
        "X = torch.ones(5, 3)\nlayer = torch.nn.Linear(3, 2)\ny = layer(X)"),
    "layer in a network": (
        "nn = torch.nn\nX = torch.ones(5, 3)\nnet = nn.Sequential(nn.Linear(3, 8), nn.ReLU(),\n"
        "    nn.Linear(4, 1))\ny = net(X)", [3, 5, 5, 5],
        ["`net.2` takes 4 features"], "",
        "nn = torch.nn\nX = torch.ones(5, 3)\nnet = nn.Sequential(nn.Linear(3, 8), nn.ReLU(),\n"
        "    nn.Linear(8, 1))\ny = net(X)"),
    "broadcast": (
        "y = torch.ones(3)\n" + W + "pred = w * 2\nloss = ((pred - y) ** 2).mean()", [1, 2, 3, 4],
        ["`y` has shape (3,)", "`pred = w * 2` is computed from it", "Here 2 meets 3"],
        "of the same size",
        "y = torch.ones(2)\n" + W + "pred = w * 2\nloss = ((pred - y) ** 2).mean()"),
    "broadcast of a row": (
        "a = torch.ones(2, 3)\n" + W + "y = a * w", [1, 2, 3], ["Here 3 meets 2"],
        "`w.unsqueeze(1)` has shape (2, 1)",
        "a = torch.ones(2, 3)\n" + W + "y = a * w.unsqueeze(1)"),
    "view": (
        "x = torch.ones(6)\ny = x.view(4, 2)", [1, 2],
        ["`x.view(4, 2)`", "`x` has shape (6,)", "has 8 elements, and this tensor has 6"],
        "sizes whose product is 6", "x = torch.ones(6)\ny = x.view(3, 2)"),
    "reshape to what does not divide": (
        "x = torch.ones(6)\ny = x.reshape(4, -1)", [1, 2],
        ["`x` has shape (6,)", "multiply to 4, which does not divide 6"],
        "sizes whose product divides 6", "x = torch.ones(6)\ny = x.reshape(3, -1)"),
    "hook": (
        W + "y = w * 2\ny.register_hook(lambda g: g.sum().reshape(1, 1))\ny.sum().backward()",
        [4, 4], ["A hook is called with a gradient"],
        "of the shape that the hook is called with",
        W + "y = w * 2\ny.register_hook(lambda g: g * 2)\ny.sum().backward()"),
    "cat": (
        "a = torch.ones(2, 3)\nb = torch.ones(2, 2)\nc = torch.cat([a, b])", [1, 2, 3],
        ["`a` has shape (2, 3)", "`b` has shape (2, 2)"], "",
        "a = torch.ones(2, 3)\nb = torch.ones(2, 2)\nc = torch.cat([a, b], dim=1)"),
    "doubles": (
        NP + "X = torch.tensor(np.ones((2, 2)))\n" + W + "y = X @ w", [2, 3, 4],
        ["`X` is of dtype float64, as NumPy's floats are", "`w` is of dtype float32"],
        "`X.float()` instead of `X`",
        NP + "X = torch.tensor(np.ones((2, 2)))\n" + W + "y = X.float() @ w"),
    "doubles for a layer": (
        NP + "X = torch.from_numpy(np.ones((2, 3)))\nlayer = torch.nn.Linear(3, 1)\ny = layer(X)",
        [2, 3, 4], ["`X` is of dtype float64", "`layer.weight` is of dtype float32"],
        "`X.float()` instead of `X`",
        NP + "X = torch.from_numpy(np.ones((2, 3)))\nlayer = torch.nn.Linear(3, 1)\n"
        "y = layer(X.float())"),
    "integers": (
        "X = torch.tensor([[1, 2], [3, 4]])\n" + W + "y = X @ w", [1, 2, 3],
        ["`X` is of dtype int64"], "`X.float()` instead of `X`",
        "X = torch.tensor([[1, 2], [3, 4]])\n" + W + "y = X.float() @ w"),
    "mean of integers": (
        "n = torch.tensor([1, 2, 3])\nm = n.mean()", [1, 2], ["`n` is of dtype int64"],
        "`n.float()` instead of `n`", "n = torch.tensor([1, 2, 3])\nm = n.float().mean()"),
    "classes": (
        "F = torch.nn.functional\nx = torch.ones(2, 3)\nt = torch.tensor([0., 1.])\n"
        "loss = F.cross_entropy(x, t)", [3, 4], ["`t` is of dtype float32", "integers"],
        "`t.long()` instead of `t`",
        "F = torch.nn.functional\nx = torch.ones(2, 3)\nt = torch.tensor([0., 1.])\n"
        "loss = F.cross_entropy(x, t.long())"),
    "if": (
        W + "h = w * 2\nif h > 0:\n    h = h * 2", [1, 3],
        ["`h > 0` has 2 answers", "`if` takes one of two branches"],
        "`(h > 0).all()`", W + "h = w * 2\nif (h > 0).all():\n    h = h * 2"),
    "math": (
        "import math\n" + W + "y = math.sin(w)", [2, 3], ["`w` holds 2"], "`torch.sin(w)`",
        "import math\n" + W + "y = torch.sin(w)"),
    "numpy": (
        NP + W + "h = w * 2\ny = np.sin(h)", [3, 4], ["`np.sin(h)` would go on in NumPy"],
        "`torch.sin(h)`", NP + W + "h = w * 2\ny = torch.sin(h)"),
    "number": (
        X + "loss = (x * 3).item()\nloss.backward()", [2, 3],
        ["`(x * 3).item()` gives the number without the graph", "`loss.backward()` needs a tensor"],
        "`loss = x * 3`", X + "loss = x * 3\nloss.backward()"),
    "sum of numbers": (
        X + "total = 0.\nfor i in range(2):\n    loss = x * 3\n    total += loss.item()\n"
        "total.backward()", [5, 6], ["`loss.item()` gives the number", "`total` is a float"],
        "`total += loss`",
        X + "total = 0.\nfor i in range(2):\n    loss = x * 3\n    total += loss\n"
        "total.backward()"),
    "float": (
        X + "loss = float(x * 3)\nloss.backward()", [2, 3], ["`float(x * 3)` gives the number"],
        "`loss = x * 3`", X + "loss = x * 3\nloss.backward()"),
    "no return": (
        "def f(x):\n    y = x * x\n\n" + X + "y = f(x)\ny.backward()", [5, 6],
        ["`f` has no `return`"], "end `f` with `return`",
        "def f(x):\n    y = x * x\n    return y\n\n" + X + "y = f(x)\ny.backward()"),
    "method": (
        X + "y = x.exp().sum.backward()", [2], ["`x.exp().sum` is a method"],
        "`x.exp().sum().backward`", X + "y = x.exp().sum().backward()"),
    "not called": (
        X + "loss = x * 3\nloss.backward\nwith torch.no_grad():\n    x -= 0.1 * x.grad", [1, 3, 5],
        ["`loss.backward` names the method", "`x.grad` is None"], "`loss.backward()`",
        X + "loss = x * 3\nloss.backward()\nwith torch.no_grad():\n    x -= 0.1 * x.grad"),
    "no backward": (
        X + "loss = x * 3\nwith torch.no_grad():\n    x -= 0.1 * x.grad", [1, 4],
        ["`x.grad` is None until backward runs"], "`loss.backward()` before this line",
        X + "loss = x * 3\nloss.backward()\nwith torch.no_grad():\n    x -= 0.1 * x.grad"),
    "backward too late": (
        X + "loss = x * 3\nx.grad.zero_()\nloss.backward()", [1, 4, 3],
        ["stands only here", "`x.grad.zero_()` needs a gradient"],
        "`loss.backward()` before this line",
        X + "loss = x * 3\nloss.backward()\nx.grad.zero_()"),
}  # fmt: skip


def told(rec: Recording) -> Story:
    result = story(rec)
    assert result is not None, rec.error
    return result


pytestmark = pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True")


@LIBRARIES
@pytest.mark.parametrize("name", MISFITS)
def test_an_error_is_explained_in_the_names_of_its_line(name: str, library: Any) -> None:
    program, lines, words, fix, _ = MISFITS[name]
    rec = recorded(program, library)

    result = told(rec)

    assert [c.where[1] for c in result.chapters if c.where] == lines
    assert all(c.where for c in result.chapters)
    text = "\n".join(f"{c.words}\n" for c in result.chapters)
    assert all(part in text for part in words), text
    assert fix in result.fix
    assert build(rec).frames[-1]["explanation"]["title"]


@LIBRARIES
@pytest.mark.parametrize("name", MISFITS)
def test_the_fixed_program_runs(name: str, library: Any) -> None:
    rec = recorded(MISFITS[name][-1], library)

    assert rec.error is None, rec.error


@LIBRARIES
@pytest.mark.parametrize("name", MISFITS)
def test_a_fix_is_drawn_as_one_sentence_after_the_other(name: str, library: Any) -> None:
    result = told(recorded(MISFITS[name][0], library))

    assert ".." not in re.sub(r"\.\.\.", "", result.svg.partition("</style>")[2])
    assert ("How to fix it" in result.svg) == ("How to fix it" in str(result)) == bool(result.fix)


def test_an_error_of_which_no_fix_is_known_is_drawn_without_one() -> None:
    result = told(recorded("y = torch.ones(2)[5]"))

    assert result.fix == "" and "How to fix it" not in str(result) + result.svg


@LIBRARIES
def test_what_is_advised_instead_of_numpy_is_there(library: Any) -> None:
    x = library.tensor([0.25, 0.5])

    for name in SHARED.split():
        getattr(library, name)(x)
