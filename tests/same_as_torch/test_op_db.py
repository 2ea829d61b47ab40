"""PyTorch's own samples: the inputs with which PyTorch tests its operators, for those of the kit.

Each sample is given to both packages; values, dtypes and first gradients must agree.
"""

import sys
import types
import unittest
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
import pytest

import autodiff_kit
import autodiff_kit.linalg
import autodiff_kit.nn.functional
import autodiff_kit.special
from autodiff_kit.function_files import FILES, FUNCTIONS, METHODS
from autodiff_kit.in_place_ops import METHODS_IN_PLACE
from autodiff_kit.tensor import Tensor
from tests.fuzz.known_graphs import DIFFERENT_GRAPHS
from tests.parity import require_torch
from tests.same_as_torch.outcomes import tree
from tests.same_as_torch.outcomes import values as tensor_values

OF_FUNCTIONS = {*FUNCTIONS, *METHODS, *METHODS_IN_PLACE}.difference(FILES["basic"].split())
torch = require_torch()
pytestmark = pytest.mark.parity

# These hold what was in memory before; in PyTorch's entry for rand_like stands randn_like; the
# signs of singular vectors and eigenvectors are open; a function of PyTorch's own, which a sample
# brings along, takes no tensors of the kit's.
NOT_COMPARED = {"nn.functional.triplet_margin_with_distance_loss"}
NOT_COMPARED |= {"empty", "empty_like", "linalg.eigh", "linalg.svd", "new_empty", "rand_like"}
PER_OP = 60  # samples; some operators have hundreds
PER_FUNCTION = 15  # of those in functions/, which are many

# Operators whose samples of whole numbers are left out, and why.
DIFFERENT = {
    "arange": "steps are counted in floats here, also for whole numbers",
    "argsort": "PyTorch leaves open which of equal elements comes first",
    "linspace": "PyTorch rounds each step down, not each number",
    "sort": "PyTorch leaves open which of equal elements comes first",
}
# Only on float64: PyTorch's result is as far from the true one as the kit's.
ROUNDED_OTHERWISE = {"logcumsumexp"}
# The norm needs singular values; ``translated`` copies what is a view here. The others are
# ``normal_``, ``normal`` with its arguments in an order of their own, and functions of what
# ``lstsq`` and ``pinv`` give.
VARIANTS_NOT_COMPARED = {("norm", "nuc"), ("as_strided", "partial_views")}
VARIANTS_NOT_COMPARED |= {("normal", "in_place"), ("normal", "number_mean")}
VARIANTS_NOT_COMPARED |= {("linalg.lstsq", "grad_oriented"), ("linalg.pinv", "singular")}
NOT_DERIVED_IN_PLACE = {"acosh", "asinh", "atanh"}  # by PyTorch


def operators() -> list[Any]:
    """Return PyTorch's descriptions of the operators that the kit has, too."""
    if "expecttest" not in sys.modules:  # a package of PyTorch's tests that is not needed here
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stand_in
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    # Importing that forbids to set flags such as cudnn.benchmark, in all of the process.
    flags = torch.backends.disable_global_flags.__globals__
    flags["__allow_nonbracketed_mutation_flag"] = True
    known = (op for op in op_db if op.name not in NOT_COMPARED and not op.name.startswith("__r"))
    known = (op for op in known if (op.name, op.variant_test_name) not in VARIANTS_NOT_COMPARED)
    return [op for op in known if function_of(op.name) is not None]


class NotInTheKit(Exception):
    """A sample uses something that the kit does not have."""


# Parameters of PyTorch's functions that the kit leaves out. A sample that gives one of them a
# value of its own is not compared; nothing else that the kit refuses is let pass.
LEFT_OUT: dict[str, dict[str, Any]] = {
    "nn.functional.max_pool2d": {"ceil_mode": False},
    "scatter": {"reduce": None},
    "to": {"memory_format": torch.preserve_format},
}
# The same for arguments without a name: how many the kit takes behind the input, and modes.
AT_MOST = {"nn.functional.avg_pool2d": 3}
MODES_OF_IMAGES = {"nearest", "bilinear"}  # those of interpolate and grid_sample that the kit has


