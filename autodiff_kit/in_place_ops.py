"""The in-place ops: one table, in which each says how it differs from the ordinary op.

After reading this file you know what ``x.mul_(y)`` does besides writing ``x.mul(y)`` into ``x``:
nearly always nothing. To add an in-place op, write its name into a row here. What the columns
say is carried out in ``inplace.py``. Read next: that.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from autodiff_kit.free_form import Keywords

__all__ = ["METHODS_IN_PLACE", "InPlaceOp", "in_place_table"]

# ``x.acos_()`` is made of ``x.acos()``, and so are all methods here.
_METHODS: dict[str, Keywords] = {
    """
    abs_ absolute_ acos_ addcdiv_ addcmul_ arccos_ arcsin_ arctan_ arctan2_ asin_
    atan_ atan2_ bitwise_and_ bitwise_left_shift_ bitwise_not_ bitwise_or_
    bitwise_right_shift_ bitwise_xor_ ceil_ copysign_ cos_ cosh_ deg2rad_ digamma_
    erf_ erfc_ erfinv_ exp_ exp2_ expm1_ fix_ floor_ fmod_ frac_ gcd_ heaviside_
    hypot_ lcm_ lerp_ lgamma_ log_ log10_ log1p_ log2_ logit_
    neg_ negative_ pow_ rad2deg_ reciprocal_ relu_ remainder_ round_ rsqrt_ sgn_ sigmoid_
    sign_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_
    xlogy_
    """: {},
    """
    add_ sub_ mul_ div_ floor_divide_ subtract_ multiply_ divide_ true_divide_
    """: {"makes_tensors": True},
    "nan_to_num_": {"skips_integers": True},
    "clamp_ clamp_min_ clamp_max_ clip_": {"check": "clamp"},
    "cumsum_ cumprod_": {"check": "running"},
    "logical_and_ logical_not_ logical_or_ logical_xor_": {"is_recorded": False},
    "acosh_ arccosh_ asinh_ arcsinh_ atanh_ arctanh_": {"has_derivative": False},
    "eq_": {"compares_as": "Eq"},
    "ne_ not_equal_": {"compares_as": "Ne"},
    "lt_ less_": {"compares_as": "Lt"},
    "le_ less_equal_": {"compares_as": "Le"},
    "gt_ greater_": {"compares_as": "Gt"},
    "ge_ greater_equal_": {"compares_as": "Ge"},
    "addmm_": {"compared": 0, "is_matrix_product": True},
    "addmv_ baddbmm_": {"is_matrix_product": True},
    "addr_": {"check": "outer"},
    "ldexp_": {"compared": 0},
    "tril_ triu_": {"repeats": "always"},
    "masked_fill_": {"compared": 1, "repeats": "always"},
    "masked_scatter_": {"compared": 0},
    "index_add_ scatter_ scatter_add_ scatter_reduce_": {"is_strict": True},
    "index_copy_": {"is_strict": True, "before_memory": "shapes.dim_out_of_range"},
    "index_fill_": {
        "is_strict": True,
        "repeats": "always",
        "before_memory": "shapes.dim_out_of_range indexing.index_fill_value "
        "indexing.filled_index_dtype",
    },
    "index_put_": {
        "is_strict": True,
        "takes_list": True,
        "repeats": "with a warning",
        "before_memory": "indexing.too_many_put",
    },
}
# Methods that are written by themselves, and functions of ``nn``.
_OTHERS: dict[str, Keywords] = {
    "copy_": {"copies": True},
    "fill_": {"compared": 0, "repeats": "numbers"},
    "zero_": {"repeats": "always"},
    "bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_": {},
    "celu_ elu_ hardsigmoid_ hardswish_ hardtanh_ leaky_relu_ mish_ relu6_ rrelu_ selu_": {},
    "silu_ threshold_": {},
}


class InPlaceOp:
    """A row of the table: its columns, and what holds for an op that does not say otherwise."""

    # What is looked at before the call: "clamp": the types of numbers; "running": a dtype, which
    # must be the tensor's own; "outer": the sizes.
    check = ""
    # The history:
    is_recorded = True  # False: PyTorch records nothing
    has_derivative = True  # False: PyTorch differentiates the ordinary op, but not this one
    compares_as = ""  # of a comparison: the name of its node; no gradient flows through
    makes_tensors = False  # whether numbers become tensors, which are no inference tensors
    takes_list = False  # whether the first argument is a list of tensors
    copies = False  # whether it may read just what it writes; integers then have no history
    # The memory:
    repeats = ""  # "always": it may write to an expanded tensor, as it writes the same everywhere;
    # "numbers": if it is given no tensor; "with a warning": PyTorch will refuse it
    compared: int | None = None  # of how many operands the memory is compared; the others are read
    # before anything is written
    is_strict = False  # whether an operand must not even be just the elements that are written
    skips_integers = False  # whether integers stay as they are, and nothing is written
    fills_by_mask: InPlaceOp | None = None  # the row for writing one number under one mask
    before_memory: str | None = None  # which errors come before those of memory; None: all
    # Errors:
    is_matrix_product = False  # whether a wrong shape is one of matrices

    def __init__(self, **columns: Any) -> None:
        for name, value in columns.items():
            getattr(self, name)  # an unknown column is an error
            setattr(self, name, value)


METHODS_IN_PLACE = " ".join(_METHODS).split()


@cache
def in_place_table() -> dict[str, InPlaceOp]:
    """Return the row of each in-place op by its name, such as ``"add_"``."""
    rows = {**_METHODS, **_OTHERS}
    table = {n: InPlaceOp(**columns) for names, columns in rows.items() for n in names.split()}
    table["index_put_"].fills_by_mask = InPlaceOp(takes_list=True, compared=0)
    return table
