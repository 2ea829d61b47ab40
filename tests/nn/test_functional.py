"""``nn.functional`` beside PyTorch's: values, gradients, gradients of gradients, node names.

Each line of ``CASES`` is a call. Names in it are tensors: see ``tensors``.
"""

from typing import Any

import numpy as np
import pytest

import autodiff_kit
import autodiff_kit.nn.functional
from tests.parity import require_torch
from tests.rows import for_each

# name: shape; "+" positive and below 1, "t" classes below 3
SHAPES: dict[str, Any] = {
    "x": (4, 3), "y": (4, 3), "v": (3,), "u": (3,), "s": (), "q": (2, 4, 3), "e": (0, 3),
    "p": ("+", 4, 3), "r": ("+", 4, 3), "c": ("+", 3), "h": ("+", 4, 3), "k": (2, 3, 5),
    "w": (5, 3), "b": (5,), "im": (2, 4, 7, 6), "one": (4, 7, 6), "ker": (6, 4, 3, 2),
    "ker2": (6, 2, 3, 3), "ker4": (4, 1, 2, 2), "bias": (6,), "big": (2, 3, 4, 4), "seq": (2, 3, 9),
    "k1": (4, 3, 3), "b4": (4,), "tall": (2, 3, 2, 2),
    "t": ("t", 4), "t0": ("t",), "t1": ("t", 1), "te": ("t", 0), "t3": ("t", 2, 5),
    "t4": ("t", 2, 2, 2), "t2": ("t", 2, 4),
}  # fmt: skip

