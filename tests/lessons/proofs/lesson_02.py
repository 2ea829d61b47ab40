from typing import Any

from tests.lessons.proofs import leaf, name, nodes_of_operations, proves


@proves("02.when")
def _(torch: Any) -> str:
    y = 2 * leaf(torch, 5.0) + 3
    return "while Python runs this line" if y.grad_fn else "when `y.backward()` is called"


@proves("02.spread")
def _(torch: Any) -> str:
    w, x = leaf(torch, 2.0), torch.tensor(3.0)
    answers = {
        (True, True): "both",
        (True, False): "only `h`",
        (False, True): "only `k`",
        (False, False): "neither: they were not asked to",
    }
    return answers[(w * x).requires_grad, (x * x).requires_grad]


@proves("02.twice")
def _(torch: Any) -> str:
    x = leaf(torch, 5.0)
    both = (2 * x + 3) + (2 * x + 3)
    count = len(nodes_of_operations(both)) - 1  # without the addition of the two results
    return {
        2: "two: the second call finds the graph already there",
        4: "four: each call makes its own",
    }[count]


@proves("02.branch")
def _(torch: Any) -> str:
    x = leaf(torch, -2.0)
    return str(name((x * x if x > 0 else -x).grad_fn))


@proves("02.grows")
def _(torch: Any) -> str:
    x = leaf(torch, 5.0)
    z = (2 * x + 3) * x
    before = len(nodes_of_operations(z))
    z.backward()
    assert before == 3
    return {
        0: "none, because `backward` takes the graph down",
        3: "three, as before",
    }.get(len(nodes_of_operations(z)), "more, because the graph grows backward")


@proves("02.task")
def _(torch: Any) -> str:
    w = leaf(torch, 2.0)
    h = w
    for _ in range(4):
        h = h * w
    return str(nodes_of_operations(h).count("MulBackward0"))
