"""Layers beside PyTorch's: text, state, draws, outputs and all gradients are the same."""

from __future__ import annotations

import pytest

from tests.parity import require_torch
from tests.same_as_torch.outcomes import run_both

torch = require_torch()
pytestmark = pytest.mark.parity

GIVEN = """
import warnings
nn, F = torch.nn, torch.nn.functional
warnings.simplefilter("ignore")
torch.manual_seed(0)

def numbers(*shape):
    count = int(np.prod(shape))
    return (torch.arange(count, dtype=torch.float64) * 1.7 + count).sin().reshape(shape) * 1.5

x, y = numbers(3, 4).requires_grad_(), numbers(6, 4)[2:5].clone().requires_grad_()
z = numbers(4, 4)[1:]
sequence, image = numbers(2, 4, 7).requires_grad_(), numbers(2, 4, 6, 7).requires_grad_()
i = torch.tensor([[1, 0, 3], [2, 2, 1]])
signs = torch.tensor([1.0, -1.0, 1.0]).double()
leaves = {"x": x, "y": y, "sequence": sequence, "image": image}

def show(name, value):
    if isinstance(value, tuple):
        for part in value:
            show(name, part)
        return
    rounded = value.detach()
    if value.is_floating_point():  # where PyTorch has 1e-17, the kit may have 0
        rounded = (rounded * 1e8).round() / 1e8 + 0
    print(name, tuple(value.shape), value.dtype, rounded)

def tell_gradients(model, out):
    out = out[0] if isinstance(out, tuple) else out
    if not out.requires_grad:
        return
    (out * out * (numbers(*out.shape) + 2)).sum().backward()
    for name, leaf in [*leaves.items(), *(model.named_parameters() if model else ())]:
        if leaf.grad is not None:
            show(name, leaf.grad)
"""

# PyTorch has operations of its own for these, the kit composes them.
COMPOSED = ("PairwiseDistance", "pairwise_distance", "RNN(", "GRU(", "LSTM(", "pad_seq", "pack_seq")

