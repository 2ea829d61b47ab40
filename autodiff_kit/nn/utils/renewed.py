"""``weight_norm`` and ``spectral_norm`` as they were before parametrizations: by hooks.

After reading this file you know what a hook before ``forward`` is good for: it computes the weight
anew, from the parameters that are trained instead of it. Read next: ``parametrizations.py``, which
does so wherever the weight is read.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.errors import error
from autodiff_kit.functions import dot, mv
from autodiff_kit.nn import functional as F
from autodiff_kit.nn.conv import ConvTranspose1d, ConvTranspose2d
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.parameter import Parameter, UninitializedParameter
from autodiff_kit.nn.utils.parametrizations import length, matrix_of, of_length
from autodiff_kit.tensor import Tensor

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]

_Layer = TypeVar("_Layer", bound=Module)


class _Renewed:
    """A hook that computes a weight of a module before each of its calls."""

    kind: str

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.weight(module))

    def weight(self, module: Any) -> Any:
        raise NotImplementedError

    @classmethod
    def of(cls, module: Module, name: str) -> tuple[Any, Any]:
        """Return the key and the hook of this kind that makes a weight; (None, None)."""
        hooks = module._forward_pre_hooks.items()
        same = ((key, h) for key, h in hooks if isinstance(h, cls) and h.name == name)
        return next(same, (None, None))

    def attach(self, module: Module) -> None:
        """Refuse a second hook for the same weight, and a weight whose shape is not known yet."""
        if self.of(module, self.name)[1] is not None:
            raise error("nn.renewed_twice", kind=self.kind, name=self.name)
        if isinstance(getattr(module, self.name), UninitializedParameter):
            words = {"weight_norm": "weight", "spectral_norm": "spectral"}[self.kind]
            kind = type(self).__name__.lstrip("_")
            raise error("nn.renewed_lazy", kind=kind, words=words)


class _WeightNorm(_Renewed):
    kind = "weight_norm"

    def __init__(self, name: str, dim: int | None) -> None:
        super().__init__(name)
        self.dim = -1 if dim is None else dim

    def weight(self, module: Any) -> Any:
        v = getattr(module, f"{self.name}_v")
        return of_length(v, getattr(module, f"{self.name}_g"), self.dim)


def weight_norm(module: _Layer, name: str = "weight", dim: int | None = 0) -> _Layer:
    """Train the lengths (``weight_g``) and directions (``weight_v``) of a weight instead of it.

    ``parametrizations.weight_norm`` took its place.
    """
    words = "`torch.nn.utils.weight_norm` is deprecated "
    words += "in favor of `torch.nn.utils.parametrizations.weight_norm`."
    warnings.warn(words, FutureWarning, stacklevel=2)
    hook = _WeightNorm(name, dim)
    hook.attach(module)
    weight: Any = module._parameters.pop(name)
    module.register_parameter(f"{name}_g", Parameter(length(weight, hook.dim).data))
    module.register_parameter(f"{name}_v", Parameter(weight.data))
    hook(module, ())
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: _Layer, name: str = "weight") -> _Layer:
    """Make the weight a parameter again; ValueError if it is not made by ``weight_norm``."""
    key, hook = _WeightNorm.of(module, name)
    if hook is None:
        raise error("nn.not_renewed", kind="weight_norm", name=name, module=module)
    weight = hook.weight(module)
    delattr(module, name)
    del module._parameters[f"{name}_g"], module._parameters[f"{name}_v"]
    setattr(module, name, Parameter(weight.data))
    del module._forward_pre_hooks[key]
    return module


class _SpectralNorm(_Renewed):
    kind = "spectral_norm"

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__(name)
        if n_power_iterations <= 0:
            raise error("parametrize.power_iterations", count=n_power_iterations)
        self.dim, self.n_power_iterations, self.eps = dim, n_power_iterations, eps

    def weight(self, module: Any, *, iterate: bool | None = None) -> Any:
        weight, u, v = (getattr(module, f"{self.name}{end}") for end in ("_orig", "_u", "_v"))
        matrix = matrix_of(weight, self.dim)
        if module.training if iterate is None else iterate:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        return weight / dot(u, mv(matrix, v))


def spectral_norm(
    module: _Layer,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> _Layer:
    """Divide a weight by its largest singular value, before each call.

    ``weight_orig`` is trained; ``parametrizations.spectral_norm`` took its place.
    """
    if dim is None:
        dim = 1 if isinstance(module, ConvTranspose1d | ConvTranspose2d) else 0
    hook = _SpectralNorm(name, n_power_iterations, dim, eps)
    hook.attach(module)
    weight: Any = module._parameters[name]
    if weight is None:
        raise error("nn.spectral_none", name=name)
    with no_grad():
        sizes = matrix_of(weight, dim).shape
        vectors = [F.normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in sizes]
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    for end, vector in zip("uv", vectors, strict=True):
        module.register_buffer(f"{name}_{end}", vector)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: _Layer, name: str = "weight") -> _Layer:
    """Make the weight a parameter again; ValueError if it is not made by ``spectral_norm``."""
    key, hook = _SpectralNorm.of(module, name)
    if hook is None:
        raise error("nn.not_renewed", kind="spectral_norm", name=name, module=module)
    with no_grad():
        weight: Tensor = hook.weight(module, iterate=False)
    for end in ("", "_u", "_v", "_orig"):
        delattr(module, f"{name}{end}")
    module.register_parameter(name, Parameter(weight.detach()))
    del module._forward_pre_hooks[key]
    return module
