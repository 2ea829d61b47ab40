"""What holds for every op of the table, whatever it computes.

A new op is tested here by being declared; ``samples.py`` finds inputs for it.
"""

import ast
import re
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.core.base import wrap
from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import Observer, installed
from autodiff_kit.core.op import OPS, Op
from autodiff_kit.ops.apply import apply as applied
from autodiff_kit.ops.words import expression_of, source_of
from autodiff_kit.tensor import Tensor
from tests.gate import IN_THE_GATE
from tests.ops.expected import expected
from tests.ops.gradients import numerical, numerical_along
from tests.ops.samples import REFUSED, Sample, every_sample, samples
from tests.rows import for_each

SAMPLES = list(every_sample())
EVERY_OP = [pytest.param(op, id=op.name) for op in OPS.values()]
EVERY_RULE = [
    pytest.param(op, wrt, id=f"{op.name} {wrt}") for op in OPS.values() for wrt in op.rules
]
ONCE = {
    "cdist",
    "embedding_bag",
    "embedding_bag_max",
    "hardsigmoid",
}  # nor of the derivatives of these
TO_FLOAT32 = {"to_copy", "promote"}  # too coarse for finite differences
APART = {
    "ctc_loss",  # probabilities cannot change alone: tests/nn/test_sequence_loss.py
    "dirichlet",  # a draw is differentiated, which is a constant here: tests/test_distributions.py
    "linalg_cholesky_ex",  # an element cannot change alone: tests/test_decompositions.py
    "linalg_eigh",  # as that one
    "standard_gamma",  # as dirichlet
}


def differentiable(op: Op) -> list[int]:
    """Return which inputs of a sample have a rule."""
    if op.name in REFUSED:
        return []
    if op.is_variadic:
        return [0, 1] if op.rules else []
    return [i for i, name in enumerate(op.inputs) if name in op.rules]


DIFFERENTIABLE = [p for p in SAMPLES if differentiable(p.values[0])]
SMOOTH = [p for p in DIFFERENTIABLE if p.values[0].name not in TO_FLOAT32 | APART]
TWICE = [p for p in SMOOTH if p.values[0].name not in ONCE]
DIRECTIONS = range(3)  # of second derivatives; the gate looks at each element


def apply(op: Op, inputs: Any, sample: Sample) -> Any:
    """Apply an op to tensors or arrays; return its output, of several that of the sample."""
    out = op.function(*inputs, **sample.params)
    return out[sample.output] if op.several else out[0] if op.by_products else out


def leaves(op: Op, sample: Sample, wrt: list[int] | None = None) -> list[Tensor]:
    """Return tensors for the inputs; those wanted, by default all with a rule, require grad."""
    wrt = differentiable(op) if wrt is None else wrt
    tensors = [wrap(np.array(x)[()]) for x in sample.inputs]
    for i in wrt:
        tensors[i].requires_grad_()
    return tensors


def cotangent(out: Tensor, seed: int = 5) -> Tensor:
    """Return fixed numbers of the shape and dtype of ``out``, to weigh its elements."""
    values = np.random.default_rng(seed).uniform(0.5, 1.5, out.shape)
    return wrap(np.asarray(values).astype(out._array.dtype)[()])


def gradients(op: Op, sample: Sample, create_graph: bool = False) -> tuple[Tensor, ...]:
    inputs = leaves(op, sample)
    out = apply(op, inputs, sample)
    wrt = [inputs[i] for i in differentiable(op)]
    return torch.autograd.grad(out, wrt, cotangent(out), create_graph=create_graph)


# -- forward ---------------------------------------------------------------------------------------


@for_each(("op", "sample"), SAMPLES)
def test_forward_is_what_numpy_computes(op: Op, sample: Sample) -> None:
    out = apply(op, [wrap(np.array(x)[()]) for x in sample.inputs], sample)

    np.testing.assert_allclose(out.tolist(), np.asarray(expected(op, sample)), rtol=1e-12)


@for_each(("op", "sample"), SAMPLES)
def test_float32_stays_float32(op: Op, sample: Sample) -> None:
    inputs = [np.asarray(x) for x in sample.inputs]
    if any(x.dtype == np.float64 for x in inputs):
        low = [x.astype("float32") if x.dtype == np.float64 else x for x in inputs]

        out = apply(op, [wrap(x[()]) for x in low], sample)

        assert out._array.dtype != np.float64


# -- gradients -------------------------------------------------------------------------------------


