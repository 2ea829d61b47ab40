"""What PyTorch has and the kit has not: the one answer to every such name, in whatever form.

After reading this file you know why ``torch.fft``, ``x.stft()``, ``from torch.nn import Conv3d``
and ``torch.ones(3, pin_memory=True)`` all say the same: that it is PyTorch's, and what to do. The
names are in ``names.toml``. Read next: ``../errors.py``.
"""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Callable, Collection
from functools import cache
from importlib.machinery import ModuleSpec
from typing import Any

__all__ = [
    "OF_TENSORS",
    "absent",
    "absent_in",
    "functions_with",
    "keyword_outside",
    "missing_attribute",
    "modules_below",
    "only_default",
    "outside",
]

_STATIC = "The kit's static graphs are autodiff_kit.static.StaticGraph: lesson 07."
_CPU = "The kit computes with NumPy on the CPU: leave out what speaks to a GPU."
_NO_COMPLEX = "The kit computes with real numbers only."
_WATCH = "autodiff_kit.widgets has Costs and MemoryTimeline for time and memory of a run."
_LEAVE_OUT = "Leave it out: the numbers are the same."
_ONE_PROCESS = "Leave it out: the kit runs in one process."
_DENSE = "Tensors of the kit are dense: leave the conversion out."
_NO_MODELS = "The kit comes without trained models, and loads nothing from the network."
_COMPILE = f"Leave it out: the results are the same. {_STATIC}"
_BFLOAT = "NumPy has no such dtype: use torch.float16, or leave float32 as it is."
_BINOMIAL = "torch.distributions.Bernoulli(p).sample((n,)).sum(0) draws such numbers."
_USE = "Use PyTorch for it."
_KEYWORDS = {
    "generator": "There is one generator: torch.manual_seed sets it.",
    "layout": _LEAVE_OUT,
    "memory_format": _LEAVE_OUT,
    "non_blocking": _LEAVE_OUT,
    "out": "Write it there afterwards: out.copy_(...).",
    "pin_memory": _LEAVE_OUT,
}
# What does the same in the kit, or lets a program go without.
_INSTEAD = {
    "torch.autograd.forward_ad": "torch.func.jvp computes the same.",
    "torch.autograd.profiler": _WATCH,
    "torch.accelerator": _CPU,
    "torch.backends": _CPU,
    "torch.bfloat16": _BFLOAT,
    "torch.Tensor.bfloat16": _BFLOAT,
    "torch.nn.Module.bfloat16": _BFLOAT,
    "torch.channels_last": _LEAVE_OUT,
    "torch.channels_last_3d": _LEAVE_OUT,
    "torch.contiguous_format": _LEAVE_OUT,
    "torch.preserve_format": _LEAVE_OUT,
    "torch.strided": _LEAVE_OUT,
    "torch.ops": "torch.ops is the kit's own op table here: call the function, such as torch.mul.",
    "torch.compile": _COMPILE,
    "torch.compiler": _COMPILE,
    "torch.nn.Module.compile": _COMPILE,
    "torch.cdouble": _NO_COMPLEX,
    "torch.cfloat": _NO_COMPLEX,
    "torch.chain_matmul": "torch.linalg.multi_dot, with a list of matrices, computes the same.",
    "torch.complex": _NO_COMPLEX,
    "torch.complex64": _NO_COMPLEX,
    "torch.complex128": _NO_COMPLEX,
    "torch.view_as_complex": _NO_COMPLEX,
    "torch.view_as_real": _NO_COMPLEX,
    "torch.polar": _NO_COMPLEX,
    "torch.cholesky_solve": "torch.linalg.solve_triangular, with L and then with L.mT, does it.",
    "torch.cond": "The kit has Python's own if, and torch.where: lesson 05.",
    "torch.cuda": _CPU,
    "torch.distributions.Binomial": _BINOMIAL,
    "torch.distributions.binomial": _BINOMIAL,
    "torch.binomial": _BINOMIAL,
    "torch.distributed": _ONE_PROCESS,
    "torch.nn.Module.share_memory": _ONE_PROCESS,
    "torch.nn.SyncBatchNorm": "In one process, torch.nn.BatchNorm2d computes the same.",
    "torch.Tensor.share_memory_": _ONE_PROCESS,
    "torch.utils.data.DistributedSampler": _ONE_PROCESS,
    "torch.utils.data.distributed": _ONE_PROCESS,
    "torch.export": _STATIC,
    "torch.fft": _NO_COMPLEX,
    "torch.gradient": "For differences of neighbours there is torch.diff.",
    "torch.hub": _NO_MODELS,
    "torch.utils.model_zoo": _NO_MODELS,
    "torch.jit": _STATIC,
    "torch.multiprocessing": "Python's own multiprocessing takes functions that use the kit.",
    "torch.nested": "Lesson 08 writes its own batches of sequences of different lengths.",
    "torch.linalg.eig": "For symmetric matrices there is torch.linalg.eigh; NumPy has the other.",
    "torch.linalg.eigvals": "For symmetric matrices there is torch.linalg.eigvalsh.",
    "torch.mps": _CPU,
    "torch.nn.attention": "Leave it out: attention is computed in one way here.",
    "torch.nn.Buffer": "register_buffer does the same in a module.",
    "torch.nn.parameter.Buffer": "register_buffer does the same in a module.",
    "torch.nn.functional.upsample": "torch.nn.functional.interpolate does the same.",
    "torch.nn.Module.register_backward_hook": "register_full_backward_hook is what it became.",
    "torch.nn.utils.stateless": "torch.func.functional_call does the same.",
    "torch.nn.parallel": "Leave it out: the kit computes with NumPy on the CPU.",
    "torch.nn.utils.parametrizations.orthogonal": "nn.init.orthogonal_ makes a weight so once.",
    "torch.profiler": _WATCH,
    "torch.set_default_tensor_type": "torch.set_default_dtype does the same for floats.",
    "torch.set_flush_denormal": _LEAVE_OUT,
    "torch.sparse": _DENSE,
    "torch.sparse_coo_tensor": _DENSE,
    "torch.sparse_csr_tensor": _DENSE,
    "torch.sparse_coo": _DENSE,
    "torch.Tensor.symeig": "torch.linalg.eigh computes the same.",
    "torch.Tensor.to_sparse": _DENSE,
    "torch.Tensor.to_dense": _DENSE,
    "torch.Tensor.coalesce": _DENSE,
    "torch.Tensor.storage": "data_ptr(), storage_offset() and stride() say where elements lie.",
    "torch.Tensor.untyped_storage": "data_ptr() tells whether two tensors begin at one place.",
    "torch.testing": "torch.allclose compares; assert torch.allclose(x, y) raises.",
    "torch.utils.benchmark": "Python's timeit takes lines that use the kit.",
    "torch.xpu": _CPU,
    "torch.svd": "torch.linalg.svd computes the same, with Vh for V.mT.",
    "torch.utils.tensorboard": "autodiff_kit.widgets.GradientFlow plots losses and gradients.",
}
# Modules of PyTorch whose functions the kit has in the package above them.
_ALSO_ABOVE = {
    "torch.nn.utils.clip_grad": """
        clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ get_total_norm
    """,
    "torch.nn.utils.convert_parameters": "parameters_to_vector vector_to_parameters",
}

