"""What the kit calls PyTorch's operations, and what it calls their arguments.

After reading this file you know why a graph of PyTorch's can be told in the words of the kit's op
table: both have the same operations, and nearly all have the same names. What the kit does not
have is called as PyTorch calls it, and shown without a rule. Read next: ``real_torch.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from autodiff_kit.core.op import OPS
from autodiff_kit.ops.words import expression_of
from autodiff_kit.record.entries import DETACH, described
from autodiff_kit.record.events import OpRecord, Params

__all__ = ["NO_OPERATION", "bind", "describe", "flat", "grad_fn_of", "name_of", "schema_of"]
__all__ += ["tensors_in", "unknown"]

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
    "threshold_backward": "relu_backward",
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


def tensors_in(values: Any, kind: type) -> list[Any]:
    """Return the tensors of a tuple or list, and those in it."""
    tensors: list[Any] = []
    for value in values:
        if isinstance(value, kind):
            tensors.append(value)
        elif isinstance(value, tuple | list):
            tensors += tensors_in(value, kind)
    return tensors


class Schema:
    """What PyTorch says of one of its operations; asking for it anew takes long.

    Attributes
    ----------
    name, overload : str
    is_mutable : bool
    may_change : bool
        Whether it changes what it is given, as the means of a batch, which PyTorch does not say.
    arguments : dict
        And their default values.
    is_view : bool
        Whether its result looks into the memory of its first argument.
    is_operation : bool
        Whether it computes something of tensors, and is none of ``NO_OPERATION``.
    names : dict
        What the kit calls the operation, by the function that the learner has called.
    ops : dict
        What is recorded of it, by the kit's name.
    layouts : dict
        How ``bind`` reads the arguments, by the kit's name and how many there are.
    returns : list of str
        What PyTorch calls the results.
    """

    __slots__ = (
        *(
            "arguments",
            "func",
            "is_mutable",
            "is_operation",
            "is_view",
            "layouts",
            "may_change",
            "name",
            "names",
            "ops",
        ),
        *("overload", "returns"),
    )

    def __init__(self, func: Any) -> None:
        schema = func._schema
        self.func = func  # held: schemas are known by its id
        self.name, self.overload = schema.name, schema.overload_name
        self.is_mutable = schema.is_mutable
        self.may_change = self.is_mutable or "batch_norm" in self.name
        returns = schema.returns
        self.is_view = not self.is_mutable and any(result.alias_info for result in returns)
        self.is_operation = self.name[:6] == "aten::" and self.name[6:] not in NO_OPERATION
        self.arguments: Params = {a.name: a.default_value for a in schema.arguments}
        self.returns = [result.name for result in returns]
        self.names: dict[str, str] = {}
        self.ops: dict[str, OpRecord] = {}
        self.layouts: dict[tuple[str, int], _Layout] = {}

    def inputs_of(self, name: str) -> dict[str, str]:
        """Return what the kit's op calls PyTorch's arguments that are its inputs."""
        order = list(self.arguments)
        layouts = [layout for (op, _), layout in self.layouts.items() if op == name]
        return {order[i]: arg for layout in layouts for arg, i in (*layout.inputs, *layout.more)}


_schemas: dict[int, Schema] = {}  # by the operation's id: its hash is computed in Python


def schema_of(func: Any) -> Schema:
    """Return what PyTorch says of one of its operations."""
    schema = _schemas.get(id(func))
    if schema is None:
        schema = _schemas[id(func)] = Schema(func)
    return schema


def name_of(schema: Schema, call: str) -> str:
    """Return the kit's name of one of PyTorch's operations, or PyTorch's own."""
    if call not in schema.names:
        schema.names[call] = _name_of(schema, call)
    return schema.names[call]


def _name_of(schema: Schema, call: str) -> str:
    name = schema.name[6:]
    full = f"{name}.{schema.overload}" if schema.overload else name
    if name == "clone" and call not in ("clone", ""):  # "": a hook's own clone()
        return "contiguous"  # such as reshape() makes where no view will do
    if full == "squeeze_.dim" and call == "squeeze_":
        return "squeeze_dim"
    bare = name.rstrip("_")
    ours = _NAMES.get(full) or _NAMES.get(full.replace(name, bare, 1)) or _NAMES.get(name)
    return ours or bare.removeprefix("_")


