from typing import Any

import autodiff_kit as kit
from tests.lessons.proofs import calls, leaf, proves


def waves(torch: Any, x: Any) -> Any:
    for _ in range(10):
        x = torch.sin(x)
    return x


@proves("06.inside")
def _(torch: Any) -> str:
    x = leaf(torch, 3.0)
    with torch.no_grad():
        y = 2 * x
    assert y.item() == 6
    return "6, without a `grad_fn`" if y.grad_fn is None else "6, with a `grad_fn`"


@proves("06.memory")
def _(torch: Any) -> str:
    sizes: list[int] = []

    def pack(t: Any) -> Any:
        sizes.append(t.nbytes)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        waves(torch, torch.ones(1000, requires_grad=True))
    return str(sum(sizes))


@proves("06.speed")
def _(_: Any) -> str:
    # Counted, not timed, and so with the kit: PyTorch makes its nodes below Python, out of sight.
    x, silent = kit.ones(1, requires_grad=True), kit.no_grad()(waves)
    ratio = calls(lambda: waves(kit, x)) / calls(lambda: silent(kit, x))
    if ratio > 10:
        return "more than ten times as fast"
    if ratio < 1:
        return "it is slower: the switch itself takes time"
    assert ratio < 4
    return "somewhat faster, and less than four times"


@proves("06.silent")
def _(torch: Any) -> str:
    w = torch.tensor([1.0, 3.0], requires_grad=True)
    with torch.no_grad():
        total = w.sum()
    (w / total)[0].backward()
    if w.grad is None:
        return "it stays `None`"
    right = [3 / 16, -1 / 16]  # d (a / (a + b)): b / (a + b)^2 and -a / (a + b)^2
    if w.grad.tolist() == right:
        return "it is the right gradient: the sum is only a number"
    assert w.grad.tolist() == [0.25, 0.0]
    return "it is another gradient, and nothing is said"


@proves("06.detach")
def _(torch: Any) -> str:
    x = leaf(torch, 3.0)
    ((x * x).detach() * x).backward()
    return str(x.grad)


@proves("06.task")
def _(torch: Any) -> str:
    x = leaf(torch, 3.0)
    with torch.no_grad():
        y = 2 * x
    (y * x).backward()
    return str(x.grad)


@proves("06.eval")
def _(torch: Any) -> str:
    torch.manual_seed(0)
    model, x = torch.nn.Dropout(0.5), torch.ones(100)
    with torch.no_grad():
        first, second = model(x), model(x)
    assert not first.requires_grad
    if torch.equal(first, second):
        return "two equal results: nothing is recorded"
    return "two different results: dropout still drops"