# Methods and properties that only PyTorch has: these are refused with advice.
_OF_TENSORS = """
    addbmm_ angle as_strided_ as_strided_scatter as_subclass bfloat16 ccol_indices
    cdouble cfloat chalf cholesky cholesky_inverse cholesky_solve coalesce col_indices
    conj_physical conj_physical_ const_data_ptr crow_indices dense_dim dequantize
    diagonal_scatter dim_order eig float_power_ frexp geqrf grad_dtype hash_tensor i0
    i0_ igamma igamma_ igammac igammac_ imag index index_reduce index_reduce_ indices
    int_repr ipu is_coalesced is_conj is_distributed is_ipu is_maia is_meta is_mkldnn
    is_mps is_mtia is_neg is_nested is_pinned is_quantized is_set_to is_shared
    is_sparse_csr is_vulkan is_xla is_xpu istft layout lstsq lu lu_solve map2_
    module_load mtia mvlgamma mvlgamma_ name new_empty_strided nextafter
    nextafter_ nonzero_static orgqr ormqr pin_memory polygamma_ prelu put put_
    q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
    q_zero_point qr qscheme record_stream reinforce renorm renorm_ resize resize_
    resize_as resize_as_ resize_as_sparse_ resolve_conj resolve_neg row_indices
    select_scatter set_ share_memory_ slice_inverse slice_scatter smm solve sparse_dim
    sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm stft storage
    storage_type svd swapdims_ symeig to_dense to_mkldnn to_padded_tensor to_sparse
    to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr
    triangular_solve unsafe_chunk unsafe_split unsafe_split_with_sizes untyped_storage
    values volatile xpu
"""
OF_TENSORS = _OF_TENSORS.split()