def in_the_kit(name: str, sample: Any) -> Any:
    """Return the arguments of a sample without what is left out, where it does nothing.

    Raises
    ------
    NotInTheKit
        If it does something.
    """
    args, options = sample.args, dict(sample.kwargs)
    for parameter, nothing in LEFT_OUT.get(name, {}).items():
        if options.pop(parameter, nothing) is not nothing:
            raise NotInTheKit
    if len(args) > AT_MOST.get(name, len(args)):
        raise NotInTheKit
    if name == "nn.functional.interpolate" and (
        sample.input.ndim != 4 or options["mode"] not in MODES_OF_IMAGES
    ):
        raise NotInTheKit
    if name == "nn.functional.grid_sample" and (
        sample.input.ndim != 4 or options.get("mode", "bilinear") not in MODES_OF_IMAGES
    ):
        raise NotInTheKit
    return [sample.input, list(args), options]


# Where PyTorch's samples come with the arguments in an order of their own.
IN_ANOTHER_ORDER = {
    "einsum": lambda operands, equation: autodiff_kit.einsum(equation, *operands),
    "nn.functional.embedding": lambda weight, input, **options: (
        autodiff_kit.nn.functional.embedding(input, weight, **options)
    ),
    "nn.functional.embedding_bag": lambda weight, input, **options: (
        autodiff_kit.nn.functional.embedding_bag(input, weight, **options)
    ),
    **dict.fromkeys(("polygamma", "special.polygamma"), lambda x, n: autodiff_kit.polygamma(n, x)),
    "where": lambda x, condition, other: autodiff_kit.where(condition, x, other),
    "zero_": lambda x: x.clone().zero_(),
    # The places of the largest elements, too, are PyTorch's alone; they cannot be derived by.
    "nn.functional.max_pool2d": lambda x, *, return_indices, **options: (
        autodiff_kit.nn.functional.max_pool2d(x, **options)
    ),
}
FIRST_OF_TWO = {"nn.functional.max_pool2d"}


def function_of(name: str) -> Any:
    """Return the kit's function, or method, of this name; None if it has none."""
    if name in IN_ANOTHER_ORDER:
        return IN_ANOTHER_ORDER[name]
    *path, name = name.split(".")
    places: list[Any] = [autodiff_kit, Tensor]
    if path:
        places = [reduce(lambda place, part: getattr(place, part, None), path, autodiff_kit)]
    elif name in ("float", "double", "half", "int", "long", "short", "bool"):
        places = [Tensor]
    for function in (getattr(place, name, None) for place in places):
        if callable(function) and not isinstance(function, type):  # autodiff_kit.view is a package
            return function
    return None


def translated(value: Any, leaves: list[Any]) -> Any:
    """Return a value of a sample with the kit's tensors and dtypes; note the leaves."""
    if isinstance(value, torch.Tensor):
        if value.is_complex() or value.is_sparse or value.dtype is torch.bfloat16:
            raise NotInTheKit
        tensor = autodiff_kit.from_numpy(value.detach().numpy().copy("K"))
        if value.requires_grad:
            tensor.requires_grad_()
            leaves.append(tensor)
        return tensor
    if isinstance(value, torch.dtype):
        kind = getattr(autodiff_kit, str(value).removeprefix("torch."), None)
        if kind is None:
            raise NotInTheKit
        return kind
    if isinstance(value, torch.device | complex | torch.layout | torch.memory_format):
        raise NotInTheKit
    if isinstance(value, tuple | list):
        return type(value)(translated(v, leaves) for v in value)
    if isinstance(value, dict):
        return {name: translated(v, leaves) for name, v in value.items()}
    return value


def own_leaves(value: Any) -> Iterator[Any]:
    """Yield PyTorch's leaves in the order in which ``translated`` notes the kit's."""
    if isinstance(value, torch.Tensor):
        if value.requires_grad:
            yield value
    elif isinstance(value, tuple | list):
        for v in value:
            yield from own_leaves(v)
    elif isinstance(value, dict):
        yield from own_leaves(list(value.values()))


def flat(value: Any) -> list[Any]:
    return [v for item in value for v in flat(item)] if isinstance(value, tuple | list) else [value]


