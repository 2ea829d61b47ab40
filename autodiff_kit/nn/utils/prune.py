"""Pruning: weights of which some elements are always zero, by a mask.

After reading this file you know what pruning leaves in a layer: ``weight_orig``, which is trained,
``weight_mask`` of ones and zeros, and a hook that makes ``weight`` of both before each call. The
gradient of an element that is pruned is zero, as the mask is what it is multiplied with. Read
next: ``renewed.py``, whose hooks work alike.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from autodiff_kit.creation import ones_like, rand, rand_like, zeros_like
from autodiff_kit.errors import error
from autodiff_kit.functions import kthvalue, topk
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.utils import parameters_to_vector
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured"]
__all__ += ["PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask"]
__all__ += ["global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured"]
__all__ += ["random_structured", "random_unstructured", "remove"]

_Layer = TypeVar("_Layer", bound=Module)


class BasePruningMethod(ABC):
    """A way to choose what is pruned; also the hook that applies the mask before each call.

    A method of your own has ``compute_mask``, and says in ``PRUNING_TYPE`` what it is shown of a
    tensor that is pruned already: ``"unstructured"``: the elements that are left; ``"structured"``:
    the entries along its ``dim`` of which some element is left; ``"global"``: everything.
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        """Compute the parameter anew from what is trained, before ``module`` is called."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask for scores ``t``, where ``default_mask`` is what held before."""

    def apply_mask(self, module: Module) -> Any:
        """Return the parameter with zeros where the mask has them."""
        mask: Any = getattr(module, f"{self._tensor_name}_mask")
        original: Any = getattr(module, f"{self._tensor_name}_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> Any:
        """Prune a parameter, after what has pruned it before; return the hook.

        Parameters
        ----------
        module : Module
        name : str
            Of its parameter.
        importance_scores : Tensor, shape of the parameter, optional
            What the choice is made by; default: the parameter itself.
        *args, **kwargs
            For the class, such as the ``amount``.
        """
        key, former = _hook_of(module, name)
        if key is not None:
            del module._forward_pre_hooks[key]
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        if former is not None:
            container = former if isinstance(former, PruningContainer) else PruningContainer(former)
            container.add_pruning_method(method)
            method = container
        parameter: Any = getattr(module, name)
        scores = parameter if importance_scores is None else importance_scores
        if scores.shape != parameter.shape:
            own = parameter.shape
            raise error("prune.scores_shape", name=name, module=module, got=scores.shape, own=own)
        if former is None:
            module.register_parameter(f"{name}_orig", parameter)
            del module._parameters[name]
            before = ones_like(parameter)
        else:
            before = getattr(module, f"{name}_mask").detach().clone()
        try:
            module.register_buffer(f"{name}_mask", method.compute_mask(scores, before))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if former is None:
                module.register_parameter(name, module._parameters.pop(f"{name}_orig"))
            raise
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """Return a tensor with zeros where this method prunes it."""
        scores = t if importance_scores is None else importance_scores
        before = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, before)

    def remove(self, module: Module) -> None:
        """Make the pruned parameter an ordinary one, whose zeros may be trained again."""
        name, weight = self._tensor_name, self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original: Any = module._parameters.pop(f"{name}_orig")
        original.data = weight.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods that have pruned one parameter, in order."""

    def __init__(self, *methods: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(methods) == 1:
            self._tensor_name = methods[0]._tensor_name
        for method in methods:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method for the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise error("prune.method_kind", kind=type(method))
        if method is not None and self._tensor_name != method._tensor_name:
            own, other = self._tensor_name, method._tensor_name
            raise error("prune.other_name", container=self, own=own, other=other)
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask after the latest method, which is shown what is left before it."""
        method = self._pruning_methods[-1]
        part: Any = (slice(None),) * t.ndim
        if method.PRUNING_TYPE == "unstructured":
            part = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.ndim
            is_left = default_mask.sum(dim=[d for d in range(t.ndim) if d != dim]) != 0
            part = (*part[:dim], is_left, *part[dim + 1 :])
        elif method.PRUNING_TYPE != "global":
            raise error("prune.unknown_type", kind=method.PRUNING_TYPE)
        mask = default_mask.to(dtype=t.dtype)
        mask = mask.clone() if mask is default_mask else mask
        mask[part] = method.compute_mask(t[part], default_mask[part]).to(dtype=mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing: for a mask that is to be changed later."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask as it was."""
        return default_mask


class _ByAmount(BasePruningMethod):
    """Prunes so many, or such a fraction, of the elements or of the entries along ``dim``."""

    def __init__(self, amount: Any) -> None:
        if not isinstance(amount, numbers.Real):
            raise error("prune.amount_kind", amount=amount)
        most = math.inf if isinstance(amount, numbers.Integral) else 1
        if not 0 <= float(amount) <= most:
            raise error("prune.amount", amount=amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        """Return how many of ``size`` are pruned."""
        count: Any = self.amount
        count = count if isinstance(count, numbers.Integral) else round(count * size)
        if count > size:
            raise error("prune.too_many", amount=count, size=size)
        return int(count)


class RandomUnstructured(_ByAmount):
    """Prunes elements at random."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask with zeros where the largest of random numbers are."""
        count, mask = self._count(t.numel()), default_mask.clone()
        if count:
            mask.view(-1)[topk(rand_like(t).view(-1), count)[1]] = 0
        return mask


class L1Unstructured(_ByAmount):
    """Prunes the elements that are nearest to zero."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask with zeros where the smallest absolute values are."""
        count, mask = self._count(t.numel()), default_mask.clone()
        if count:
            mask.view(-1)[topk(t.abs().view(-1), count, largest=False)[1]] = 0
        return mask


class _Structured(_ByAmount):
    """Prunes whole entries along ``dim``, such as rows."""

    PRUNING_TYPE = "structured"
    dim: int

    def _size(self, t: Any) -> int:
        if t.ndim <= 1:
            raise error("prune.vector", shape=t.shape, ndim=t.ndim)
        if self.dim >= t.ndim:
            raise error("prune.dim", dim=self.dim, shape=t.shape)
        return int(t.shape[self.dim])

    def _mask(self, t: Any, default_mask: Any, entries: Any) -> Any:
        """Return ``default_mask`` with zeros but for these entries, indices or a mask of them."""
        dim, mask = self.dim % t.ndim, zeros_like(t)
        part: Any = (slice(None),) * t.ndim
        mask[(*part[:dim], entries, *part[dim + 1 :])] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    """Prunes entries along ``dim`` at random."""

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask that leaves the entries with the largest random numbers."""
        size = self._size(t)
        count = self._count(size)
        if not count:
            return default_mask
        scores = rand(size)
        return self._mask(t, default_mask, scores > kthvalue(scores, count)[0])


class LnStructured(_Structured):
    """Prunes the entries along ``dim`` with the smallest norm of order ``n``."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n, self.dim = n, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask that leaves the entries with the largest norms."""
        size = self._size(t)
        count = self._count(size)
        dims = [d for d in range(t.ndim) if d != self.dim % t.ndim]
        entries = topk(t.norm(p=self.n, dim=dims), size - count)[1]
        return self._mask(t, default_mask, entries) if count else default_mask


class CustomFromMask(BasePruningMethod):
    """Prunes where a mask of your own is zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return both masks in one."""
        if default_mask.shape != self.mask.shape:
            raise error("prune.mask_shape", own=default_mask.shape, got=self.mask.shape)
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: _Layer, name: str) -> _Layer:
    """Give a parameter a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: _Layer, name: str, amount: float) -> _Layer:
    """Prune elements at random: so many, or such a fraction."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: _Layer, name: str, amount: float, importance_scores: Any = None
) -> _Layer:
    """Prune the elements nearest to zero: so many, or such a fraction."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: _Layer, name: str, amount: float, dim: int) -> _Layer:
    """Prune entries along ``dim`` at random: so many, or such a fraction."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: _Layer, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None
) -> _Layer:
    """Prune the entries along ``dim`` whose norm of order ``n`` is smallest."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: _Layer, name: str, mask: Any) -> _Layer:
    """Prune where ``mask`` is zero."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters as if they were one vector.

    Parameters
    ----------
    parameters : iterable of (Module, str)
    pruning_method : class
        Such as ``L1Unstructured``; ``kwargs`` are for it.
    importance_scores : dict, optional
        By such a pair, what the choice is made by instead of the parameter.
    """
    if not isinstance(parameters, Iterable):
        raise error("prune.not_iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise error("prune.scores_kind")
    pairs = [*parameters]
    tensors: list[Any] = [getattr(module, name) for module, name in pairs]
    masks = [
        getattr(module, f"{name}_mask", ones_like(tensor))
        for (module, name), tensor in zip(pairs, tensors, strict=True)
    ]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise error("prune.not_unstructured", method=pruning_method, kind=method.PRUNING_TYPE)
    method._tensor_name = "all of them"
    vector = parameters_to_vector(
        scores.get(pair, tensor) for pair, tensor in zip(pairs, tensors, strict=True)
    )
    final: Tensor = PruningContainer(method).compute_mask(vector, parameters_to_vector(masks))
    start = 0
    for (module, name), tensor in zip(pairs, tensors, strict=True):
        end = start + tensor.numel()
        custom_from_mask(module, name, mask=final[start:end].view_as(tensor))
        start = end


def remove(module: _Layer, name: str) -> _Layer:
    """Make a pruned parameter an ordinary one; the zeros stay until it is trained."""
    key, hook = _hook_of(module, name)
    if hook is None:
        raise error("prune.not_pruned", name=name, module=module)
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Module) -> bool:
    """Return whether a parameter of the module, or of one inside of it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )


def _hook_of(module: Module, name: str) -> tuple[Any, Any]:
    """Return the key and the hook that prunes a parameter; (None, None)."""
    hooks = module._forward_pre_hooks.items()
    own = ((k, h) for k, h in hooks if isinstance(h, BasePruningMethod) and h._tensor_name == name)
    return next(own, (None, None))


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
