"""Calls of layers, of which the kit and PyTorch print the same: text, state, outputs, gradients."""

from __future__ import annotations

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
COMPOSED += ("nn.SoftMarginLoss", "MaxUnpool", "MultiMarginLoss", "enable_gqa")

# Each line makes a layer; it is printed, and called with what stands behind the ";".
LAYERS = """
nn.LeakyReLU(0.2); x
nn.LeakyReLU(0.2, inplace=True); x * 1
nn.LeakyReLU(0.2, 2); x * 1
nn.ReLU(3); x * 1
nn.PReLU(); x
nn.PReLU(4, 0.3); image
nn.ELU(0.7); x
nn.ELU(inplace=True); x * 1
nn.CELU(0.7); x
nn.RReLU(); x
nn.RReLU(0.2, 0.4); image
nn.Threshold(0.2, -1); x
nn.Hardshrink(0.3); x
nn.Softshrink(0.3); x
nn.Softmax2d(); image
nn.AlphaDropout(0.2); x
nn.AlphaDropout(0.2, True); x * 1
nn.Bilinear(4, 4, 3); x, y
nn.Bilinear(4, 4, 3, bias=False).double(); x[0], y[0]
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
nn.MaxUnpool1d(2); *F.max_pool1d(sequence, 2, return_indices=True)
nn.MaxUnpool2d(2); *F.max_pool2d(image[0, ..., :6], 2, return_indices=True)
nn.MaxUnpool2d((2, 3), (2, 3)); *F.max_pool2d(image, (2, 3), return_indices=True), image.shape
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
nn.LocalResponseNorm(2); image
nn.LocalResponseNorm(3, 0.5, 0.6, 2.0); sequence
nn.SoftMarginLoss(); x, z.sign()
nn.SoftMarginLoss(reduction='none'); x, z.sign()
nn.MultiMarginLoss(); x, i[0]
nn.MultiMarginLoss(2, 0.3, z[0].abs(), reduction='none'); x, i[0]
nn.MultiMarginLoss(reduction='sum'); x[0], i[0, 0]
nn.MultiLabelSoftMarginLoss(); x, (z > 0).double()
nn.MultiLabelSoftMarginLoss(z[0].abs(), reduction='sum'); x, (z > 0).double()
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
nn.TripletMarginWithDistanceLoss(swap=True); x, y, z
nn.TripletMarginWithDistanceLoss(distance_function=nn.CosineSimilarity(), margin=2); x, y, z
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


def program(case: str) -> str:
    """Return a program that makes the layer of a case, calls it and prints all that comes of it."""
    layer, inputs = case.split(";")
    return f"""{GIVEN}
layer = {layer}
print(layer, list(layer.state_dict()), [n for n, _ in layer.named_parameters()])
layer.double()
out = layer({inputs})
print(layer, layer.state_dict())
show("out", out)
print(None if {any(name in layer for name in COMPOSED)} else getattr(out, "grad_fn", None))
tell_gradients(layer, out)
show("evaluated", layer.eval()({inputs}))
"""