# Each line makes a layer; it is printed, and called with what stands behind the ";".
LAYERS = """
nn.LeakyReLU(0.2); x
nn.LeakyReLU(0.2, inplace=True); x * 1
nn.PReLU(); x
nn.PReLU(4, 0.3); image
nn.ELU(0.7); x
nn.ELU(inplace=True); x * 1
nn.SELU(); x
nn.SiLU(); x
nn.SiLU(True); x * 1
nn.Mish(); x
nn.Hardtanh(-0.5, 0.8); x
nn.ReLU6(); 5 * x
nn.Hardsigmoid(); 3 * x
nn.Hardswish(); 3 * x
nn.Softplus(2, 3); x
nn.LogSigmoid(); x
nn.Tanhshrink(); x
nn.Softsign(); x
nn.GLU(); x
nn.GLU(1); image
nn.Softmin(1); x
nn.Unflatten(1, (2, -1)); x
nn.Dropout1d(0.4); sequence
nn.Dropout1d(0.4); sequence[0]
nn.Dropout2d(0.4); image
nn.Dropout2d(); sequence
nn.Conv1d(4, 6, 3); sequence
nn.Conv1d(4, 6, 3, 2, 1, 2, 2, False); sequence
nn.Conv1d(4, 2, 2, padding='same'); sequence[0]
nn.Conv2d(4, 4, 3, groups=4); image
nn.ConvTranspose1d(4, 3, 3, 2, 1, 1); sequence
nn.ConvTranspose2d(4, 6, (3, 2), 2, 1, (1, 0), 2, False); image
nn.ConvTranspose2d(4, 2, 2, 3, 0, 1, 1, True, 2); image
nn.ConvTranspose2d(4, 2, 4, 2, 1); image[0]
nn.MaxPool1d(3); sequence
nn.MaxPool1d(3, 2, 1, 2, ceil_mode=True); sequence[0]
nn.MaxPool2d(3, ceil_mode=True); image
nn.MaxPool2d((3, 2), 2, 1, 1, ceil_mode=True); image
nn.MaxPool2d(2, return_indices=True); image
nn.AvgPool1d(2); sequence
nn.AvgPool1d(3, 2, 1, True, False); sequence[0]
nn.AvgPool2d(2, 1); image
nn.AvgPool2d(3, 2, 1, True, False); image
nn.AvgPool2d((3, 2), 2, (1, 0), ceil_mode=True); image
nn.AvgPool2d(2, divisor_override=3); image[0]
nn.AdaptiveAvgPool1d(3); sequence
nn.AdaptiveAvgPool2d(1); image
nn.AdaptiveAvgPool2d((4, None)); image
nn.AdaptiveAvgPool2d(5); image[0]
nn.AdaptiveMaxPool2d((4, 3)); image
nn.Upsample(scale_factor=2); image
nn.Upsample(size=(4, 9)); image
nn.Upsample(scale_factor=1.5, mode='bilinear'); image
nn.Upsample(size=(4, 9), mode='bilinear', align_corners=True); image
nn.BatchNorm1d(4, momentum=None); x
nn.BatchNorm1d(4, affine=False, track_running_stats=False); sequence
nn.BatchNorm2d(4, 1e-2, 0.3); image
nn.BatchNorm2d(4, bias=False); image
nn.InstanceNorm1d(4); sequence
nn.InstanceNorm2d(4, affine=True, track_running_stats=True); image
nn.InstanceNorm2d(4, affine=True); image[0]
nn.GroupNorm(2, 4); x
nn.GroupNorm(2, 4, 0.1, False); image
nn.GroupNorm(4, 4); sequence
nn.RMSNorm(4); x
nn.RMSNorm((6, 7), 0.1, False); image
nn.CosineSimilarity(); x, y
nn.CosineSimilarity(0, 0.5); x, y
nn.PairwiseDistance(1, keepdim=True); x, y
nn.SmoothL1Loss(); x, y
nn.SmoothL1Loss(reduction='sum', beta=0.3); x, z
nn.KLDivLoss(reduction='batchmean'); x.log_softmax(1), z.softmax(1)
nn.KLDivLoss(); x.log_softmax(1), y.softmax(1)
nn.KLDivLoss(reduction='none', log_target=True); x.log_softmax(1), z.log_softmax(1)
nn.GaussianNLLLoss(); x, z, y.exp()
nn.GaussianNLLLoss(full=True, reduction='sum'); x, z, y.exp()[:, :1]
nn.PoissonNLLLoss(); x, z.abs().round()
nn.PoissonNLLLoss(False, True, reduction='none'); x.exp(), (3 * z.abs()).round()
nn.HingeEmbeddingLoss(0.5); x, z.sign()
nn.MarginRankingLoss(0.5); x, y, z.sign()
nn.CosineEmbeddingLoss(0.1); x, y, signs
nn.TripletMarginLoss(); x, y, z
nn.TripletMarginLoss(2.0, 1.0, swap=True, reduction='none'); x, y, z
nn.LazyLinear(3); x
nn.LazyConv1d(3, 2, bias=False); sequence
nn.LazyConv2d(3, 2, padding=1); image
nn.LazyBatchNorm1d(momentum=0.5); x
nn.LazyBatchNorm2d(affine=False); image
nn.RNN(4, 3, 2, 'relu', bidirectional=True); x
nn.RNN(7, 3, batch_first=True); sequence
nn.GRU(7, 3, 2, dropout=0.3); sequence, torch.ones(2, 4, 3).double()
nn.LSTM(7, 3, 2, False, True, 0.3, True); sequence
nn.LSTM(4, 3); x, (torch.ones(1, 3).double(), torch.zeros(1, 3).double())
nn.RNNCell(4, 3, nonlinearity='relu'); x, y[:, :3]
nn.GRUCell(4, 3, bias=False); x
nn.LSTMCell(4, 3); x[0], (y[0, :3], y[1, :3])
nn.MultiheadAttention(4, 2, 0.3); x, y, y
nn.MultiheadAttention(4, 2, kdim=3, vdim=2); x, y[:2, :3], z[:2, :2]
nn.TransformerEncoderLayer(4, 2, 5, 0.2); x
nn.TransformerDecoderLayer(4, 2, 5, norm_first=True, activation='gelu'); x, y
""".strip().split("\n")


