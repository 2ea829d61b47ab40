"""What runs in the middle of a backward pass: a checkpoint's function, hooks, Functions."""

from typing import Any

import pytest

import autodiff_kit as ak
from autodiff_kit.record import Recording
from autodiff_kit.view import build
from autodiff_kit.view.names import Names
from autodiff_kit.view.text import facts
from tests.invariants.conftest import LIBRARIES
from tests.parity import require_torch
from tests.record.cells import cell

LEAVES = (
    "w = torch.tensor([2.0], requires_grad=True)\nv = torch.tensor([1.0], requires_grad=True)\n"
)
START = "runs = []\n" + LEAVES
BLOCK = "def block(v):\n    runs.append(v)\n    return (v * w).sin()\n"


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Any:
    return ak if request.param == "kit" else require_torch()


def recorded(source: str, library: Any) -> tuple[Recording, dict[str, Any]]:
    package = "autodiff_kit" if library is ak else "torch"
    space = {"torch": library}
    with ak.record() if library is ak else ak.record(library) as rec:
        cell(source.replace("KIT", package), space)
    assert rec.note is None
    return rec, space


def captions(rec: Recording) -> list[str]:
    return [frame["caption"] for frame in build(rec).frames]


CHECKPOINT = "from KIT.utils.checkpoint import checkpoint\n" + START


@pytest.mark.parametrize(
    "call",
    [
        BLOCK + "checkpoint(block, v, use_reentrant=False).sum().backward()",
        BLOCK + "def outer(v):\n    return checkpoint(block, v * 3, use_reentrant=False).exp()\n"
        "checkpoint(outer, v, use_reentrant=False).sum().backward()",
        "class Block(torch.nn.Module):\n    def forward(self, v):\n"
        "        runs.append(v)\n        return (v * w).sin()\n"
        "net = torch.nn.Sequential(Block(), torch.nn.Tanh())\n"
        "checkpoint(net, v, use_reentrant=False).sum().backward()",
    ],
    ids=["plain", "nested", "Sequential"],
)
def test_each_run_of_a_checkpoints_function_is_told(call: str, library: Any) -> None:
    rec, space = recorded(CHECKPOINT + call, library)

    products = [n for n in rec.nodes if n["text"] == "v * w"]
    again = [n for n in products if "again" in n]
    assert len(products) == len(space["runs"]) > len(again) > 0
    texts = [c for c in captions(rec) if c.endswith(tuple("]."))]
    assert sum("v" in c and "recomputes it for backward, " in c for c in texts) >= len(again)
    assert not any(".backward()" in c for c in captions(rec))


@pytest.mark.parametrize(
    ("function", "again"),
    [
        ("lambda t: t.exp() * t", ["v.exp()"]),  # the product saves what is there before it
        ("torch.sin", []),  # of sin, cos(v) reads v
        ("lambda t: (t * w).exp() + 1", ["v * w", "(v * w).exp()"]),  # exp saves its result
        ("block", ["s2 = v * 3", "v.tanh()"]),
    ],
)
def test_a_second_run_ends_with_the_last_value_that_is_saved(
    function: str, again: list[str], library: Any
) -> None:
    block = "def block(t):\n    with torch.no_grad():\n        s = t * 3\n    return t.tanh() * s\n"
    call = f"y = checkpoint({function}, v, use_reentrant=False)\ny.sum().backward()"

    rec, _ = recorded(CHECKPOINT + block + call, library)

    texts = [
        c.partition(": the checkpoint recomputes it")[0] for c in captions(rec) if "s it for" in c
    ]
    assert texts == again
    assert not any("no longer keeps" in c for c in captions(rec) if "of sin" in c or "of exp" in c)


def test_a_reentrant_checkpoint_goes_backward_through_its_second_run() -> None:
    source = CHECKPOINT + BLOCK + "checkpoint(block, v, use_reentrant=True).sum().backward()"
    rec, space = recorded(source, require_torch())

    assert len(space["runs"]) == 2
    texts = captions(rec)
    copy, again, start = (
        next(i for i, c in enumerate(texts) if words in c)
        for words in ("a copy made for the checkpoint's second run", "recomputes", "starts at (v2")
    )
    assert copy < again < start
    assert [e["kind"] for e in rec.events if e["kind"] in ("backward", "finish")] == [
        *("backward", "backward", "finish", "finish"),
    ]
    grads = {e["node"]: e["grad"]["data"] for e in rec.events if e["kind"] == "accumulate"}
    by_name = {rec.nodes[node]["name"]: grad for node, grad in grads.items()}
    assert by_name["w"] == pytest.approx(space["w"].grad.tolist())
    assert by_name["v1"] == pytest.approx(space["v"].grad.tolist())


def test_what_is_computed_again_only_to_be_read_is_told_no_rules(library: Any) -> None:
    call = "checkpoint(block, v, use_reentrant=False).sum().backward()"
    rec, _ = recorded(CHECKPOINT + BLOCK + call, library)

    data = rec.to_dict()
    visited = {e["node"] for e in rec.events if e["kind"] == "visit"}
    for node in rec.nodes:
        if node["kind"] == "op":
            rows = dict(facts(data, [node["id"]], Names(data)))
            assert ("rules" in rows) == (node["id"] in visited), node["text"]


