from typing import Any

from tests.lessons.proofs import leaf, nodes_of_operations, proves


@proves("05.loop")
def _(torch: Any) -> str:
    x = y = leaf(torch, 2.0)
    for _ in range(3):
        y = y * x
    y.backward()
    return str(x.grad)


@proves("05.while")
def _(torch: Any) -> str:
    x = y = leaf(torch, 3.0)
    while y < 100:
        y = y * x
    return str(len(nodes_of_operations(y)))


@proves("05.jump")
def _(torch: Any) -> str:
    x = leaf(torch, 2.0)
    (3 * x if x > 2 else x * x).backward()
    return str(x.grad)


@proves("05.many")
def _(torch: Any) -> str:
    x = torch.tensor([3.0, -3.0])
    try:
        return "it runs the branch" if x > 0 else "it skips the branch"
    except RuntimeError:
        return "it raises an error"


@proves("05.task")
def _(torch: Any) -> str:
    w = leaf(torch, 2.0)

    def deep(x: Any, depth: int) -> Any:
        return x if depth == 0 else deep(x * w, depth - 1)

    deep(torch.tensor(1.0), 3).backward()
    return str(w.grad)
