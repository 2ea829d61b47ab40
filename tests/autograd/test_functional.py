"""Jacobians, Hessians and products with them: the same nesting and numbers as in PyTorch."""

from typing import Any

import pytest

import autodiff_kit as ak
from tests.autograd.programs import check
from tests.rows import for_each

pytestmark = pytest.mark.parity

GIVEN = """
f = torch.autograd.functional
b, s, v = b.detach(), torch.tensor(2.0), torch.tensor([1.0, -1.0])
m = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

def square(x):
    return x * x

def product(x, y):
    return (x * y).sum()

def pair(x, y):
    return x * y, x.sum() + y

def total(x):
    return x.exp().sum()

def linear(x):
    return 3 * x.sum()

def first(x, y):
    return x * 2

def cubes(x, y):
    return (x**3).sum()

def constant(x):
    return torch.ones(2)

def everyway(name, function, inputs, *rest):
    call = getattr(f, name)
    attempt(lambda: call(function, inputs, *rest))
    attempt(lambda: call(function, inputs, *rest, strict=True))
    attempt(lambda: call(function, inputs, *rest, create_graph=True))
"""

JACOBIANS = ["square, a", "square, (a,)", "product, (a, b)", "pair, (a, b)", "square, m"]
JACOBIANS += ["total, m", "square, s", "lambda x: (x,), a", "constant, a"]
JACOBIANS += ["total, 3", "total, (a, 3)", "lambda x: 3, a", "lambda x: (x, 3), a", "square, [a]"]

HESSIANS = ["total, a", "total, (a,)", "product, (a, b)", "total, m", "total, s", "square, a"]
HESSIANS += ["pair, (a, b)", "cubes, (a, b)", "lambda x: total(x).reshape(1, 1), a"]

PRODUCTS = ["square, a, v", "square, (a,), v", "square, (a,), (v,)", "product, (a, b)"]
PRODUCTS += ["product, (a, b), s", "product, (a, b), (s, s)", "pair, (a, b), (v, v)", "square, s"]
PRODUCTS += ["square, a", "square, a, s", "square, a, (v, v)", "constant, a, v"]
PRODUCTS += ["first, (a, b), v", "first, (a, b), (v, v)", "total, a, 3", "pair, (a, b), (v,)"]

OF_HESSIANS = ["total, a, v", "total, (a,), v", "total, (a,), (v,)", "product, (a, b)"]
OF_HESSIANS += ["product, (a, b), (v, v)", "total, s", "total, a", "total, a, s", "square, a, v"]
OF_HESSIANS += ["pair, (a, b), (v, v)"]

CALLS = [("jacobian", of) for of in JACOBIANS] + [("hessian", of) for of in HESSIANS]
CALLS += [(name, of) for name in ("vjp", "jvp") for of in PRODUCTS]
CALLS += [(name, of) for name in ("hvp", "vhp") for of in OF_HESSIANS]

PROGRAMS = {
    "constants and linear functions have zeros": """
        print(f.hessian(linear, a), f.hvp(linear, a, v), f.vhp(linear, a, v))
        print(f.hvp(cubes, (a, b), (v, v)), f.jacobian(first, (a, b)))
        attempt(lambda: f.vhp(linear, a, v, strict=True))
        attempt(lambda: f.jacobian(first, (a, b), strict=True))
        attempt(lambda: f.jacobian(linear, a, create_graph=True, strict=True))
    """,
    "the graph of a result leads to the inputs": """
        h = f.hessian(lambda x: (x**4).sum(), a, create_graph=True)
        print(torch.autograd.grad(h.sum(), a))
        j = f.jacobian(lambda x: x**4, a, create_graph=True)
        print(torch.autograd.grad(j.sum(), a))
        print(f.hessian(total, a).requires_grad, a.grad)
    """,
    "they work under no_grad": """
        with torch.no_grad():
            print(f.jacobian(square, a), f.hessian(total, a), f.vjp(square, a, v))
            print(f.hvp(total, a, v), f.jvp(square, a, v), f.vhp(total, a, v))
    """,
    "the Hessian of a small network's loss": """
        x, y = torch.linspace(-1, 1, 8).reshape(4, 2).double(), torch.ones(4).double()

        def loss(w, u):
            return (((x @ w).tanh() @ u - y) ** 2).mean()

        w = torch.tensor([[0.5, -0.25], [0.125, 1.0]]).double()
        u = torch.tensor([1.0, -0.5]).double()
        blocks = f.hessian(loss, (w, u))
        print([[tuple(block.shape) for block in row] for row in blocks])
        print(blocks[1][1], blocks[0][1].sum(), blocks[1][0].sum())
        print(f.vhp(loss, (w, u), (w, u))[1][1], f.hvp(loss, (w, u), (w, u))[1][1])
    """,
}


@for_each(("name", "of"), CALLS)
def test_both_give_the_same(name: str, of: str) -> None:
    check(f"everyway({name!r}, {of})", GIVEN)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    check(PROGRAMS[name], GIVEN)


def test_the_products_are_those_of_the_matrices() -> None:
    def function(x: ak.Tensor) -> ak.Tensor:
        return ak.stack([x[0] * x[1], x[0].sin()])  # its Jacobian: [[x1, x0], [cos x0, 0]]

    x = ak.tensor([0.0, 3.0], dtype=ak.float64)
    v = ak.tensor([2.0, 5.0], dtype=ak.float64)
    functional = ak.autograd.functional

    assert functional.jacobian(function, x).tolist() == [[3, 0], [1, 0]]
    assert functional.jvp(function, x, v)[1].tolist() == [6, 2]
    assert functional.vjp(function, x, v)[1].tolist() == [11, 0]


def test_a_jacobian_of_forward_mode_has_the_graph_of_all_but_its_inputs() -> None:
    jacobian = ak.autograd.functional.jacobian
    w, x = ak.tensor([2.0, 3.0], requires_grad=True), ak.tensor([1.0, -2.0])
    leaf = ak.tensor([1.0, 2.0], requires_grad=True)
    how: Any = {"vectorize": True, "strategy": "forward-mode"}

    assert not jacobian(lambda x: x**2, x, **how).requires_grad
    jacobian(lambda x: w * x**2, x, **how).sum().backward()  # the sum of 2 * w * x
    jacobian(lambda x: x**3, leaf, **how).sum().backward()  # the sum of 3 * x**2

    assert w.grad is not None and w.grad.tolist() == [2.0, -4.0]
    assert leaf.grad is not None and leaf.grad.tolist() == [6.0, 12.0]
