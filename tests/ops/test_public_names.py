"""An op that the functions' table names can be called as ``torch.NAME``, and computes the same."""

import sys

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.core.op import OPS, Op
from autodiff_kit.function_files import FUNCTIONS
from tests.ops.calls import APART, called
from tests.ops.expected import expected
from tests.ops.samples import Sample, every_sample
from tests.rows import for_each

PUBLIC = [p for p in every_sample() if p.values[0].name in {*FUNCTIONS} - APART]


@for_each(("op", "sample"), PUBLIC)
def test_a_function_computes_what_its_op_says(op: Op, sample: Sample) -> None:
    out = called(torch, op, sample)

    values = out[0] if isinstance(out, tuple) else out
    np.testing.assert_allclose(values.tolist(), np.asarray(expected(op, sample)), rtol=1e-12)


@pytest.mark.parametrize("name", sorted(OPS.keys() & {*FUNCTIONS}))
def test_an_op_with_a_function_is_public_in_its_own_file(name: str) -> None:
    forward = OPS[name].forward

    assert forward.__name__.startswith("_") or name in sys.modules[forward.__module__].__all__
