"""The backward rules that are no plain formula: each as a formula or in words, all in one table.

After reading you can say what a learner reads of the rule of ``relu``, ``mean`` or ``y[0]``, whose
code in ``ops`` calls functions of the kit. Read next: ``rules.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from math import prod
from string import Formatter
from typing import TYPE_CHECKING, Any, NamedTuple

from autodiff_kit.record.events import NodeRecord, OpRecord, RuleRecord, Value
from autodiff_kit.view.rules import is_atom, parsed
from autodiff_kit.view.values import parameter
from autodiff_kit.view.words import listed

if TYPE_CHECKING:
    from autodiff_kit.view.names import Names

__all__ = ["NATIVE", "WORDED", "decisions", "is_wide", "rule_of", "worded"]


class Worded(NamedTuple):
    """A rule as it is told: a formula that NumPy could compute, or words, or both.

    In both stand the names that the rule of an op may read: ``g``, the inputs, ``out``, parameters,
    and ``terms``: how many elements of the input each element of the result is made of. In words,
    ``{x:()}`` puts parentheses around an expression, ``{to}`` is the input that the rule is for,
    ``{share}`` is "1/6 of", ``{each}`` is "each of the 6 elements", and ``{along}`` is "dim 1".
    """

    formula: str = ""
    words: str = ""
    tie: str = ""  # the words where several elements share the gradient
    is_wide: bool = False  # whether it is of the result's shape: what was broadcast is summed


_TAKEN = Worded("", "the {g} where its elements were taken from, 0 elsewhere")
_ADDED = Worded("", "the {g}, added up where its elements were taken from, 0 elsewhere")
_PART = Worded("", "the part of the {g} that belongs to {to}")
_PARTS = Worded("", "the gradients of the parts at the places they were taken from")
_PICKED = Worded("", "the part of the {g} that was picked")
_KEPT = Worded("", "the {g}, with 0 where new values were written")
_WRITTEN = Worded("", "the {g} where the new values were written")
_OVERWRITTEN = Worded("", "0, for all of it is overwritten")
_LEVEL = Worded("", "0, for {to} can change a little without any change of the result")
_SHAPE = Worded("", "the {g} with the shape of {x}")
_COPIES = Worded("", "the {g}, added up over the copies")
_DTYPE = Worded("", "the {g} with the dtype of {x}")
_BIAS = Worded("", "the {g}, added up for each element of {bias}")
_SCALE = Worded("", "the {g} times the normalized {x}, added up for each element of {weight}")
_NATIVE_SCALE = Worded("", _SCALE.words.replace("{x}", "{input}"))  # as PyTorch calls it
_NORMALIZED = "the {{g}} times {{weight}} / the standard deviation of the {rows}"
_LESS = ", less what would move or stretch all of the {rows} alike"
_SLOPE = Worded("", "the {g} times the slope of {op} at {x}")
_DEVIATION = (  # of an op with several results, whose names are the learner's
    "the gradient of the standard deviation times ({x} - its mean) / (({terms} - {correction}) "
    "times the standard deviation)"
)
_VARIANCE = "the gradient of the variance times 2 / ({terms} - {correction}) times ({x} - its mean)"
_AND_MEAN = ", plus {share} the gradient of the mean"
_AT_BOTH = (
    "the gradient of the minimum at the smallest element, that of the maximum at the largest, "
    "shared where several are equal, and 0 elsewhere"
)
_SINGULAR = (
    "U × M × Vh, where the diagonal of M is the gradient of S, and all else in M comes from the "
    "gradients of U and Vh, divided by the differences of the squares of S; where {x} is not "
    "square, what of these two lies outside of their vectors is added, divided by S"
)
_WINDOW = Worded("", "the {g} at the largest element of each window, 0 elsewhere")


def _extreme(size: str, where: str = "") -> Worded:
    words = f"the {{g}} for the {size} element{where}, 0 for the others"
    tie = f"the {{g}}, shared by the {size} elements{where}, 0 for the others"
    return Worded("", words, tie)


def _larger(argument: str, size: str) -> Worded:
    half = "half of it where both are equal"
    return Worded("", f"the {{g}} where {{{argument}}} is {size}, {half}, 0 elsewhere")


_LARGEST, _SMALLEST = _extreme("largest"), _extreme("smallest")
_ALONG = " along {along}"

# By op and argument; for losses also the reduction, for normalizations whether they train.
WORDED: Mapping[str, Worded] = {
    # activations
    "relu x": Worded("g * (out > 0)", "the {g} where {out:()} > 0, 0 elsewhere"),
    "relu_backward x": Worded("g * (y > 0)", "the {g} where {y:()} > 0, 0 elsewhere"),
    # rules of these, which create_graph has recorded
    **{f"nll_loss_backward x {r}": _LEVEL for r in ("mean", "sum", "none")},
    "sigmoid_backward grad_output": Worded("g * (result * (1 - result))"),
    "tanh_backward grad_output": Worded("g * (1 - result * result)"),
    "log_softmax_backward grad_output": Worded(
        "", "the {g}, less its sum along {along} when each element counts by the softmax"
    ),
    "log_softmax_backward result": Worded(
        "", "minus the {g} times the softmax, times the sum of {grad_output} along {along}"
    ),
    "leaky_relu x": Worded("", "the {g} where {x:()} > 0, {negative_slope} of it elsewhere"),
    "prelu_kernel x": Worded("", "the {g} where {x:()} > 0, the {g} times {weight:()} elsewhere"),
    "threshold x": Worded("", "the {g} where {x:()} > {threshold}, 0 elsewhere"),
    "clamp x below": Worded("g * (x >= min)"),
    "clamp x above": Worded("g * (x <= max)"),
    "hardtanh x": Worded("", "the {g} where {x:()} is between {low} and {high}, 0 elsewhere"),
    "softplus x": Worded("g * sigmoid(beta * x)"),
    "softmax x": Worded("out * (g - (g * out).sum(dim, keepdim=True))"),
    "log_softmax x": Worded("", "the {g}, less its sum along {along} times the softmax of {x}"),
    "logsumexp x": Worded("", "the {g} times the softmax of {x} along {along}"),
    **dict.fromkeys(("gelu x", "hardswish x", "elu x", "celu x"), _SLOPE),
    "linalg_vector_norm x": Worded("", "the {g} times the slope of the norm at {x}"),
    "index_add source": Worded("", "{alpha} × the {g} at the places that it was added to"),
    # arithmetic
    **dict.fromkeys(("neg x", "sub y", "rsub x"), Worded("-g", "minus the {g}")),
    "pow_tensor x": Worded("g * (y * x ** (y - 1))"),
    "pow_from_number x": Worded("g * out * log(base)"),
    # sums and means
    "sum_all x": Worded("", "the {g} for {each} of {x}"),
    "sum_dim x": Worded("", "the {g} for {each} of a sum"),
    "mean_all x": Worded("", "{share} the {g} for {each} of {x}"),
    "mean_dim x": Worded("", "{share} the {g} for {each} of a mean"),
    "prod_all x": Worded("", "the {g} times the product of all other elements"),
    "cumsum x": Worded("", "the sum of the {g} from each element to the last along {along}"),
    "var x": Worded("", "the {g} times 2 / ({terms} - {correction}) times ({x} - its mean)"),
    "std x": Worded("", "the {g} times ({x} - its mean) / (({terms} - {correction}) times {out})"),
    "std_mean x": Worded("", _DEVIATION + _AND_MEAN),
    "var_mean x": Worded("", _VARIANCE + _AND_MEAN),
    # the largest, the smallest
    "aminmax x": Worded("", _AT_BOTH),
    "max_all x": _LARGEST,
    "min_all x": _SMALLEST,
    "amax x": _extreme("largest", _ALONG),
    "amin x": _extreme("smallest", _ALONG),
    "max_dim x": _extreme("largest", _ALONG),
    "min_dim x": _extreme("smallest", _ALONG),
    "maximum x": _larger("x", "larger"),
    "maximum y": _larger("y", "larger"),
    "minimum x": _larger("x", "smaller"),
    "minimum y": _larger("y", "smaller"),
    # picking, and putting together
    "select x": Worded("", "the {g} at the place that was picked, 0 elsewhere"),
    **dict.fromkeys(("unbind x", "split x", "split_with_sizes x", "unsafe_split x"), _PARTS),
    **dict.fromkeys(("slice_dim x", "masked_select x", "topk x", "sort x"), _TAKEN),
    **dict.fromkeys(("diagonal x", "median_all x", "median_dim x", "kthvalue x"), _TAKEN),
    **dict.fromkeys(
        ("pick x", "index x", "gather x", "index_select x", "take x", "unfold x"), _ADDED
    ),
    **dict.fromkeys(("cummax x", "cummin x", "as_strided x"), _ADDED),
    "embedding x": Worded("", "the {g}, added up at the rows that were looked up, 0 elsewhere"),
    **dict.fromkeys(("stack tensors", "cat tensors"), _PART),
    **dict.fromkeys(("select_backward x", "slice_backward x", "index_backward x"), _PICKED),
    "parts_backward parts": _PICKED,
    # writing
    **dict.fromkeys(("put x", "index_put x", "scatter x", "scatter_value x"), _KEPT),
    **dict.fromkeys(("index_fill x", "index_copy x"), _KEPT),
    **dict.fromkeys(("put y", "index_put y", "scatter source", "scatter_add source"), _WRITTEN),
    **dict.fromkeys(("copy_from y", "fill_with y"), Worded("g")),
    **dict.fromkeys(("copy_from x", "fill_with x", "fill x", "zero x"), _OVERWRITTEN),
    # steps, whose slope is 0
    **dict.fromkeys(("sign x", "sgn x", "floor x", "ceil x", "round x", "trunc x"), _LEVEL),
    **dict.fromkeys(("relu_backward y", "flat_in y"), _LEVEL),
    # shapes and dtypes
    **dict.fromkeys(
        ("unsqueeze x", "squeeze x", "squeeze_dim x", "squeeze_dims x", "drop_dim x"), _SHAPE
    ),
    "permute x": Worded("", "the {g} with its dimensions back in the order of {x}"),
    "flip x": Worded("", "the {g}, flipped back"),
    "roll x": Worded("", "the {g}, rolled back"),
    **dict.fromkeys(("expand x", "repeat x"), _COPIES),
    **dict.fromkeys(("to_copy x", "promote x"), _DTYPE),
    **dict.fromkeys(("tril x", "triu x"), Worded("", "the {g} where {x} was kept, 0 elsewhere")),
    "constant_pad_nd x": Worded("", "the {g} without the padding"),
    # products
    "linalg_svd x": Worded("", _SINGULAR),
    "mv x": Worded("outer(g, y)", "the outer product of the {g} and {y}"),
    # losses
    "nll_loss x mean": Worded(
        "", "minus the {g} / the number of rows at the target of each row, 0 elsewhere"
    ),
    "nll_loss x sum": Worded("", "minus the {g} at the target of each row, 0 elsewhere"),
    "nll_loss x none": Worded("", "minus the {g} at the target of each row, 0 elsewhere"),
    "mse_loss x mean": Worded("g * 2 * (x - y) / terms"),
    "mse_loss y mean": Worded("g * 2 * (y - x) / terms"),
    **dict.fromkeys(("mse_loss x sum", "mse_loss x none"), Worded("g * 2 * (x - y)")),
    **dict.fromkeys(("mse_loss y sum", "mse_loss y none"), Worded("g * 2 * (y - x)")),
    "binary_cross_entropy_with_logits x mean": Worded("g * (sigmoid(x) - y) / terms"),
    "binary_cross_entropy_with_logits x sum": Worded("g * (sigmoid(x) - y)"),
    "binary_cross_entropy x mean": Worded("g * (x - y) / (x * (1 - x)) / terms"),
    "binary_cross_entropy x sum": Worded("g * (x - y) / (x * (1 - x))"),
    # layers
    **dict.fromkeys(("group_norm bias", "convolution bias"), _BIAS),
    **dict.fromkeys(("batch_norm bias True", "batch_norm bias False"), _BIAS),
    **dict.fromkeys(("batch_norm weight True", "batch_norm weight False"), _SCALE),
    "layer_norm x": Worded("", (_NORMALIZED + _LESS).format(rows="row")),
    "batch_norm x True": Worded("", (_NORMALIZED + _LESS).format(rows="feature")),
    "batch_norm x False": Worded("", _NORMALIZED.format(rows="feature")),
    "group_norm weight": _SCALE,
    "layer_norm bias": Worded("g"),
    "layer_norm weight": Worded("", "the {g} times the normalized {x}", is_wide=True),
    "convolution x": Worded("", "the {g} times {weight}, added up where windows overlap"),
    "convolution weight": Worded("", "the {g} times the window of {x}, added up over all windows"),
    **dict.fromkeys(("max_pool2d x", "adaptive_max_pool2d x"), _WINDOW),
    "avg_pool2d x": Worded("", "the {g} / the size of the window for each element in it"),
}
_SIDES, _NO_BOUND = (("below", "max"), ("above", "min")), (None, "inf", "-inf")
# Of what only PyTorch has: its batch normalization, and a change of a view.
NATIVE: Mapping[str, Worded] = {
    **dict.fromkeys((f"native_batch_norm bias {now}" for now in (True, False)), _BIAS),
    **dict.fromkeys((f"native_batch_norm weight {now}" for now in (True, False)), _NATIVE_SCALE),
    "native_batch_norm input True": WORDED["batch_norm x True"],
    "native_batch_norm input False": WORDED["batch_norm x False"],
    "copy_slices x": Worded(
        "", "the {g} outside of the view; inside, what the change's rule gives"
    ),
    "copy_slices y": Worded("", "what the change's rule gives for the {g} inside of the view"),
}
_WEIGHTS = ("weight", "pos_weight")  # of a loss: the formulas above are for those of 1


def rule_of(ops: Mapping[str, OpRecord], record: NodeRecord, arg: str) -> RuleRecord | None:
    """Return the rule of a node for an argument, ``x[0]`` for one of several; None without one.

    Its text is the formula in the table above, or where that has none, words and no Python.
    """
    rule = ops[str(record["op"])]["rules"].get(arg.split("[")[0])
    entry = _entry(record, arg)
    if entry is None:
        return rule
    if rule is None:  # of an op that only PyTorch has
        rule = {"text": "", "tex": "", "reads": [], "source": ""}
    if not entry.formula:
        return {**rule, "text": entry.words}
    return {**rule, "text": entry.formula, "reads": [*_names_in(entry.formula)]}


def decisions(record: NodeRecord) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a node as text, by which parts of its rule fall away."""
    return tuple(sorted((name, parameter(value)) for name, value in record["params"].items()))