@for_each(("op", "sample"), SMOOTH)
def test_rules_agree_with_finite_differences(op: Op, sample: Sample) -> None:
    weights = cotangent(apply(op, leaves(op, sample, []), sample)).numpy()

    def weighted(*arrays: Any) -> float:
        return float(np.sum(apply(op, arrays, sample) * weights))

    actual = gradients(op, sample)

    for wrt, g in zip(differentiable(op), actual, strict=True):
        correct = numerical(weighted, sample.inputs, wrt)
        np.testing.assert_allclose(g.numpy(), correct, rtol=1e-7, atol=1e-8)


@for_each(("op", "sample"), TWICE)
def test_rules_can_be_differentiated_themselves(op: Op, sample: Sample) -> None:
    """Gradients of gradients, by finite differences of the first ones."""
    wrt = differentiable(op)
    inputs = leaves(op, sample)
    out = apply(op, inputs, sample)
    v = cotangent(out).requires_grad_()
    firsts = torch.autograd.grad(out, [inputs[i] for i in wrt], v, create_graph=True)
    total = sum((first * cotangent(first, 6)).sum() for first in firsts)
    if not isinstance(total, Tensor) or not total.requires_grad:
        return  # the gradient is a constant, as that of floor

    by = [inputs[i] for i in wrt] + [v]
    seconds = torch.autograd.grad(total, by, materialize_grads=True)
    weights_of_firsts = [cotangent(first, 6).numpy() for first in firsts]

    def of_firsts(*arrays: Any) -> float:
        *values, weights = arrays
        again = leaves(op, Sample(tuple(values), sample.params))
        result = apply(op, again, sample)
        g = torch.autograd.grad(result, [again[i] for i in wrt], wrap(weights))
        pairs = zip(g, weights_of_firsts, strict=True)
        return sum(float(np.sum(first.numpy() * weight)) for first, weight in pairs)

    point = [*sample.inputs, v.detach().numpy()]
    for index, second in zip([*wrt, len(point) - 1], seconds, strict=True):
        if IN_THE_GATE or second.numel() <= 2 * len(DIRECTIONS):
            correct = numerical(of_firsts, point, index)
            np.testing.assert_allclose(second.numpy(), correct, rtol=1e-6, atol=1e-7)
            continue
        for seed in DIRECTIONS:
            along = np.random.default_rng(seed).normal(size=second.shape)
            along /= np.linalg.norm(along)
            slope = numerical_along(of_firsts, point, index, along)
            np.testing.assert_allclose(np.sum(second.numpy() * along), slope, rtol=1e-6, atol=1e-7)


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_rules_give_the_same_for_arrays_and_tensors(op: Op, sample: Sample) -> None:
    on_arrays = gradients(op, sample)
    on_tensors = gradients(op, sample, create_graph=True)

    for a, t in zip(on_arrays, on_tensors, strict=True):
        assert a.dtype is t.dtype
        np.testing.assert_allclose(a.numpy(), t.detach().numpy(), rtol=1e-14)


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_gradients_have_the_shape_and_dtype_of_their_input(op: Op, sample: Sample) -> None:
    for dtype in ("float32", "float64"):
        low = tuple(
            x.astype(dtype) if np.asarray(x).dtype == np.float64 else x for x in sample.inputs
        )
        for create_graph in (False, True):
            actual = gradients(op, Sample(low, sample.params), create_graph)

            for wrt, g in zip(differentiable(op), actual, strict=True):
                assert g.shape == np.shape(low[wrt])
                assert g._array.dtype == dtype


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_backward_leaves_inputs_and_output_alone(op: Op, sample: Sample) -> None:
    inputs = leaves(op, sample)
    out = apply(op, inputs, sample)
    before = [np.array(t._array) for t in (*inputs, out)]

    out.backward(cotangent(out))

    for tensor, array in zip((*inputs, out), before, strict=True):
        np.testing.assert_array_equal(tensor._array, array)


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_backward_gives_the_same_whether_somebody_watches_or_not(op: Op, sample: Sample) -> None:
    actual: list[list[Any]] = []
    for observer in (None, Observer()):  # two forms of the engine
        inputs = leaves(op, sample)
        out = apply(op, inputs, sample)
        with installed(observer):
            out.backward(cotangent(out))
        actual.append([t.grad._array for t in inputs if t.grad is not None])

    assert len(actual[0]) == len(actual[1])
    for plain, watched in zip(*actual, strict=True):
        np.testing.assert_array_equal(plain, watched)


def node_of(out: Any) -> Any:
    """Return what a node has: where its edges lead to, and what it saved for rules in use."""
    node = (out[0] if isinstance(out, tuple) else out)._node
    if node is None:
        return None
    edges = [edge and id(edge.variable) for edge in (node.edge0, node.edge1, *node.more)]
    op, arguments = node.op, [name for name, edge in node.edges() if edge is not None]
    reads = {name for wrt in arguments if wrt in op.rules for name in op.rules[wrt].reads}
    slots = zip(("out", *op.inputs[:2]), (node.out, node.x, node.y), strict=False)
    saved = {name: repr(v) for name, v in (*slots, *zip(op.rest, node.rest, strict=False))}
    return type(node), op, node.shape, edges, {n: v for n, v in saved.items() if n in reads}


