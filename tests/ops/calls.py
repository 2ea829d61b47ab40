"""How an op is called by its public name, ``torch.NAME``, with the inputs of the generic tests."""

from typing import Any

import numpy as np

from autodiff_kit.core.op import Op
from tests.ops.samples import Sample

# Where the function does not take what its op takes, in the same order and by the same names.
_CALLS = {
    "aminmax": "aminmax(x, **options('keepdim'), **({'dim': dim[0]} if len(dim) < 2 else {}))",
    "as_strided": "as_strided(x, size, stride, offset)",
    "cat": "cat(tensors, dim)",
    "gather": "gather(x, dim, index)",
    "histc": "histc(x, bins, low, high)",
    "index_add": "index_add(x, dim, index, source, **options('alpha'))",
    "index_copy": "index_copy(x, dim, index, source)",
    "index_fill": "index_fill(x, dim, index, value)",
    "index_select": "index_select(x, dim, index)",
    "polygamma": "polygamma(n, x)",
    "rsub": "rsub(x, y)",
    "scatter": "scatter(x, dim, index, source)",
    "scatter_add": "scatter_add(x, dim, index, source)",
    "scatter_reduce": "scatter_reduce(x, dim, index, source, reduce, **options('include_self'))",
    "searchsorted": "searchsorted(x, y, **options('right'))",
    "split": "split(x, split_size, dim)",
    "stack": "stack(tensors, dim)",
}
# These functions draw the numbers, or count the positions, that their op takes.
APART = {"bernoulli", "index_put", "masked_scatter"}


def called(torch: Any, op: Op, sample: Sample) -> Any:
    """Call the function that is named as an op, of the kit or of PyTorch, with a sample.

    Of several results, that of the sample is returned, as by ``apply`` of ``test_every_op.py``.
    """
    tensors = [torch.from_numpy(np.array(x)) for x in sample.inputs]
    params = {name: _as_tensors(torch, value) for name, value in sample.params.items()}
    names = (
        {op.inputs[0]: tensors} if op.is_variadic else dict(zip(op.inputs, tensors, strict=True))
    )
    if op.name in _CALLS:
        names |= op.defaults | params
        names["options"] = lambda name: {name: params[name]} if name in params else {}
        out = eval(f"torch.{_CALLS[op.name]}", {"torch": torch, **names})
    else:
        out = getattr(torch, op.name)(*tensors, **params)
    return out[sample.output] if isinstance(out, tuple | list) and op.several else out


def _as_tensors(torch: Any, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_as_tensors(torch, part) for part in value)
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value
