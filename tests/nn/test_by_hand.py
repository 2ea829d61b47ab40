"""Layers beside their formulas, where PyTorch need not be installed."""

import numpy as np

import autodiff_kit as ak
from autodiff_kit import nn

X = np.random.default_rng(0).normal(size=(4, 3))


def test_layer_norm_gives_each_sample_mean_0_and_variance_1() -> None:
    layer = nn.LayerNorm(3, eps=0.5, dtype=ak.float64)
    centred = X - X.mean(1, keepdims=True)
    expected = centred / np.sqrt(X.var(1, keepdims=True) + 0.5)
    np.testing.assert_allclose(layer(ak.tensor(X)).detach().numpy(), expected)


def test_batch_norm_moves_its_mean_and_unbiased_variance_by_the_momentum() -> None:
    layer = nn.BatchNorm1d(3, eps=0.5, momentum=0.25, dtype=ak.float64)
    expected = (X - X.mean(0)) / np.sqrt(X.var(0) + 0.5)
    np.testing.assert_allclose(layer(ak.tensor(X)).detach().numpy(), expected)
    np.testing.assert_allclose(layer.running_mean.numpy(), 0.25 * X.mean(0))
    np.testing.assert_allclose(layer.running_var.numpy(), 0.75 + 0.25 * X.var(0, ddof=1))


def test_an_lstm_cell_has_the_gates_of_its_formula() -> None:
    cell = nn.LSTMCell(3, 2, dtype=ak.float64)
    w_in, w_hidden, b_in, b_hidden = (p.detach().numpy() for p in cell.parameters())
    h, c = X[:, :2], X[:, 1:]
    i, f, g, o = np.split(X @ w_in.T + b_in + h @ w_hidden.T + b_hidden, 4, axis=1)
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
    after = f * c + i * np.tanh(g)
    new_h, new_c = cell(ak.tensor(X), (ak.tensor(h), ak.tensor(c)))
    np.testing.assert_allclose(new_c.detach().numpy(), after)
    np.testing.assert_allclose(new_h.detach().numpy(), o * np.tanh(after))