@pytest.mark.parametrize("case", LAYERS)
def test_a_layer_is_pytorchs(case: str) -> None:
    made, inputs = case.split(";")
    program = f"""{GIVEN}
layer = {made}
print(layer, list(layer.state_dict()), [n for n, _ in layer.named_parameters()])
layer.double()
out = layer({inputs})
print(layer, layer.state_dict())
show("out", out)
print(None if {any(name in made for name in COMPOSED)} else getattr(out, "grad_fn", None))
tell_gradients(layer, out)
show("evaluated", layer.eval()({inputs}))
"""
    assert run_both(torch, program).raised is None


@pytest.mark.parametrize(
    "made",
    [
        "Conv1d(3, 4, 5)", "ConvTranspose2d(3, 4, 5)", "Embedding(7, 5)", "RNN(3, 4, 2)",
        "LSTM(30, 20, bidirectional=True)", "GRUCell(3, 4)", "MultiheadAttention(8, 2)",
        "MultiheadAttention(8, 2, kdim=3, vdim=5)", "TransformerEncoderLayer(8, 2)",
        "Transformer(8, 2, 1, 1, 16)", "TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)",
    ],
)  # fmt: skip
def test_parameters_begin_with_the_numbers_that_pytorch_draws(made: str) -> None:
    program = f"""{GIVEN}
layer = nn.{made}
print(layer)
for name, parameter in layer.named_parameters():
    print(name, parameter.flatten()[:30], parameter.sum() * 0 + len(parameter))
print(torch.rand(1))
"""
    assert run_both(torch, program).raised is None


FUNCTIONS = """
F.celu(x, 0.7)
F.leaky_relu(x * 1, 0.3, True)
F.elu(x * 1, inplace=True)
F.softmax(x, 1, dtype=torch.float32)
F.log_softmax(x, dim=0, dtype=torch.float64)
F.normalize(x)
F.normalize(x, p=1.0, dim=0)
F.cosine_similarity(x, y[:1])
F.pairwise_distance(x, y, p=3.0)
F.scaled_dot_product_attention(image, image, image)
F.scaled_dot_product_attention(image, image, image, is_causal=True)
F.scaled_dot_product_attention(image, image, image, scale=0.3)
F.scaled_dot_product_attention(x, y, y)
F.scaled_dot_product_attention(sequence, sequence, sequence, is_causal=True)
F.scaled_dot_product_attention(sequence, sequence, sequence, dropout_p=0.4)
F.scaled_dot_product_attention(image, image, image, torch.tensor([[True] * 6] + [[False] * 6] * 5))
F.interpolate(image, scale_factor=(2, 3))
F.interpolate(image, (3, 4))
nn.Upsample(None, 1.3, "bilinear", False, True)(image)
F.adaptive_avg_pool1d(sequence, 1)
F.conv_transpose1d(sequence, torch.ones(4, 2, 2).double(), None, 2, 0, 3, dilation=4)
F.max_pool2d(image, 2, return_indices=True)[1]
F.max_pool1d(sequence, 2, return_indices=True)[1]
F.adaptive_max_pool2d(image, 2, return_indices=True)[1]
F.avg_pool2d(image.detach().float(), 2, ceil_mode=True)
F.instance_norm(image)
F.group_norm(sequence, 2)
F.rms_norm(x, (4,), y[0])
F.smooth_l1_loss(x, y, beta=0.0)
F.dropout1d(sequence, 0.5)
F.dropout2d(image, 1.0)
F.conv_transpose1d(sequence, sequence.detach().expand(2, 4, 7).transpose(0, 1), stride=2)
F.hardtanh(i, 1, 2)
F.prelu(x, torch.tensor(0.1).double())
torch.nn.utils.parameters_to_vector(nn.Linear(2, 3).double().parameters())
nn.utils.rnn.pad_sequence([x, y[:2], z[:1]], batch_first=True, padding_value=-1.0)
nn.utils.rnn.pad_sequence([i[0], i[0, :1]], padding_side="left")
nn.utils.rnn.pack_sequence([x, y[:2], z[:1]])[0]
nn.Embedding.from_pretrained(z)(i[:, :2])
nn.Embedding.from_pretrained(z, freeze=False, padding_idx=0).weight
""".strip().split("\n")


