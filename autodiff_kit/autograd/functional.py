"""Jacobians, Hessians and their products with vectors, built from ``grad``.

After reading this file you know that backward computes the product of a vector with the Jacobian,
and how differentiating that once more gives the product from the other side. All six functions
take ``inputs``, a tensor or a tuple of them, on which ``func`` is called; what they return is
nested accordingly. ``create_graph`` records, so that results can be differentiated; ``strict``
refuses with RuntimeError what has no derivative at all, instead of returning zeros. Anything but
tensors is a TypeError. Read next: ``gradcheck.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_kit.autograd.backward import grad
from autodiff_kit.autograd.grad_mode import enable_grad, is_grad_enabled
from autodiff_kit.autograd.more_modes import set_grad_enabled
from autodiff_kit.creation import ones_like, zeros_like
from autodiff_kit.errors import error
from autodiff_kit.functions import stack
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Tensor | tuple[Tensor, ...]
Function = Callable[..., Any]
_OUTPUTS = "outputs of the user-provided function"


def jacobian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return all derivatives of the outputs of ``func`` by its inputs.

    A tensor of shape ``(*output.shape, *input.shape)``; in a tuple for each input if ``inputs`` is
    a tuple, and that in a tuple for each output if ``func`` returns a tuple. ``vectorize`` and
    ``strategy``, which may be "forward-mode" then, only make PyTorch faster.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    _check_strategy(create_graph, strict, vectorize, strategy)
    is_forward = strategy == "forward-mode"
    with enable_grad():
        several, xs, several_out, outs = _run(
            "jacobian", func, inputs, create_graph or is_forward, strict
        )
        # PyTorch's forward mode detaches nothing: results keep the graph of all but the inputs.
        recorded = create_graph or (is_forward and _has_other_leaves(outs, xs))
        blocks = []
        for i, out in enumerate(outs):
            rows: list[list[Tensor]] = [[] for _ in xs]
            for element in out.reshape(-1):
                gradients = _grad((element,), xs, None, recorded, retain_graph=True)
                for j, (x, g) in enumerate(zip(xs, gradients, strict=True)):
                    if g is None and strict:
                        raise error("jacobians.output_independent", output=i, input=j)
                    if g is not None and strict and create_graph and not g.requires_grad:
                        raise error("jacobians.jacobian_constant", index=j)
                    rows[j].append(zeros_like(x) if g is None else g)
            block = zip(rows, xs, strict=True)
            blocks.append(tuple(stack(row).reshape((*out.shape, *x.shape)) for row, x in block))
        result: Any = tuple(_results(block, several, recorded) for block in blocks)
    return result if several_out else result[0]


def _check_strategy(create_graph: bool, strict: bool, vectorize: bool, strategy: str) -> None:
    """Refuse what PyTorch refuses, though the loop here could do it."""
    is_forward = strategy == "forward-mode"
    if strategy not in ("forward-mode", "reverse-mode"):
        raise error("jacobians.strategy")
    if is_forward and create_graph:
        raise error("jacobians.forward_graph")
    if strict and (is_forward or vectorize):
        raise error("jacobians.forward_strict" if is_forward else "jacobians.vectorized_strict")
    if is_forward and not vectorize:
        raise error("jacobians.forward_loop")


def hessian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return all second derivatives of a function with one number as its output.

    A tensor of shape ``(*input.shape, *input.shape)``; for a tuple of inputs a tuple of tuples.
    ``vectorize`` and ``outer_jacobian_strategy`` are as in ``jacobian``.
    """
    several, xs = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise error("jacobians.outer_strategy")

    def gradient(*xs: Tensor) -> tuple[Tensor, ...]:
        rows: tuple[Tensor, ...] = jacobian(_one_number(func, "hessian"), xs, create_graph=True)
        _require_grad("jacobians.gradient_constant", rows, strict)
        return tuple(row.reshape(x.shape) for row, x in zip(rows, xs, strict=True))

    if outer_jacobian_strategy == "forward-mode":  # PyTorch's has the graph of the gradient
        xs = tuple(x if x.requires_grad else x.detach().requires_grad_() for x in xs)
    options = create_graph, strict, vectorize, outer_jacobian_strategy
    result = jacobian(gradient, xs, *options)
    return result if several else result[0][0]


