"""Layers beside PyTorch's: text, state, draws, outputs and all gradients are the same."""

from __future__ import annotations

import pytest

from tests.nn.layers import COMPOSED, GIVEN, LAYERS, program
from tests.same_as_torch.outcomes import run_as_pytorch


@pytest.mark.parametrize("case", LAYERS)
def test_a_layer_is_pytorchs(case: str) -> None:
    assert run_as_pytorch(program(case)).raised is None


@pytest.mark.parametrize(
    "layer",
    [
        "Conv1d(3, 4, 5)", "ConvTranspose2d(3, 4, 5)", "Embedding(7, 5)", "RNN(3, 4, 2)",
        "LSTM(30, 20, bidirectional=True)", "GRUCell(3, 4)", "MultiheadAttention(8, 2)",
        "MultiheadAttention(8, 2, kdim=3, vdim=5)", "TransformerEncoderLayer(8, 2)",
        "Transformer(8, 2, 1, 1, 16)", "TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)",
    ],
)  # fmt: skip
def test_parameters_begin_with_the_numbers_that_pytorch_draws(layer: str) -> None:
    program = f"""{GIVEN}
layer = nn.{layer}
print(layer)
for name, parameter in layer.named_parameters():
    print(name, parameter.flatten()[:30], parameter.sum() * 0 + len(parameter))
print(torch.rand(1))
"""
    assert run_as_pytorch(program).raised is None


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
F.scaled_dot_product_attention(image, image[:, ::2], image[:, :1], enable_gqa=True)
F.scaled_dot_product_attention(sequence, sequence, sequence[:1], enable_gqa=True)
F.scaled_dot_product_attention(sequence, sequence, sequence, is_causal=True)
F.scaled_dot_product_attention(sequence, sequence, sequence, dropout_p=0.4)
F.scaled_dot_product_attention(image, image, image, torch.tensor([[True] * 6] + [[False] * 6] * 5))
F.interpolate(image, scale_factor=(2, 3))
F.interpolate(image, (3, 4))
F.interpolate(image, (3, 4), mode="area")
F.interpolate(image, scale_factor=0.6, mode="area")
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
    assert run_as_pytorch(program).raised is None


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

    assert run_as_pytorch(GIVEN + cleandoc(PROGRAMS[name])).raised is None
