"""Inputs for the ops behind the functions in ``functions/``, and what NumPy says of them."""

import itertools
import math
from typing import Any

import numpy as np

from autodiff_kit.ops.ctc import Labels, ctc_loss
from autodiff_kit.ops.sampling import Lookup
from autodiff_kit.ops.windows import Grid
from tests.ops.inputs import Sample, numbers, signed

MATRIX, VECTOR, BATCH = numbers(2, 3), numbers(3), numbers(2, 3, 2)
SIGNED, SHARE, ABOVE_1 = signed(2, 3), numbers(2, 3) / 2, numbers(2, 3) + 1
WHOLE, MASK = np.array([[4, 0, 7], [2, 2, -3]]), np.array([[True, False, True], [False] * 3])
PLACES = np.array([[2, 0, 1], [1, 2, 0]])
ROWS = np.array([1, 0, 1])
SQUARE, SQUARES = numbers(3, 3) + np.eye(3), numbers(2, 3, 3) + 2 * np.eye(3)
DRAWN = numbers(2, 3, seed=3)

PATCHES = Grid((2, 3), (1, 2), (1, 0), (2, 1))
BAGS: dict[str, Any] = {
    "indices": np.array([1, 0, 1, 2]),
    "bags": np.array([0, 0, 2, 2]),
    "sizes": np.array([2.0, 1.0, 2.0]),
}
LOOKUPS = [
    Lookup("bilinear", border, aligned)
    for border in ("zeros", "border", "reflection")
    for aligned in (True, False)
]
LABELS = Labels(np.array([[1, 2], [1, 1]]), np.array([4, 3]), np.array([2, 2]), blank=0)
SCORES = signed(4, 2, 3)

