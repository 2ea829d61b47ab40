"""Mistakes with ``nn.functional``: PyTorch's class and words, then a line that teaches."""

import warnings
from typing import Any

import pytest

import autodiff_kit
import autodiff_kit.nn.functional
from tests.parity import require_torch
from tests.rows import for_each

pytestmark = pytest.mark.parity

MISTAKES = """
linear(x, ones(5, 2), ones(5))
linear(x, ones(5, 2))
linear(x, ones(5, 3), ones(4))
linear(x, ones(5, 3), ones(3, 5))
linear(x, ones(5, 3).double(), ones(5))
linear(x, ones(5, 3), ones(5).double())
linear(x, ones(5, 3).double())
linear(ones(2, 4, 3), ones(5, 2), ones(5))
linear(ones(3), ones(5, 2), ones(5))
linear(torch.tensor(1.0), ones(5, 2))
linear(x, ones(3), ones(1))
linear(x, [1.0])
linear([1.0], x)
leaky_relu(t)
leaky_relu([1.0])
gelu(t)
gelu(x, approximate='x')
softplus(t)
relu(x > 0)
relu([1.0])
softmax(t, 0)
softmax(x.long(), 0)
log_softmax(t, 0)
softmax(x, 3)
softmax(x)
log_softmax(ones(2, 3, 4))
cross_entropy(x, t[:3])
cross_entropy(x, t + 1)
cross_entropy(x, t - 1)
cross_entropy(x, t.float())
cross_entropy(x, t.int())
cross_entropy(x, t > 0)
cross_entropy(x, t, weight=ones(2))
cross_entropy(x, t, weight=ones(3).double())
cross_entropy(x, t, weight=ones(3).requires_grad_())
cross_entropy(x, t, reduction='mea')
cross_entropy(x, t, label_smoothing=2)
cross_entropy(x, x.long())
cross_entropy(x, x, ignore_index=1)
cross_entropy(x, x, ones(2))
cross_entropy(x, x[:, :2])
cross_entropy(x, t[:, None])
cross_entropy(ones(3), t[:2])
cross_entropy(ones(4, 3, 2), t)
cross_entropy(ones(4, 3, 2), torch.zeros(4, 3).long())
cross_entropy(x.int(), t)
cross_entropy(x, [1])
cross_entropy([1.0], t)
nll_loss(x, t[:3])
nll_loss(x, t.float())
nll_loss(x, t, reduction='x')
nll_loss(torch.tensor(1.0), torch.tensor(0))
nll_loss(x, t, weight=ones(2))
mse_loss(x, x[:, :1])
mse_loss(x, x[:3])
mse_loss(t, t)
mse_loss(x, 1.0)
mse_loss(x, x, reduction='y')
l1_loss(x, x[:, :1])
huber_loss(x, x, delta=0)
huber_loss(t, t)
binary_cross_entropy(x, x)
binary_cross_entropy(p, x)
binary_cross_entropy(p, p[:, :1])
binary_cross_entropy(p, p.double())
binary_cross_entropy(p, x > 0)
binary_cross_entropy(p, p, reduction='k')
binary_cross_entropy(p, p, ones(3).requires_grad_())
binary_cross_entropy_with_logits(x, x[:, :1])
binary_cross_entropy_with_logits(x, x > 0)
binary_cross_entropy_with_logits(x, x.long())
binary_cross_entropy_with_logits(x, x, ones(2))
binary_cross_entropy_with_logits(t, t)
binary_cross_entropy(t, t)
cross_entropy(x[0, 0], x[0, 0])
cross_entropy(x[:0], t[0])
nll_loss(x[:0], t[0])
nll_loss(x[:0, :, None], t[0])
nll_loss(ones(2, 3, 2, 2), t[:2])
one_hot(t[:0])
nll_loss(x > 0, t)
nll_loss(ones(2, 3, 2, 2).long(), ones(2, 2, 2).long())
nll_loss(x[:0], x[0, 0])
cross_entropy(x[0, 0], t)
cross_entropy(x[0], x[0, :2])
one_hot(t[:0], 0)
binary_cross_entropy(x > 0, x > 0)
mse_loss(t, t > 0)
huber_loss(t, t)
huber_loss(t.int(), t)
huber_loss(t, t.float())
huber_loss(t > 0, t)
huber_loss(ones(2).requires_grad_(), ones(2).double()).backward()
huber_loss(ones(2), ones(2).double().requires_grad_()).backward()
dropout(x, 1.5)
dropout(x, -0.1)
dropout(t, 0.5)
dropout([1.0])
layer_norm(x, (4,))
layer_norm(x, (3,), ones(3).double())
layer_norm(t, (4,))
batch_norm(x[:1], None, None, training=True)
batch_norm(x.double(), ones(3), ones(3))
batch_norm(t[:, None], None, None, training=True)
embedding(t + 2, x)
embedding(t - 1, x)
embedding(x, x)
embedding([1], x)
conv2d(im, ones(4, 2, 3, 3))
conv2d(im, ones(4, 3, 9, 3))
conv2d(im, ones(4, 3, 3, 3), dilation=4)
conv2d(x, ones(4, 3, 3, 3))
conv2d(im, ones(4, 3, 3, 3).double())
conv2d(im.long(), ones(4, 3, 3, 3))
conv2d(im, ones(4, 3, 3, 3), padding='full')
conv2d(im, ones(4, 3, 3, 3), padding='same', stride=2)
conv2d(im, ones(4, 3, 3, 3), groups=2)
conv2d(ones(2, 4, 8, 8), ones(3, 2, 3, 3), groups=2)
conv1d(ones(2, 3, 8), ones(4, 2, 3))
conv1d(ones(2, 3, 8), ones(4, 3, 9))
conv1d(im, ones(4, 3, 3))
max_pool2d(x, 2)
max_pool2d(im, 9)
max_pool2d(im, 2, padding=2)
max_pool2d([1.0], 2)
avg_pool2d(im, 9)
avg_pool2d(im, 2, padding=2)
one_hot(x)
one_hot(t - 1)
one_hot(t, 2)
one_hot([1])
pad(x, (1,))
pad(x, (1, 1, 1, 1, 1, 1))
pad(x, (1, 1), mode='foo')
""".strip().splitlines()


def outcome(torch: Any, mistake: str) -> tuple[list[tuple[str, str]], str, str]:
    """Return (warnings, class of the error, its words)."""
    functions = {n: getattr(torch.nn.functional, n) for n in autodiff_kit.nn.functional.__all__}
    names = {
        "x": torch.arange(12.0).reshape(4, 3) - 5,
        "p": torch.arange(12.0).reshape(4, 3) / 12,
        "t": torch.tensor([0, 1, 2, 1]),
        "im": torch.ones(2, 3, 8, 8),
        "ones": torch.ones,
        "torch": torch,
    }
    raised, words = "", ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            eval(mistake, {**functions, **names})
        except Exception as error:
            raised, words = type(error).__name__, str(error)
    return [(w.category.__name__, str(w.message)) for w in caught], raised, words


@for_each("mistake", MISTAKES)
def test_a_mistake_is_answered_in_the_words_of_pytorch(mistake: str) -> None:
    expected = outcome(require_torch(), mistake)

    warned, raised, words = outcome(autodiff_kit, mistake)

    first, _, advice = words.partition("\n")
    assert (warned, raised, first) == (*expected[:2], expected[2].partition("\n")[0])
    assert raised or warned
    assert advice.startswith("-> ") or raised in ("", "AttributeError")
