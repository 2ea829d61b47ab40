"""Inputs for the generic tests: an op gets some just by being declared.

What is drawn depends on the number of inputs, and on the names and annotations of the parameters.
Where that does not suit an op, it has an entry in ``INSTEAD`` or further samples in ``MORE``; an op
for which the default does not work and that has no entry makes the tests fail.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_kit.core.op import OPS, Op
from autodiff_kit.ops import load_all
from autodiff_kit.ops.windows import Grid
from tests.ops.expected import expected
from tests.ops.inputs import Sample, numbers, signed
from tests.ops.samples_of_functions import INSTEAD as OF_FUNCTIONS

load_all()  # some are loaded only when they are needed


# A value for a parameter, by its name and annotation.
PARAMETERS: dict[str, Any] = {
    "alpha: float": 3.0,
    "base: float": 2.0,
    "dim: int": 1,
    "dim: int | None": 1,
    "dim: Ints": (1,),
    "dim0: int": 0,
    "dim1: int": 1,
    "dims: Ints": (1, 0),
    "dtype: Any": np.dtype("float32"),
    "end: int": 3,
    "exponent: float": 2.5,
    "index: int": 1,
    "k: int": 2,
    "keepdim: bool": False,
    "max: float": 1.2,
    "min: float": 0.7,
    "positions: Any": np.array([[3, 0], [1, 5]]),
    "repeats: Ints": (2, 1, 3),
    "ord: float": 2.0,
    "rounding_mode: str": "floor",
    "shape: Ints": (3, 2),
    "split_size: int": 2,
    "split_sizes: Ints": (1, 2),
    "start: int": 1,
    "value: float": 4.0,
    "y: float": 0.4,
}


def default(op: Op) -> list[Sample]:
    """Return a sample of shape (2, 3) and, if there are no parameters, one of shape ().

    The first one has negative numbers, too, where NumPy computes a number for each of them.
    """
    annotations = op.forward.__annotations__
    needed = {n: f"{n}: {annotations[n]}" for n in op.params if n not in op.defaults}
    for parameter in needed.values():
        if parameter not in PARAMETERS:
            raise KeyError(
                f"op {op.name!r} needs a value for its parameter {parameter!r}: write samples "
                "for it in INSTEAD, or one for all ops in PARAMETERS (tests/ops/samples.py)"
            )
    params = {name: PARAMETERS[parameter] for name, parameter in needed.items()}
    count = 3 if op.is_variadic else len(op.inputs)
    shapes: list[tuple[int, ...]] = [(2, 3)] if params else [(2, 3), ()]
    some = [Sample(tuple(numbers(*s, seed=i) for i in range(count)), params) for s in shapes]
    both = Sample(tuple(signed(2, 3, seed=i) for i in range(count)), params)
    with np.errstate(all="ignore"):
        is_defined = np.isfinite(np.asarray(expected(op, both), float)).all()
    return [both, *some[1:]] if is_defined else some


WHOLE = np.array([[1, 2, 3], [4, 5, 6]])
PLACES = np.array([[2, 0, 1], [1, 2, 0]])
MASK = np.array([[True, False, True], [False, False, True]])
MATRIX, VECTOR, BATCH = signed(2, 3), signed(3), signed(2, 3, 2)

INSTEAD: dict[str, list[Sample]] = {
    "bitwise_and": [Sample((WHOLE, WHOLE[::-1])), Sample((MASK, MASK[::-1]))],
    "bitwise_or": [Sample((WHOLE, WHOLE[::-1])), Sample((MASK, MASK[::-1]))],
    "bitwise_xor": [Sample((WHOLE, WHOLE[::-1])), Sample((MASK, MASK[::-1]))],
    "bitwise_not": [Sample((WHOLE,)), Sample((MASK,))],
    "bmm": [Sample((BATCH, numbers(2, 2, 4, seed=1)))],
    "clamp_to_tensors": [
        Sample((MATRIX, numbers(2, 3, seed=1) * 0.8, numbers(2, 3, seed=2) * 1.3)),
        Sample((MATRIX, numbers(3, seed=1), numbers(2, 1, seed=2))),
        Sample((numbers(), 0.7 * numbers(seed=1), 1.3 * numbers(seed=2))),
    ],
    "relu_backward": [
        Sample((signed(2, 3), np.maximum(signed(2, 3, seed=1), 0))),
        Sample((numbers(), numbers(seed=1))),
    ],
    "dot": [Sample((VECTOR, numbers(3, seed=1)))],
    "drop_dim": [Sample((numbers(1, 3),), {"dim": 0}), Sample((BATCH[:, :1],), {"dim": 1})],
    "expand": [
        Sample((VECTOR,), {"shape": (2, 3)}),
        Sample((numbers(2, 1),), {"shape": (4, 2, 3)}),
        Sample((numbers(),), {"shape": (2,)}),
    ],
    "gather": [
        Sample((MATRIX, PLACES), {"dim": 1}),
        Sample((MATRIX, PLACES[:1, :2] % 2), {"dim": 0}),
        Sample((numbers(), np.int64(0)), {"dim": 0}),
    ],
    "index_add": [
        Sample((MATRIX, np.array([1, 1]), numbers(2, 3, seed=1)), {"dim": 0, "alpha": 2.0}),
        Sample((MATRIX, np.array([2, 0]), numbers(2, 2, seed=1)), {"dim": 1}),
        Sample((numbers(), np.int64(0), numbers(seed=1)), {"dim": 0}),
    ],
    "index_select": [
        Sample((MATRIX, np.array([1, 0, 1])), {"dim": 0}),
        Sample((BATCH, np.array([2, 2])), {"dim": 1}),
        Sample((numbers(), np.array([0])), {"dim": 0}),
    ],
    "index": [
        Sample((MATRIX,), {"indices": (np.array([1, 0, 1]),)}),
        Sample((MATRIX,), {"indices": (slice(None), np.array([[0, 2], [2, 2]]))}),
        Sample((MATRIX,), {"indices": np.nonzero(MASK)}),
    ],
    "index_backward": [
        Sample((numbers(3, 2),), {"shape": (2, 2), "indices": (np.array([1, 0, 1]),)})
    ],
    "pack_padded_sequence": [
        Sample((BATCH,), {"indices": (np.array([0, 0, 1]), np.array([0, 2, 0]))})
    ],
    "flat_values": [Sample((numbers(), numbers()), {"values": numbers()})],
    "mark": [Sample((np.array([[1], [0]]),), {"dim": 1, "size": 3})],
    "masked": [Sample((MATRIX, MASK)), Sample((numbers(), np.bool_(True)))],
    "zero_filled": [Sample((MATRIX, MASK)), Sample((numbers(), np.bool_(True)))],
    "masked_fill": [
        Sample((MATRIX, MASK), {"value": 4.0}),
        Sample((numbers(), MASK), {"value": 4.0}),
    ],
    "masked_fill_tensor": [
        Sample((MATRIX, MASK, numbers(seed=1))),
        Sample((MATRIX, MASK[0], numbers(seed=1))),
    ],
    "masked_scatter": [Sample((VECTOR, MASK), {"shape": (2, 3)})],
    "masked_select": [
        Sample((MATRIX, MASK)),
        Sample((MATRIX, MASK[0])),
        Sample((numbers(2, 1), MASK[0])),
    ],
    "mm": [Sample((MATRIX, numbers(3, 4, seed=1)))],
    "mv": [Sample((MATRIX, numbers(3, seed=1)))],
    "put": [
        Sample((MATRIX, numbers(2, 2, seed=1)), {"positions": np.array([[3, 0], [1, 5]])}),
        Sample((MATRIX, numbers(seed=1)), {"positions": np.array([3, 0])}),
        Sample((numbers(), numbers(seed=1)), {"positions": np.array(0)}),
    ],
    "scatter": [
        Sample((MATRIX, PLACES, numbers(2, 3, seed=1)), {"dim": 1}),
        Sample((MATRIX, PLACES[:1] % 2, numbers(1, 3, seed=1)), {"dim": 0}),
        Sample((numbers(), np.int64(0), numbers(seed=1)), {"dim": 0}),
    ],
    "scatter_value": [Sample((MATRIX, PLACES), {"dim": 1, "value": 4.0})],
    "parts_backward": [
        Sample((numbers(2), numbers(2, seed=1)), {"shape": (2, 3), "dim": 1, "places": (0, 2)})
    ],
    "select_backward": [Sample((VECTOR,), {"shape": (2, 3), "dim": 0, "index": 1})],
    "share": [Sample((MATRIX, MASK), {"dim": (1,)}), Sample((MATRIX, MASK), {"dim": (0, 1)})],
    "slice_backward": [
        Sample((numbers(2, 2),), {"shape": (2, 5), "dim": 1, "start": 1, "end": 5, "step": 2})
    ],
    "slice_dim": [Sample((numbers(2, 5),), {"dim": 1, "start": 1, "end": 5, "step": 2})],
    "sum_to": [
        Sample((MATRIX,), {"shape": (3,)}),
        Sample((BATCH,), {"shape": (2, 1, 2)}),
        Sample((MATRIX,), {"shape": ()}),
    ],
    "to_whole": [Sample((numbers(2, 3) * 10,), {"dtype": np.dtype("int64")})],
    "where": [
        Sample((MASK, MATRIX, numbers(2, 3, seed=1))),
        Sample((MASK, numbers(3), numbers(2, 1, seed=1))),
        Sample((np.bool_(True), numbers(), numbers(seed=1))),
    ],
}
INSTEAD["index_put"] = INSTEAD["put"]
INSTEAD["scatter_add"] = [
    *INSTEAD["scatter"],
    Sample((MATRIX, PLACES * 0, numbers(2, 3, seed=1)), {"dim": 1}),
]

SHARE, MARKS = numbers(2, 3) / 2, np.array([2, 0])  # between 0 and 1; classes
ROWS = np.array([1, 0, 1, 2])
COUNTS = np.array([0.5, 1.25, 2.0], "float32")  # exact in either type
NLL = {"target": MARKS, "weight": COUNTS, "ignore_index": -100, "reduction": "mean"}
IMAGE, KERNEL = signed(2, 4, 5, 4), signed(6, 2, 3, 2, seed=1)
GRID = Grid((3, 2), (2, 1), (1, 0), (1, 2))
CONVOLVED = {"grid": GRID, "groups": 2}
WINDOWS = Grid((2, 3), (1, 2), (1, 0), (1, 1))
OVER = Grid((2, 2), (2, 2), (0, 1), (1, 1), reaches_over=True)
QUERIES = numbers(2, 1, 3, 4), numbers(2, 1, 4, 4, seed=1)
ADDED_MASK = np.array([[0, -np.inf, 0.5, 0], [-np.inf] * 4, [0, 0, 0, -1]], "float32")

INSTEAD |= {
    "addmm": [
        Sample((numbers(4), MATRIX, numbers(3, 4, seed=1))),
        Sample((numbers(2, 1), MATRIX, numbers(3, 4, seed=1)), {"beta": 0.5, "alpha": 3.0}),
    ],
    "adaptive_max_pool2d": [
        Sample((IMAGE,), {"bounds": ([(0, 3), (2, 5)], [(0, 2), (1, 3), (2, 4)])})
    ],
    "attention": [
        Sample((*QUERIES, numbers(2, 1, 4, 2, seed=2)), {"mask": mask, "scale": 0.5})
        for mask in (None, ADDED_MASK)
    ],
    "avg_pool2d": [
        Sample((IMAGE,), {"grid": WINDOWS, "divisor": 6}),
        Sample((IMAGE,), {"grid": OVER, "divisor": np.arange(1.0, 10).reshape(3, 3)}),
    ],
    "avg_pool2d_backward": [
        Sample((signed(2, 4, 6, 1),), {"grid": WINDOWS, "shape": (2, 4, 5, 4), "divisor": 6}),
        Sample((signed(2, 4, 3, 3),), {"grid": OVER, "shape": (2, 4, 5, 4), "divisor": 4}),
    ],
    "celu": [Sample((signed(2, 3),), {"alpha": 0.7})],
    "conv_transpose": [
        Sample((signed(1, 6, 3, 2), KERNEL, numbers(4)), {**CONVOLVED, "shape": (1, 4, 5, 4)}),
    ],
    "elu": [Sample((signed(2, 3),), {"alpha": 0.7, "scale": 1.5})],
    "elu_in_place": [Sample((signed(2, 3),), {"alpha": 0.7, "scale": 1.5})],
    "glu": [Sample((signed(2, 4),), {"dim": 1}), Sample((signed(4, 3, 2),), {"dim": 0})],
    "group_norm": [
        Sample((signed(2, 4, 3), numbers(4), numbers(4, seed=1)), {"groups": 2, "eps": 0.1})
    ],
    "hardsigmoid": [Sample((5 * signed(2, 3),))],
    "hardsigmoid_backward": [Sample((numbers(2, 3), 5 * signed(2, 3)))],
    "hardswish": [Sample((5 * signed(2, 3),))],
    "hardtanh": [Sample((signed(2, 3),), {"low": -0.75, "high": 0.8})],
    **{name: [Sample((signed(2, 3),))] for name in ("log_sigmoid", "mish", "silu")},
    "prelu_kernel": [Sample((signed(2, 3), numbers(3))), Sample((signed(2, 3), numbers(1)))],
    **{
        name: [Sample((IMAGE,), {"rows": numbers(3, 5), "columns": numbers(6, 4)})]
        for name in (
            *("adaptive_avg_pool2d", "resample", "upsample_bilinear2d", "upsample_nearest2d"),
        )
    },
    "smooth_l1_loss": [
        Sample((signed(2, 3), signed(2, 3, seed=1)), {"beta": 0.4, "reduction": kind})
        for kind in ("mean", "sum", "none")
    ],
    "batch_norm": [
        Sample((BATCH, *(numbers(3, seed=i) for i in range(4))), {"training": t, "eps": 0.1})
        for t in (True, False)
    ],
    "leaky_relu_backward": [Sample((signed(2, 3), signed(2, 3, seed=1)), {"negative_slope": 0.1})],
    "binary_cross_entropy_backward": [
        Sample((signed(2, 3), 0.5 * numbers(2, 3, seed=1), 0.5 * numbers(2, 3, seed=2))),
    ],
    "binary_cross_entropy": [
        Sample((SHARE, numbers(2, 3, seed=1) / 2, numbers(2, 1)), {"reduction": "mean"}),
        Sample((SHARE, numbers(2, 3, seed=1) / 2, numbers(3)), {"reduction": "none"}),
    ],
    "binary_cross_entropy_with_logits": [
        Sample((signed(2, 3), SHARE, numbers(2, 1), numbers(3)), {"reduction": "sum"}),
        Sample((signed(2, 3), SHARE, numbers(3), numbers(3, seed=1)), {"reduction": "mean"}),
    ],
    **{
        f"{name}_pad{rank}d": [
            Sample((numbers(2, 3, 4, 3),), {"pad": (2, 1, 0, 3, 1, -1)[: 2 * rank]})
        ]
        for name in ("reflection", "replication")
        for rank in (1, 2, 3)
    },
    "constant_pad_nd": [Sample((MATRIX,), {"pad": (1, -1, 0, 2), "value": 4.0})],
    "convolution": [
        Sample((IMAGE, KERNEL, numbers(6)), CONVOLVED),
        Sample(
            (signed(1, 4, 5, 4), KERNEL, numbers(6)),
            {"grid": GRID._replace(stride=(1, 1)), "groups": 2},
        ),
        Sample(
            (signed(2, 2, 3), signed(2, 2, 1), numbers(2)),
            {"grid": Grid((1,), (2,), (1,), (1,)), "groups": 1},
        ),
    ],
    "convolution_input": [
        Sample((signed(2, 6, 3, 2), KERNEL), {**CONVOLVED, "shape": (2, 4, 5, 4)}),
    ],
    "convolution_weight": [
        Sample((signed(2, 6, 3, 2), IMAGE), {**CONVOLVED, "shape": (6, 2, 3, 2)}),
    ],
    "embedding": [
        Sample((MATRIX,), {"indices": np.array([[1, 0, 1], [1, 1, 0]]), "padding_idx": -1})
    ],
    "embedding_backward": [
        Sample((numbers(4, 3),), {"shape": (3, 3), "indices": ROWS, "padding_idx": i})
        for i in (-1, 1)
    ],
    "gelu": [Sample((signed(2, 3),), {"approximate": kind}) for kind in ("none", "tanh")],
    "gelu_backward": [
        Sample((signed(2, 3), signed(2, 3, seed=1)), {"approximate": kind})
        for kind in ("none", "tanh")
    ],
    "huber_loss": [
        Sample((signed(2, 3), signed(2, 3, seed=1)), {"delta": 0.4, "reduction": kind})
        for kind in ("mean", "sum", "none")
    ],
    "layer_norm": [
        Sample((BATCH, numbers(3, 2), numbers(3, 2, seed=1)), {"count": 2, "eps": 0.1}),
        Sample((BATCH, numbers(2), numbers(2, seed=1)), {"count": 1, "eps": 0.1}),
    ],
    "leaky_relu": [Sample((signed(2, 3),), {"negative_slope": 0.1})],
    "leaky_relu_in_place": [Sample((signed(2, 3),), {"negative_slope": 0.1})],
    "logsumexp": [
        Sample((MATRIX,), {"dim": (1,)}),
        Sample((BATCH,), {"dim": (0, 2), "keepdim": True}),
        Sample((numbers(),), {"dim": ()}),
    ],
    "max_pool2d": [
        Sample((IMAGE,), {"grid": WINDOWS}),
        Sample((IMAGE[0],), {"grid": WINDOWS._replace(dilation=(2, 1))}),
        Sample((IMAGE,), {"grid": OVER}),
    ],
    "mse_loss": [
        Sample((MATRIX, numbers(2, 3, seed=1)), {"reduction": kind})
        for kind in ("mean", "sum", "none")
    ],
    "soft_margin_loss": [
        Sample((MATRIX, signed(2, 3, seed=1)), {"reduction": kind})
        for kind in ("mean", "sum", "none")
    ],
    "nll_loss": [
        Sample((MATRIX,), NLL),
        Sample((MATRIX,), {**NLL, "ignore_index": 2, "reduction": "none"}),
        Sample((VECTOR,), {**NLL, "target": np.int64(1)}),
    ],
    "nll_loss2d": [Sample((BATCH,), {**NLL, "target": np.array([[2, 0], [1, 1]])})],
    "nll_loss_backward": [
        Sample((numbers(),), {**NLL, "shape": (2, 3)}),
        Sample((numbers(2),), {**NLL, "shape": (2, 3), "reduction": "none"}),
    ],
    "softplus": [Sample((signed(2, 3),), {"beta": 2.0, "threshold": 2.3})],
}

ON_ALL_NUMBERS = (
    *("abs", "ceil", "cos", "exp", "expm1", "floor", "max_all", "mean_all", "min_all", "neg"),
    *("reciprocal", "relu", "round", "sigmoid", "sign", "sin", "sum_all", "tan", "tanh"),
)
OF_TWO_NUMBERS = ("add", "div", "maximum", "minimum", "mul", "sub")

INF = float("inf")
ZERO_AMONG = np.array([[0.7, 0.0, 1.3], [0.0, 0.0, 0.9]])
MORE: dict[str, list[Sample]] = {
    "amax": [
        Sample((MATRIX,), {"dim": (0, 1), "keepdim": True}),
        Sample((numbers(),), {"dim": ()}),
    ],
    "amin": [
        Sample((MATRIX,), {"dim": (0, 1), "keepdim": True}),
        Sample((numbers(),), {"dim": ()}),
    ],
    "argmax": [Sample((MATRIX,), {"dim": None}), Sample((MATRIX,), {"dim": 0, "keepdim": True})],
    "argmin": [Sample((MATRIX,), {"dim": None}), Sample((MATRIX,), {"dim": 0, "keepdim": True})],
    "all_elements": [Sample((MASK,), {"dim": (1,), "keepdim": True})],
    "any_element": [Sample((MASK,), {"dim": (0,)})],
    "cat": [Sample((numbers(2), numbers(1, seed=1), numbers(0, seed=2)), {"dim": 0})],
    "cumsum": [Sample((numbers(),), {"dim": 0}), Sample((BATCH,), {"dim": 1})],
    "div_rounded": [Sample((MATRIX, numbers(2, 3, seed=1)), {"rounding_mode": "trunc"})],
    "linalg_vector_norm": [
        *(Sample((signed(2, 3),), {"ord": p, "dim": (1,)}) for p in (1, 1.5, 3, 0.5, INF, -INF)),
        Sample((BATCH,), {"ord": 2, "dim": (0, 2), "keepdim": True}),
        Sample((numbers(),), {"ord": 3, "dim": ()}),
    ],
    "max_dim": [Sample((MATRIX,), {"dim": 0, "keepdim": True}), Sample((numbers(),), {"dim": 0})],
    "min_dim": [Sample((MATRIX,), {"dim": 0, "keepdim": True}), Sample((numbers(),), {"dim": 0})],
    "mean_dim": [
        Sample((MATRIX,), {"dim": (0,), "keepdim": True}),
        Sample((BATCH,), {"dim": (2, 0)}),
    ],
    "permute": [Sample((BATCH,), {"dims": (2, 0, 1)})],
    "pow_to_number": [
        Sample((signed(2, 3),), {"exponent": e}) for e in (0, 1, 2, 3, -1, -2, 2.0, -1.0)
    ]
    + [Sample((numbers(2, 3),), {"exponent": e}) for e in (0.5, -0.5)],
    "prod_all": [Sample((ZERO_AMONG,)), Sample((ZERO_AMONG[:, 1:],)), Sample((numbers(7),))],
    "prod_dim": [
        Sample((ZERO_AMONG,), {"dim": 1}),
        Sample((ZERO_AMONG,), {"dim": 0, "keepdim": True}),
        Sample((numbers(2, 5),), {"dim": 1}),
        Sample((numbers(),), {"dim": 0}),
    ],
    "repeat": [Sample((numbers(),), {"repeats": (2,)}), Sample((VECTOR,), {"repeats": (2,)})],
    "sort": [Sample((BATCH,), {"dim": 1, "descending": True}), Sample((numbers(),), {"dim": 0})],
    "split": [Sample((BATCH,), {"split_size": 1, "dim": 0})],
    "unsafe_split": [Sample((BATCH,), {"split_size": 1, "dim": 0})],
    "squeeze": [Sample((numbers(1, 2, 1),))],
    "squeeze_dims": [Sample((numbers(1, 2, 1),), {"dims": (0, 1)})],
    "squeeze_dim": [Sample((numbers(2, 1),), {"dim": 1}), Sample((numbers(),), {"dim": 0})],
    "stack": [Sample((numbers(), numbers(seed=1)), {"dim": 0})],
    "sum_dim": [
        Sample((MATRIX,), {"dim": (0, 1), "keepdim": True}),
        Sample((BATCH,), {"dim": (2, 0)}),
    ],
    **{
        name: [
            Sample((BATCH,), {"dim": (0, 2), "correction": 0, "keepdim": True}),
            Sample((VECTOR,), {"dim": (0,), "correction": 1.5}),
        ]
        for name in ("std", "var")
    },
    "topk": [
        Sample((BATCH,), {"k": 2, "dim": 1, "largest": False}),
        Sample((numbers(),), {"k": 1, "dim": 0}),
    ],
    "transpose": [Sample((BATCH,), {"dim0": 2, "dim1": 0})],
    "log_softmax": [Sample((numbers(),), {"dim": 0}), Sample((BATCH,), {"dim": 0})],
    "softmax": [Sample((numbers(),), {"dim": 0}), Sample((BATCH,), {"dim": 0})],
    "unbind": [Sample((VECTOR,), {"dim": 0}), Sample((BATCH,), {"dim": 2})],
    "unsqueeze": [Sample((numbers(),), {"dim": 0})],
    **{name: [Sample((signed(2, 3),))] for name in ON_ALL_NUMBERS},
    **{name: [Sample((signed(2, 3), signed(2, 3, seed=1)))] for name in OF_TWO_NUMBERS},
}

INSTEAD |= OF_FUNCTIONS


def samples(op: Op) -> list[Sample]:
    """Return the samples of an op."""
    own = INSTEAD[op.name] if op.name in INSTEAD else default(op)
    return own + MORE.get(op.name, [])


def every_sample() -> Iterator[Any]:
    """Yield (op, sample) with a readable id, for ``pytest.mark.parametrize``."""
    import pytest

    for op in OPS.values():
        for sample in samples(op):
            yield pytest.param(op, sample, id=f"{op.name} {sample}")


# PyTorch has no derivative of these.
REFUSED = {
    op.name for op in OPS.values() for rule in op.rules.values() if rule.tex == r"\text{none}"
}
