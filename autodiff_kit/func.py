"""``torch.func``: functions that turn a function into its gradient, its Jacobian, or its batch.

After reading this file you know that ``grad(f)`` is ``autograd.grad`` of what ``f`` returns, with
respect to fresh tensors. Arguments and results may be lists, tuples and dicts of tensors. ``vmap``,
in ``batched_calls.py``, is a loop here: it gives PyTorch's numbers, not its speed. Read next:
``autograd/functional.py``.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from autodiff_kit.autograd import grad as gradients
from autodiff_kit.autograd.grad_mode import is_grad_enabled
from autodiff_kit.batched_calls import Draws, Function, vmap
from autodiff_kit.core.base import INFERENCE
from autodiff_kit.core.mode import local, recording
from autodiff_kit.core.versions import share
from autodiff_kit.core.view_nodes import Nowhere
from autodiff_kit.creation import zeros_like
from autodiff_kit.errors import error
from autodiff_kit.functions.basic import stack
from autodiff_kit.module_state import functional_call, stack_module_state
from autodiff_kit.ops.saving import leads_outside
from autodiff_kit.outside import absent
from autodiff_kit.overlap import refuse_repeated
from autodiff_kit.random import draws_observed
from autodiff_kit.tensor import Tensor
from autodiff_kit.trees import Tree, form_of, leaves_of, map_leaves, structure_of, tree_like
from autodiff_kit.views import marked, require_grad

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp"]
__all__ += ["linearize", "stack_module_state", "vjp", "vmap"]


class _Transform:
    """Where ``requires_grad_`` is refused: a function that is transformed has no leaves to mark."""

    def __init__(self, own: set[Any]) -> None:
        self._own = own

    def __enter__(self) -> None:
        self._before = local.fresh
        local.fresh = self._own | (local.fresh or set())

    def __exit__(self, *exc: object) -> None:
        local.fresh = self._before


def _recordable(x: Any) -> Any:
    """Return a tensor, or None, as it is, but a copy of one that was made in inference mode."""
    return x.clone() if x is not None and x._changes is INFERENCE else x


# -- one call that is differentiated ---------------------------------------------------------------


class _Call:
    """A call of a function on fresh tensors, with respect to which it can be differentiated."""

    def __init__(
        self,
        func: Function,
        args: Any,
        kwargs: Any,
        argnums: Any,
        has_aux: bool,
        *,
        is_forward: bool = False,
    ) -> None:
        numbers = [argnums] if isinstance(argnums, int) else [*argnums]
        numbers = [n + len(args) if n < 0 else n for n in numbers]
        if any(not 0 <= n < len(args) for n in numbers):
            raise error("func.argnums", argnums=argnums, count=len(args))
        self._is_recorded, self._is_forward = is_grad_enabled(), is_forward
        self._own: set[Any] = set()
        with recording():
            args = [map_leaves(self._fresh, a) if i in numbers else a for i, a in enumerate(args)]
            with _Transform(self._own):
                result = func(*args, **kwargs)
        self.aux = None
        if has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise error("func.aux", kind=type(result).__name__)
            result, aux = result
            self.aux = map_leaves(self.finished, aux)
        self.inputs = args[argnums] if isinstance(argnums, int) else tuple(args[n] for n in numbers)
        self.xs = [*leaves_of(self.inputs)]
        self.out, self.outs = result, [*leaves_of(result)]

    def _fresh(self, x: Any) -> Any:
        """Return a new tensor: what the function has captured of the same name is a constant."""
        if not isinstance(x, Tensor):
            raise error("func.argument", kind=type(x))
        # It must not be saved for a gradient outside; PyTorch's forward mode saves nothing.
        is_kept = x._changes is INFERENCE and self._is_recorded and not self._is_forward
        x = _recordable(x)
        if isinstance(x._node, Nowhere):
            x = x.clone()  # of a view without a history, which leads nowhere
        x = x.view(x.shape) if x.requires_grad else x.detach()
        if not x.requires_grad:
            require_grad(x, True, "floating point")
        if x.is_leaf:
            self._own.add(x)
            if is_kept:
                x._array = marked(share(x))
        return x

    def grad(self, outs: Any, cotangents: Any = None, inputs: Any = None) -> list[Tensor]:
        """Return the gradients of outputs by all inputs; zeros where nothing depends on them."""
        xs = self.xs if inputs is None else inputs
        pairs = zip(outs, cotangents or [None] * len(outs), strict=True)
        roots = [(out, g) for out, g in pairs if out is not None and out.requires_grad]
        if not roots:
            return [zeros_like(x) for x in xs]
        seeds = [_recordable(g) for _, g in roots]
        # The gradients of an inner call are differentiated by the outer one; others are not.
        create_graph = any(g is not None and g.requires_grad for g in seeds) or (
            self._is_recorded and any(self._depends_on_others(out) for out, _ in roots)
        )
        with recording(), _Transform(self._own):
            grads = gradients(
                [out for out, _ in roots], xs, seeds, retain_graph=True, create_graph=create_graph,
                allow_unused=True,
            )  # fmt: skip
            return [zeros_like(x) if g is None else g for g, x in zip(grads, xs, strict=True)]

    def finished(self, result: Any) -> Any:
        """Detach a result that depends on nothing but the tensors made for this call."""
        if not isinstance(result, Tensor) or not result.requires_grad:
            return result
        if self._is_recorded and self._depends_on_others(result):
            return result
        return result.detach()

    def _depends_on_others(self, result: Tensor) -> bool:
        if result.is_leaf:
            return result not in self._own
        return leads_outside(result._node, self._own)


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """Return a function that computes (gradient, value), or (gradient, (value, aux)).

    ``argnums`` says by which argument, or tuple of them, it differentiates.
    """

    @wraps(func)
    def derived(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, args, kwargs, argnums, has_aux)
        out = call.out
        if not isinstance(out, Tensor):
            raise error("func.tensor", kind=type(out))
        if out.ndim:
            raise error("func.scalar", count=out.ndim)
        grads = map(call.finished, call.grad([out]))
        value = call.finished(out)
        return tree_like(call.inputs, grads), (value, call.aux) if has_aux else value

    return derived


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the gradient of ``func``, whose result is one number.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> from autodiff_kit.func import grad
    >>> grad(grad(lambda x: x**3))(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def derived(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return derived


def vjp(func: Function, *primals: Tree, has_aux: bool = False) -> Any:
    """Return the output of ``func``, and a function from cotangents to gradients of the inputs."""
    call = _Call(func, primals, {}, tuple(range(len(primals))), has_aux)

    def vjp_fn(cotangents: Tree) -> Any:
        forms = [form_of(tree) for tree in (cotangents, call.out)]
        if forms[0] != forms[1]:
            raise error("func.cotangents", cotangents=forms[0], out=forms[1])
        grads = call.grad(call.outs, [*leaves_of(cotangents)])
        return tree_like(call.inputs, map(call.finished, grads))

    out = map_leaves(call.finished, call.out)
    return (out, vjp_fn, call.aux) if has_aux else (out, vjp_fn)


class _Forward:
    """A call whose derivatives along tangents are asked for: each of two backward passes.

    See ``autograd.functional.jvp``.
    """

    def __init__(self, func: Function, args: Any, kwargs: Any, argnums: Any, has_aux: bool) -> None:
        self.call = call = _Call(func, args, kwargs, argnums, has_aux, is_forward=True)
        for out in call.outs:
            if not isinstance(out, Tensor):
                raise error("func.forward_result", kind=type(out))
        with recording():
            floats = [x if x.is_floating_point() else x.float() for x in call.outs]
            self._us = [zeros_like(x, requires_grad=True) for x in floats]
        call._own.update(self._us)
        self._sums = call.grad(call.outs, self._us)

    def along(self, tangents: Any) -> list[Tensor]:
        """Return the derivative of each output along tangents, one for each input."""
        parts = self.call.grad(self._sums, tangents, self._us)
        return [part.type_as(out) for part, out in zip(parts, self.call.outs, strict=True)]

    def columns(self, index: int) -> list[Tensor]:
        """Return the derivatives of each output by all elements of an input, as one tensor."""
        xs = self.call.xs
        tangents = [zeros_like(x) for x in xs]
        x, derivatives = xs[index], []
        with recording():
            for place in range(x.numel()) or [None]:
                tangents[index] = basis = zeros_like(x.detach().contiguous())
                if place is not None:
                    basis.view(-1)[place] = 1
                derivatives.append(self.along(tangents))
            count = len(x.shape)
            return [
                stack(list(parts))
                .narrow(0, 0, x.numel())
                .reshape((*x.shape, *parts[0].shape))
                .permute((*range(count, count + parts[0].ndim), *range(count)))
                for parts in zip(*derivatives, strict=True)
            ]


def jvp(func: Function, primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
    """Return the output of ``func``, and its derivative along ``tangents``.

    Raises
    ------
    RuntimeError, ValueError
        If the tangents are not of the structure and the sizes of the primals, or not floats.
    """
    _check_tangents(primals, tangents)
    forward = _Forward(func, tuple(primals), {}, tuple(range(len(primals))), has_aux)
    call, along = forward.call, forward.along([*leaves_of(tangents)])
    results = map_leaves(call.finished, call.out), tree_like(call.out, map(call.finished, along))
    return (*results, call.aux) if has_aux else results


def _check_tangents(primals: Any, tangents: Any) -> None:
    if not isinstance(primals, tuple):
        raise error("func.primals_tuple")
    structures = [structure_of(tree) for tree in (primals, tangents)]
    if structures[0] != structures[1]:
        raise error("func.structure", primals=structures[0], tangents=structures[1])
    trees = {"primals": [*leaves_of(primals)], "tangents": [*leaves_of(tangents)]}
    if not trees["primals"]:
        raise error("func.no_primals")
    for name, leaves in trees.items():
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise error("func.not_only_tensors", name=name, kind=type(leaf))
    for x, tangent in zip(*trees.values(), strict=True):
        for name, tensor in (("primal", x), ("tangent", tangent)):
            if not tensor.is_floating_point():
                raise error("func.no_floats", name=name, dtype=tensor.dtype)
        if x.shape != tangent.shape:
            raise error("func.tangent_size", size=list(x.shape), tangent=list(tangent.shape))


def linearize(func: Function, *primals: Tree) -> tuple[Any, Function]:
    """Return the output of ``func``, and the function from tangents to derivatives along them."""
    return func(*primals), lambda *tangents: jvp(func, primals, tangents)[1]


def jacrev(
    func: Function, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Function:
    """Return a function that computes the Jacobian: of shape (*output.shape, *input.shape).

    ``chunk_size``, how many rows PyTorch computes at once, changes nothing: here it is one.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise error("func.chunk_size", name="jacrev")

    @wraps(func)
    def derived(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, args, kwargs, argnums, has_aux)

        def block(out: Tensor) -> Any:
            if not isinstance(out, Tensor):
                raise error("func.result", kind=type(out))
            with recording():
                rows = [call.grad([element]) for element in out.reshape(-1)]
                rows = rows or [call.grad([out.sum()])]  # of no elements: its shape and history
                blocks = [stack([row[i] for row in rows]) for i in range(len(call.xs))]
                if not out.numel():
                    blocks = [block.narrow(0, 0, 0) for block in blocks]
                blocks = [
                    block.reshape((*out.shape, *x.shape))
                    for block, x in zip(blocks, call.xs, strict=True)
                ]
            return tree_like(call.inputs, map(call.finished, blocks))

        result = tree_like(call.out, map(block, call.outs))
        return (result, call.aux) if has_aux else result

    return derived


def jacfwd(
    func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """Return a function that computes the Jacobian, column by column.

    PyTorch calls ``func`` in a ``vmap``, which is why there is ``randomness`` here, too.
    """

    @wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        places = argnums if isinstance(argnums, tuple) else (argnums,)
        for x in leaves_of([args[i] for i in places if i < len(args)]):
            if isinstance(x, Tensor):
                if not x.is_floating_point():
                    raise error("func.no_floats", name="primal", dtype=x.dtype)
                refuse_repeated(x._array)  # PyTorch writes tangents of the same layout
        with draws_observed(Draws(randomness).note):
            forward = _Forward(func, args, kwargs, argnums, has_aux)
        call = forward.call
        blocks = [forward.columns(i) for i in range(len(call.xs))]
        parts = zip(*blocks, strict=True)
        trees = [tree_like(call.inputs, map(call.finished, part)) for part in parts]
        result = tree_like(call.out, iter(trees))
        return (result, call.aux) if has_aux else result

    return jacobian


def hessian(func: Function, argnums: Any = 0) -> Function:
    """Return a function that computes all second derivatives."""
    return jacfwd(jacrev(func, argnums), argnums)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