@cache
def _names() -> dict[str, frozenset[str]]:
    """Return PyTorch's public names by the place where they are, such as ``torch.nn``.

    Below ``out=`` stand the functions that take this keyword.
    """
    import tomllib
    from importlib.resources import files

    text = files(__name__).joinpath("names.toml").read_text(encoding="utf-8")
    return {place: frozenset(names.split()) for place, names in tomllib.loads(text).items()}


def outside(path: str, has: Any = ()) -> str:
    """Return what to say of a name that the kit does not have.

    Parameters
    ----------
    path : str
        PyTorch's name for it, such as ``torch.nn.Conv3d``.
    has : iterable of str
        The names that the kit has in that place; one that is similar is proposed.

    Examples
    --------
    >>> outside("torch.compile")[:92]
    "torch.compile is PyTorch's, but not part of the kit. Leave it out: the results are the same."
    >>> outside("torch.manual_sed", ["manual_seed"])
    'PyTorch has no torch.manual_sed either. Did you mean torch.manual_seed?'
    """
    place, _, name = path.rpartition(".")
    if path == "torch.torch":
        return "The kit itself takes this name: import autodiff_kit as torch."
    if name.startswith("_"):
        return f"{path} is private, if PyTorch has it: of such names the kit has only a few."
    if name not in _names().get(place, {name}) and path not in _names():
        from difflib import get_close_matches

        # Tools ask any object for private names of theirs, often: nothing is similar to those.
        public = [n for n in has if not n.startswith("_") and not name.startswith("_")]
        # Of a class and the module where it is, the class.
        by_small_letters = {n.lower(): n for n in sorted(public, reverse=True)}
        similar = get_close_matches(name.lower(), by_small_letters, 1, 0.75)
        also = f" Did you mean {place}.{by_small_letters[similar[0]]}?" if similar else ""
        return f"PyTorch has no {path} either.{also}"
    parts = path.split(".")
    places = (".".join(parts[:k]) for k in range(len(parts), 1, -1))
    instead = next((_INSTEAD[p] for p in places if p in _INSTEAD), "") or _elsewhere(place, name)
    return f"{path} is PyTorch's, but not part of the kit. {instead or _USE}"


# Where else the kit may have a function of this name: PyTorch moved many.
_ELSEWHERE = {
    "torch": ("torch.nn.functional", "torch.linalg", "torch.special", "torch.Tensor"),
    "torch.Tensor": ("torch", "torch.linalg", "torch.nn.functional"),
}


def _elsewhere(place: str, name: str) -> str:
    """Return where the kit has a function of the same name, as a sentence, or nothing."""
    for other in _ELSEWHERE.get(place, ("torch",)):
        owner: Any = sys.modules["autodiff_kit"]
        for part in other.split(".")[1:]:
            owner = getattr(owner, part)
        has = {*dir(owner)} - {*OF_TENSORS} if isinstance(owner, type) else owner.__all__
        if name in has:
            return f"The kit has {other}.{name}."
    return ""


def functions_with(keyword: str) -> Collection[str]:
    """Return the names of PyTorch's functions that take a keyword such as ``out``."""
    return _names().get(f"{keyword}=", ())


def keyword_outside(function: str, keyword: str) -> str | None:
    """Return what to say of a keyword that only PyTorch's function takes; None if it does not."""
    if function not in functions_with(keyword):
        return None
    return f"{keyword}= is PyTorch's, but not part of the kit. {_KEYWORDS[keyword]}"