def vjp(
    func: Function, inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the output of ``func``, and ``v`` times its Jacobian: what one backward computes.

    ``v`` is like the output, the product like ``inputs``. For an output of one element it may be
    left out, and is 1 then.
    """
    recording = create_graph or is_grad_enabled()
    with enable_grad():
        several, xs, several_out, outs = _run("vjp", func, inputs, create_graph, strict)
        vs = _vector("jacobians.vector_left_out_for_output", v, outs, several_out, "vjp")
    with set_grad_enabled(recording):
        gradients = _grad(outs, xs, vs, create_graph)
        products = _filled("jacobians.back_independent", gradients, xs, strict, create_graph)
    return _results(outs, several_out, create_graph), _results(products, several, create_graph)


def jvp(
    func: Function, inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the output of ``func``, and its Jacobian times ``v``: the derivative along ``v``.

    ``v`` is like the inputs, the product like the output. For an input of one element it may be
    left out, and is 1 then.

    Backward gives u^T J for any u; that is linear in u, and its derivative by u, times v, is J v.
    So two backward passes replace the forward one that PyTorch has for this, too.
    """
    recording = create_graph or is_grad_enabled()
    with enable_grad():
        several, primals = _as_tuple(inputs, "inputs", "jvp")
        vs = _vector("jacobians.vector_left_out_for_input", v, primals, several, "jvp")
        _, xs, several_out, outs = _run("jvp", func, inputs, create_graph, strict)
        us = tuple(zeros_like(out, requires_grad=True) for out in outs)
        gradients = _grad(outs, xs, us, create_graph=True)
        _require_grad("jacobians.gradient_independent", gradients, strict)
    with set_grad_enabled(recording):
        second = _grad(gradients, us, vs, create_graph)
        products = _filled("jacobians.trick_independent", second, outs, strict, create_graph)
    return _results(outs, several_out, create_graph), _results(products, several_out, create_graph)


def vhp(
    func: Function, inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the output of ``func``, one number, and ``v`` times its Hessian, like ``inputs``."""
    return _with_hessian(vjp, "vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Function, inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the output of ``func``, one number, and its Hessian times ``v``, like ``inputs``.

    The Hessian is symmetric, so ``vhp`` gives the same with one backward pass less.
    """
    return _with_hessian(jvp, "hvp", func, inputs, v, create_graph, strict)


def _with_hessian(
    product: Any, name: str, func: Function, inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[Any, Any]:
    """Multiply with a Hessian: the Jacobian of the gradient."""
    several, xs = _as_tuple(inputs, "inputs", name)
    vs = _vector("jacobians.vector_left_out_for_input", v, xs, several, name)
    outputs: list[Tensor] = []

    def gradient(*xs: Tensor) -> tuple[Tensor, ...]:
        out = _one_number(func, name)(*xs)
        _require_grad("jacobians.output_without_grad", (out,), strict)
        outputs[:] = [out]
        results = _grad((out,), xs, None, create_graph=True)
        gradients = _filled("jacobians.back_independent", results, xs, strict, False)
        _require_grad("jacobians.gradient_constant", gradients, strict)
        return gradients

    result = product(gradient, xs, vs, create_graph, strict)[1]
    return _results(outputs, False, create_graph), result if several else result[0]


def _run(
    name: str, func: Function, inputs: Any, create_graph: bool, strict: bool
) -> tuple[bool, tuple[Tensor, ...], bool, tuple[Tensor, ...]]:
    """Call ``func``; return its inputs and outputs, each with whether it is a tuple."""
    several, xs = _as_tuple(inputs, "inputs", name)
    # New tensors: what the function has captured of the same name is a constant to it.
    xs = tuple(
        x.view(x.shape) if create_graph and x.requires_grad else x.detach().requires_grad_()
        for x in xs
    )
    several_out, outs = _as_tuple(func(*xs), _OUTPUTS, name)
    _require_grad("jacobians.output_without_grad", outs, strict)
    return several, xs, several_out, outs


def _has_other_leaves(outs: tuple[Tensor, ...], xs: tuple[Tensor, ...]) -> bool:
    """Return whether the outputs were computed from leaves that require grad besides ``xs``."""
    waiting = [out.grad_fn for out in outs]
    visited: set[Any] = {None}
    while waiting:
        node: Any = waiting.pop()
        if node not in visited:
            visited.add(node)
            if hasattr(node, "variable") and all(node.variable is not x for x in xs):
                return True
            waiting += [source for source, _ in node.next_functions]
    return False


def _one_number(func: Function, name: str) -> Function:
    def checked(*xs: Tensor) -> Tensor:
        several, outs = _as_tuple(func(*xs), _OUTPUTS, name)
        if several:
            raise error("jacobians.single_output", name=name)
        if outs[0].numel() != 1:
            raise error("jacobians.single_element", name=name)
        return outs[0]

    return checked


def _as_tuple(value: Any, what: str, name: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Return whether a value is a tuple, and it as a tuple of tensors."""
    several = isinstance(value, tuple)
    values = value if isinstance(value, tuple) else (value,)
    for i, x in enumerate(values):
        if not isinstance(x, Tensor):
            which = f"value at index {i}" if several else f"given {what}"
            raise error("jacobians.type", what=what, name=name, which=which, kind=type(x))
    return several, values


def _vector(
    left_out: str, v: Any, like: tuple[Tensor, ...], several: bool, name: str
) -> tuple[Tensor, ...]:
    """Check the vector of a product; make it if it may be left out."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise error(left_out)
        return (ones_like(like[0]),)
    _, vs = _as_tuple(v, "v", name)
    if len(vs) != len(like):
        key = "jacobians.vector_count" if several else "jacobians.vector_single"
        raise error(key, expected=len(like), got=len(vs))
    for i, (vector, x) in enumerate(zip(vs, like, strict=True)):
        if vector.shape != x.shape:
            entry = f"Entry {i} in " if several else ""
            raise error("jacobians.vector_shape", entry=entry, expected=x.shape, got=vector.shape)
    return vs


def _grad(
    outs: tuple[Any, ...], xs: Any, vs: Any, create_graph: bool, retain_graph: bool | None = None
) -> tuple[Tensor | None, ...]:
    """Return gradients as ``grad`` does, leaving out outputs that do not require grad."""
    pairs = zip(outs, vs or [None] * len(outs), strict=True)
    roots = [(out, v) for out, v in pairs if out is not None and out.requires_grad]
    if not roots:
        return (None,) * len(xs)
    outs, vs = zip(*roots, strict=True)
    return grad(outs, xs, vs, retain_graph, create_graph, allow_unused=True)


def _filled(
    key: str, gradients: tuple[Any, ...], like: Any, strict: bool, create_graph: bool
) -> tuple[Tensor, ...]:
    """Put zeros for None; under ``strict`` refuse both None and constants."""
    for i, g in enumerate(gradients):
        if strict and g is None:
            raise error(key, index=i)
        if strict and create_graph and not g.requires_grad:
            raise error("jacobians.jacobian_constant", index=i)
    pairs = zip(gradients, like, strict=True)
    return tuple(zeros_like(x) if g is None else g for g, x in pairs)


def _require_grad(key: str, values: tuple[Any, ...], strict: bool) -> None:
    for i, value in enumerate(values):
        if strict and value is None:
            raise error("jacobians.back_independent", index=i)
        if strict and not value.requires_grad:
            raise error(key, index=i)


def _results(values: Any, several: bool, create_graph: bool) -> Any:
    values = tuple(values) if create_graph else tuple(value.detach() for value in values)
    return values if several else values[0]


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
