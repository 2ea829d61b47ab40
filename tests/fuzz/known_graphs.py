"""Of which functions the graph has other nodes than PyTorch's, on purpose: names and reasons.

All but ``vmap`` differ only in the graphs of gradients, under ``create_graph=True``. What differs
in values, messages and all else stands in ``known.py``.
"""

__all__ = ["DIFFERENT_GRAPHS"]

_ONE_FUNCTION = (
    "PyTorch's rule is one function in C++, with several outputs or a zero that it fills"
)
_OTHER_FORM = (
    "the kit's rule is the same formula in another form: a factor first, or a square a product"
)
_MAPPED = "the kit's vmap is a loop: one node for each element, and a stack of the results"
_COMPOSED = "made of other functions, some of whose nodes or their order are others"
_SOLVED = "PyTorch keeps factors or transposes once more; the kit solves, or transposes, again"
_NAMES_BY_REASON = {
    _ONE_FUNCTION: """
        __getitem__ as_strided cdist diagflat index_copy index_put masked_scatter
        masked_select nn.functional.bilinear nn.functional.binary_cross_entropy
        nn.functional.conv1d nn.functional.conv2d nn.functional.conv_transpose1d
        nn.functional.conv_transpose2d nn.functional.ctc_loss nn.functional.embedding_bag
        nn.functional.glu nn.functional.grid_sample nn.functional.group_norm
        nn.functional.layer_norm nn.functional.pad nn.functional.prelu nn.functional.rrelu
        nn.functional.scaled_dot_product_attention take trace
    """,
    _SOLVED: """
        addmv corrcoef cov inner linalg.cholesky linalg.cond linalg.det linalg.eigvalsh
        linalg.lstsq linalg.matrix_norm linalg.matrix_power linalg.multi_dot linalg.pinv
        linalg.qr linalg.slogdet linalg.solve linalg.solve_triangular linalg.svdvals
        linalg.vecdot logdet matrix_exp mm nn.functional.linear pinverse
    """,
    _MAPPED: "func.vmap vmap",
    _COMPOSED: """
        aminmax block_diag cartesian_prod column_stack combinations cumulative_trapezoid
        diff nanmean nanquantile nansum nn.functional.binary_cross_entropy_with_logits
        nn.functional.cosine_embedding_loss nn.functional.cross_entropy
        nn.functional.gaussian_nll_loss nn.functional.kl_div
        nn.functional.local_response_norm nn.functional.max_unpool1d
        nn.functional.multi_margin_loss nn.functional.multilabel_soft_margin_loss
        nn.functional.pairwise_distance nn.functional.poisson_nll_loss
        nn.functional.rms_norm nn.functional.triplet_margin_loss quantile std_mean trapezoid
        trapz var_mean
    """,
    _OTHER_FORM: """
        acos amax amin asin asinh atanh copysign erf erfc erfinv float_power fmod hypot
        index_add index_fill masked_fill max median min mode nan_to_num nanmedian
        nn.functional.mish norm pow rsqrt scatter_reduce sinc special.ndtr special.xlog1py
        tan xlogy
    """,
}
DIFFERENT_GRAPHS = {n: reason for reason, names in _NAMES_BY_REASON.items() for n in names.split()}