# An op with several outputs has a function of its own, made from neither text; so has one that is
# made of others for Tensors: its own node stands in no graph.
PLAIN = [param for param in SAMPLES if not (param.values[0].several or param.values[0].made_of)]


@for_each(("op", "sample"), PLAIN)
def test_the_function_of_an_op_does_what_the_plain_text_does(op: Op, sample: Sample) -> None:
    floats = [i for i, x in enumerate(sample.inputs) if np.asarray(x).dtype.kind == "f"]
    for wrt in [differentiable(op), *([i] for i in floats), floats, []]:
        inputs = tuple(leaves(op, sample, wrt))

        fast, plain = op.function(*inputs, **sample.params), applied(op, inputs, sample.params)

        assert str(fast) == str(plain)
        assert node_of(fast) == node_of(plain)


@for_each("name", sorted(REFUSED))
def test_an_op_without_derivative_says_so_at_backward(name: str) -> None:
    op = OPS[name]
    sample = samples(op)[0]
    inputs = [wrap(x).requires_grad_() for x in sample.inputs]
    out = apply(op, inputs, sample)

    with pytest.raises(RuntimeError, match=r"(is not implemented\.?|@once_differentiable)\n-> "):
        out.sum().backward()


# -- what is saved ---------------------------------------------------------------------------------


def subsets(indices: list[int]) -> list[list[int]]:
    return [
        [index for bit, index in enumerate(indices) if chosen >> bit & 1]
        for chosen in range(1, 2 ** len(indices))
    ]


def tensors_read(op: Op, arguments: list[int]) -> set[str]:
    names = op.rules if op.is_variadic else [op.inputs[i] for i in arguments]
    read = {name for wrt in names for name in op.rules[wrt].reads}
    return read & {"out", *op.inputs, *op.by_products}


@for_each(("op", "sample"), [p for p in DIFFERENTIABLE if not p.values[0].made_of])
def test_a_node_saves_what_the_wanted_rules_read_and_no_more(op: Op, sample: Sample) -> None:
    for wrt in subsets(differentiable(op)):
        out = apply(op, leaves(op, sample, wrt), sample)

        node = out.grad_fn
        assert isinstance(node, Node)
        assert set(node.saved()) == tensors_read(op, wrt)


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_backward_releases_what_was_saved(op: Op, sample: Sample) -> None:
    out = apply(op, leaves(op, sample), sample)
    node = out.grad_fn
    assert node is not None
    had_saved = bool(node.saved()) or op.saves_rest  # indices are freed, as tensors are

    out.backward(cotangent(out))

    assert node.saved() == {}
    if had_saved:
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            out.backward(cotangent(out))
    else:
        out.backward(cotangent(out))


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_nothing_is_recorded_under_no_grad(op: Op, sample: Sample) -> None:
    with torch.no_grad():
        out = apply(op, leaves(op, sample), sample)

    assert out.grad_fn is None
    assert out.requires_grad == bool(op.is_view)  # PyTorch's views do, though nothing flows there


# -- what is shown ---------------------------------------------------------------------------------


@for_each(("op", "wrt"), EVERY_RULE)
def test_the_text_of_a_rule_is_an_expression_of_what_it_reads(op: Op, wrt: str) -> None:
    rule = op.rules[wrt]

    expression = ast.parse(expression_of(rule), mode="eval")

    assert source_of(rule).lstrip().startswith(("@", "def"))
    assert ast.unparse(expression) == expression_of(rule)


def balanced(tex: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", tex):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


@for_each(("op", "wrt"), EVERY_RULE)
def test_every_rule_has_a_formula(op: Op, wrt: str) -> None:
    tex = op.rules[wrt].tex

    assert tex
    assert balanced(tex)


@for_each("op", EVERY_OP)
def test_every_op_says_what_it_does(op: Op) -> None:
    assert op.text
    assert op.tex
    assert balanced(op.tex)
    assert op.doc.strip().endswith(".")


@for_each("op", EVERY_OP)
def test_every_op_works_by_its_name_in_the_table(op: Op) -> None:
    assert OPS[op.name] is op
    assert op.function.op is op


def test_ops_that_are_loaded_late_are_tested_too() -> None:
    assert {"add", "convolution", "gather", "linalg_vector_norm", "topk"} <= {
        p.id for p in EVERY_OP
    }
    assert len(EVERY_OP) > 150
