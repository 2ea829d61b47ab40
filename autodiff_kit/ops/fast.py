"""Applying an op fast: a second spelling of ``apply.py``, written out for each op by a template.

It is not derived from the plain text: ``tests/ops/test_every_op.py`` holds the two together, op by
op. Python takes its time for loops, for tuples and for questions whose answer an op's declaration
knows; on small tensors the plain text takes many times as long. So, when an op is called for the
first time, the text of a function without any of these is put together from the pieces below, and
compiled, as ``dataclasses`` does it. It does what ``apply`` does for tensors of one floating dtype
and for Python numbers, and hands anything else over to that. To see one, print
``text_of(OPS["mul"])``. Read next: ``core/node.py``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache, lru_cache, partial
from types import FunctionType
from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS, INFERENCE, next_number, wrap
from autodiff_kit.core.hooks import Hooks
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node, WideNode
from autodiff_kit.core.op import Op, OpFunction, Value
from autodiff_kit.core.versions import share
from autodiff_kit.core.view_nodes import note_view
from autodiff_kit.free_form import Namespace
from autodiff_kit.late import late
from autodiff_kit.ops.layouts import in_order

__all__ = ["forward_of", "function_of", "text_of"]

ONE_INPUT = """
def {name}(x{params}{others}):
    {refused}
    if not isinstance(x, Tensor):  # a rule at work on arrays
        return forward(x{given}) if isinstance(x, ARRAYS) else {general}
    {watched}
    a, edge0 = {memory}, {edge0}
    if {odd}a.dtype is not float32 and a.dtype is not float64:
        return {general}
"""
TWO_INPUTS = """
def {name}(x, y{params}):
    if not isinstance(x, Tensor):
        rule_at_work = isinstance(x, ARRAYS) and not isinstance(y, Tensor)
        return forward(x, y{given}) if rule_at_work else {general}
    {watched}
    {run}
    a, edge0 = x._array, {edge0}
    if isinstance(y, Tensor):
        b = operand = y._array
        edge1 = {edge_of_y}
        if type(a) is array:
            dtype = a.dtype
            if dtype is not b.dtype or (dtype is not float32 and dtype is not float64):
                return {general}
            {mixed}
        elif type(a) not in scalars or (type(a) is not type(b) and a.dtype is not b.dtype):
            return {general}
    elif type(y) is float or type(y) is int:
        {inside}
        b = operand = y
        edge1 = None
        if type(a) is array:
            dtype = a.dtype
            if dtype is not float32 and dtype is not float64:
                return {general}
            if y and type(y) is float:
                operand = constant(y, dtype)
        elif type(a) not in scalars:
            return {general}
    else:
        return {general}
"""
MORE_INPUTS = """
def {name}({names}{params}):
    if not ({all_tensors}):
        return {general}
    {watched}
    {run}
    {unpack}
    dtype = a.dtype
    if {different} or (dtype is not float32 and dtype is not float64):
        return {general}
    {mixed}
"""
# Inputs that lie in different orders: what comes of it is not always what NumPy makes of it.
MIXED = "if {wide} and not ({plain}): run = partial(in_order, forward)"
ROWS = "if result.ndim > 1 and not result.flags.c_contiguous: result = result.copy()"
# An observer runs what is made of the same text, with a line more at its end.
WATCHED = """mode = local.mode
    if mode.observer is not None: return mode.observer.runs(watched, {names}{given})"""
# Of rules that are recorded PyTorch has nodes of their own: there a number is not made a tensor.
INSIDE = "if mode.inside: return by_number({name!r})(x, y=y)"
RESULT = """
    try:
        {results} = mode.quietly({running}, {operands}{given})
    except ValueError:
        raise RuntimeError(shape_message(row, ({arrays},){given})) from None
    {layout}
    out = new(Tensor)
    out._array = result
    out._node = out._grad = out._changes = out._base = out._views = None
"""
NODE = """
    if {wanted} and mode.grad_enabled:
        out._node = node = new({kind})
        node.op = row
        node.edge0 = edge0
        node.edge1 = {edge1}
        node.shape = result.shape
        node.number = next_number()
        node.out = {out}
        node.x = {x}
        node.y = {y}
        node.hooks = {hooks}
        node.rest = ({rest})
"""
MORE_EDGES = """
        node.more = ({more})
"""
# Whether an inference tensor may be saved, the general way knows; those with a node of their own
# never come here (``views.require_grad``).
SAVED = """
        if {edge} is None and isinstance({tensor}, Tensor) and {tensor}._changes is INFERENCE:
            return {general}
"""
END = """
    if mode.inference: out._changes = INFERENCE
    {view}
    {told}
    return {outputs}
