"""The tensor: an array, the node that made it, and operators that are one line each.

After reading this file you know that a tensor adds just two things to a NumPy array: where it
came from (``grad_fn``) and where its gradient goes (``grad``). All mathematics is in ``ops/``;
methods other than operators are in ``methods.py``.
Read next: ``ops/table.py``.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodiff_kit import autograd, dtypes, inplace, ops
from autodiff_kit.autograd import node as nodes
from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.hooks import Hooks, RemovableHandle
from autodiff_kit.autograd.node import AccumulateGrad, Node
from autodiff_kit.errors import teach, warn_of_scalar
from autodiff_kit.methods import Methods, check_grad

__all__ = ["INFERENCE", "Tensor", "version_cell", "wrap"]

# Stands in ``_changes`` of tensors made under inference_mode, which have no version counter.
INFERENCE: list[int] = []


class Tensor(Methods):
    """An array that remembers how it was computed.

    Made by ``torch.tensor``, ``zeros``, ``randn`` and the like, or by operations on tensors.

    Attributes
    ----------
    _array : numpy.ndarray or NumPy scalar
        The values. A 0-d tensor holds a NumPy scalar until somebody asks to share its memory:
        arithmetic on scalars is seven times faster than on 0-d arrays.
    _node : Node or None
        The node that made it; for a leaf that requires grad, the node that accumulates into it.
        None means: no gradient wanted. So this one slot is ``requires_grad``, too.
    _grad : Tensor or None
    _changes : list of int or None
        The version cell (``node.note_change``): shared with views and with the nodes that saved
        this tensor; made when it is first needed.
    _base : Tensor or None
        The tensor whose memory this one looks into.
    _views : set of weak references
        The tensors that look into this one's memory; there only if there was one.
    """

    __slots__ = ("__weakref__", "_array", "_base", "_changes", "_grad", "_node", "_views")
    __array_priority__ = 1000  # NumPy scalars on the left leave arithmetic to us
    __hash__ = object.__hash__  # by identity: == compares elements

    _node: Node | None
    _grad: Tensor | None
    _changes: Any
    _base: Tensor | None
    _views: set[weakref.ref[Tensor]]

    def __init__(self, *data: Any) -> None:
        """Make a tensor of the default type: of given sizes, or from one list."""
        from autodiff_kit.creation import legacy_array

        self._array, self._node = legacy_array(data), None
        self._grad = self._changes = self._base = None

    # -- what it is ----------------------------------------------------------------------------

    @property
    def shape(self) -> dtypes.Size:
        """The sizes of the dimensions."""
        return dtypes.Size(self._array.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        return dtypes.from_numpy_dtype(self._array.dtype)

    @property
    def device(self) -> dtypes.device:
        """Where the memory is: always the CPU."""
        return dtypes.device("cpu")

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim  # type: ignore[no-any-return]

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError(teach("len() of a 0-d tensor", "It holds one number: x.item()."))
        return self.shape[0]  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise TypeError(teach("iteration over a 0-d tensor", "Get its number by x.item()."))
        return (ops.unbind_item(self, dim=0, index=i) for i in range(len(self)))

    def __repr__(self) -> str:
        from autodiff_kit.printing import format_tensor

        return format_tensor(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.ndim == 0 else object.__format__(self, spec)

    # -- its place in the graph ----------------------------------------------------------------

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for leaves."""
        return None if self.is_leaf else self._node

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made it: the learner did, or nothing was recorded."""
        return self._node is None or self._node.op is nodes.ACCUMULATE

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded and a gradient is wanted."""
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._require_grad(wanted, "floating point and complex")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` and return the tensor itself."""
        self._require_grad(requires_grad, "floating point")
        return self

    def _require_grad(self, wanted: bool, types: str) -> None:
        if not self.is_leaf:
            if not wanted:
                raise RuntimeError(
                    teach(
                        "you can only change requires_grad flags of leaf variables. If you want "
                        "to use a computed variable in a subgraph that doesn't require "
                        "differentiation use var_no_grad = var.detach().",
                        f"This tensor was made by {self._node and self._node.name()}.",
                    )
                )
        elif not wanted:
            self._node = None
        elif not self.is_floating_point():
            raise RuntimeError(
                teach(
                    f"only Tensors of {types} dtype can require gradients",
                    f"This one is {self.dtype}; use x.float() or write its numbers as 1., 2. ...",
                )
            )
        elif self._changes is INFERENCE and not local.mode.inference:
            raise RuntimeError(
                teach(
                    "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                    "allowed.",
                    "Make it outside, or use x.clone().",
                )
            )
        elif self._node is None:
            self._node = AccumulateGrad(self)

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward has accumulated here; None before."""
        if self._grad is None and not self.is_leaf and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
                ".grad attribute won't be populated during autograd.backward(). If you indeed want "
                "the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
                "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you "
                "access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for "
                "more information.",
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Carry the gradient back through the graph and add it to the leaves' ``.grad``.

        Parameters
        ----------
        gradient : Tensor, same shape as self, optional
            What flows in; may be left out for a tensor of one element, and is 1 then.
        retain_graph : bool, optional
            Keep the saved values for another backward; default: as ``create_graph``.
        create_graph : bool
            Record the backward pass, so that gradients can be differentiated.
        inputs : Tensor or sequence of Tensor, optional
            Accumulate into these only.

        Raises
        ------
        RuntimeError
            If there is no graph, its values were released or changed, or shapes do not fit.
        """
        autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf tensor in ``.grad``; does nothing on leaves."""
        if self._node is None:
            raise RuntimeError(
                teach(
                    "can't retain_grad on Tensor that has requires_grad=False",
                    "No gradient flows to it: make a leaf before it require grad.",
                )
            )
        if not self.is_leaf:
            _hooks(self._node).retain = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether ``retain_grad`` was asked for."""
        hooks = None if self.is_leaf or self._node is None else self._node.hooks
        return hooks is not None and hooks.retain is not None and hooks.retain() is self

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(gradient)`` in every backward; what it returns replaces the gradient."""
        if self._node is None:
            raise RuntimeError(
                teach(
                    "cannot register a hook on a tensor that doesn't require gradient",
                    "No gradient flows to it: set requires_grad=True on a leaf before it.",
                )
            )
        return RemovableHandle(_hooks(self._node).on_gradient, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(leaf)`` each time after backward has added to ``.grad``."""
        if self._node is None:
            raise RuntimeError(
                teach(
                    "cannot register a hook on a tensor that doesn't require gradient",
                    "Nothing will be accumulated here: set requires_grad=True first.",
                )
            )
        if not self.is_leaf:
            raise RuntimeError(
                teach(
                    "post accumulate grad hooks cannot be registered on non-leaf tensors",
                    "Only leaves accumulate; use register_hook here.",
                )
            )
        return RemovableHandle(_hooks(self._node).on_accumulated, hook)

    @property
    def output_nr(self) -> int:
        """Which output of its node this is."""
        return 0

    @property
    def _version(self) -> int:
        """How often the tensor, or one that shares its memory, was changed in place."""
        if self._changes is INFERENCE:
            raise RuntimeError(
                teach(
                    "Inference tensors do not track version counter.",
                    "That is what makes them cheaper; x.clone() makes a normal tensor.",
                )
            )
        return 0 if self._changes is None else self._changes[0] + len(self._changes) - 1

    def is_inference(self) -> bool:
        """Return whether it was made under ``inference_mode``."""
        return self._changes is INFERENCE

    # -- out of the graph ----------------------------------------------------------------------

    def detach(self) -> Tensor:
        """Return a tensor with the same memory and no history; changes in place are shared."""
        out = wrap(share(self))
        out._changes = INFERENCE if self._changes is INFERENCE else version_cell(self)
        return out

    @property
    def data(self) -> Tensor:
        """The same memory without history and without a version counter: nobody notices changes."""
        return wrap(share(self))

    @data.setter
    def data(self, value: Tensor) -> None:
        self._array = share(value)
        if self._node is not None and self.is_leaf:
            self._node.shape = self._array.shape

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """Return the NumPy array, sharing memory.

        Raises
        ------
        RuntimeError
            If the tensor requires grad, unless ``force``: NumPy would work unrecorded.
        """
        if self._node is not None and not force:
            raise RuntimeError(
                teach(
                    "Can't call numpy() on Tensor that requires grad. "
                    "Use tensor.detach().numpy() instead.",
                    "NumPy's operations are not recorded; detach() says that you know.",
                )
            )
        return share(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        return array if dtype is None and not copy else np.array(array, dtype=dtype)

    def __bool__(self) -> bool:
        if self._array.size != 1:
            few = "no values" if self.numel() == 0 else "more than one value"
            raise RuntimeError(
                teach(
                    f"Boolean value of Tensor with {few} is ambiguous",
                    "`if` needs one answer: reduce by .any() or .all(), or compare one element.",
                )
            )
        taken = bool(self._array)
        if local.mode.observer is not None:
            local.mode.observer.branched(self, taken)
        return taken

    def __float__(self) -> float:
        if self._node is not None:
            warn_of_scalar(stacklevel=3)
        return float(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iub" or self.numel() != 1:
            raise TypeError(
                teach(
                    "only integer tensors of a single element can be converted to an index",
                    f"This one is {self.dtype} of shape {list(self.shape)}; round it by int(x).",
                )
            )
        return int(self.item())

    def _scalar(self) -> Any:
        if self._array.size != 1:
            raise ValueError(
                teach(
                    "only one element tensors can be converted to Python scalars",
                    f"This one has shape {self.shape}; reduce it or pick an element.",
                )
            )
        return self._array.item()

    # -- operators: one line each --------------------------------------------------------------

    def __add__(self, other: Any) -> Tensor:
        return ops.add(self, other)

    def __radd__(self, other: Any) -> Tensor:
        return ops.add(self, _plain(other, "+"))

    def __sub__(self, other: Any) -> Tensor:
        return ops.sub(self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return ops.rsub(self, y=_plain(other, "-"))

    def __mul__(self, other: Any) -> Tensor:
        return ops.mul(self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return ops.mul(self, _plain(other, "*"))

    def __truediv__(self, other: Any) -> Tensor:
        return ops.div(self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return ops.mul(ops.reciprocal(self), _plain(other, "/"))

    def __pow__(self, other: Any) -> Tensor:
        return self.pow(_operand(other, "** or pow()"))

    def __rpow__(self, other: Any) -> Tensor:
        return ops.pow_from_number(self, base=_plain(other, "** or pow()"))

    def __matmul__(self, other: Tensor) -> Tensor:
        return ops.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        raise TypeError(_refusal(type(other).__name__, "Tensor", "@"))

    def __mod__(self, other: Any) -> Tensor:
        return self.remainder(_operand(other, "%"))

    def __rmod__(self, other: Any) -> Tensor:
        return ops.remainder_of_number(self, y=_plain(other, "%"))

    def __floordiv__(self, other: Any) -> Tensor:
        return self.floor_divide(_operand(other, "//"))

    def __rfloordiv__(self, other: Any) -> Tensor:
        return ops.floor_divide_number(self, y=_plain(other, "//"))

    def __neg__(self) -> Tensor:
        return ops.neg(self)

    def __pos__(self) -> Tensor:
        if self._array.dtype == bool:
            raise RuntimeError(
                teach(
                    "The `+` operator, on a bool tensor is not supported.",
                    "Convert first: x.long() or x.float().",
                )
            )
        return self

    def __abs__(self) -> Tensor:
        return ops.abs(self)

    def __invert__(self) -> Tensor:
        return ops.bitwise_not(self)

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return ops.eq(self, other) if _comparable(other) else NotImplemented

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return ops.ne(self, other) if _comparable(other) else NotImplemented

    def __lt__(self, other: Any) -> Tensor:
        return ops.lt(self, other)

    def __le__(self, other: Any) -> Tensor:
        return ops.le(self, other)

    def __gt__(self, other: Any) -> Tensor:
        return ops.gt(self, other)

    def __ge__(self, other: Any) -> Tensor:
        return ops.ge(self, other)

    def __and__(self, other: Any) -> Tensor:
        return ops.bitwise_and(self, other)

    def __or__(self, other: Any) -> Tensor:
        return ops.bitwise_or(self, other)

    def __xor__(self, other: Any) -> Tensor:
        return ops.bitwise_xor(self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __getitem__(self, key: Any) -> Tensor:
        return ops.getitem(self, key)  # type: ignore[no-any-return]

    def __setitem__(self, key: Any, value: Any) -> None:
        inplace.assign(self, key, value)

    def __iadd__(self, other: Any) -> Tensor:
        return self.add_(other)  # type: ignore[no-any-return]

    def __isub__(self, other: Any) -> Tensor:
        return self.sub_(other)  # type: ignore[no-any-return]

    def __imul__(self, other: Any) -> Tensor:
        return self.mul_(other)  # type: ignore[no-any-return]

    def __itruediv__(self, other: Any) -> Tensor:
        return self.div_(other)  # type: ignore[no-any-return]

    def __ifloordiv__(self, other: Any) -> Tensor:
        return self.floor_divide_(other)  # type: ignore[no-any-return]

    def __imod__(self, other: Any) -> Tensor:
        return self.remainder_(other)  # type: ignore[no-any-return]

    def __ipow__(self, other: Any) -> Tensor:
        return self.pow_(other)  # type: ignore[no-any-return]


def wrap(array: Any, node: Node | None = None) -> Tensor:
    """Make a Tensor around an array without copying: the constructor that ops use."""
    tensor = _new(Tensor)
    tensor._array = array
    tensor._node = node
    tensor._grad = tensor._changes = tensor._base = None
    return tensor


_new = object.__new__


def share(tensor: Tensor) -> np.ndarray[Any, Any]:
    """Return the tensor's memory as an array that others may hold and change, too."""
    if not isinstance(tensor._array, np.ndarray):
        tensor._array = np.array(tensor._array)
    return tensor._array


def note_view(view: Tensor, of: Tensor) -> None:
    """Note that ``view`` looks into the memory of ``of``: they share base and version cell."""
    view._base = base = of if of._base is None else of._base
    view._changes = INFERENCE if of._changes is INFERENCE else of._changes or version_cell(of)
    try:
        views = base._views
    except AttributeError:
        views = base._views = set()
    views.add(weakref.ref(view, views.discard))


def version_cell(tensor: Tensor) -> list[int]:
    """Return the tensor's version cell; make it if there is none.

    Raises
    ------
    RuntimeError
        For inference tensors, which have none and so cannot be saved.
    """
    if tensor._changes is INFERENCE:
        raise RuntimeError(
            teach(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created "
                "in inference mode in computation tracked by autograd. To work around this, you "
                "can make a clone to get a normal tensor and use it in autograd, or use "
                "`torch.no_grad()` instead of `torch.inference_mode()`.",
                "Inference tensors do not count their changes, so nobody could notice one.",
            )
        )
    if tensor._changes is None:
        tensor._changes = [0]
    return tensor._changes  # type: ignore[no-any-return]


def _hooks(node: Node) -> Hooks:
    if node.hooks is None:
        node.hooks = Hooks()
    return node.hooks


def _plain(value: Any, sign: str) -> Any:
    """Return a Python number; refuse anything else on the left of an operator."""
    if type(value) is float or type(value) is int:
        return value
    if isinstance(value, int | float | np.generic):
        return value.item() if isinstance(value, np.generic) else value
    raise TypeError(_refusal(type(value).__name__, "Tensor", sign))


def _operand(value: Any, sign: str) -> Any:
    """Return a tensor or number; refuse anything else on the right of an operator."""
    if isinstance(value, Tensor | int | float | np.generic):
        return value
    raise TypeError(_refusal("Tensor", type(value).__name__, sign))


def _refusal(left: str, right: str, sign: str) -> str:
    return teach(
        f"unsupported operand type(s) for {sign}: '{left}' and '{right}'",
        "Make a tensor of it first: torch.tensor(...).",
    )


def _comparable(value: Any) -> bool:
    return isinstance(value, Tensor | int | float | np.generic)
