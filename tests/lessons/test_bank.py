"""Every answer in the lessons' questions is what the code behind it gives, here and in PyTorch."""

from collections.abc import Callable
from typing import Any

import pytest

import autodiff_kit
from autodiff_kit.lessons.bank import QUESTIONS
from tests.parity import require_torch

Proof = Callable[[Any], str]
PROOFS: dict[str, Proof] = {}


def proves(key: str) -> Callable[[Proof], Proof]:
    """Take a function of "torch" whose result must be judged right for this question."""

    def keep(proof: Proof) -> Proof:
        PROOFS[key] = proof
        return proof

    return keep


def name(node: Any) -> str | None:
    return str(node.name()).split("::")[-1] if node else None


def nodes_of_operations(tensor: Any) -> list[str | None]:
    found, waiting = set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node and node not in found and name(node) != "AccumulateGrad":
            found.add(node)
            waiting += [following for following, _ in node.next_functions]
    return [name(node) for node in found]


def leaf(torch: Any, value: float) -> Any:
    return torch.tensor(value, requires_grad=True)


@proves("00.slope")
def _(torch: Any) -> str:
    x = leaf(torch, 3.0)
    (x * x).backward()
    return str(x.grad)


@proves("00.task")
def _(torch: Any) -> str:
    x = leaf(torch, 5.0)
    (x * x).backward()
    return str(x.grad)


@proves("01.operations")
def _(torch: Any) -> str:
    return str(len(nodes_of_operations(2 * leaf(torch, 5.0) + 3)))


@proves("01.last")
def _(torch: Any) -> str:
    return str(name((2 * leaf(torch, 5.0) + 3).grad_fn))


@proves("01.leaf")
def _(torch: Any) -> str:
    d = torch.tensor(1.0) * 2
    if not hasattr(d, "is_leaf"):
        return "It is neither: where nothing is recorded, there is no `is_leaf`"
    if d.is_leaf:
        return "Yes, because no *recorded* operation made it"
    return "No, because the multiplication made it"


@proves("01.twice")
def _(torch: Any) -> str:
    x = leaf(torch, 5.0)
    edges = (x * x).grad_fn.next_functions
    return str(sum(node.variable is x for node, _ in edges))


@proves("01.task")
def _(torch: Any) -> str:
    a = leaf(torch, 1.0)
    w = (a + 2) * a
    return str([name(node) for node, _ in w.grad_fn.next_functions])


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
        (False, False): "neither: nobody asked for it",
    }
    return answers[(w * x).requires_grad, (x * x).requires_grad]


@proves("02.twice")
def _(torch: Any) -> str:
    x = leaf(torch, 5.0)
    both = (2 * x + 3) + (2 * x + 3)
    made = len(nodes_of_operations(both)) - 1  # without the addition of the two results
    return {
        2: "two: the second call finds the graph already there",
        4: "four: each call makes its own",
    }[made]


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


@proves("03.order")
def _(torch: Any) -> str:
    visited: list[str] = []
    x = leaf(torch, 5.0)
    twice = 2 * x
    y = twice + 3
    four = 4 * y
    z = four - 1
    steps = {"`2 * x`": twice, "`2 * x + 3`": y, "`4 * y`": four, "`4 * y - 1`": z}
    for step, tensor in steps.items():
        tensor.register_hook(lambda g, step=step: visited.append(step))
    z.backward()
    assert visited == list(reversed(steps))
    return visited[0]


@proves("03.adds")
def _(torch: Any) -> str:
    w, x = leaf(torch, 3.0), leaf(torch, 4.0)
    (w * x + w).backward()
    return str(w.grad)


@proves("03.again")
def _(torch: Any) -> str:
    w = leaf(torch, 2.0)
    for _ in range(2):
        (3 * w).backward()
    return str(w.grad)


@proves("03.source_claim")
def _(torch: Any) -> str:
    x = torch.randn([3, 3], requires_grad=True)
    y = 2 * x + 3
    y = torch.randn([3, 3], requires_grad=True)
    z = 4 * y - 1
    z.sum().backward()
    assert (y.grad == 4).all()
    if x.grad is None:
        return "`None`: no gradient came to `x`"
    return {
        8.0: "eights: 4 times 2, by the chain rule",
        4.0: "fours: the slope of `4 * y - 1`",
        0.0: "zeros: `z` does not change when `x` does",
    }[x.grad.mean().item()]


@proves("03.mend")
def _(torch: Any) -> str:
    x = torch.randn([3, 3], requires_grad=True)
    z = 4 * (2 * x + 3) - 1
    z.sum().backward()
    assert (x.grad == 8).all()
    return "4 * (2 * x + 3) - 1"


@proves("03.task")
def _(torch: Any) -> str:
    a = leaf(torch, 2.0)
    b = a * a
    (b * a).backward()
    return str(a.grad)


@pytest.mark.parametrize("key", QUESTIONS)
def test_the_answer_is_what_the_kit_gives(key: str) -> None:
    assert QUESTIONS[key].judge(PROOFS[key](autodiff_kit)).outcome == "right"


@pytest.mark.parity
@pytest.mark.parametrize("key", QUESTIONS)
def test_the_answer_is_what_pytorch_gives(key: str) -> None:
    assert QUESTIONS[key].judge(PROOFS[key](require_torch())).outcome == "right"


@pytest.mark.parametrize("given", ["8 * x + 11", "z = x * 8 + 11", "4*(3+2*x)-1"])
def test_the_mended_line_may_be_written_in_other_ways(given: str) -> None:
    assert QUESTIONS["03.mend"].judge(given).outcome == "right"


@pytest.mark.parametrize("key", QUESTIONS)
def test_a_right_answer_is_explained_and_so_is_every_wrong_one_that_was_foreseen(key: str) -> None:
    question = QUESTIONS[key]

    assert len(question.right) > 10
    for wrong in question.why:
        verdict = question.judge(str(wrong))
        assert verdict.outcome == "wrong"
        assert verdict.text != question.otherwise
        assert len(verdict.text) > 10


def test_the_slope_explained_in_words_is_the_slope() -> None:
    # "From 3 to 3.001 ... takes y from 9 to 9.006001", "the slope is 8, but z itself is off by 9"
    assert round(3.001 * 3.001, 6) == 9.006001
    for x in (0.0, 1.0, 5.0):
        assert 4 * (2 * x + 3) - 1 - (4 * 2 * x + 3 - 1) == 9