HOOK = """
def hook(g):
    if g.sum() > 0:
        scale = torch.ones(1)
    with torch.enable_grad():
        extra = w * (g * scale)
    extra.backward(SEED)
y = v * 2
y.register_hook(hook)
(y * 3).sum().backward()
"""


@pytest.mark.parametrize("seed", ["", "torch.ones(1)"])
def test_a_hook_that_goes_backward_itself_is_a_pass_inside_of_the_pass(
    seed: str, library: Any
) -> None:
    rec, _ = recorded(LEAVES + HOOK.replace("SEED", seed), library)

    texts = captions(rec)
    starts = [c for c in texts if c.startswith("Backward ")]
    assert starts == [
        "Backward starts at (y * 3).sum() with gradient 1.0.",
        "Backward starts at extra with gradient [1.0].",
        "Backward is done: w.grad is [3.0].",
        "Backward is done: w.grad is [3.0] and v.grad is [6.0].",
    ]
    assert "if tests g.sum() > 0: it is True, so the body runs." in texts
    assert any(c.startswith("scale = [1.0] is data: you made it.") for c in texts)


FUNCTION = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        inside = torch.zeros(1)
        if x.sum() > 0:
            inside = inside + 1
        return x * x * inside
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            a = x.detach().requires_grad_()
            y = a * a
        if g.sum() > 0:
            inside = torch.ones(1)
        (d,) = torch.autograd.grad(y, a, g * inside)
        return d
out = Square.apply(v) * w
out.backward()
"""


def test_what_a_function_does_inside_is_its_own_business(library: Any) -> None:
    rec, _ = recorded(LEAVES + FUNCTION, library)

    assert [n["text"] for n in rec.nodes if n["kind"] == "op"] == [
        *("Square.apply(v)", "Square.apply(v) * w")
    ]
    assert [n["name"] for n in rec.nodes if n["kind"] == "leaf"] == ["w", "v"]
    kinds = [e["kind"] for e in rec.events]
    assert kinds.count("backward") == 1 and "branch" not in kinds


@pytest.mark.parametrize("name", ["torch.nn.init.constant_({}, 2.)", "torch.nn.init.uniform_({})"])
def test_a_tensor_is_told_before_what_fills_it(name: str, library: Any) -> None:
    rec, space = recorded(f"w = torch.zeros(1, requires_grad=True)\n{name.format('w')}", library)

    last = [e["value"]["data"] for e in rec.events if e["kind"] == "modified"]
    assert last[-1] == pytest.approx(space["w"].tolist())
    kinds = [e["kind"] for e in rec.events]
    assert kinds[0] == "leaf" and rec.nodes[0]["value"]["data"] == [0]


def test_a_parameter_that_is_older_is_told_before_what_fills_it(library: Any) -> None:
    call = "with torch.no_grad():\n    lin.weight.fill_(3.)"
    rec, space = recorded(f"lin = torch.nn.Linear(1, 1)\nold = lin.weight.item()\n{call}", library)

    leaf, fill = rec.nodes
    assert [e["kind"] for e in rec.events] == ["leaf", "op", "modified"]
    assert leaf["value"]["data"] == pytest.approx([space["old"]], rel=1e-4)
    assert fill["value"]["data"] == [3]


def test_what_unpack_is_given_is_no_gradient() -> None:
    source = LEAVES + "def unpack(t):\n    return t * 2\n"
    source += "with torch.autograd.graph.saved_tensors_hooks(lambda t: t / 2, unpack):\n"
    rec, _ = recorded(source + "    y = w * w\ny.backward()", require_torch())

    texts = [step for step in captions(rec) if step.startswith("t1 = [1.0] is data")]
    assert texts and "a tensor that your pack hook returned" in texts[0]
    assert not any("gradient in this backward pass" in step for step in captions(rec))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = w * w", "n = w.detach().numpy()\nn[0] = 10."),
        ("with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 5):\n"
         "    y = w * w", ""),
    ],
)  # fmt: skip
def test_arithmetic_that_is_not_so_is_not_told(before: str, after: str, library: Any) -> None:
    rec, _ = recorded(f"{LEAVES}{before}\n{after}\ny.backward()", library)

    rules = [step for step in captions(rec) if step.startswith("The rule of multiply")]
    words = "gives [10.0]. It reads other numbers than were there in the forward pass."
    assert len(rules) == 2 and all(words in step for step in rules)


def test_the_means_that_a_normalization_keeps_are_told(library: Any) -> None:
    source = "bn = torch.nn.BatchNorm1d(1)\nx = torch.tensor([[1.], [3.]])\n"
    rec, _ = recorded(source + "bn(x)\nbn.eval()\ny = bn(x)", library)

    last = {n["name"]: n["value"]["data"] for n in rec.nodes}
    changed = {rec.nodes[e["node"]]["name"]: e["value"]["data"] for e in rec.events
               if e["kind"] == "modified"}  # fmt: skip
    last |= changed
    assert last["bn.running_mean"] == pytest.approx([0.2])  # 0.9 * 0 + 0.1 * 2
    assert last["bn.running_var"] == pytest.approx([1.1])  # 0.9 * 1 + 0.1 * 2