@pytest.mark.parametrize("expression", FUNCTIONS)
def test_a_function_is_pytorchs(expression: str) -> None:
    program = f"""{GIVEN}
out = {expression}
show("out", out)
print(None if {any(name in expression for name in COMPOSED)} else out.grad_fn)
tell_gradients(None, out)
"""
    assert run_both(torch, program).raised is None


PROGRAMS = {
    "a lazy model": """
        model = nn.Sequential(nn.LazyConv2d(3, 2), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(),
                              nn.LazyLinear(2)).double()
        print(model, model[0].weight, model.state_dict(), isinstance(model[0], nn.Conv2d))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        print(model(image), model, type(model[0]) is nn.Conv2d, model[4].in_features)
        model(image).sum().backward()
        optimizer.step()
        print(model.state_dict())
        other = nn.Sequential(nn.LazyConv2d(3, 2), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(),
                              nn.LazyLinear(2)).double()
        print(other.load_state_dict(model.state_dict()), other[0].weight)
        print(other.eval()(image) - model.eval()(image))
    """,
    "copies of lazy layers": """
        import copy
        first = nn.LazyLinear(2)
        second = copy.deepcopy(first)
        second(torch.ones(1, 3))
        print(first, second, second.weight.shape, first.weight)
        print(first.weight.requires_grad, first.weight.is_leaf, first.weight.dtype)
    """,
    "sequences of different lengths": """
        from importlib import import_module
        rnn = import_module(nn.utils.__name__ + ".rnn")
        for kind in (nn.RNN, nn.GRU, nn.LSTM):
            layer = kind(7, 3, 2, bidirectional=True).double()
            packed = rnn.pack_padded_sequence(sequence, [2, 1, 2, 1], enforce_sorted=False)
            out, state = layer(packed)
            for part in (packed.data, *packed[1:], out.data, *state):
                show("part", part)
            padded, lengths = rnn.pad_packed_sequence(out, padding_value=-1.0, total_length=3)
            show("padded", (padded, lengths))
            tell_gradients(layer, padded)
            again, state = layer(packed, state)
            for part in (again.data, *state):
                show("again", part)
    """,
    "masks of attention": """
        layer = nn.MultiheadAttention(7, 1, batch_first=True).double()
        hide = nn.Transformer.generate_square_subsequent_mask(4).double()
        padding = torch.tensor([[False] * 4, [False, False, True, True]])
        for options in ({}, {"attn_mask": hide}, {"attn_mask": hide < 0},
                        {"key_padding_mask": padding}, {"need_weights": False, "attn_mask": hide},
                        {"key_padding_mask": padding, "attn_mask": hide < 0},
                        {"attn_mask": hide, "is_causal": True, "need_weights": False},
                        {"average_attn_weights": False}):
            out, weights = layer(sequence, sequence, sequence, **options)
            show("out", out)
            print(weights)
            tell_gradients(layer, out)
    """,
    "transformers": """
        layer = nn.TransformerEncoderLayer(4, 2, 5, batch_first=True).double()
        encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(4).double())
        data = numbers(2, 3, 4)
        padding = torch.tensor([[False, False, False], [False, True, True]])
        causal = nn.Transformer.generate_square_subsequent_mask(3).double()
        print(encoder, encoder(data), encoder(data, causal), encoder(data, None, padding))
        encoder.eval()
        print(encoder(data), encoder(data, src_key_padding_mask=padding))
        with torch.no_grad():
            print(encoder(data), encoder(data, src_key_padding_mask=padding))
        model = nn.Transformer(4, 2, 1, 1, 5, dropout=0.0, batch_first=True).double()
        out = model(data, data * 2, tgt_mask=causal, src_key_padding_mask=padding)
        print(model, out)
        tell_gradients(model, out)
    """,
    "clipping": """
        layer = nn.Linear(4, 3).double()
        (layer(x) ** 2).sum().backward()
        print(nn.utils.clip_grad_value_(layer.parameters(), 0.5), layer.weight.grad)
        vector = nn.utils.parameters_to_vector(layer.parameters())
        nn.utils.vector_to_parameters(vector.detach() * 2, layer.parameters())
        print(vector, layer.weight, layer.bias)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    from inspect import cleandoc

    assert run_both(torch, GIVEN + cleandoc(PROGRAMS[name])).raised is None
