"""What the kit calls PyTorch's operations, and what it calls their arguments.

After reading this file you know why a graph of PyTorch's can be told in the words of the kit's op
table: both have the same operations, and nearly all have the same names. What the kit does not
have is called as PyTorch calls it, and shown without a rule. Read next: ``real_torch.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from autodiff_kit.core.op import OPS
from autodiff_kit.record.events import OpRecord, Params

__all__ = ["NO_OPERATION", "bind", "describe", "flat", "grad_fn_of", "name_of", "schema_of"]
__all__ += ["unknown"]

# What the kit calls PyTorch's operations; all others have the same name, underscores aside.
_NAMES = {
    "pow.Tensor_Scalar": "pow_to_number",
    "pow.Scalar": "pow_from_number",
    "pow.Tensor_Tensor": "pow_tensor",
    "pow_.Scalar": "pow_to_number",
    "pow_.Tensor": "pow_tensor",
    "sum": "sum_all",
    "sum.dim_IntList": "sum_dim",
    "mean": "mean_all",
    "mean.dim": "mean_dim",
    "prod": "prod_all",
    "prod.dim_int": "prod_dim",
    "max": "max_all",
    "max.dim": "max_dim",
    "min": "min_all",
    "min.dim": "min_dim",
    "slice.Tensor": "slice_dim",
    "squeeze.dim": "squeeze_dim",
    "squeeze.dims": "squeeze_dims",
    "squeeze_.dim": "drop_dim",
    "unsafe_split.Tensor": "split",
    "view": "reshape",
    "_unsafe_view": "unsafe_view",
    "copy_": "copy_from",
    "nll_loss_forward": "nll_loss",
    "clamp_min.Tensor": "clamp_min_tensor",
    "clamp_max.Tensor": "clamp_max_tensor",
    "clamp.Tensor": "clamp_to_tensors",
    "remainder.Scalar": "remainder_by_number",
    "remainder.Tensor": "remainder",
    "div.Tensor_mode": "div_rounded",
    "var.correction": "var",
    "std.correction": "std",
}
_PARAMETERS = {"shape": "size", "base": "self", "y": "other", "dims": "dim"}
# They make tensors, or look at them, or only hold the same one once more.
NO_OPERATION = {
    *("detach", "detach_", "lift_fresh", "alias", "_local_scalar_dense", "set_", "resize_"),
    *("empty", "empty_strided", "zeros", "ones", "full", "eye", "arange", "linspace", "rand"),
    *("randn", "randint", "randperm", "normal", "scalar_tensor", "empty_like", "zeros_like"),
    *("ones_like", "full_like", "rand_like", "randn_like", "randint_like", "new_empty"),
    *("new_zeros", "new_ones", "new_full", "uniform_", "normal_", "random_", "bernoulli_"),
    *("equal", "is_same_size", "is_nonzero", "new_empty_strided", "_to_dense", "item"),
}
_REDUCTIONS = ("none", "mean", "sum")


def flat(values: Any) -> Iterator[Any]:
    """Yield what is in a tuple or list, and in those in it."""
    for value in values:
        if isinstance(value, tuple | list):
            yield from flat(value)
        else:
            yield value


class Schema(NamedTuple):
    """What PyTorch says of one of its operations; asking for it anew takes long."""

    name: str
    overload: str
    is_mutable: bool
    arguments: Params  # and their default values


@cache
def schema_of(func: Any) -> Schema:
    """Return what PyTorch says of one of its operations."""
    schema = func._schema
    arguments = {a.name: a.default_value for a in schema.arguments}
    return Schema(schema.name, schema.overload_name, schema.is_mutable, arguments)


@cache
def name_of(func: Any, call: str) -> str:
    """Return the kit's name of one of PyTorch's operations, or PyTorch's own."""
    schema = schema_of(func)
    name = schema.name[6:]
    full = f"{name}.{schema.overload}" if schema.overload else name
    if name == "clone" and call != "clone":
        return "contiguous"  # such as reshape() makes where no view will do
    if full == "squeeze_.dim" and call == "squeeze_":
        return "squeeze_dim"
    bare = name.rstrip("_")
    found = _NAMES.get(full) or _NAMES.get(full.replace(name, bare, 1)) or _NAMES.get(name)
    return found or bare.removeprefix("_")


def bind(
    func: Any, name: str, op: Any, args: Any, kwargs: Any, tensor: Any, index: int
) -> tuple[list[tuple[str, Any]], Params]:
    """Return the inputs of an op, by the names that the kit has for them, and its parameters."""
    defaults = schema_of(func).arguments
    given = dict(zip(defaults, args, strict=False)) | kwargs
    every = defaults | given
    values = list(args)
    alpha = every.get("alpha", 1)
    if name == "pow_from_number":
        values = values[::-1]
    inputs: list[tuple[str, Any]] = []
    if values and isinstance(values[0], tuple | list):  # torch.stack([a, b])
        inputs = [(f"{op['inputs'][0]}[{i}]", t) for i, t in enumerate(values[0])]
    else:
        inputs = list(zip(op["inputs"], values, strict=False))
        if every.keys() >= set(op["inputs"]):  # an op that only PyTorch has
            inputs = [(arg, every[arg]) for arg in op["inputs"]]
        inputs = [pair for pair in inputs if pair[1] is not None]
        if name in OPS:  # what reaches PyTorch's node, though the kit's op does without it
            known = {id(value) for _, value in inputs}
            inputs += [
                (arg, x)
                for arg, x in zip(defaults, args, strict=False)
                if isinstance(x, tensor) and id(x) not in known and x.requires_grad
            ]
    params: Params = {}
    for key in OPS[name].params if name in OPS else ():
        alias = key if key in every else _PARAMETERS.get(key, "")
        if alias in every:
            value = every[alias]
            if key == "reduction":
                value = _REDUCTIONS[value]
            elif key == "end" and isinstance(value, int):
                value = min(value, values[0].shape[every["dim"]])
            elif key == "dim" and name in ("var", "std", "linalg_vector_norm") and not value:
                value = list(range(values[0].ndim))
            elif key == "correction" and value is None:
                value = 1
            params[key] = value
    if name not in OPS:
        params = {key: given[key] for key in defaults if key in given.keys() - op["inputs"]}
    if alpha != 1:
        params["alpha"] = alpha
    if name in OPS and OPS[name].several:
        params["index"] = index
    return inputs, params


@cache
def describe(func: Any) -> OpRecord:
    """Describe one of PyTorch's operations that the kit does not have; its rules stay unknown."""
    inputs = [a.name for a in func._schema.arguments if "Tensor" in str(a.type)]
    return unknown(func._schema.name[6:].strip("_"), inputs)


def unknown(name: str, inputs: list[str]) -> OpRecord:
    """Describe an op of which nothing but its inputs is known."""
    return {
        "text": f"{name}({', '.join(inputs)})",
        "tex": "",
        "doc": f"PyTorch's {name}.",
        "node_name": "",
        "inputs": inputs,
        "rules": {},
    }


def grad_fn_of(tensor: Any) -> Any:
    """Return the node of a tensor; None for a view that PyTorch refuses: its base has changed."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None