def gradients(package: Any, outputs: list[Any], leaves: list[Any]) -> list[Any]:
    """Return what flows back to the leaves, as arrays; None where nothing does."""
    total: Any = None
    for i, out in enumerate(outputs):
        if isinstance(out, package.Tensor) and out.requires_grad:
            weights = np.cos(np.arange(out.numel()) + i).reshape(tuple(out.shape))
            part = (
                out * package.tensor(weights.tolist(), dtype=out.dtype).reshape(out.shape)
            ).sum()
            total = part if total is None else total + part
    if total is None or not leaves:
        return []
    grads = package.autograd.grad(total, leaves, materialize_grads=True)
    return [tensor_values(g) for g in grads]


def in_place(op: Any) -> Any:
    """Return PyTorch's and the kit's in-place form of an operator, applied to copies; or None."""
    name, theirs = f"{op.name}_", op.inplace_variant
    if theirs is None or not hasattr(autodiff_kit.Tensor, name) or op.name in NOT_DERIVED_IN_PLACE:
        return None
    return (
        lambda x, *args, **options: theirs(x.clone(), *args, **options),
        lambda x, *args, **options: getattr(x.clone(), name)(*args, **options),
    )


SEED = 42  # some of PyTorch's operators are called with this one in any case


def seeded(function: Any, *args: Any, **options: Any) -> Any:
    """Call a function of either package; what it draws is drawn from the same seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        autodiff_kit.manual_seed(SEED)
        return function(*args, **options)


def compare(name: str, theirs: Any, ours: Any, sample: Any) -> str:
    """Return how the packages differ on a sample; "" if they do not.

    Raises
    ------
    NotInTheKit
    """
    leaves: list[Any] = []
    call = in_the_kit(name, sample)
    own_call, own = translated(call, leaves), list(own_leaves(call))
    try:
        expected, refused = flat(seeded(theirs, sample.input, *sample.args, **sample.kwargs)), None
    except Exception as error:
        expected, refused = [], error
    if name in FIRST_OF_TWO:
        expected = expected[:1]
    try:
        result = flat(seeded(ours, own_call[0], *own_call[1], **own_call[2]))
    except Exception as error:
        if type(error) is type(refused):
            return ""
        return f"raised {type(error).__name__}: {error}"
    if refused is not None:
        return f"did not raise {type(refused).__name__}: {refused}"
    if len(result) != len(expected):
        return f"{len(result)} results instead of {len(expected)}"
    low = any(
        t.dtype in (torch.float32, torch.float16)
        for t in own + expected
        if isinstance(t, torch.Tensor)
    )
    tolerance = {"rtol": 2e-4, "atol": 1e-4} if low else {"rtol": 1e-9, "atol": 1e-11}
    for a, b in zip(expected, result, strict=True):
        if not isinstance(a, torch.Tensor):
            if a != b:
                return f"{b} instead of {a}"
            continue
        if a.is_complex():
            raise NotInTheKit
        if str(a.dtype) != str(b.dtype) or tuple(a.shape) != tuple(b.shape):
            return f"{b.dtype} {list(b.shape)} instead of {a.dtype} {list(a.shape)}"
        values = [np.asarray(t.tolist(), "float64") for t in (a.detach(), b.detach())]
        if not np.allclose(*values, equal_nan=True, **tolerance):
            return f"values {values[1]} instead of {values[0]}"
    if any(isinstance(t, torch.Tensor) and t.requires_grad for t in expected):
        pairs = zip(
            gradients(torch, expected, own), gradients(autodiff_kit, result, leaves), strict=True
        )
        for i, (a, b) in enumerate(pairs):
            if a.shape != b.shape or not np.allclose(a, b, equal_nan=True, **tolerance):
                return f"gradient {i}: {b} instead of {a}"
    return ""


def samples(op: Any, dtype: Any) -> Iterator[Any]:
    """Yield PyTorch's samples of one dtype; where the kit is meant to differ, without those."""
    if op.name in ROUNDED_OTHERWISE and dtype is not torch.float64:
        return
    if dtype in op.dtypes and (op.name not in DIFFERENT or dtype.is_floating_point):
        recorded = op.supports_autograd and dtype.is_floating_point
        count = PER_FUNCTION if op.name in OF_FUNCTIONS else PER_OP
        for sample in islice(op.sample_inputs("cpu", dtype, requires_grad=recorded), count):
            if op.name != "nn.functional.batch_norm" or sample.input.ndim > 1:
                yield sample  # PyTorch's own batch_norm also takes a vector without elements