CASES = """
binary_cross_entropy(p, r, x > 0)
binary_cross_entropy(p, r, (x > 0).long(), reduction='none')
binary_cross_entropy_with_logits(x, r, (y > 0).long())
binary_cross_entropy_with_logits(x, r, pos_weight=(v > 0).long() + 1, reduction='none')
linear(x, w, b)
linear(x, w)
linear(q, w, b)
linear(q, w)
linear(v, w, b)
linear(v, w)
linear(v, u)
linear(v, u, s)
linear(x, u)
linear(e, w, b)
linear(x.t().contiguous().t(), w, b)
linear(x, w, b[:1])
relu(x)
leaky_relu(x)
leaky_relu(x * 1, 0.2) * 2
leaky_relu(s, 0.3)
gelu(x)
gelu(x * 3, approximate='tanh')
gelu(s)
softplus(x)
softplus(x, 3, 1.5)
softplus(x * 1000)
softplus(s)
sigmoid(x)
tanh(x)
softmax(x, 0)
softmax(x, dim=-1)
softmax(x * 1e4, 1)
softmax(s, 0)
softmax(e, 1)
softmax(e, 0)
softmax(q.transpose(0, 2), 1)
log_softmax(x, 1)
log_softmax(x, 0)
log_softmax(x * 1e4, 1)
log_softmax(s, -1)
log_softmax(e, 1)
log_softmax(x.t(), 1)
cross_entropy(x, t)
cross_entropy(x, t, reduction='sum')
cross_entropy(x, t, reduction='none')
cross_entropy(x, t, c.detach())
cross_entropy(x, t, c.detach(), reduction='sum')
cross_entropy(x, t, c.detach(), reduction='none')
cross_entropy(x, t, ignore_index=1)
cross_entropy(x, t, c.detach(), ignore_index=1, reduction='none')
cross_entropy(x, t * 0 - 100, reduction='sum')
cross_entropy(x, t * 0 - 100, reduction='none')
cross_entropy(x, t, label_smoothing=0.1)
cross_entropy(x, t, label_smoothing=1.0)
cross_entropy(x, t, c.detach(), label_smoothing=0.2, ignore_index=2)
cross_entropy(x, t, c.detach(), label_smoothing=0.2, reduction='none', ignore_index=2)
cross_entropy(x, t, label_smoothing=0.2, reduction='sum')
cross_entropy(x, p)
cross_entropy(x, p, c.detach())
cross_entropy(x, p, c)
cross_entropy(x, p, reduction='sum')
cross_entropy(x, p, c.detach(), reduction='none', label_smoothing=0.3)
cross_entropy(v, t0)
cross_entropy(v.detach(), t1) * s
cross_entropy(v.detach(), t1, reduction='none') * s
cross_entropy(v, t0, c.detach(), label_smoothing=0.1)
cross_entropy(v, c)
cross_entropy(k, t3)
cross_entropy(k, t3, c.detach(), ignore_index=0)
cross_entropy(k, t3, label_smoothing=0.1)
cross_entropy(k, t3, c.detach(), label_smoothing=0.1, reduction='none')
cross_entropy(tall, t4, reduction='none')
cross_entropy(tall, t4, c.detach())
cross_entropy(tall, tall.detach().abs(), c.detach())
cross_entropy(e, te, reduction='sum')
cross_entropy(e, te, reduction='none')
cross_entropy(x * 1e4, t)
cross_entropy(x.t().contiguous().t(), t)
nll_loss(x, t)
nll_loss(x, t, c.detach())
nll_loss(x, t, reduction='sum')
nll_loss(x, t, reduction='none', ignore_index=0)
nll_loss(v, t0)
nll_loss(tall, t4)
mse_loss(x, y)
mse_loss(x, y, reduction='sum')
mse_loss(x, y, reduction='none')
mse_loss(s, s * 2)
mse_loss(x, x.detach())
l1_loss(x, y)
l1_loss(x, y, reduction='sum')
l1_loss(x, x.detach())
huber_loss(x, y)
huber_loss(x, y, 'sum', 0.5)
huber_loss(x, y, delta=2.0, reduction='none')
huber_loss(x.detach().round() + x * 0, x.detach() * 0)
binary_cross_entropy(p, r)
binary_cross_entropy(p, r, reduction='sum')
binary_cross_entropy(p, r.detach(), c.detach(), reduction='none')
binary_cross_entropy(p, r.detach().round(), c.detach())
binary_cross_entropy(c, c.detach() * 0.5)
binary_cross_entropy_with_logits(x, p)
binary_cross_entropy_with_logits(x, p, reduction='sum')
binary_cross_entropy_with_logits(x, p, c.detach(), reduction='none')
binary_cross_entropy_with_logits(x, p, pos_weight=c.detach())
binary_cross_entropy_with_logits(x, p, h.detach(), pos_weight=c.detach() * 4)
binary_cross_entropy_with_logits(x * 1e4, p, pos_weight=c.detach())
binary_cross_entropy_with_logits(s, s.detach().sigmoid())
dropout(x)
dropout(x, 0.2)
dropout(x, 1.0)
dropout(x * 1, 0.3, True, True)
dropout(x * 2, training=False)
layer_norm(x, (3,))
layer_norm(x, (3,), v, u)
layer_norm(x, [4, 3], y)
layer_norm(q, (4, 3), x, y, 1e-2)
layer_norm(q, (3,), None, v)
layer_norm(q.transpose(0, 2), (2,), eps=0.1)
layer_norm(e, (3,))
batch_norm(x, None, None, v, u, True)
batch_norm(x, None, None, None, u, True, eps=0.1)
batch_norm(k, None, None, v, u, True)
batch_norm(x, v.detach(), c.detach(), v, u)
batch_norm(k, v.detach(), c.detach())
batch_norm(tall, u.detach(), c.detach(), v, None, True, 0.3)
(lambda m: batch_norm(tall, m, c.detach(), v, None, True, 0.3) + m.reshape(1, 3, 1, 1))(u.detach())
(lambda n: batch_norm(k, u.detach() * 2, n, v, u, True) + n.reshape(3, 1))(c.detach())
embedding(t, w)
embedding(t2, w)
embedding(t2, w, 1)
embedding(t2, w, padding_idx=-3)
embedding(t0, w)
embedding(te, w)
conv2d(im, ker, bias)
conv2d(im, ker)
conv2d(im, ker, bias, 2, 1)
conv2d(im, ker, bias, (2, 1), (0, 2), (1, 3))
conv2d(im, ker, padding='same')
conv2d(im, ker, bias, padding='valid')
conv2d(im, ker, None, 1, 'same', 2)
conv2d(im, ker2, bias, groups=2)
conv2d(im, ker4, groups=4, stride=3)
conv2d(one, ker, bias)
conv2d(im, ker[:, :, :1, :1], None, 2, 1)
conv2d(im, ker[:, :, :1], None, 1, (2, 3))
conv2d(im[:0], ker, bias)
conv2d(im.transpose(2, 3), ker, bias)
conv1d(seq, k1, b4)
conv1d(seq, k1, None, 2, 2, 2)
conv1d(seq, k1, b4, padding='same')
conv1d(seq[0], k1, b4)
max_pool2d(im, 2)
max_pool2d(im, 3, 2, 1)
max_pool2d(im, (3, 2), (1, 2), (1, 0), 2)
max_pool2d(im.round(), 3, 1)
max_pool2d(one, 2)
max_pool2d(im[:0], 2)
avg_pool2d(im[:0], 2)
max_pool2d(im.transpose(2, 3), 2)
avg_pool2d(im, 2)
avg_pool2d(im, 3, 2, 1)
avg_pool2d(one, 2, 1)
one_hot(t) * x
one_hot(t2, 5) * s
one_hot(t0) * s
pad(x, (1, 2))
pad(x, (1, 2, 0, 1), value=1.5)
pad(x, (-1, 2))
pad(x, (-1, -1, 1, 0), 'constant', 2)
pad(x, ())
""".strip().splitlines()


