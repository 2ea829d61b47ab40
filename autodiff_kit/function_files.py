"""Which file of ``functions/`` has which function, and which of them are methods as well.

After reading this file you know where to look. Read next: ``functions/declared.py``.
"""

from __future__ import annotations

from itertools import filterfalse

__all__ = ["FILES", "FILE_OF", "FUNCTIONS", "METHODS"]

FILES = {
    "arranging": """
        adjoint as_strided broadcast_shapes broadcast_tensors broadcast_to expand_as fliplr
        flipud moveaxis movedim narrow_copy ravel repeat_interleave reshape_as roll rot90
        select squeeze_ sum_to_size swapaxes swapaxes_ swapdims t_ tile transpose_ unflatten
        unfold unravel_index unsqueeze_ view_as
    """,
    "basic": """
        abs abs_ add addmm all amax amin any argmax argmin bmm cat ceil ceil_ chunk clamp
        clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clone cos cos_ cumsum detach div
        dot einsum eq exp exp_ expm1 expm1_ flatten flip floor floor_ floor_divide gather ge
        gt index_add index_select is_floating_point is_tensor isnan le log log1p log1p_ log_
        log_softmax logsumexp lt masked_fill masked_select matmul max maximum mean min
        minimum mm mul mv narrow ne neg neg_ norm numel outer permute pow prod reciprocal
        reciprocal_ relu relu_ remainder reshape round round_ rsqrt rsqrt_ scatter sigmoid
        sigmoid_ sign sin sin_ softmax sort split sqrt sqrt_ square square_ squeeze stack
        std sub sum t tan tan_ tanh tanh_ topk transpose unbind unsqueeze var where
    """,
    "calculus": """
        absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan
        atanh clip conj cosh deg2rad digamma erf erfc erfinv exp2 fix frac hardshrink isfinite isinf
        isneginf isposinf isreal lgamma log10 log2 logical_not logit nan_to_num negative polygamma
        positive rad2deg real sgn signbit sinc sinh threshold trunc
    """,
    "comparing": """
        allclose apply_ equal greater greater_equal is_complex is_nonzero is_same_size
        is_signed isclose isin less less_equal map_ not_equal
    """,
    "diagonals": """
        block_diag diag diag_embed diagflat diagonal fill_diagonal_ trace tril tril_indices
        triu triu_indices
    """,
    "draws": """
        bernoulli bernoulli_ cauchy_ exponential_ geometric_ log_normal_ multinomial normal
        normal_ randint_like random_ uniform_
    """,
    "joining": """
        atleast_1d atleast_2d atleast_3d cartesian_prod column_stack combinations concat
        concatenate dsplit dstack hsplit hstack meshgrid row_stack split_with_sizes
        tensor_split vsplit vstack
    """,
    "making": """
        as_tensor asarray empty_like frombuffer full_like logspace new new_empty new_full
        new_ones new_tensor new_zeros randn_like range scalar_tensor vander
    """,
    "pairs": """
        addcdiv addcmul arctan2 atan2 bitwise_and bitwise_left_shift bitwise_not bitwise_or
        bitwise_right_shift bitwise_xor copysign divide float_power fmax fmin fmod gcd
        heaviside hypot lcm ldexp lerp logaddexp logaddexp2 logical_and logical_or
        logical_xor multiply rsub subtract true_divide xlogy
    """,
    "picking": """
        argwhere bincount bucketize count_nonzero index_copy index_fill index_put
        masked_scatter nonzero scatter_add scatter_reduce searchsorted take take_along_dim
        unique unique_consecutive
    """,
    "products": """
        addbmm addmv addr baddbmm cdist cross det ger inner inverse kron logdet matrix_power
        matrix_exp pinverse slogdet tensordot vdot
    """,
    "ranking": """
        aminmax argsort corrcoef cov dist histc histogram kthvalue median mode msort nanmean
        nanmedian nanquantile nansum quantile std_mean var_mean
    """,
    "scans": """
        cummax cummin cumprod cumulative_trapezoid diff logcumsumexp trapezoid trapz
    """,
    "types": """
        BoolTensor ByteTensor can_cast CharTensor DoubleTensor finfo FloatTensor HalfTensor
        iinfo IntTensor LongTensor promote_types result_type ShortTensor
    """,
}
# Of these, PyTorch has no method, and of the others below no function.
_NO_METHODS = """
    as_tensor asarray atleast_1d atleast_2d atleast_3d block_diag BoolTensor
    broadcast_shapes broadcast_tensors bucketize ByteTensor can_cast cartesian_prod cdist
    CharTensor column_stack combinations concat concatenate cumulative_trapezoid
    DoubleTensor dstack empty_like finfo FloatTensor frombuffer full_like HalfTensor hstack
    iinfo IntTensor isin logspace LongTensor meshgrid normal promote_types randint_like
    randn_like range real result_type row_stack rsub scalar_tensor searchsorted ShortTensor
    std_mean tensordot threshold trapezoid trapz tril_indices triu_indices unravel_index
    vander var_mean vstack
"""
_NO_FUNCTIONS = """
    apply_ bernoulli_ cauchy_ expand_as exponential_ fill_diagonal_ geometric_ log_normal_
    map_ new new_empty new_full new_ones new_tensor new_zeros normal_ random_ reshape_as
    squeeze_ sum_to_size swapaxes_ t_ transpose_ unfold uniform_ unsqueeze_ view_as
"""

FILE_OF: dict[str, str] = {}
for _file, _names in FILES.items():
    FILE_OF.update(dict.fromkeys(_names.split(), _file))
FUNCTIONS = tuple(filterfalse({*_NO_FUNCTIONS.split()}.__contains__, FILE_OF))
# What is in ``basic`` are methods of their own: they stand in ``methods/``.
_APART = {*_NO_METHODS.split(), *FILES["basic"].split()}
METHODS = tuple(filterfalse(_APART.__contains__, FILE_OF))
