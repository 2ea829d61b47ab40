"""Declaring ops: what ``@op`` makes of a function, and what it refuses at import."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.core.op import OPS
from autodiff_kit.ops import op, vjp
from autodiff_kit.ops.words import expression_of, source_of


@pytest.fixture(autouse=True)
def same_table_afterwards() -> Iterator[None]:
    before = dict(OPS)
    yield
    OPS.clear()
    OPS.update(before)


def declare_cube() -> Any:
    @op("x * x * x", tex="x^3")
    def cube(x: Any) -> Any:
        """Multiply three times."""
        return x * x * x

    @cube.vjp("x", tex="3 x^2")
    def _(g: Any, x: Any) -> Any:
        return g * (3 * x * x)

    return cube


def test_a_declared_op_can_be_differentiated_any_number_of_times() -> None:
    cube = declare_cube()
    x = torch.tensor(2.0, requires_grad=True)

    # x^3 = 8, 3 x^2 = 12, 6 x = 12, 6, 0
    derivatives = [cube(x)]
    for _ in range(3):
        derivatives += torch.autograd.grad(derivatives[-1], x, create_graph=True)

    assert [d.item() for d in derivatives] == [8.0, 12.0, 12.0, 6.0]


def test_a_declared_op_works_on_arrays_too() -> None:
    cube = declare_cube()

    np.testing.assert_array_equal(cube(np.array([1.0, 2.0])), [1.0, 8.0])


def test_the_name_of_the_node_comes_from_the_name_of_the_function() -> None:
    cube = declare_cube()
    x = torch.tensor(2.0, requires_grad=True)

    assert cube(x).grad_fn.name() == "CubeBackward0"


def test_the_text_of_a_rule_is_what_it_returns() -> None:
    cube = declare_cube()

    assert expression_of(cube.op.rules["x"]) == "g * (3 * x * x)"
    assert cube.op.rules["x"].reads == ("x",)


def test_short_rules_stand_below_op_in_the_order_of_its_inputs() -> None:
    @op("x * y")
    @vjp("x", lambda g, y: g * y, tex="y")
    @vjp("y", lambda g, x: g * x, tex="x")
    def product(x: Any, y: Any) -> Any:
        """Multiply."""
        return x * y

    rules = product.op.rules
    assert [(wrt, rule.reads, rule.tex) for wrt, rule in rules.items()] == [
        ("x", ("y",), "y"),
        ("y", ("x",), "x"),
    ]
    assert expression_of(rules["y"]) == "g * x"
    assert source_of(rules["y"]) == '@vjp("y", lambda g, x: g * x, tex="x")'
    a, b = torch.tensor([2.0, 3.0], requires_grad=True)
    assert [g.item() for g in torch.autograd.grad(product(a, b), (a, b))] == [3.0, 2.0]


def test_a_rule_that_reads_an_unknown_name_is_refused() -> None:
    cube = declare_cube()

    with pytest.raises(TypeError, match=r"op 'cube': the rule for 'x' reads \('y',\)"):

        @cube.vjp("x")
        def _(g: Any, y: Any) -> Any:
            return g * y


def test_a_rule_for_an_unknown_input_is_refused() -> None:
    cube = declare_cube()

    with pytest.raises(TypeError, match=r"an op's rules are for one of \('x',\)"):

        @cube.vjp("z")
        def _(g: Any) -> Any:
            return g


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match=r"op 'same': unknown options \['colour'\]"):

        @op("x", colour="blue")
        def same(x: Any) -> Any:
            """Return x."""
            return x


def test_a_node_saves_for_the_wanted_rules_only() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0)

    # d(x * y)/dx needs y; nobody asks for d(x * y)/dy, which would need x
    assert set((x * y).grad_fn.saved()) == {"y"}


@pytest.mark.parametrize("value", [None, {1}], ids=type)
def test_something_else_than_a_tensor_is_refused_with_advice(value: Any) -> None:
    with pytest.raises(TypeError, match=r"\n-> Operands are tensors and numbers: .*torch\.tensor"):
        torch.ones(2) * value


@pytest.mark.parametrize("value", [[1.0], "a"], ids=type)
def test_a_sequence_is_repeated_by_an_integer_only(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^only integer tensors of a single.*\n-> .*torch\.tensor"):
        torch.ones(2) * value
    assert torch.tensor(2) * value == 2 * value


@pytest.mark.parametrize("count", [2, 3])
def test_an_input_without_a_rule_gets_no_edge_and_no_gradient(count: int) -> None:
    if count == 2:

        @op("x * y")
        @vjp("x", lambda g, y: g * y)
        def times(x: Any, y: Any) -> Any:
            """Multiply by what counts as constant."""
            return x * y

    else:

        @op("x * y + z")
        @vjp("x", lambda g, y: g * y)
        def times(x: Any, y: Any, z: Any) -> Any:
            """Multiply by, and add, what counts as constant."""
            return x * y + z

    function: Any = times
    inputs = [torch.tensor(float(i + 2), requires_grad=True) for i in range(count)]

    function(*inputs).backward()

    assert [x.grad and x.grad.item() for x in inputs] == [3.0, *[None] * (count - 1)]


@pytest.mark.parametrize("line", ["-mask", "mask - mask", "1 - mask"])
def test_differences_of_masks_are_refused_when_nothing_else_is_loaded(line: str) -> None:
    code = f"import autodiff_kit as torch; mask = torch.tensor([True]); {line}"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "RuntimeError: " in run.stderr and "bool tensor" in run.stderr
