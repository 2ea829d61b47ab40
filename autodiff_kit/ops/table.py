"""The op table: how an operation is declared.

After reading this file you can add an op: a NumPy function below ``@op``, and for each input a
backward rule (a VJP: vector-Jacobian product). Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_kit.core.op import OPS, Op, OpFunction, Value
from autodiff_kit.ops.fast import function_of

__all__ = ["op", "vjp"]


def op(
    text: str, tex: str = "", *, node: str = "", **options: Any
) -> Callable[[Callable[..., Any]], OpFunction]:
    """Declare an operation: decorate its forward function on NumPy values.

    The function that comes of it works on Tensors and on arrays; it has ``.op``, and
    ``.vjp(wrt, tex)`` to declare its rules.

    Parameters
    ----------
    text : str
        The operation as Python, with the names of the inputs.
    tex : str, optional
        The formula; ``text`` if left out.
    node : str, optional
        PyTorch's name of the node; from the function's name if left out.
    **options
        ``view``: the output may share memory with ``x``. The others stand in ``core/op.py``.

    Examples
    --------
    >>> @op("x * x * x")
    ... def cube(x):
    ...     return x * x * x
    >>> @cube.vjp("x")
    ... def _(g, x):
    ...     return g * 3 * x * x
    >>> del OPS["cube"]  # an example is no row of the table
    >>> cube(2.0)
    8.0
    """

    def declare(forward: Callable[..., Any]) -> OpFunction:
        rules = forward.__dict__.pop("rules", ())
        row = Op(forward, text, tex, node=node, **options)
        OPS[row.name] = row
        function = function_of(row)
        function.op, row.function = row, function
        function.vjp = lambda wrt, tex="": lambda rule: row.add_rule(wrt, rule, tex)
        for wrt, rule, formula in rules:
            row.add_rule(wrt, rule, formula)
        return function

    return declare


def vjp(
    wrt: str, rule: Callable[..., Value], tex: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Write a rule of one line below ``@op``: what ``.vjp`` does for those that take more."""

    def note(forward: Callable[..., Any]) -> Callable[..., Any]:
        # Decorators are carried out from below: the last one is noted first.
        forward.__dict__.setdefault("rules", []).insert(0, (wrt, rule, tex))
        return forward

    return note