def is_wide(record: NodeRecord, arg: str) -> bool:
    """Return whether a rule that is told in words gives a gradient of the result's shape."""
    entry = _entry(record, arg)
    return entry is not None and entry.is_wide


def worded(
    record: NodeRecord, arg: str, to: int, names: Names, gradient: Value | None = None
) -> str | None:
    """Return in words what the rule of a node gives for an argument; None without words.

    Parameters
    ----------
    record : dict
        The node.
    arg : str
    to : int
        The node of the argument.
    names : Names
        What the nodes are called.
    gradient : Value, optional
        What the rule gave: where several elements share a gradient, that is said.
    """
    entry = _entry(record, arg)
    if entry is None or not entry.words:
        return None
    words = entry.words
    if entry.tie and gradient is not None and _is_shared(record, gradient):
        words = entry.tie
    fields = [field for _, field, _, _ in Formatter().parse(words) if field]
    terms = names.reads(record["id"], ["terms"]).get("terms", "")
    terms_by_name = {
        **names.reads(record["id"], fields),
        "to": names.called(to),
        "op": str(record["op"]),
        "share": f"1/{terms} of" if terms != "1" else "all of",
        "along": _along(record["params"].get("dim")),
        "each": f"each of the {terms} elements" if terms != "1" else "the one element",
    }
    if any(field not in terms_by_name for field in fields):
        return None
    return words.format(**{name: _Name(text) for name, text in terms_by_name.items()})


