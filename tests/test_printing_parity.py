"""The text of tensors against PyTorch's own, character by character."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autodiff_kit import dtypes
from autodiff_kit.printing import set_printoptions, tensor_repr
from tests.parity import require_torch

torch = require_torch()
pytestmark = pytest.mark.parity

FLOATS = ["float16", "float32", "float64"]
DTYPES = [*FLOATS, "int8", "int16", "int32", "int64", "uint8", "bool"]
SPECIAL = [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1e-4, 1e8, 1.0, 1000.0, 1001.0]


@contextmanager
def both(options: dict[str, Any], default: str = "float32") -> Iterator[None]:
    """Set print options and default dtype here and in PyTorch, for a while."""
    try:
        for module in (torch, dtypes):
            module.set_default_dtype(getattr(module, default))
        for set_options in (torch.set_printoptions, set_printoptions):
            set_options(**options)
        yield
    finally:
        for set_options in (torch.set_printoptions, set_printoptions):
            set_options(profile="default")
        for module in (torch, dtypes):
            module.set_default_dtype(module.float32)


def assert_same_text(array: Any) -> None:
    assert tensor_repr(array) == repr(torch.from_numpy(np.array(array)))


# -- a table -----------------------------------------------------------------------------------

RANDOM = np.random.default_rng(0)
TABLE = {
    "digits after the point": np.array([1.23456, -20.5, 0.0, -0.0], "float32"),
    "integral floats": np.array([1, -20, 300], "float32"),
    "integral and not finite": np.array([1, np.nan, -np.inf], "float32"),
    "zeros only": np.array([0.0, -0.0], "float32"),
    "not finite only": np.array([np.nan, np.inf, -np.inf], "float64"),
    "ratio 1000": np.array([0.5, 500], "float32"),
    "ratio above 1000": np.array([0.5, 500.5], "float32"),
    "largest and smallest float64": np.array([1.7976931348623157e308, 5e-324]),
    "denormals": np.array([1e-45, 3e-42], "float32"),
    "float16 extremes": np.array([65504, 6e-8, -1], "float16"),
    "1e8": np.array([1e8, -1e5], "float32"),
    "above 1e8": np.array([1e8 + 8, 1e6], "float32"),
    "1e-4 is smaller in float32": np.array([1e-4], "float32"),
    "1e-4 in float64": np.array([1e-4]),
    "int64 extremes": np.array([-(2**63), 2**63 - 1, 0]),
    "bools": np.array([[True, False], [False, False]]),
    "uint8": np.array([0, 255], "uint8"),
    "0-d": np.float32(3.14159),
    "0-d integral": np.float64(-3.0),
    "0-d nan": np.float32("nan"),
    "0-d bool": np.bool_(True),
    "0-d tiny": np.float32(1e-6),
    "empty": np.empty(0, "float32"),
    "empty int64": np.empty(0, "int64"),
    "empty matrix": np.empty((0, 3), "float16"),
    "empty of four dimensions": np.empty((2, 3, 0, 1), "bool"),
    "lines are wrapped": RANDOM.normal(size=(3, 40)).astype("float32"),
    "four dimensions": RANDOM.normal(size=(2, 1, 3, 2)).astype("float32"),
    "1000 elements": np.arange(1000, dtype="float32"),
    "1001 elements": np.arange(1001, dtype="float32"),
    "summary of a matrix": RANDOM.normal(size=(50, 60)),
    "summary of few long rows": RANDOM.normal(size=(2, 3, 500)).astype("float32"),
    "summary of many short rows": RANDOM.normal(size=(500, 3)).astype("float32"),
    "summary of seven rows": np.arange(7 * 200).reshape(7, 200),
    "summary that hides a giant": np.r_[np.ones(600), 1e20, np.ones(600)],
    "transposed memory": np.arange(6.0).reshape(2, 3).T,
}


@pytest.mark.parametrize("array", TABLE.values(), ids=TABLE.keys())
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sci_mode": True},
        {"sci_mode": False},
        {"profile": "short"},
        {"profile": "full"},
        {"profile": "unknown"},
        {"profile": "short", "edgeitems": 1, "precision": 0},
        {"edgeitems": 0, "threshold": 10},
        {"linewidth": 30, "threshold": float("inf"), "precision": 7},
    ],
    ids=str,
)
def test_text_equals_pytorchs(array: Any, options: dict[str, Any]) -> None:
    with both(options):
        assert_same_text(array)


@pytest.mark.parametrize("linewidth", range(100))
def test_lines_break_as_in_pytorch_at_every_linewidth(linewidth: int) -> None:
    array = np.array([[0.5, -1.5, 2.25], [3.5, 4.5, 5.5]], "float16")
    tensor = torch.from_numpy(array).requires_grad_() + 0
    with both({"linewidth": linewidth}):
        assert tensor_repr(array, grad_fn="AddBackward0") == repr(tensor)


def test_parameter_is_a_line_above_the_tensor() -> None:
    array = np.array([[1.0, 2.5]], "float32")

    expected = repr(torch.nn.Parameter(torch.from_numpy(array)))

    assert "Parameter containing:\n" + tensor_repr(array, requires_grad=True) == expected


def kind_of_error(show: Callable[[], str]) -> type[Exception] | None:
    """Return what an exception is, and keep nothing of it.

    PyTorch shuts off its transforms while it prints: for as long as somebody holds the traceback.
    """
    try:
        show()
    except (ValueError, TypeError) as error:
        return type(error)
    return None


@pytest.mark.parametrize(
    "options", [{"precision": -1}, {"precision": "many"}, {"threshold": "x"}, {"linewidth": "x"}]
)
def test_unusable_options_raise_pytorchs_class_when_printing(options: dict[str, Any]) -> None:
    array = np.array([1.5])
    with both(options):
        pytorchs = kind_of_error(lambda: repr(torch.from_numpy(array)))
        ours = kind_of_error(lambda: tensor_repr(array))

    assert ours is pytorchs is not None


# -- anything ----------------------------------------------------------------------------------


@st.composite
def arrays(draw: st.DrawFn, dtypes: list[str] = DTYPES) -> Any:
    """Arrays of 0 to 4 dimensions whose numbers are all alike, or of any mixture of scales."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9))
    if dtype not in FLOATS:
        elements = hnp.from_dtype(np.dtype(dtype)) | (
            st.booleans() if dtype == "bool" else st.integers(0, 100)
        )
        return draw(hnp.arrays(dtype, shape, elements=elements, fill=elements))
    bits = 8 * np.dtype(dtype).itemsize
    scale = draw(st.sampled_from([0, 0, 0, -6, -4, -3, 3, 4, 8, 9, 30]))
    kinds = [
        st.integers(-2000, 2000).map(float),
        st.integers(-(10**6), 10**6).map(lambda n: n * 10.0 ** (scale - 4)),
        st.sampled_from(SPECIAL),
        st.floats(width=bits),
    ]
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
    with np.errstate(over="ignore"):  # too large for float16: inf
        elements = st.one_of(chosen).map(lambda number: np.dtype(dtype).type(number).item())
        return draw(hnp.arrays(dtype, shape, elements=elements, fill=elements))