"""

# Forwards that are one operator: Python's own function for it saves a frame, 7 % of a small op.
_OPERATORS: dict[bytes, Callable[..., Any]] = {
    (lambda x, y: x + y).__code__.co_code: operator.add,
    (lambda x, y: x - y).__code__.co_code: operator.sub,
    (lambda x, y: x * y).__code__.co_code: operator.mul,
    (lambda x, y: x / y).__code__.co_code: operator.truediv,
    (lambda x: -x).__code__.co_code: operator.neg,
}


@lru_cache(maxsize=100)
def constant(number: float, dtype: np.dtype[Any]) -> Value:
    """Return a number, not 0, as NumPy wants it: making this of it anew takes it 0.4 us."""
    with np.errstate(all="ignore"):
        return np.array(number, dtype)


@cache
def by_number(name: str) -> OpFunction:
    """Return the op of an operator whose second operand is a number for PyTorch, too."""
    function: OpFunction = getattr(late("ops"), f"{name}_number")
    return function


_WITH_NUMBERS = ("add", "div", "mul", "sub")
_NAMES = {
    "ARRAYS": ARRAYS,
    "INFERENCE": INFERENCE,
    "Hooks": Hooks,
    "in_order": in_order,
    "note_view": note_view,
    "partial": partial,
    "share": share,
    "array": np.ndarray,
    "by_number": by_number,
    "Node": Node,
    "WideNode": WideNode,
    "constant": constant,
    "float32": np.dtype("float32"),
    "float64": np.dtype("float64"),
    "local": local,
    "new": object.__new__,
    "next_number": next_number,
    "scalars": {np.float32, np.float64},  # the values of 0-d tensors: their type says the dtype
}


def forward_of(row: Op) -> Callable[..., Any]:
    """Return the forward of an op, or the operator of Python that it consists of."""
    return _OPERATORS.get(row.forward.__code__.co_code, row.forward)


def function_of(row: Op) -> Any:
    """Return the function that applies an op; its text is made when it is first called."""
    function: Any = _function_of(row)
    # What ``functools.update_wrapper`` does, without what ``inspect`` finds behind __wrapped__.
    declared = function.__wrapped__ = row.forward
    function.__module__, function.__doc__ = declared.__module__, declared.__doc__
    function.__name__ = function.__qualname__ = declared.__name__
    return function


def _function_of(row: Op) -> Callable[..., Any]:
    if row.made_of is not None:
        return _of_others(row, row.made_of)
    if row.several:
        return lambda *inputs, **params: _of_several(row)(*inputs, **params)
    forward = forward_of(row)
    if row.is_variadic:
        return lambda *inputs, **params: (
            forward(*inputs, **params)  # a rule at work
            if isinstance(inputs[0], ARRAYS)
            else _plain()(row, inputs, params)
        )
    return FunctionType(_at_first.__code__, {"row": row, "compile_for": _compile_for}, row.name)


def _of_others(row: Op, made_of: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of an op that rules apply to arrays; of Tensors it is made of others."""
    forward = row.forward

    def function(x: Value, *inputs: Value, **params: Any) -> Value:
        is_array = isinstance(x, ARRAYS) and not any(hasattr(y, "_array") for y in inputs)
        return (forward if is_array else made_of)(x, *inputs, **params)

    return function


@cache  # importing the kit takes less without what the first op needs
def _plain() -> Callable[..., Any]:
    from autodiff_kit.ops.apply import apply

    return apply


@cache
def _of_several(row: Op) -> Callable[..., Any]:
    from autodiff_kit.ops.several import function_of_several

    return function_of_several(row)


def _at_first(*inputs: Any, **params: Any) -> Any:
    return compile_for(row)(*inputs, **params)  # type: ignore[name-defined] # noqa: F821


def _compile_for(row: Op) -> Callable[..., Any]:
    """Give the function of an op the code that applies it, and return the function."""
    function: Any = row.function
    names = {"row": row, "compile_for": _compile_watched}
    function.__globals__["watched"] = FunctionType(_at_first.__code__, names, row.name)
    return _compile(function, row, text_of(row), row.name)


def _compile_watched(row: Op) -> Callable[..., Any]:
    """Do so for the function that observers run."""
    function: Any = row.function
    function = function.__globals__["watched"]
    return _compile(function, row, text_of(row, is_watched=True), f"{row.name}_watched")


def _compile(function: Any, row: Op, text: str, name: str) -> Callable[..., Any]:
    import linecache

    from autodiff_kit.ops.messages import shape_message, surplus

    file = f"{__file__[:-3]}_{name}.py"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names = {**_NAMES, "row": row, "forward": forward_of(row), "Tensor": type(wrap(None))}
    function.__globals__.update(names, apply=_plain(), shape_message=shape_message, surplus=surplus)
    namespace: Namespace = {}
    exec(compile(text, file, "exec"), namespace)
    function.__kwdefaults__ = row.defaults
    function.__code__ = namespace[row.name].__code__
    namespace.clear()  # it and the function in it would wait for the garbage collector
    result: Callable[..., Any] = function
    return result


