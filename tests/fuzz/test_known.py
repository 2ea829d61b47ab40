"""What differs on purpose: for each entry of the list a program that needs it.

What follows a colon says which of several.
"""

import pytest

from tests.parity import require_torch

require_torch()

from tests.fuzz.known import NOT_COMPARED, REASONS, reason_for  # noqa: E402
from tests.fuzz.rounding import is_rounding  # noqa: E402
from tests.fuzz.running import Difference, replay  # noqa: E402

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

INFERENCE = "with torch.inference_mode():\n    b = torch.ones(2)"
LEAF = "a = torch.ones(2, requires_grad=True)"
PROGRAMS = {
    "memory of a gradient: a view's history": [
        *("a = torch.ones(2, requires_grad=True).reshape(2, -1)", "b = 2 / a", "a.backward(a)"),
        *("b.sum().backward()", "c, = torch.autograd.grad(b, a, b)"),
    ],
    "gradient passed in inference mode": [
        *("a = torch.ones(2, requires_grad=True).reshape(-1)", "b = a.squeeze(0)"),
        "with torch.inference_mode():\n    b.backward(b)",
        "a.sum().backward()",
    ],
    "inference gradient under create_graph": [
        *("a = torch.ones(1, 1, 1, requires_grad=True)", "b = F.conv1d(a, torch.ones(1, 1, 1))"),
        *("with torch.inference_mode():\n    g = a * 2", "b.backward(g, create_graph=True)"),
    ],
    "zero that no infinity changes": [
        *("a = torch.tensor([2.0], requires_grad=True)", "b = (a / torch.zeros(1)).abs()"),
        *("c, = torch.autograd.grad(b.sum(), a, create_graph=True)",),
        *("d, = torch.autograd.grad(c, a, c)",),
    ],
    "leaf that is gone": [
        LEAF,
        "a.register_post_accumulate_grad_hook(lambda p: log.append(p.grad is None))",
        *("b = (a ** 2).sum()", "a.requires_grad_(False)", "a = torch.ones(2)", "b.backward()"),
    ],
    "second hook on a view that cannot follow": [
        *(LEAF, "k = (a * 1).chunk(1)", "k[0].detach().sin_()"),
        *("k[0].register_hook(hook('a'))", "k[0].register_hook(hook('a'))"),
    ],
    "second hook on a view that cannot follow: the first has a name": [
        *(LEAF, "b = a.unbind()[0]", "b.detach().round_()"),
        *("c = b.register_hook(hook('b'))", "b.register_hook(hook('b'))"),
    ],
    "first version in a message: of two uses": [
        *(LEAF, "b = a * a", "a, = torch.autograd.grad(b.sum(), a)", "c = a * b"),
        *("a.pow_(-2.0)", "(c * c).sum().backward()"),
    ],
    "first version in a message": [
        *(LEAF, "k = torch.autograd.grad([a.sum(), a.mean()], [a])", "b = a * k[0]"),
        *("k[0].tanh_()", "b.sum().backward()"),
    ],
    "hook on a rule's node: what flows there": [
        *(LEAF, "b, = torch.autograd.grad(F.glu(a)[0], a, create_graph=True)"),
        *("b.grad_fn.register_hook(hook('b'))", "b[0].backward()"),
    ],
    "name of what made a result": [
        *(LEAF, "b = a.tanh()", "c, = torch.autograd.grad(b.sum(), a, create_graph=True)"),
        *("b.sign_()", "(c * c).sum().backward()"),
    ],
    "saved by a rule that is one function": [
        *(LEAF, "b = torch.zeros(2)", "c = F.mse_loss(a, b)"),
        "d, = torch.autograd.grad(c, a, create_graph=True)",
        *("b.add_(1)", "d.sum().backward()"),
    ],
    "data of another size in a view": [
        *("a = torch.tensor(1.5, requires_grad=True)", "b = a.view(1)", "b.data = torch.ones(2)"),
        *("with torch.no_grad():\n    b[0] = 3", "b.sum().backward()"),
    ],
    "refused line": [INFERENCE, "b.sin_()"],
    "refused line: a view is made in it": [
        *(INFERENCE, "with torch.no_grad():\n    c = b.t()\n    b = b.add_(b)"),
    ],
    "refused line: of a backward pass": [
        LEAF,
        *("with torch.inference_mode():\n    a.backward(torch.ones(2))", "b = a * 2"),
        "b.backward(torch.ones(2))",
    ],
    "refused line: the gradient of what is no leaf": [
        *(LEAF, "b = a.view(2, 1)", "b.sum().backward(inputs=[b])"),
        "class Doubled(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        ctx.mark_dirty(x)\n        x.mul_(2)\n        return x\n"
        "    @staticmethod\n    def backward(ctx, g): return g * 2",
        "c = Doubled.apply(b)",
    ],
    "reads what it writes: one of several": [
        *(
            "k = torch.arange(8.0).view(2, 2, 2).unbind()",
            "c = torch.from_numpy(k[0].numpy())",
            "d = c.t()",
            "k[0][()] = d",
        ),
    ],
    "reads what it writes": ["a = torch.arange(6.0)", "a[::2].add_(a[:3])"],
    "reads what it writes: a column that is selected by two numbers": [
        *("a = torch.ones(3, 3)", "k = a.unbind(1)", "a.select(-2, -1).add_(k[1])"),
    ],
    "reads what it writes: a divisor": [
        *("a = torch.ones(2, 2, dtype=torch.int64)", "a.remainder_(a.narrow(1, 0, 1))"),
    ],
    "reads what it writes: an index": [
        *("a = torch.zeros(1, dtype=torch.int64)", "a.scatter_(0, a.expand(2), 4)"),
    ],
    "reads what it writes: a column, and the result has a name": [
        *("a = torch.tensor([[-1, 1], [-1, 2]])", "k = a.chunk(2, 1)"),
        "with torch.enable_grad():\n    b = a.mul_(k[0])",
    ],
    "reads what it writes: one of two lines in a block": [
        *("a = torch.arange(6.0).view(3, 2)", "k = a.hsplit(2)"),
        "with torch.no_grad():\n    c = a.t()\n    k[0] = a.add_(k[0])",
    ],
    "index of a number": ["a = torch.ones(3).min(0).values", "a[3] = 1"],
    "memory of a gradient": [
        *(LEAF, "g = torch.ones(1, 2)", "b = a.view(1, 2)", "b.backward(g)", "a.grad.add_(1)"),
        "c = g * 2",
    ],
    "memory of a gradient: the version of what was given": [
        *("a = torch.arange(6.0, requires_grad=True).reshape(-1, 2)", "a.backward(a)"),
        *("b = a - a", "a.backward(b)"),
    ],
    "hook on a rule's node": [
        *(LEAF, "b, = torch.autograd.grad(F.glu(a)[0], a, create_graph=True)"),
        "b.grad_fn.next_functions[0][0].register_hook(hook('b'))",
    ],
    "hook on a rule's node: under a mode": [
        *("a = torch.eye(2, requires_grad=True)", "b = F.glu(a)"),
        "c, = torch.autograd.grad(b.sum(), a, create_graph=True)",
        "with torch.no_grad():\n    c.grad_fn.next_functions[0][0].register_prehook(hook('c'))",
    ],
    "inference tensor that requires grad": [
        "with torch.inference_mode():\n    a = torch.ones(2, requires_grad=True)",
        "b = a.clone()",
    ],
    "inference tensor that requires grad: in a list": [
        "with torch.inference_mode():\n    k = [torch.ones(2, requires_grad=True)]",
        "f = torch.func.grad(lambda v: (v * v.sum()).sum())(k[0]) * 1",
    ],
    "inference tensor with other data": [INFERENCE, "b.data = torch.ones(2)", "c = b.view(1, 2)"],
    "data of another size or type": [
        *(LEAF, "b = a.sum()", "a.data = torch.ones(3)", "b.backward()"),
    ],
    "fault of PyTorch": [
        *("a = torch.tensor(0.5, requires_grad=True)", "b = torch.tensor(True)"),
        *("b[None] = a * 1", "(b * 2.0).backward()"),
    ],
    "fault of PyTorch: zeros without memory": [
        *(LEAF, "b = a.repeat(0, 2)", "c, = torch.autograd.grad(b.sum(), a)"),
        "d, = torch.autograd.grad(F.l1_loss(a, c), a, create_graph=True)",
        *("d.sum().backward()", "b.sum().backward()"),
    ],
    "no memory": ["a = torch.ones(2)", "b = a.repeat(2 ** 40)"],
    "which refusal": [LEAF, INFERENCE, "c = a.view(2, 1) @ b"],
    "order in memory": [
        "a = torch.ones(3, 3, requires_grad=True)",
        "b, = torch.autograd.grad((a.t() * (a - 0.5).sin()).sum(), a)",
        "c = b.view(-1)",
    ],
    "type of an empty batch": ["b = torch.func.vmap(lambda v: v * 2.0)(torch.zeros(0))"],
    "view of nothing else": [INFERENCE, "a = b.repeat(2, 2)", "a.detach_()"],
    "hook on a leaf's node": [
        *(LEAF, "b = a * 2", "b.grad_fn.next_functions[0][0].register_hook(hook('a'))"),
        *("b = torch.ones(2)", "c = a * 3", "c.sum().backward()"),
    ],
    "inference tensor with other data: requires grad": [
        *(INFERENCE, "b.data = torch.ones(2)", "b.requires_grad = True"),
    ],
    "clamp between tensors that broadcast": [
        *("b = torch.tensor([[1.5], [1.8]])", LEAF, "c = a.clamp(b, a)", "c.sum().backward()"),
    ],
    "sizes of out= that cannot grow": [
        *("a = torch.from_numpy(np.ones(2))", "torch.add(torch.ones(3), 1, out=a)"),
    ],
    "hook between two steps": [
        *(LEAF, "b = a.sum(dtype=torch.float64)", "b.grad_fn.register_hook(hook('b'))"),
        "b.backward()",
    ],
}
# Whether these differ depends on the processor, or on which strides NumPy chooses.
ELSEWHERE = {"gelu of inf", "layer_norm beyond float32"}
ELSEWHERE |= {"steps over one element", "tie in sort"}