# What is saved is compared for so many samples of each operator.
PER_OP_SAVED = 12
_SIZES = "PyTorch saves it for its sizes, the kit only these"
_UNREAD = "PyTorch saves it, though no rule reads it"
_NOT_RECORDED = "PyTorch records it, only to refuse the derivative in backward"
_MULTI_MARGIN = "nn.functional.multi_margin_loss"
SAVED_DIFFERENTLY = {
    (_MULTI_MARGIN, 2): "the kit picks the weights of the targets at once, and saves those",
    ("addcdiv", 2): _UNREAD,
    ("copysign", "output"): _UNREAD,
    ("cummax", 0): _SIZES,
    ("cummin", 0): _SIZES,
    ("index_copy", 2): _SIZES,
    ("index_put", 1): "the kit works out positions at once, and saves those",
    ("nn.functional.ctc_loss", 1): "the kit puts labels into rows at once, and saves those",
    ("kron", 0): "PyTorch does not notice changes of what it has reshaped",
    ("kron", 1): "PyTorch does not notice changes of what it has reshaped",
    ("ldexp", "output"): _UNREAD,
    ("lerp", 2): _UNREAD,
    **{("linalg.multi_dot", i): "PyTorch multiplies in the order of least work" for i in range(5)},
    ("sgn", 0): _UNREAD,
    ("sgn", "output"): _UNREAD,
    ("take", 0): _SIZES,
    **{
        (name, what): _NOT_RECORDED
        for name in ("histogram", "unique", "unique_consecutive")
        for what in (None, "output", 0, 1, 2)
    },
    ("linalg.solve_triangular", 0): "of a unitriangular matrix the kit saves what it solves with",
    ("linalg.solve_triangular", "output"): _UNREAD,
    ("nn.functional.embedding_bag", 1): "the kit works out the bags at once, and saves those",
    ("nn.functional.embedding_bag", 2): "the kit works out the bags at once, and saves those",
    ("nn.functional.embedding_bag", 3): _UNREAD,
    ("nn.functional.grid_sample", 0): _UNREAD,
    ("nn.functional.grid_sample", None): "PyTorch's second derivative counts the image, unread",
    ("matmul", 1): "PyTorch copies the transposed matrices that it multiplies with a vector",
    **{
        (f"linalg.{name}", what): "the kit factors again, and saves the matrix"
        for name in ("cond", "matrix_norm", "norm", "qr", "svdvals")
        for what in ("output", 0)
    },
    ("nn.functional.batch_norm", 1): "in training, the kit does not save the running mean,",
    ("nn.functional.batch_norm", 2): "nor the running variance: they are not read",
}


def fresh(value: Any, requiring: tuple[int, ...], tensors: list[Any]) -> Any:
    """Return a value of a sample with new tensors, those of these places as leaves."""
    if isinstance(value, torch.Tensor | autodiff_kit.Tensor):
        tensor = value.detach().clone()
        if len(tensors) in requiring:
            tensor.requires_grad_()
        tensors.append(tensor)
        return tensor
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return type(value)(fresh(v, requiring, tensors) for v in value)
    if isinstance(value, dict):
        return {name: fresh(v, requiring, tensors) for name, v in value.items()}
    return value


def outcome(
    package: Any, function: Any, call: Any, requiring: tuple[int, ...], changed: Any
) -> Any:
    """Tell whether backward notices that a tensor of a call was changed since.

    If none was, tell which gradients require grad under ``create_graph``.
    """
    tensors: list[Any] = []
    copy = fresh(call, requiring, tensors)
    try:
        results = flat(seeded(function, copy[0], *copy[1], **copy[2]))
    except Exception as error:
        return type(error).__name__
    outputs = [out for out in results if isinstance(out, package.Tensor) and out.requires_grad]
    if not outputs:
        return "not recorded"
    if changed is not None:
        tensor = outputs[0] if changed == "output" else tensors[changed]
        with package.no_grad():
            tensor.zero_() if 0 in tensor.stride() else tensor.copy_(tensor.clone())
    leaves, seed = [tensors[i] for i in requiring], package.ones_like(outputs[0])
    try:
        grads = package.autograd.grad(
            outputs[0], leaves, seed, create_graph=changed is None, allow_unused=True
        )
    except RuntimeError as error:
        return str(error).partition(":")[0].partition("\n")[0]
    return [g is not None and g.requires_grad for g in grads] if changed is None else "unnoticed"