class _Layout:
    """How the arguments of an operation are read, if so many are given by position.

    Attributes
    ----------
    inputs : list of (str, int)
        The kit's names of the inputs, and their places among the arguments.
    more : list of (str, int)
        What reaches PyTorch's node, though the kit's op does without it, if it is a tensor.
    params : list of (str, int)
        The parameters, likewise.
    alpha, dim : int
        The places of the arguments of these names; -1 if there is none.
    has_index : bool
        Whether the op has several outputs.
    defaults : list
        Those of the arguments that are not given by position.
    """

    __slots__ = ("alpha", "defaults", "dim", "has_index", "inputs", "more", "params")

    def __init__(self, schema: Schema, name: str, op: Any, count: int) -> None:
        places = {argument: i for i, argument in enumerate(schema.arguments)}
        order = list(range(count))
        if name == "pow_from_number":
            order = order[::-1]
        by_order: dict[str, int] = dict(zip(op["inputs"], order, strict=False))
        place_of = by_order | places  # `x` is PyTorch's `self`, which comes first
        self.inputs = [(arg, place_of[arg]) for arg in op["inputs"] if arg in place_of]
        self.defaults = list(schema.arguments.values())[count:]
        self.alpha, self.dim = places.get("alpha", -1), places.get("dim", -1)
        self.more: list[tuple[str, int]] = []
        self.params: list[tuple[str, int]] = []
        self.has_index = name in OPS and OPS[name].several
        if name not in OPS:
            self.params = [(key, i) for key, i in places.items() if key not in op["inputs"]]
            return
        known = {place for _, place in self.inputs}
        self.more = [(arg, i) for arg, i in list(places.items())[:count] if i not in known]
        for key in OPS[name].params:
            alias = key if key in places else _PARAMETERS.get(key, "")
            if alias in places:
                self.params.append((key, places[alias]))


def bind(
    schema: Schema, name: str, op: Any, args: Any, kwargs: Any, tensor: Any, index: int
) -> tuple[list[tuple[str, Any]], Params]:
    """Return the inputs of an op, by the names that the kit has for them, and its parameters."""
    count = len(args)
    layout = schema.layouts.get((name, count))
    if layout is None:
        layout = schema.layouts[name, count] = _Layout(schema, name, op, count)
    every = [*args, *layout.defaults]
    if kwargs:
        rest = islice(schema.arguments.items(), count, None)
        every[count:] = [kwargs.get(key, default) for key, default in rest]
    if args and op["inputs"] and isinstance(args[0], tuple | list):  # torch.stack([a, b])
        inputs = [(f"{op['inputs'][0]}[{i}]", t) for i, t in enumerate(args[0])]
    else:
        inputs = [(arg, every[i]) for arg, i in layout.inputs if every[i] is not None]
        for arg, i in layout.more:
            x = every[i]
            if isinstance(x, tensor) and all(x is not y for _, y in inputs) and x.requires_grad:
                inputs.append((arg, x))
    params: Params = {}
    for key, i in layout.params:
        value = every[i]
        if name not in OPS:
            if i >= count and list(schema.arguments)[i] not in kwargs:
                continue
        elif key == "reduction":
            value = _REDUCTIONS[value]
        elif key == "end" and isinstance(value, int):
            value = min(value, args[0].shape[every[layout.dim]])
        elif key == "dim" and name in ("var", "std", "linalg_vector_norm") and not value:
            value = list(range(args[0].ndim))
        elif key == "correction" and value is None:
            value = 1
        params[key] = value
    if layout.alpha >= 0 and every[layout.alpha] != 1:
        params["alpha"] = every[layout.alpha]
    if layout.has_index:
        params["index"] = index
    return inputs, params


def describe(schema: Schema, name: str) -> OpRecord:
    """Return what is recorded of an operation; of one that the kit does not have, no rules."""
    op = schema.ops.get(name)
    if op is None:
        inputs = [a.name for a in schema.func._schema.arguments if "Tensor" in str(a.type)]
        bare = schema.name[6:].strip("_")
        op = DETACH if name == "detach" else unknown(bare, inputs)
        base, is_rule, _ = bare.partition("_backward")
        if is_rule:
            op = {**op, "text": _text_of_rule(base, inputs)}
        schema.ops[name] = op = described(OPS[name]) if name in OPS else op
    return op


def _text_of_rule(base: str, inputs: list[str]) -> str:
    """Return what a backward rule of PyTorch's computes, as the kit's rule says it if it can."""
    rule = OPS[base].rules.get("x") if base in OPS else None
    if rule is not None and tuple(rule.reads) == ("out",) and inputs == ["grad_output", "output"]:
        text = re.sub(r"\bout\b", "output", re.sub(r"\bg\b", "grad_output", expression_of(rule)))
        if not re.search(r"\w\(", text):  # a function of the kit's own
            return text
    return f"the gradient through {base.replace('_', ' ').removeprefix('native ')}"


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