def test_each_entry_has_a_program() -> None:
    names = {name.split(":")[0] for name in PROGRAMS}
    assert names | ELSEWHERE == REASONS.keys() - NOT_COMPARED.keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_entry_says_what_still_differs(name: str) -> None:
    run = replay(PROGRAMS[name])

    reasons = {reason_for(difference, run.lines) for difference in run.differences}
    assert name.split(":")[0] in reasons


def test_which_rounded_numbers_a_mask_picks_is_rounding() -> None:
    lines = [
        "a = torch.tensor([[1.1, 1.2], [-1.2, -1.1]], dtype=torch.float64)",
        *("b = a.mm(a)", "c = b.masked_select(b > 0)"),
    ]

    run = replay(lines)  # on some processors nothing differs: 1.1 * 1.2 - 1.2 * 1.1 is 0

    assert all(is_rounding(lines, difference) for difference in run.differences)


def test_what_a_refused_line_has_made_itself_is_no_known_difference() -> None:
    line = "for row in torch.ones(2, 2):\n    row.view(3)"
    difference = Difference("value", line, "row", "[1.0]", "[2.0]", "refused in both")

    assert reason_for(difference, [line]) is None


def test_a_program_that_is_run_again_for_a_reason_reads_grad_fn_before_hooks() -> None:
    lines = [LEAF, "b = a * 1", "c = b.view(2)", "b.mul_(2)", "c.register_hook(hook('c'))"]
    difference = Difference("gradient", "at the end", "a.grad", "[2.0, 2.0]", "[1.0, 1.0]")

    assert reason_for(difference, [*lines, "c.sum().backward()"]) is None  # else PyTorch crashes