def only_default(function: str, **options: Any) -> None:
    """Refuse options of PyTorch's that the kit knows without what they do: they must be off.

    So ``nn.LSTM(2, 3, proj_size=0)`` runs, and the places of what follows are PyTorch's.

    Raises
    ------
    NotImplementedError
        For the first one that is on.
    """
    for name, value in options.items():
        if value:
            path = f"torch.{function}({name}={value!r})"
            raise NotImplementedError(f"{path} is PyTorch's, but not part of the kit. {_USE}")


def absent(module: str, name: str) -> Exception:
    """Return the error for a name that a module of the kit does not have.

    Parameters
    ----------
    module : str
        For example ``"autodiff_kit.autograd"``.
    name : str

    Returns
    -------
    AttributeError; ImportError where the caller's caller is ``from module import name``, which
    would not show the words of an AttributeError.
    """
    has, asks = sys.modules[module], sys._getframe(2)
    words = f"module '{module}' has no attribute '{name}'"
    # Python's own questions: of __path__, say, or whether an import has to look for a module.
    if name.startswith("__") or asks.f_code.co_name == "_handle_fromlist":
        return AttributeError(words)
    advice = outside(
        f"{module.replace('autodiff_kit', 'torch', 1)}.{name}",
        {*dir(has), *getattr(has, "__all__", ())},
    )
    if asks.f_code.co_code[max(asks.f_lasti, 0)] == dis.opmap["IMPORT_FROM"]:
        return ImportError(f"cannot import name '{name}' from '{module}'\n-> {advice}", name=module)
    return AttributeError(f"{words}\n-> {advice}", name=name, obj=has)


def absent_in(module: str) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a module of the kit that is also one of PyTorch's."""

    def answer(name: str) -> Any:
        raise absent(module, name)

    return answer


def missing_attribute(of: Any, place: str, name: str) -> AttributeError:
    """Return the error for an attribute that a tensor or module, or the class, does not have.

    Parameters
    ----------
    of : object or type
    place : str
        PyTorch's name of its class, such as ``torch.Tensor``.
    name : str
    """
    what = (
        f"type object '{of.__name__}'" if isinstance(of, type) else f"'{type(of).__name__}' object"
    )
    words = f"{what} has no attribute '{name}'"
    if name in _names()[place] if not name.startswith("_") else False:
        words += f"\n-> {outside(f'{place}.{name}')}"
    return AttributeError(words, name=name, obj=of)


class _Outside:  # no Loader of ``importlib.abc``, which takes as long to load as half of the kit
    """Finds the modules that the kit has no file for, so that importing one is answered, too."""

    def find_spec(self, module: str, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a module of PyTorch's; None if it has none of this name."""
        place, _, name = _of_pytorch(module).rpartition(".")
        loader: Any = self
        is_private = name.startswith("_") and not name.startswith("__")
        return ModuleSpec(module, loader) if is_private or name in _names().get(place, ()) else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make the module."""

    def exec_module(self, module: Any) -> None:
        """Give it the names that the kit has in the package above; refuse where there are none."""
        name, path = module.__name__, _of_pytorch(module.__name__)
        package, _, last = name.rpartition(".")
        above = sys.modules[package]
        names = _ALSO_ABOVE.get(path, "").split() or _classes_named(last, above)
        if not names:
            raise ModuleNotFoundError(f"No module named '{name}'\n-> {outside(path)}", name=name)
        vars(module).update({n: getattr(above, n) for n in names})
        module.__all__, module.__getattr__ = names, absent_in(name)


def _classes_named(module: str, package: Any) -> list[str]:
    """Return a class as ``OneHotCategorical``, for which PyTorch has ``one_hot_categorical``."""
    plain = module.replace("_", "")
    names = (n for n in dir(package) if n.lower() == plain)
    return [n for n in names if n != module and isinstance(getattr(package, n), type)]


_FINDER = _Outside()


def _of_pytorch(module: str) -> str:
    return module.replace("autodiff_kit", "torch", 1)


def modules_below(module: str) -> str:
    """Return the folder, of which there is no file, of the modules that only PyTorch has.

    As the last entry of a package's path, it is where Python looks last; for this one folder, our
    finder answers instead of Python's.
    """
    folder = os.path.join(os.path.dirname(__file__), "modules", *module.split(".")[1:])
    sys.path_importer_cache[folder] = _FINDER
    return folder