class _Name(str):
    def __format__(self, spec: str) -> str:
        return f"({self})" if spec == "()" and not is_atom(self) else str(self)


def _along(dim: Any) -> str:
    """Return ``dim 1``, or ``dims 0 and 2``."""
    dims = [str(d) for d in dim] if isinstance(dim, list | tuple) else [str(dim)]
    return f"dim{'s' * (len(dims) > 1)} {listed(dims)}"


def _entry(record: NodeRecord, arg: str) -> Worded | None:
    name = f"{record['op']} {arg.split('[')[0]}"
    params = record["params"]
    if "reduction" in params and any(_is_weight(weight) for weight in _weights(record)):
        return None
    options = [str(params[option]) for option in ("reduction", "training") if option in params]
    if record["op"] == "clamp":  # the bound that it was not given is infinite
        options = [side for side, bound in _SIDES if params.get(bound) in _NO_BOUND]
    key = " ".join([name, *options])
    return WORDED.get(key) or NATIVE.get(key)


def _weights(record: NodeRecord) -> list[object]:
    inputs = [i.get("value", "a tensor") for i in record["inputs"] if i["arg"] in _WEIGHTS]
    return [*inputs, *(record["params"][name] for name in _WEIGHTS if name in record["params"])]


def _is_weight(value: object) -> bool:
    return value not in (1, None)


def _is_shared(record: NodeRecord, gradient: Value) -> bool:
    """Return whether more elements than one for each element of the result have got something."""
    return sum(v != 0 for v in gradient["data"]) > prod(record["value"]["shape"])


@lru_cache(maxsize=256)
def _names_in(formula: str) -> tuple[str, ...]:
    tree = parsed(formula)
    nodes = [*ast.walk(tree)] if tree is not None else []
    functions = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    names = [n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in functions]
    return tuple(name for name in dict.fromkeys(names) if name != "g")