def tensors(torch: Any, dtype: str) -> dict[str, Any]:
    random = np.random.default_rng(7)
    arguments: dict[str, Any] = {}
    for name, shape in SHAPES.items():
        kind, size = (shape[0], shape[1:]) if shape and isinstance(shape[0], str) else ("", shape)
        if kind == "t":
            arguments[name] = torch.tensor(random.integers(0, 3, size), dtype=torch.int64)
            continue
        values = random.uniform(0.05, 0.95, size) if kind else random.normal(0, 1, size)
        arguments[name] = torch.tensor(values, dtype=getattr(torch, dtype), requires_grad=True)
    return arguments


def outcome(torch: Any, case: str, dtype: str) -> tuple[list[Any], list[Any]]:
    """Return [value, gradients, gradients of gradients] and [name of node, dtypes, shape]."""
    names = tensors(torch, dtype)
    functions = {n: getattr(torch.nn.functional, n) for n in autodiff_kit.nn.functional.__all__}
    torch.manual_seed(3)
    out = eval(case, {**functions, **names})
    leaves = [t for name, t in names.items() if t.requires_grad]
    weights = torch.tensor(np.random.default_rng(1).normal(0, 1, tuple(out.shape)), dtype=out.dtype)
    weights.requires_grad_()
    kinds = [out.grad_fn.name(), str(out.dtype), tuple(out.shape)]
    first = torch.autograd.grad(out, leaves, weights, create_graph=True, allow_unused=True)
    total = sum(((g * g).sum() + g.sum() for g in first if g is not None), torch.zeros(()))
    second: Any = []
    if total.requires_grad:
        try:
            second = torch.autograd.grad(total, [*leaves, weights], allow_unused=True)
        except RuntimeError:  # PyTorch has no second derivative for some unusual shapes
            assert torch is not autodiff_kit
            kinds.append("no second")
    # What does not matter is None, or zeros: PyTorch's own formulas differ in this.
    zeros = [np.zeros(tuple(t.shape)) for t in [*leaves, weights]]
    numbers = [out, *first, *(second or [None] * len(zeros))]
    return [
        shape if n is None else n.numpy(force=True)
        for n, shape in zip(numbers, [None, *zeros[:-1], *zeros], strict=True)
    ], kinds


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@for_each("dtype", ["float64", "float32"])
@for_each("case", CASES)
def test_a_call_gives_what_pytorch_gives(case: str, dtype: str) -> None:
    torch = require_torch()

    numbers, kinds = outcome(autodiff_kit, case, dtype)

    expected, expected_kinds = outcome(torch, case, dtype)
    if expected_kinds[-1] == "no second":
        del expected_kinds[-1]
        numbers, expected = numbers[: len(expected) // 2], expected[: len(expected) // 2]
    assert kinds == expected_kinds
    close = {"rtol": 1e-9, "atol": 1e-10} if dtype == "float64" else {"rtol": 2e-4, "atol": 2e-4}
    for ours, theirs in zip(numbers, expected, strict=True):
        scale = max(1.0, float(np.max(np.abs(theirs), initial=0)))
        np.testing.assert_allclose(ours / scale, theirs / scale, **close)


# -- where functions bend or would overflow: the values are PyTorch's, worked out by hand ----------

F = autodiff_kit.nn.functional
INF, NAN = float("inf"), float("nan")


def value_and_slope(function: Any, *numbers: float) -> tuple[list[float], list[float]]:
    x = autodiff_kit.tensor(numbers, requires_grad=True)
    out = function(x)
    (slope,) = autodiff_kit.autograd.grad(out.sum(), x)
    return out.tolist(), slope.tolist()


def test_binary_cross_entropy_is_at_most_100() -> None:
    target = autodiff_kit.tensor([1.0, 1.0, 0.0, 0.0])

    loss, slope = value_and_slope(
        lambda p: F.binary_cross_entropy(p, target, reduction="none"), 0.0, 1.0, 1.0, 0.0
    )

    # -log(0) counts as 100; p (1 - p) in the denominator as 1e-12
    assert loss == [100.0, 0.0, 100.0, 0.0]
    np.testing.assert_allclose(slope, [-1e12, 0.0, 1e12, 0.0])


def test_logits_of_any_size_have_finite_losses() -> None:
    target = autodiff_kit.tensor([0.0, 1.0, 1.0, 0.0])

    loss, slope = value_and_slope(
        lambda x: F.binary_cross_entropy_with_logits(x, target, reduction="none"),
        *(1e30, -1e30, 1e30, -1e30),
    )

    np.testing.assert_allclose(loss, [1e30, 1e30, 0.0, 0.0], rtol=1e-6)
    assert slope == [1.0, -1.0, 0.0, 0.0]


def test_softplus_and_leaky_relu_at_0_and_far_away() -> None:
    assert value_and_slope(F.softplus, 1000.0, -1000.0, 21.0) == ([1000.0, 0.0, 21.0], [1, 0, 1])
    assert value_and_slope(lambda x: F.leaky_relu(x, 0.5), 0.0, -INF)[1] == [0.5, 0.5]


def test_max_pooling_gives_its_gradient_to_the_first_maximum_and_lets_nan_win() -> None:
    image = [2.0, 2.0, 1.0, NAN, 2.0, 2.0, 3.0, 4.0]

    out, slope = value_and_slope(lambda x: F.max_pool2d(x.reshape(1, 2, 4), 2), *image)

    np.testing.assert_array_equal(out, [[[2.0, NAN]]])
    assert slope == [1, 0, 0, 1, 0, 0, 0, 0]


def test_padding_never_wins_a_maximum() -> None:
    out, slope = value_and_slope(
        lambda x: F.max_pool2d(x.reshape(1, 2, 2), 2, padding=1), *[-INF] * 4
    )

    assert out == [[[-INF] * 2] * 2]
    assert slope == [1, 1, 1, 1]


def test_the_mean_over_no_target_is_nan_and_its_gradient_0() -> None:
    target = autodiff_kit.tensor([-100, -100])

    loss, slope = value_and_slope(
        lambda x: F.cross_entropy(x.reshape(2, 2), target), 1.0, 2.0, 3.0, 4.0
    )

    assert np.isnan(loss)
    assert slope == [0, 0, 0, 0]


def test_a_nan_spoils_the_gradients_only_of_weights_that_met_it() -> None:
    images = np.ones((1, 2, 5, 5))
    images[0, 1, 0, 0] = NAN
    kernels = autodiff_kit.ones(1, 2, 3, 3, dtype=autodiff_kit.float64, requires_grad=True)

    out = F.conv2d(autodiff_kit.tensor(images), kernels)
    (slope,) = autodiff_kit.autograd.grad(out.sum(), kernels)

    # 3 x 3 windows; the corner of channel 1 is in the first window only, as its first element
    reached = np.zeros((1, 2, 3, 3), bool)
    reached[0, 1, 0, 0] = True
    np.testing.assert_array_equal(slope.numpy(), np.where(reached, NAN, 9.0))


def test_functions_that_switch_off_return_their_input_itself() -> None:
    x = autodiff_kit.ones(3, requires_grad=True)

    assert F.dropout(x, training=False) is x
    assert F.dropout(x, 0.0) is x


def test_the_columns_of_a_convolution_are_copied_a_few_images_at_a_time() -> None:
    random = np.random.default_rng(0)
    images = autodiff_kit.tensor(random.normal(0, 1, (9, 4, 60, 60)))
    kernels = autodiff_kit.tensor(random.normal(0, 1, (2, 4, 3, 3)))

    together = F.conv2d(images, kernels)

    one_by_one = [F.conv2d(images[i], kernels).numpy() for i in range(9)]
    np.testing.assert_allclose(together.numpy(), np.stack(one_by_one), rtol=1e-12)
