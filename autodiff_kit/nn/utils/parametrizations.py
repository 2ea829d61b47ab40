"""Two parametrizations: a weight by its direction and length, and one of spectral norm 1.

After reading this file you know that ``weight_norm`` trains directions and lengths separately, and
that ``spectral_norm`` keeps a layer from stretching anything: it divides by the largest singular
value, which it finds by multiplying with the matrix again and again. Read next: ``__init__.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.errors import error
from autodiff_kit.functions import mv, vdot
from autodiff_kit.nn import functional as F
from autodiff_kit.nn.conv import ConvTranspose1d, ConvTranspose2d
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.utils.parametrize import register_parametrization
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["spectral_norm", "weight_norm"]


def length(weight: Tensor, dim: int) -> Any:
    """Return the lengths along a dimension, of all others together; of all elements for -1."""
    if dim == -1:
        return weight.norm(2)
    dims = tuple(d for d in range(weight.ndim) if d != dim)
    return weight.norm(2, dims, keepdim=True) if dims else weight.abs()


def of_length(v: Tensor, g: Tensor, dim: int) -> Any:
    """Return ``v`` with the lengths ``g``."""
    if dim in (0, v.ndim - 1):
        return ops.weight_norm_interface(v, g, dim=dim)
    return v * (g / length(v, dim))


def matrix_of(weight: Tensor, dim: int) -> Any:
    """Return a weight as a matrix that has one row for each entry along ``dim``."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.ndim) if d != dim))
    return weight.flatten(1)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Any:
        return of_length(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Any, Tensor]:
        return length(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Train the lengths (``original0``) and directions (``original1``) of a weight instead of it.

    There is one length for each entry along ``dim``, or one for all, if that is None.

    Source: Salimans and Kingma, Weight normalization (2016).
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        rank = weight.ndim
        if not -rank <= dim < rank:
            raise error("parametrize.spectral_dim", rank=rank, last=rank - 1, dim=dim)
        if n_power_iterations <= 0:
            raise error("parametrize.power_iterations", count=n_power_iterations)
        self.dim, self.eps = dim % rank, eps
        if rank > 1:
            self.n_power_iterations = n_power_iterations
            matrix = matrix_of(weight, self.dim)
            for buffer, size in (("_u", matrix.shape[0]), ("_v", matrix.shape[1])):
                with no_grad():
                    vector = matrix.new_empty(size).normal_(0, 1)
                    self.register_buffer(buffer, F.normalize(vector, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _iterate(self, matrix: Tensor, count: int) -> None:
        """Bring two vectors nearer to the singular vectors of the largest singular value."""
        with no_grad():
            for _ in range(count):
                self._u.copy_(F.normalize(mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(mv(matrix.H, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Any:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = matrix_of(weight, self.dim)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / vdot(u, mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value, as a matrix of rows along ``dim``.

    That is found by ``n_power_iterations`` products, each time the weight is read in training.

    Source: Miyato et al., Spectral normalization for generative adversarial networks (2018).
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise error("parametrize.no_weight", module=module, name=name)
    if dim is None:
        dim = 1 if isinstance(module, ConvTranspose1d | ConvTranspose2d) else 0
    normalized = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, normalized)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