# Small thresholds and lines: summaries and wrapping are met in small arrays.
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 8),
        "threshold": st.integers(0, 40) | st.just(float("inf")),
        "edgeitems": st.integers(0, 4),
        "linewidth": st.integers(0, 120),
        "profile": st.sampled_from(["default", "short", "full"]),
        "sci_mode": st.sampled_from([None, True, False]),
    },
)


@given(array=arrays(), options=OPTIONS, default=st.sampled_from(FLOATS))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_any_text_equals_pytorchs(array: Any, options: dict[str, Any], default: str) -> None:
    with both(options, default):
        assert_same_text(array)


@given(
    array=arrays(dtypes=FLOATS),
    linewidth=st.integers(20, 120),
    name=st.text("abcdefgh", min_size=1, max_size=60) | st.none(),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_place_in_the_graph_is_written_and_wrapped_as_by_pytorch(
    array: Any, linewidth: int, name: str | None
) -> None:
    leaf = torch.from_numpy(np.array(array)).requires_grad_()
    with both({"linewidth": linewidth}):
        if name is None:
            assert tensor_repr(array, requires_grad=True) == repr(leaf)
        else:
            tensor = _function(name).apply(leaf)
            node = type(tensor.grad_fn).__name__
            assert tensor_repr(array, requires_grad=True, grad_fn=node) == repr(tensor)


def _function(name: str) -> Any:
    """Make a custom operation, for a node with a name of any length."""
    copy = staticmethod(lambda ctx, x: x.clone())
    return type(name, (torch.autograd.Function,), {"forward": copy, "backward": copy})