# Gradients after a write through ``.data``, which nobody notices, for so many samples of each.
PER_OP_WRITTEN = 4
_FACTORED = "PyTorch keeps the matrix factored, the kit factors it again"
READ_DIFFERENTLY = {
    **dict.fromkeys(("linalg.det", "linalg.slogdet", "logdet", "linalg.solve"), _FACTORED),
    **dict.fromkeys(("linalg.qr", "linalg.cond", "linalg.svdvals"), _FACTORED),
    "cov": "of weights of another type the kit saves what they were converted to",
    "linalg.multi_dot": "PyTorch multiplies in the order of least work",
    "linalg.solve_triangular": "of a unitriangular matrix the kit saves what it solves with",
    "nn.functional.embedding_bag": "the kit works out the bags at once, and saves those",
    _MULTI_MARGIN: "PyTorch compares the scores again in backward, the kit saves what came of it",
}


def written(
    package: Any, function: Any, call: Any, requiring: tuple[int, ...], changed: Any
) -> Any:
    """Return the gradients of a call after other values were written to one of its tensors.

    None if nothing can be: all elements of what was expanded are one, or nothing is recorded.
    """
    tensors: list[Any] = []
    copy = fresh(call, requiring, tensors)
    try:
        results = flat(seeded(function, copy[0], *copy[1], **copy[2]))
    except Exception:
        return None  # compared in another test
    outputs = [out for out in results if isinstance(out, package.Tensor) and out.requires_grad]
    if not outputs:
        return None
    tensor = outputs[0] if changed == "output" else tensors[changed]
    if 0 in tensor.stride() or not tensor.is_floating_point():
        return None
    tensor.data.mul_(0.75).add_(0.125)
    out, leaves = outputs[0], [tensors[i] for i in requiring]
    weights = package.arange(out.numel(), dtype=out.dtype).reshape(tuple(out.shape)) / 8 + 0.5
    try:
        grads = package.autograd.grad(out, leaves, weights, allow_unused=True)
    except RuntimeError:
        return None
    return [g if g is None else np.array(g.detach().numpy(force=True)) for g in grads]


PER_OP_GRAPH = 4  # samples whose gradients are compared as graphs


def graphs(package: Any, function: Any, call: Any, requiring: tuple[int, ...]) -> Any:
    """Return the graph of each gradient under ``create_graph``: the names of its nodes."""
    tensors: list[Any] = []
    copy = fresh(call, requiring, tensors)
    try:
        results = flat(seeded(function, copy[0], *copy[1], **copy[2]))
    except Exception:
        return None  # compared in another test
    outputs = [out for out in results if isinstance(out, package.Tensor) and out.requires_grad]
    seeds = [package.ones_like(out).requires_grad_() for out in outputs]
    leaves = [tensors[i] for i in requiring]
    try:
        grads = package.autograd.grad(outputs, leaves, seeds, create_graph=True, allow_unused=True)
    except RuntimeError:
        return None
    return [None if g is None else tree(g.grad_fn, 12) for g in grads]


DTYPES = [torch.float64, torch.float32, torch.int64, torch.bool]
OPERATORS = operators()
compared: Counter[str] = Counter()