def text_of(row: Op, *, is_watched: bool = False) -> str:
    """Return the text of the function that applies ``row`` to floats of one dtype.

    Parameters
    ----------
    row : Op
        Not variadic, and with all its rules.
    is_watched : bool, default False
        Of the function that an observer runs: it tells the observer what it has done.
    """
    count = len(row.inputs)
    names, arrays, edges = "xyzuv"[:count], "abcde"[:count], [f"edge{i}" for i in range(count)]
    params = "".join(f", {name}={name}" for name in row.params)
    tensors_ = [f"isinstance({name}, Tensor)" for name in names]
    # Without a rule an input has no edge, and a view's history is not asked for.
    pairs = zip(names, row.inputs, strict=True)
    nodes = [f"{name}._node" if wrt in row.rules else "None" for name, wrt in pairs]
    sources = zip(names, arrays, edges, nodes, strict=True)
    saved = [_if_read(n, a, row) for n, a in zip(row.inputs, arrays, strict=True)]
    texts = {name: name for name in row.params}
    texts |= {name: _if_read(name, name, row) for name in row.by_products}
    for array, edge, name, value in zip(arrays, edges, row.inputs, saved, strict=True):
        texts |= {name: value, f"{name}_shape": f"{array}.shape", f"{name}_dtype": f"{array}.dtype"}
        texts[f"{name}_strides"] = f"({array}.strides if {edge} is not None else None)"
    if count == 2:  # the second one may be a number
        texts[f"{row.inputs[1]}_shape"] = "getattr(b, 'shape', ())"
        texts[f"{row.inputs[1]}_dtype"] = "getattr(b, 'dtype', None)"
    inputs = f"({', '.join(names)},)"
    params_text = f"{{{', '.join(f'{name!r}: {name}' for name in row.params)}}}"
    holes = {
        "all_tensors": " and ".join(tensors_),
        "arrays": ", ".join(arrays),
        "different": " or ".join(f"dtype is not {array}.dtype" for array in arrays[1:]),
        "edge1": "edge1" if count > 1 else "None",
        "general": f"apply(row, {inputs}, dict({params.strip(', ')}))",
        "given": params,
        "hooks": "Hooks()" if row.is_refused else "None",
        "inputs": inputs,
        "inside": INSIDE.format(name=row.name) if row.name in _WITH_NUMBERS else "",
        "kind": "WideNode" if count > 2 else "Node",
        "layout": ROWS if row.layout == "rows" else "",
        "mixed": "",
        "run": "",
        "running": "forward",
        "others": "" if params else ", *others",
        "refused": "" if params else "if others: raise surplus(row.name, others)",
        "memory": "share(x)" if row.is_view else "x._array",  # a view needs what two can hold
        "operands": "a, operand" if count == 2 else ", ".join(arrays),
        "more": "".join(f"{edge}, " for edge in edges[2:]),
        "name": row.name,
        "names": ", ".join(names),
        "odd": "" if row.is_view else "type(a) not in scalars and ",
        "outputs": ", ".join(("out", *row.by_products)),
        "out": _if_read("out", "result", row),
        "params": "".join(f", {name}" for name in ("*" * bool(row.params), *row.params) if name),
        "results": ", ".join(("result", *row.by_products)),
        "told": f"mode.observer.applied(row, {inputs}, {params_text}, out, out._node)",
        "rest": "".join(f"{texts[name]}, " for name in row.rest),
        "edge0": nodes[0],
        "edge_of_y": nodes[min(1, count - 1)],
        "unpack": "; ".join(f"{a}, {e} = {n}._array, {v}" for n, a, e, v in sources),
        "view": "note_view(out, x)" if row.is_view else "",
        "wanted": f"({' or '.join(f'{edge} is not None' for edge in edges)})",
        "x": saved[0],
        "y": saved[1] if count > 1 else "None",
    }
    if not row.layout and count > 1:
        holes["run"], holes["running"] = "run = forward", "run"
        holes["mixed"] = MIXED.format(
            plain=" and ".join(f"{array}.flags.c_contiguous" for array in arrays),
            wide=" and ".join(f"{array}.ndim > 1" for array in arrays[:2]),
        )
    holes["watched"] = "mode = local.mode"
    if is_watched:
        calls = (holes["told"], *(f"mode.observer.returned(out, {n})" for n in row.by_products))
        holes["told"] = "; ".join(calls)
    else:
        holes["told"], holes["watched"] = (
            "",
            WATCHED.format(names=holes["names"], given=holes["given"]),
        )
    text = (ONE_INPUT, TWO_INPUTS, MORE_INPUTS)[min(count, 3) - 1] + RESULT
    if row.rules:
        text += NODE + (MORE_EDGES if count > 2 else "")
        for name, edge, value in zip(names, edges, saved, strict=True):
            if count > 1 and value != "None":
                text += SAVED.format(edge=edge, tensor=name, general=holes["general"])
    template = (text + END).format(**holes)
    lines = template.replace("dict(, ", "dict(").split("\n")
    return "\n".join(line for line in lines if line.strip()) + "\n"


def _if_read(name: str, value: str, row: Op) -> str:
    """Return the expression that saves ``value`` if a rule that is wanted reads it."""
    readers = [f"edge{i}" for i, wrt in enumerate(row.inputs) if name in _reads(row, wrt)]
    if len(readers) in (0, len(row.inputs)):
        return value if readers else "None"
    condition = " or ".join(f"{edge} is not None" for edge in readers)
    return f"({value} if {condition} else None)"


def _reads(row: Op, wrt: str) -> tuple[str, ...]:
    return row.rules[wrt].reads if wrt in row.rules else ()
