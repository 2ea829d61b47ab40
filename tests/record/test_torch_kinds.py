"""Real PyTorch's tensors of every kind: what has values is recorded with them, all else in words.

Recording changes nothing of what a program computes, and no kind of tensor ends a recording.
"""

import json
import subprocess
import sys
from typing import Any

import pytest

import autodiff_kit as ak
from autodiff_kit.record import Recording
from autodiff_kit.view import build
from autodiff_kit.widgets.stepper import Stepper
from tests.parity import require_torch
from tests.record.cells import cell

torch = require_torch()
pytestmark = [
    pytest.mark.parity,
    pytest.mark.filterwarnings("ignore::UserWarning"),  # sparse CSR and nested ones: in beta
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

V = "x = torch.tensor([1., 2.], requires_grad=True)\n"


def recorded(source: str) -> tuple[Recording, Any]:
    space: dict[str, Any] = {"torch": torch}
    with ak.record(torch) as rec:
        cell(source, space)
    assert rec.note is None
    return rec, space["out"]


def data_of(rec: Recording, op: str) -> list[Any]:
    return [node["value"]["data"] for node in rec.nodes if node["op"] == op]


# Each makes `out`; what that is, by mathematics.
PROGRAMS = {
    "func.grad": (
        "out = torch.func.grad(lambda x: (x ** 3).sum())(torch.tensor([1., 2.]))",
        [3, 12],
    ),
    "grad of grad": (
        "f = torch.func.grad(torch.func.grad(lambda x: x ** 4))\nout = f(torch.tensor([2.])[0])",
        48,
    ),
    "vmap of grad": (
        "f = torch.vmap(torch.func.grad(lambda r: (r * r).sum()))\nout = f(torch.ones(3, 2))",
        [[2, 2]] * 3,
    ),
    "jacobians": (
        "g = lambda x: torch.stack([x[0] * x[1], x.sum()])\n"
        "out = torch.func.jacrev(g)(torch.tensor([1., 2.]))\n"
        "out = out + torch.func.jacfwd(g)(torch.tensor([1., 2.]))",
        [[4, 2], [2, 2]],
    ),
    "hessian": (
        "out = torch.func.hessian(lambda x: (x ** 3).sum())(torch.tensor([1., 2.]))",
        [[6, 0], [0, 12]],
    ),
    "jvp": (
        "out = torch.func.jvp(lambda x: x * x, (torch.tensor([3.]),), (torch.tensor([1.]),))[1]",
        [6],
    ),
    "vjp": ("out = torch.func.vjp(lambda x: x * x, torch.tensor([3.]))[1](torch.ones(1))[0]", [6]),
    "functional_call": (
        "m = torch.nn.Linear(2, 1)\nw = {'weight': torch.ones(1, 2), 'bias': torch.ones(1)}\n"
        "f = lambda w: torch.func.functional_call(m, w, (torch.ones(1, 2),)).sum()\n"
        "out = torch.func.grad(f)(w)['weight']",
        [[1, 1]],
    ),
    "random in vmap": (
        "f = torch.vmap(lambda x: x + 0 * torch.rand(2), randomness='different')\n"
        "out = f(torch.ones(3, 2))",
        [[1, 1]] * 3,
    ),
    "a batch of gradients": (
        V + "y = x * x\nout, = torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)",
        [[2, 0], [0, 4]],
    ),
    "jacobian, vectorized": (
        V + "out = torch.autograd.functional.jacobian(lambda x: x * x, x, vectorize=True)",
        [[2, 0], [0, 4]],
    ),
    "sparse": (
        "s = torch.sparse_coo_tensor([[0, 1], [1, 0]], [2., 3.], (2, 2)).requires_grad_()\n"
        "x = torch.ones(2, 1, requires_grad=True)\ntorch.sparse.mm(s, x).sum().backward()\n"
        "out = x.grad",
        [[3], [2]],
    ),
    "sparse rows": (
        "x = torch.ones(3, 1, requires_grad=True)\n(torch.eye(3).to_sparse_csr() @ x).sum()"
        ".backward()\nout = x.grad",
        [[1]] * 3,
    ),
    "sparse gradient": (
        "e = torch.nn.Embedding(3, 2, sparse=True)\n"
        "(e(torch.tensor([1])) * torch.tensor([1., 2.])).sum().backward()\n"
        "out = e.weight.grad.to_dense()",
        [[0, 0], [1, 2], [0, 0]],
    ),
    "meta": (
        "x = torch.ones(2, 3, device='meta', requires_grad=True)\n(x * 2).sum().backward()\n"
        "out = torch.tensor(x.grad.shape)",
        [2, 3],
    ),
    "fake": (
        "from torch._subclasses.fake_tensor import FakeTensorMode\nwith FakeTensorMode():\n"
        "    x = torch.ones(2, 3, requires_grad=True)\n    (x * 2).sum().backward()\n"
        "out = torch.tensor(x.grad.shape)",
        [2, 3],
    ),
    "nested": (
        "n = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True)\n"
        "out = torch.nested.to_padded_tensor(n * 2, 0.).sum()\nout.backward()",
        10,
    ),
    "quantized": (
        "q = torch.quantize_per_tensor(torch.tensor([1., 2.]), .5, 0, torch.qint8)\n"
        "out = q.dequantize() * 2",
        [2, 4],
    ),
    "complex": (
        "z = torch.tensor([1+2j, 3-1j], requires_grad=True)\ny = (z * z.conj()).real.sum()\n"
        "y.backward()\nout = torch.view_as_real(z.grad)",
        [[2, 4], [6, -2]],
    ),
    "8-bit floats": ("out = torch.ones(3).to(torch.float8_e5m2).float()", [1, 1, 1]),
    "lazy": (
        "m = torch.nn.LazyLinear(1)\nm(torch.ones(1, 2)).sum().backward()\nout = m.weight.grad",
        [[1, 1]],
    ),
    "mkldnn": (V + "(x.to_mkldnn().to_dense() * 2).sum().backward()\nout = x.grad", [2, 2]),
    "packed": (
        "x = torch.ones(3, 2, 2, requires_grad=True)\nm = torch.nn.RNN(2, 3)\n"
        "p = torch.nn.utils.rnn.pack_padded_sequence(x, [3, 2])\n"
        "z, out = torch.nn.utils.rnn.pad_packed_sequence(m(p)[0])\nz.sum().backward()",
        [3, 2],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_kind_of_tensor_changes_no_result_and_ends_no_recording(name: str) -> None:
    source, expected = PROGRAMS[name]
    rec, out = recorded(source)

    assert out.tolist() == expected
    Recording.from_dict(json.loads(json.dumps(rec.to_dict())))
    assert rec.to_text()
    Stepper(rec)


def test_what_a_transform_computes_has_its_values() -> None:
    rec, _ = recorded(V + "out = torch.func.grad(lambda x: (x ** 3).sum())(x) * x")

    # x^3 and x^2 in the rule of the power; 3 x^2, the gradient, and 3 x^2 times x.
    assert data_of(rec, "pow_to_number") == [[1, 8], [1, 4]]
    assert data_of(rec, "mul")[-2:] == [[3, 12], [3, 24]]
    assert "elsewhere" not in rec.to_text()


@pytest.mark.parametrize(
    ("call", "values"),
    [
        ("y = torch.func.grad(lambda t: (t * t * 3).sum())(x)", {"y": [6, 12]}),
        ("y = torch.vmap(lambda t: t * t * 3)(x)", {"y": [3, 12]}),
        ("y, s = torch.func.jvp(lambda t: t * t * 3, (x,), (e,))", {"y": [3, 12], "s": [6, 12]}),
        ("y = torch.func.jacrev(lambda t: t * t * 3)(x)", {"y": [6, 0, 0, 12]}),
        ("y = torch.func.jacfwd(lambda t: t * t * 3)(x)", {"y": [6, 0, 0, 12]}),
        ("y = torch.func.hessian(lambda t: (t * t * 3).sum())(x)", {"y": [6, 0, 0, 6]}),
        ("z, f = torch.func.vjp(lambda t: t * t * 3, x)\n(y,) = f(e)", {"y": [6, 12]}),
    ],
)
def test_of_a_transform_only_the_learners_operations_and_the_results_are_told(
    call: str, values: dict[str, list[int]]
) -> None:
    rec, _ = recorded(f"x, e = torch.tensor([1., 2.]), torch.ones(2)\n{call}\nout = y * 1")

    inner = [node for node in rec.nodes if "transform" in node]
    values_by_op = {node["op"]: node["value"]["data"] for node in inner}
    assert len(inner) == len(values_by_op) + 1  # two products
    assert data_of(rec, "mul")[:2] == [[1, 4], [3, 12]]
    assert values_by_op.keys() <= {"mul", "sum_all"} and values_by_op.get("sum_all", [15]) == [15]
    assert {name: n["value"]["data"] for n in rec.nodes if (name := n["name"]) in values} == values
    steps = [frame["caption"] for frame in build(rec).frames]
    assert not any(" is 3." in step and "Here" in step for step in steps)
    assert [step for step in steps if "Nothing is recorded" in step] == steps[-1:]


def test_sparse_and_quantized_values_are_shown_as_dense_ones() -> None:
    rec, _ = recorded(
        "s = torch.eye(2).to_sparse() * 3\n"
        "out = torch.quantize_per_tensor(torch.tensor([1., 2.]), .5, 0, torch.qint8)"
    )

    assert data_of(rec, "mul") == [[3, 0, 0, 3]]
    assert data_of(rec, "quantize_per_tensor") == [[1, 2]]


def test_a_tensor_without_values_is_told_by_its_shape() -> None:
    rec, _ = recorded("m = torch.ones(2, 3, device='meta')\nout = m * 2")

    assert "m * 2: multiply makes a (2, 3) tensor" in rec.to_text()


def test_a_mode_of_the_learners_does_not_see_what_the_recorder_reads() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            names.append(str(func))
            return func(*args, **(kwargs or {}))

    def work() -> None:
        (torch.tensor([1.0, 2.0]) * 2).sum()

    names: list[str] = []
    with Log():
        work()
    alone, names = names, []
    with Log(), ak.record(torch) as rec:
        work()

    assert rec.note is None
    assert names == alone


# Backward refuses both: a row that was changed in place is multiplied by another one, in place.
REFUSED = """
import torch
import autodiff_kit as ak
with ak.record(torch):
    x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
    b = x * 1
    r = b[0]
    {change}
    r *= b[1]
    try:
        b.sum().backward()
    except RuntimeError as error:
        print(error)
"""


@pytest.mark.parametrize("change", ["pass", "r[1] = 7"])
def test_a_refusal_in_the_middle_of_backward_is_that_of_pytorch_alone(change: str) -> None:
    # PyTorch makes a new node of a view then, holding a lock: to ask it for that waits for ever.
    code = [sys.executable, "-c", REFUSED.format(change=change)]
    process = subprocess.run(code, capture_output=True, text=True, check=True, timeout=120)

    assert "has been modified by an inplace operation" in process.stdout
