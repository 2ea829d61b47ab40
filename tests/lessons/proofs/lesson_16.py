from pathlib import Path
from typing import Any

from tests.lessons.proofs import leaf, nodes_of_operations, proves


@proves("16.change")
def _(torch: Any) -> str:
    source = (
        "x = torch.tensor(5., requires_grad=True)\ny = 2 * x + 3\nz = 4 * y - 1\nz.backward()\n"
    )
    space: dict[str, Any] = {"torch": torch}
    exec(source, space)
    assert space["x"].grad == 8
    lesson = Path(__file__).parents[3] / "notebooks" / "03_the_backward_pass.ipynb"
    assert source.split("\n")[2] in lesson.read_text("utf-8")
    return "0"


@proves("16.train")
def _(torch: Any) -> str:
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    points = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    labels = torch.tensor([0.0, 1.0, 1.0, 0.0])
    losses = []
    for _ in range(200):
        model.zero_grad()
        loss = nn.functional.mse_loss(model(points).flatten(), labels)
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.5 * parameter.grad
        losses.append(round(loss.item(), 3))
    # PyTorch 2.13.0 prints these; the parity run of this proof says so.
    same = (losses[99], losses[199]) == (0.171, 0.009)
    return "the same: the random numbers and every step are the same" if same else ""


@proves("16.error")
def _(torch: Any) -> str:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y += 1
    try:
        y.sum().backward()
    except RuntimeError as error:
        assert str(error).split("\n-> ")[0] == (
            "one of the variables needed for gradient computation has been modified by an inplace "
            "operation: [torch.FloatTensor [2]], which is output 0 of Exp, is at version 1; "
            "expected version 0 instead. Hint: enable anomaly detection to find the operation that "
            "failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, "
            "check_nan=False)."
        )
        return "none: the kit only adds a line of its own"
    return ""


@proves("16.graph")
def _(torch: Any) -> str:
    w = leaf(torch, 3.0)
    h = w
    for _ in range(3):
        h = torch.tanh(h * w) + h
    return str(len(nodes_of_operations(h * h)))


@proves("16.task")
def _(torch: Any) -> str:
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    (a * b).sum().backward()
    return {
        (6.0, 6.0): "the sum of `b` for each number of `a`: `[6., 6.]`",
    }.get(tuple(a.grad.tolist()), "")