INSTEAD: dict[str, list[Sample]] = {
    "ctc_loss": [
        Sample((SCORES,), {"labels": labels, "zero_infinity": False})
        for labels in (LABELS, LABELS._replace(target_lengths=np.array([1, 0]), blank=2))
    ],
    "ctc_loss_backward": [
        Sample(
            (SCORES, *ctc_loss(SCORES, labels=LABELS, zero_infinity=False), numbers(2)),
            {"labels": LABELS, "zero_infinity": False},
        )
    ],
    "dirichlet": [Sample((MATRIX,), {"numbers": DRAWN})],
    "dirichlet_backward": [Sample((MATRIX, 0.6 * DRAWN, numbers(2, 3, seed=1)))],
    "polygamma": [Sample((MATRIX,), {"n": n}) for n in (0, 1, 3)],
    "standard_gamma": [Sample((MATRIX,), {"numbers": DRAWN})],
    "standard_gamma_backward": [Sample((MATRIX, 3 * DRAWN)), Sample((9 * MATRIX, 9 * DRAWN))],
    "affine_grid_generator": [Sample((signed(2, 2, 3),), {"base": numbers(2, 4, 3)})],
    "col2im": [Sample((numbers(2, 12, 6),), {"size": (3, 5), "grid": PATCHES})],
    "hardshrink": [Sample((signed(2, 3),), {"lambd": 0.5}), Sample((signed(),), {"lambd": 0.5})],
    "linalg_qr": [
        Sample((signed(rows, columns),), {"mode": mode}, output)
        for rows, columns, mode in ((3, 2, "reduced"), (2, 3, "complete"))
        for output in (0, 1)
    ],
    "linalg_eigh": [
        Sample((matrix @ matrix.swapaxes(-1, -2),), {"triangle": triangle}, output)
        for matrix, triangle in ((SQUARE, "L"), (SQUARES, "U"))
        for output in (0, 1)
    ],
    "linalg_lstsq": [
        Sample((signed(rows, 3), y), {"cutoff": 1e-12, "is_vector": y.ndim == 1})
        for rows in (2, 3, 4)
        for y in (numbers(rows, 2), numbers(rows))
    ],
    "linalg_matrix_exp": [Sample((SQUARE,)), Sample((SQUARES / 4,))],
    "linalg_pinv": [
        Sample((signed(rows, columns),), {"atol": 0.0, "rtol": 1e-12, "hermitian": False})
        for rows, columns in ((4, 3), (2, 3), (3, 3))
    ],
    "linalg_svd": [
        *(Sample((signed(3, 2),), {"full_matrices": False}, output) for output in range(3)),
        *(Sample((signed(2, 3),), {"full_matrices": True}, output) for output in range(2)),
    ],
    "outer_sum": [Sample((numbers(2, 3), numbers(2, 4, seed=1), numbers(2, 2, seed=2)))],
    "rrelu_with_noise": [Sample((signed(2, 3), numbers(2, 3, seed=1)))],
    "softshrink": [Sample((signed(2, 3),), {"lambd": 0.5}), Sample((signed(),), {"lambd": 0.5})],
    "threshold": [Sample((signed(2, 3),), {"threshold": 0.1, "value": 4.0})],
    "weight_norm_interface": [
        Sample((signed(2, 3), numbers(2, 1, seed=1)), {"dim": 0}),
        Sample((signed(2, 2, 3), numbers(1, 1, 3, seed=1)), {"dim": 2}),
    ],
    "trilinear": [Sample((numbers(2, 3), numbers(4, 3, 2, seed=1), numbers(2, 2, seed=2)))],
    "embedding_bag": [Sample((numbers(3, 2), numbers(4)), BAGS)],
    "embedding_bag_backward": [Sample((numbers(3, 2), numbers(4)), {**BAGS, "shape": (3, 2)})],
    "embedding_bag_max": [Sample((numbers(3, 2),), {"rows": np.array([[0, 2], [-1, -1]])})],
    "embedding_bag_max_backward": [
        Sample((numbers(2, 2),), {"shape": (3, 2), "rows": np.array([[0, 2], [0, 2]])})
    ],
    "embedding_bag_weights": [Sample((numbers(3, 2), numbers(3, 2, seed=1)), BAGS)],
    "grid_sampler_2d": [
        *(Sample((signed(2, 2, 3, 4), 0.9 * signed(2, 2, 3, 2)), {"how": how}) for how in LOOKUPS),
        Sample((signed(1, 2, 3, 4), 2 * signed(1, 2, 3, 2)), {"how": LOOKUPS[1]}),
        Sample(
            (signed(1, 2, 3, 4), signed(1, 2, 3, 2)), {"how": Lookup("nearest", "zeros", False)}
        ),
    ],
    "im2col": [Sample((signed(2, 2, 3, 5),), {"grid": PATCHES})],
    "pixel_shuffle": [
        Sample((signed(2, 8, 2, 3),), {"factor": 2}),
        Sample((signed(4, 1, 2),), {"factor": 2}),
    ],
    "narrow_copy": [Sample((numbers(2, 4),), {"dim": 1, "start": 1, "length": 2})],
    "pixel_unshuffle": [Sample((signed(2, 2, 4, 6),), {"factor": 2})],
    "acosh": [Sample((ABOVE_1,)), Sample((numbers() + 1,))],
    "addmv": [
        Sample((numbers(2), MATRIX, VECTOR), {"beta": 0.5, "alpha": 3.0}),
        Sample((numbers(), MATRIX, VECTOR)),
    ],
    "addr": [Sample((MATRIX, numbers(2), VECTOR), {"beta": 0.5, "alpha": 3.0})],
    "addbmm": [Sample((numbers(3), BATCH, numbers(2, 2, 3, seed=1)), {"beta": 0.5, "alpha": 3.0})],
    "aminmax": [
        Sample((MATRIX,), {"dim": (1,)}),
        Sample((MATRIX,), {"dim": (0, 1)}, 0),
        Sample((MATRIX,), {"dim": (1,), "keepdim": True}, 0),
    ],
    "as_strided": [
        Sample((numbers(6),), {"size": (2, 3), "stride": (2, 1), "offset": 1}),
        Sample((MATRIX,), {"size": (4,), "stride": (1,), "offset": 0}),
    ],
    "asin": [Sample((SHARE,)), Sample((numbers() / 2,))],
    "acos": [Sample((SHARE,)), Sample((numbers() / 2,))],
    "atanh": [Sample((SHARE,)), Sample((numbers() / 2,))],
    "baddbmm": [Sample((numbers(3), BATCH, numbers(2, 2, 3, seed=1)), {"beta": 0.5, "alpha": 3.0})],
    "bernoulli": [Sample((MATRIX,), {"numbers": DRAWN})],
    "bincount": [Sample((np.array([3, 0, 3]),), {"minlength": 6})],
    "bincount_weighted": [Sample((np.array([3, 0, 3]), VECTOR), {"minlength": 6})],
    "bitwise_left_shift": [Sample((np.array([1, 3]), np.array([2, 5])))],
    "bitwise_right_shift": [Sample((np.array([100, -3]), np.array([2, 1])))],
    "block_diag": [Sample((MATRIX, numbers(), VECTOR))],
    "cdist": [
        Sample((numbers(4, 3), numbers(2, 3, seed=1)), {"p": p}) for p in (2.0, 1.0, 3.0, np.inf)
    ],
    "cdist_backward": [
        Sample(
            (numbers(4, 3), numbers(2, 3, seed=1), *(numbers(4, 2, seed=s) for s in (2, 3))),
            {"p": 1.0},
        )
    ],
    "count_nonzero": [Sample((WHOLE,), {"dim": (1,)}), Sample((WHOLE,), {"dim": (0, 1)})],
    "cumprod": [
        Sample((SIGNED,), {"dim": 1}),
        Sample((MATRIX * [[1], [0]],), {"dim": 0}),
        Sample((MATRIX,), {"dim": 0}),
    ],
    "diag_embed": [
        Sample((VECTOR,), {"offset": 1, "dim1": 0, "dim2": 1}),
        Sample((MATRIX,), {"offset": -1, "dim1": 2, "dim2": 0}),
    ],
    "diagonal": [
        Sample((MATRIX,), {"offset": 1, "dim1": 0, "dim2": 1}),
        Sample((BATCH,), {"offset": 0, "dim1": 2, "dim2": 1}),
    ],
    "diagonal_copy": [Sample((MATRIX,), {"offset": -1, "dim1": 0, "dim2": 1})],
    "diagonal_backward": [
        Sample((numbers(2),), {"shape": (2, 3), "offset": 1, "dim1": 0, "dim2": 1})
    ],
    "dist": [Sample((MATRIX, numbers(2, 3, seed=1)), {"p": p}) for p in (2.0, 1.0, 3.0)],
    "erfinv": [Sample((SHARE,)), Sample((-SHARE / 2,)), Sample((numbers() / 2,))],
    "gcd": [Sample((np.array([12, 7]), np.array([18, 21])))],
    "heaviside": [Sample((SIGNED, numbers(2, 3, seed=1)))],
    "histc": [Sample((MATRIX,), {"bins": 4, "low": 0.6, "high": 1.2})],
    "index_copy": [
        Sample((MATRIX, np.array([2, 0]), numbers(2, 2, seed=1)), {"dim": 1}),
        Sample((numbers(), np.int64(0), numbers(seed=1)), {"dim": 0}),
    ],
    "index_fill": [Sample((MATRIX, np.array([2, 0])), {"dim": 1, "value": 4.0})],
    "index_fill_tensor": [Sample((MATRIX, np.array([2, 0]), numbers(seed=1)), {"dim": 1})],
    "index_put_add": [
        Sample((MATRIX, numbers(2, 2, seed=1)), {"positions": np.array([[3, 0], [1, 3]])})
    ],
    "isclose": [Sample((MATRIX, MATRIX + 1e-6 * WHOLE))],
    "isin": [Sample((WHOLE, np.array([2, 7])))],
    "kthvalue": [Sample((BATCH,), {"k": 2, "dim": 1}), Sample((numbers(),), {"k": 1, "dim": 0})],
    "lcm": [Sample((np.array([12, 7]), np.array([18, 21])))],
    "lerp": [Sample((MATRIX, numbers(2, 3, seed=1)), {"weight": w}) for w in (0.25, 0.75)],
    "linalg_cross": [Sample((MATRIX, numbers(2, 3, seed=1)), {"dim": 1})],
    "linalg_det": [Sample((SQUARE,)), Sample((SQUARES,))],
    "linalg_inv_ex": [Sample((SQUARE,)), Sample((SQUARES,))],
    "linalg_slogdet": [Sample((SQUARE,)), Sample((SQUARES,))],
    "linalg_cholesky_ex": [
        Sample((SQUARE @ SQUARE.T,)),
        Sample((SQUARES @ SQUARES.swapaxes(1, 2),)),
    ],
    "linalg_solve_triangular": [
        Sample((SQUARE, numbers(3, 2)), {"upper": True}),
        Sample((SQUARES, numbers(2, 3, 2)), {"upper": False}),
    ],
    "linalg_solve_ex": [
        Sample((SQUARE, numbers(3, 2, seed=1)), {"is_vector": False}),
        Sample((SQUARE, numbers(3, seed=1)), {"is_vector": True}),
        Sample((SQUARES, numbers(2, 3, 2, seed=1)), {"is_vector": False}),
        Sample((SQUARES, numbers(2, 3, seed=1)), {"is_vector": True}),
        Sample((SQUARES, numbers(3, seed=1)), {"is_vector": True}),
        Sample((SQUARES, numbers(3, 2, seed=1)), {"is_vector": False}),
    ],
    "logit": [Sample((SHARE,)), Sample((SHARE,), {"eps": 0.35})],
    "logcumsumexp": [Sample((SIGNED,), {"dim": 1}), Sample((numbers(),), {"dim": 0})],
    "masked_scatter_from": [Sample((MATRIX, MASK, numbers(2, 2, seed=1)))],
    "median_dim": [Sample((BATCH,), {"dim": 1}), Sample((BATCH,), {"dim": 1, "keepdim": True})],
    "nanmedian_dim": [Sample((BATCH,), {"dim": 1})],
    "mode": [Sample((BATCH,), {"dim": 1}), Sample((MATRIX,), {"dim": 0, "keepdim": True})],
    "nan_to_num": [Sample((SIGNED,))],
    "nansum": [Sample((BATCH,), {"dim": (1,)}), Sample((MATRIX,), {"dim": (0, 1)})],
    "nonzero": [Sample((WHOLE,))],
    "normal_of_mean": [Sample((MATRIX,), {"numbers": DRAWN})],
    "normal_of_mean_and_std": [Sample((MATRIX, numbers(2, 3, seed=1)), {"numbers": DRAWN})],
    "normal_of_std": [Sample((MATRIX,), {"numbers": DRAWN})],
    **{
        f"{name}_drawn": [Sample((MATRIX,), {"numbers": DRAWN})]
        for name in ("bernoulli", "exponential", "normal", "random", "uniform")
    },
    "repeat_interleave": [Sample((np.array([2, 0, 3]),))],
    "roll": [
        Sample((MATRIX,), {"shifts": (1, -2), "dims": (0, 1)}),
        Sample((MATRIX,), {"shifts": (2,), "dims": ()}),
    ],
    "rot90": [Sample((BATCH,), {"k": k, "dims": (0, 2)}) for k in (1, 2, 3)],
    "round_decimals": [
        Sample((SIGNED * 7.03,), {"decimals": 1}),
        Sample((SIGNED * 70,), {"decimals": -1}),
    ],
    "scatter_reduce": [
        Sample(
            (SIGNED, PLACES // 2, signed(2, 3, seed=1)),
            {"dim": 1, "reduce": reduce, "include_self": own},
        )
        for reduce in ("sum", "prod", "mean", "amax", "amin")
        for own in (True, False)
    ],
    "searchsorted": [
        Sample((np.sort(VECTOR), MATRIX), {"right": right, "kind": "int64"})
        for right in (False, True)
    ],
    "squeeze_dims": [Sample((numbers(1, 2, 1),), {"dims": (0, 1)})],
    "std_mean": [Sample((MATRIX,), {"dim": (1,)}, output) for output in (0, 1)],
    "var_mean": [
        Sample((MATRIX,), {"dim": (1,)}, 0),
        Sample((MATRIX,), {"dim": (0, 1), "keepdim": True}),
        Sample((MATRIX,), {"dim": (1,), "correction": 0}),
    ],
    "take": [Sample((MATRIX, np.array([[5, 0], [5, -1]])))],
    "trace": [Sample((MATRIX,)), Sample((numbers(3, 2),))],
    "tril": [Sample((BATCH,), {"diagonal": 0}), Sample((MATRIX,), {"diagonal": 1})],
    "triu": [Sample((BATCH,), {"diagonal": 0}), Sample((MATRIX,), {"diagonal": -1})],
    "unfold": [
        Sample((numbers(2, 5),), {"dim": 1, "size": 3, "step": 2}),
        Sample((MATRIX,), {"dim": 0, "size": 2, "step": 1}),
    ],
    "unfold_backward": [
        Sample((numbers(2, 2, 3),), {"shape": (2, 5), "dim": 1, "size": 3, "step": 2})
    ],
    "unique": [Sample((np.array([3.0, 1.0, 3.0]),))],
    "unique_consecutive": [Sample((np.array([3.0, 3.0, 1.0, 3.0]),))],
    "unique_dim": [Sample((np.array([[3.0, 1.0], [0.0, 2.0], [3.0, 1.0]]),), {"dim": 0})],
    "vdot": [Sample((VECTOR, numbers(3, seed=1)))],
    "xlogy_number": [Sample((SIGNED,), {"y": 0.4})],
}

# What the text of an op does not say to NumPy.
WITH_NUMPY = {
    "linalg_qr": "np.linalg.qr(x, mode)[output]",
    "linalg_eigh": "np.linalg.eigh(x, triangle)[output]",
    "linalg_lstsq": "np.linalg.lstsq(x, y, rcond=cutoff)[0]",
    "linalg_matrix_exp": "np.sum([np.linalg.matrix_power(x, k) / float(math.factorial(k)) "
    "for k in range(60)], 0)",
    "linalg_pinv": "np.linalg.pinv(x)",
    "linalg_svd": "np.linalg.svd(x, full_matrices)[output]",
    "weight_norm_interface": "x * y / np.sqrt(np.square(x).sum("
    "tuple(d for d in range(x.ndim) if d != dim), keepdims=True))",
    "aminmax": "(np.max if output else np.min)(x, dim, keepdims=keepdim)",
    "as_strided": "np.array([[x.flat[offset + sum(np.multiply(k, stride))]] "
    "for k in np.ndindex(*size)]).reshape(size)",
    "affine_grid_generator": "np.array([base @ m.T for m in x])",
    "block_diag": "plainly.blocks(tensors)",
    "col2im": "adjoint(lambda e: plainly.columns(e, view, grid), x, (2, 2, *size))",
    "embedding_bag": "plainly.bags(x, weights, indices, bags, sizes)",
    "embedding_bag_backward": "adjoint(lambda e: plainly.bags(e, weights, indices, bags, sizes), "
    "x, shape)",
    "embedding_bag_max": "np.array([[0 if i < 0 else x[i, j] for j, i in enumerate(row)] "
    "for row in rows])",
    "embedding_bag_max_backward": "adjoint(lambda e: e[rows, [0, 1]], x, shape)",
    "embedding_bag_weights": "np.array([x[b] @ y[i] / sizes[b] for i, b in zip(indices, bags)])",
    "grid_sampler_2d": "plainly.looked_up(x, grid, how)",
    "im2col": "plainly.columns(x, view, grid)",
    "pixel_shuffle": "plainly.shuffled(x, factor)",
    "pixel_unshuffle": "adjoint(lambda e: plainly.shuffled(e, factor), x, (2, 8, 2, 3))",
    "cdist": "np.array([[np.linalg.norm(a - b, p) for b in y] for a in x])",
    "cdist_backward": "np.array([[g_[i] @ np.sign(a - y)] for i, a in enumerate(x)])[:, 0]",
    "ctc_loss": "-np.log(plainly.paths(x, labels)[0].sum(1))",
    "ctc_loss_backward": "plainly.ctc_slopes(x, labels) * g_[:, None]",
    "digamma": "plainly.polygamma(x, 0)",
    "dirichlet_backward": "plainly.slopes_of_beta(x, draws) "
    "* (g_ - (draws * g_).sum(-1, keepdims=True))",
    "lgamma": "plainly.lgamma(x)",
    "polygamma": "plainly.polygamma(x, n)",
    "standard_gamma_backward": "draws * plainly.shift("
    "lambda s, a: a * s - np.exp(s), lambda s: s, np.log(draws), x)",
    "cummax": "np.maximum.accumulate(x, dim)",
    "cummin": "np.minimum.accumulate(x, dim)",
    "diag_embed": "plainly.embedded(x, offset, dim1, dim2)",
    "diagonal_backward": "adjoint(lambda e: np.diagonal(e, offset, dim1, dim2), x, shape)",
    "dist": "np.linalg.norm((x - y).ravel(), p)",
    "erfc": "1 - error_function(x)",
    "erfinv": "plainly.solved(error_function, x)",
    "histc": "np.histogram(x, bins, (low, high))[0]",
    "index_copy": "plainly.written(x, index, source, dim)",
    "index_fill": "plainly.written(x, index, value, dim)",
    "index_fill_tensor": "plainly.written(x, index, value, dim)",
    "index_put_add": "x + adjoint(lambda e: np.take(e, positions), y, x.shape)",
    "kthvalue": "np.take(ordered(x, dim, False), k - 1, dim) if x.ndim else x",
    "lerp_tensor": "x + weight * (y - x)",
    "linalg_cross": "np.cross(x, y, axis=dim)",
    "linalg_det": "np.linalg.det(x)",
    "linalg_inv_ex": "np.linalg.inv(x)",
    "linalg_slogdet": "np.linalg.slogdet(x)[output]",
    "linalg_cholesky_ex": "np.linalg.cholesky(x)",
    "linalg_solve_triangular": "np.linalg.inv(np.triu(x) if upper else np.tril(x)) @ y",
    "linalg_solve_ex": "np.linalg.solve(x, y[..., None])[..., 0] if is_vector "
    "else np.linalg.solve(x, y)",
    "logcumsumexp": "np.log(np.cumsum(np.exp(x), dim)) if x.ndim else x",
    "logit": "plainly.logit(x, eps)",
    "masked_scatter_from": "plainly.masked(x, mask, source)",
    "median_all": "np.sort(x, None)[(x.size - 1) // 2]",
    "median_dim": "np.take(ordered(x, dim, False), [1], dim).reshape("
    "np.max(x, dim, keepdims=keepdim).shape)",
    "mode": "np.min(x, dim, keepdims=keepdim)",  # no element is there twice
    "hardsigmoid_backward": "np.where((y > -3) & (y < 3), x * float(np.float32(1 / 6)), 0)",
    "nan_to_num": "x",
    "narrow_copy": "np.take(x, range(start, start + length), dim)",
    "nanmedian_all": "np.sort(x, None)[(x.size - 1) // 2]",
    "nanmedian_dim": "np.median(x, dim)",
    "nansum": "np.sum(x, dim, keepdims=keepdim)",
    "nonzero": "np.argwhere(x)",
    "roll": "np.roll(x, shifts, dims or None)",
    "scatter_reduce": "plainly.reduced(x, index, source, dim, reduce, include_self)",
    "searchsorted": "np.searchsorted(x, y, 'right' if right else 'left')",
    "squeeze_dims": "np.squeeze(x, dims[0])",
    "std_mean": "np.mean(x, dim, keepdims=keepdim) if output else "
    "(np.var(x, dim, keepdims=keepdim) * freedom(x, dim, correction)) ** 0.5",
    "squeeze_in_place": "np.squeeze(x)",
    "t_in_place": "np.transpose(x)",
    "transpose_in_place": "np.swapaxes(x, dim0, dim1)",
    "unsqueeze_in_place": "np.expand_dims(x, dim)",
    "unfold": "plainly.windows(x, dim, size, step)",
    "unfold_backward": "adjoint(lambda e: plainly.windows(e, dim, size, step), x, shape)",
    "unique_consecutive": "[3.0, 1.0, 3.0]",
    "var_mean": "np.mean(x, dim, keepdims=keepdim) if output else "
    "np.var(x, dim, keepdims=keepdim) * freedom(x, dim, correction)",
}


class plainly:
    """Slow and plain ways to compute the same."""

    lgamma = np.vectorize(math.lgamma, "d")

    @staticmethod
    def polygamma(x: Any, n: int) -> Any:
        """Add up a series; an integral stands for what is behind the first 100,000 terms."""
        k, count = x[..., None] + np.arange(100_000), x + 100_000 - 0.5
        if n == 0:
            own = np.arange(100_000) + 1
            return -np.euler_gamma + (1 / own - 1 / k).sum(-1) + np.log(count / 100_000.5)
        total = (k ** -(n + 1)).sum(-1) + count**-n / n
        return (-1) ** (n + 1) * math.factorial(n) * total

    @staticmethod
    def shift(log_weight: Any, by_a: Any, places: Any, a: Any) -> Any:
        """Return how fast, as a grows, the places move that have a share of the weight below them.

        ``log_weight(s, a)`` says how the weight lies on a line, ``by_a(s)`` its derivative by a.
        """

        def one(end: float, a: float) -> float:
            sums = []
            for high in (end, 60.0):
                s = np.linspace(-60, high, 100_001)
                weights = np.exp(log_weight(s, a)) * np.r_[1, np.tile((4, 2), 50_000)[:-1], 1]
                sums.append(np.array([weights.sum(), weights @ by_a(s)]) * (high + 60) / 300_000)
            (below, below_by_a), (whole, whole_by_a) = sums  # by Simpson's rule
            return (below * whole_by_a / whole - below_by_a) / np.exp(log_weight(end, a))

        return np.vectorize(one)(places, a)

    @staticmethod
    def slopes_of_beta(x: Any, draws: Any) -> Any:
        """Return how fast each share moves as its concentration grows, divided by the rest."""
        out = np.zeros(x.shape)
        for i, a in np.ndenumerate(x):
            rest, draw = x[i[0]].sum() - a, draws[i]

            def log_weight(s: Any, a: Any, rest: Any = rest) -> Any:
                return a * s - (a + rest) * np.logaddexp(0, s)

            place = np.log(draw / (1 - draw))
            out[i] = draw * plainly.shift(log_weight, lambda s: -np.logaddexp(0, -s), place, a)
        return out

    @staticmethod
    def paths(x: Any, labels: Any) -> Any:
        """Return, by time and class, the weight of all paths there that read as the labels."""
        out = np.zeros(x.shape)
        for i, (length, count) in enumerate(zip(*labels[1:3], strict=True)):
            for path in itertools.product(range(x.shape[2]), repeat=length):
                read = [c for c, _ in itertools.groupby(path) if c != labels.blank]
                if read == labels.targets[i, :count].tolist():
                    at = np.arange(length), i, path
                    out[at] += np.exp(x[at].sum())
        return out

    @staticmethod
    def ctc_slopes(x: Any, labels: Any) -> Any:
        paths = plainly.paths(x, labels)
        counts = paths.sum(2, keepdims=True) > 0
        return np.where(counts, np.exp(x) - paths / paths[0].sum(1)[:, None], 0)

    @staticmethod
    def blocks(tensors: Any) -> Any:
        parts = [np.atleast_2d(x) for x in tensors]
        rows = []
        for i, row in enumerate(parts):
            others = [np.zeros((len(row), part.shape[1])) for part in parts]
            rows.append([row if k == i else other for k, other in enumerate(others)])
        return np.block(rows)

    @staticmethod
    def embedded(x: Any, offset: int, dim1: int, dim2: int) -> Any:
        matrices = [np.diag(row, offset) for row in x.reshape(-1, x.shape[-1])]
        size = matrices[0].shape
        return np.moveaxis(np.reshape(matrices, (*x.shape[:-1], *size)), (-2, -1), (dim1, dim2))

    @staticmethod
    def columns(x: Any, view: Any, grid: Any) -> Any:
        windows = np.nan_to_num(view(x, grid))  # (n, c, rows, columns, height, width)
        return windows.transpose(0, 1, 4, 5, 2, 3).reshape(len(x), -1, np.prod(windows.shape[2:4]))

    @staticmethod
    def bags(x: Any, weights: Any, indices: Any, bags: Any, sizes: Any) -> Any:
        out = np.zeros((len(sizes), x.shape[1]))
        for i, weight, bag in zip(indices, weights, bags, strict=True):
            out[bag] += x[i] * weight / sizes[bag]
        return out

    @staticmethod
    def shuffled(x: Any, factor: int) -> Any:
        *batch, channels, height, width = x.shape
        out = np.zeros((*batch, channels // factor**2, height * factor, width * factor))
        for c, i, j in np.ndindex(*out.shape[-3:]):
            channel = c * factor**2 + i % factor * factor + j % factor
            out[..., c, i, j] = x[..., channel, i // factor, j // factor]
        return out

    @staticmethod
    def looked_up(x: Any, grid: Any, how: Any) -> Any:
        """Weigh all pixels by tents around each place."""
        weights = []
        for axis, size in ((1, x.shape[2]), (0, x.shape[3])):
            low, high = (0, size - 1) if how.align_corners else (-0.5, size - 0.5)
            places = low + (grid[..., axis] + 1) / 2 * (high - low)
            while how.border == "reflection" and ((places < low) | (places > high)).any():
                places = np.where(places < low, 2 * low - places, places)
                places = np.where(places > high, 2 * high - places, places)
            if how.border != "zeros":
                places = places.clip(0, size - 1)
            away = np.abs(places[..., None] - np.arange(size))
            weights.append(away < 0.5 if how.mode == "nearest" else np.maximum(0, 1 - away))
        return np.einsum("nchw,nijh,nijw->ncij", x, *weights)

    @staticmethod
    def solved(function: Any, y: Any) -> Any:
        low, high = np.full(np.shape(y), -6.0), np.full(np.shape(y), 6.0)
        for _ in range(80):
            middle = (low + high) / 2
            below = function(middle) < y
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low

    @staticmethod
    def logit(x: Any, eps: float | None) -> Any:
        inside = x if eps is None else np.clip(x, eps, 1 - eps)
        return np.log(inside) - np.log(1 - inside)

    @staticmethod
    def masked(x: Any, mask: Any, source: Any) -> Any:
        out = x.copy()
        np.place(out, mask, source.ravel())
        return out

    @staticmethod
    def reduced(x: Any, index: Any, source: Any, dim: int, reduce: str, include_self: bool) -> Any:
        function = {"amax": np.max, "amin": np.min}.get(reduce) or getattr(np, reduce)
        values: dict[Any, list[float]] = {
            i: [x[i]] if include_self else [] for i in np.ndindex(x.shape)
        }
        for i in np.ndindex(index.shape):
            values[(*i[:dim], index[i], *i[dim + 1 :])].append(source[i])
        return np.reshape([function(v or [x[i]]) for i, v in values.items()], x.shape)

    @staticmethod
    def windows(x: Any, dim: int, size: int, step: int) -> Any:
        starts = range(0, x.shape[dim] - size + 1, step)
        parts = [np.moveaxis(np.take(x, range(i, i + size), dim), dim, -1) for i in starts]
        return np.stack(parts, dim)

    @staticmethod
    def written(x: Any, index: Any, value: Any, dim: int) -> Any:
        out = np.atleast_1d(x).copy()
        out[(slice(None),) * dim + (index,)] = value
        return out.reshape(np.shape(x))