@pytest.mark.parametrize(
    "op", OPERATORS, ids=lambda op: f"{op.name} {op.variant_test_name}".strip()
)
@pytest.mark.filterwarnings("ignore")
def test_the_kit_gives_what_pytorch_gives_for_its_own_samples(op: Any) -> None:
    failures = []
    for dtype in DTYPES:
        for sample in samples(op, dtype):
            for pair in ((op.op, function_of(op.name)), in_place(op)):
                if pair is None or (pair[0] is not op.op and sample.input.numel() == 0):
                    continue
                try:
                    difference = compare(op.name, *pair, sample)
                except NotInTheKit:
                    continue
                compared[op.name] += 1
                if difference:
                    where = f"{dtype}, {list(getattr(sample.input, 'shape', []))}, {sample.args}"
                    failures.append(f"{where}, {sample.kwargs}: {difference}")

    assert failures == []


def calls_of(op: Any, count: int) -> Iterator[tuple[Any, Any, list[Any]]]:
    """Yield an operator's samples as calls, for PyTorch and for the kit, with their tensors."""
    for sample in islice(samples(op, torch.float64), count):
        try:
            call = in_the_kit(op.name, sample)
            own = translated(call, [])
        except NotInTheKit:
            continue
        tensors: list[Any] = []
        fresh(call, (), tensors)
        yield call, own, tensors


@pytest.mark.parametrize(
    "op", OPERATORS, ids=lambda op: f"{op.name} {op.variant_test_name}".strip()
)
@pytest.mark.filterwarnings("ignore")
def test_the_kit_saves_what_pytorch_saves(op: Any) -> None:
    failures = []
    for call, own, tensors in calls_of(op, PER_OP_SAVED):
        places = [i for i, tensor in enumerate(tensors) if tensor.is_floating_point()]
        subsets = [*((i,) for i in places), tuple(places)] if len(places) > 1 else [tuple(places)]
        for which in filter(None, subsets):
            for changed in (None, "output", *range(len(tensors))):
                if (op.name, changed) in SAVED_DIFFERENTLY:
                    continue
                expected = outcome(torch, op.op, call, which, changed)
                actual = outcome(autodiff_kit, function_of(op.name), own, which, changed)
                if actual != expected:
                    shapes = [list(tensor.shape) for tensor in tensors]
                    failures.append(f"{which} of {shapes}, {changed}: {actual}, not {expected}")

    assert failures == []


@pytest.mark.parametrize(
    "op", OPERATORS, ids=lambda op: f"{op.name} {op.variant_test_name}".strip()
)
@pytest.mark.filterwarnings("ignore")
def test_the_kits_rules_read_what_pytorchs_read(op: Any) -> None:
    failures = []
    for call, own, tensors in calls_of(op, PER_OP_WRITTEN):
        which = tuple(i for i, tensor in enumerate(tensors) if tensor.is_floating_point())
        for changed in ("output", *which) if which and op.name not in READ_DIFFERENTLY else ():
            expected = written(torch, op.op, call, which, changed)
            actual = written(autodiff_kit, function_of(op.name), own, which, changed)
            if expected is None or actual is None:
                continue
            for place, (x, y) in enumerate(zip(expected, actual, strict=True)):
                if (x is None) != (y is None) or (
                    x is not None and not np.allclose(x, y, 1e-6, 1e-9, equal_nan=True)
                ):
                    failures.append(f"of {place}, after a write to {changed}: {y}, not {x}")

    assert failures == []


@pytest.mark.parametrize(
    "op", OPERATORS, ids=lambda op: f"{op.name} {op.variant_test_name}".strip()
)
@pytest.mark.filterwarnings("ignore")
def test_under_create_graph_the_nodes_are_pytorchs(op: Any) -> None:
    failures = []
    for call, own, tensors in calls_of(op, PER_OP_GRAPH if op.supports_autograd else 0):
        which = tuple(i for i, tensor in enumerate(tensors) if tensor.is_floating_point())
        expected = graphs(torch, op.op, call, which) if which else None
        actual = graphs(autodiff_kit, function_of(op.name), own, which) if which else None
        if expected is not None and actual is not None and expected != actual:
            failures.append(f"{actual}, not {expected}")

    assert failures == [] or op.name in DIFFERENT_GRAPHS


def test_many_operators_and_samples_were_compared(request: pytest.FixtureRequest) -> None:
    if len(request.session.items) < len(OPERATORS):
        pytest.skip("only a part of the operators was asked for")

    assert len(OPERATORS) >= 407
    assert set(compared) == {op.name for op in OPERATORS}
    assert compared.total() >= 12_000
