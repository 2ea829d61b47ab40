from typing import Any

from tests.lessons.proofs import nodes_of_operations, proves

LENGTHS = [5, 2, 3]


@proves("08.nodes")
def _(torch: Any) -> str:
    W = torch.ones(2, 3, requires_grad=True)
    U = torch.ones(3, 3, requires_grad=True)
    h = torch.zeros(1, 3)
    for x in torch.ones(5, 1, 2):
        h = torch.tanh(x @ W + h @ U)
    return str(len(nodes_of_operations(h)))


def padding(torch: Any, lengths: list[int]) -> str:
    cells = torch.zeros(len(lengths), max(lengths))
    for row, length in zip(cells, lengths, strict=True):
        row[:length] = 1
    return str(int((cells == 0).sum()))


@proves("08.cells")
def _(torch: Any) -> str:
    return padding(torch, LENGTHS)


@proves("08.mean")
def _(torch: Any) -> str:
    mask = torch.zeros(3, 5)
    for row, length in zip(mask, LENGTHS, strict=True):
        row[:length] = 1
    gradients = []
    for count in (mask.numel(), mask.sum()):
        w = torch.tensor(2.0, requires_grad=True)
        (((w * torch.ones(3, 5)) ** 2 * mask).sum() / count).backward()
        gradients.append(w.grad)
    return str((gradients[0] / gradients[1]).item())


@proves("08.shrinks")
def _(torch: Any) -> str:
    lengths = torch.tensor(sorted(LENGTHS, reverse=True))
    return str([int((lengths > t).sum()) for t in range(5)])


@proves("08.task")
def _(torch: Any) -> str:
    return padding(torch, [7, 1, 1, 1])
