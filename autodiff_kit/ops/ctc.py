"""The loss of a sequence whose labels have no place in time: connectionist temporal classification.

After reading this file you know how a sum over all alignments, which are far too many, is computed
in one pass from the left, and how one from the right makes a gradient of it. Read next:
``losses.py``.

Source: Graves et al., Connectionist temporal classification (2006).
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import no_derivative
from autodiff_kit.ops.table import op, vjp

__all__ = ["Labels", "ctc_loss"]


class Labels(NamedTuple):
    """What a batch of sequences should be read as.

    Attributes
    ----------
    targets : array of int, shape (n, s)
    input_lengths, target_lengths : array of int, shape (n,)
        How much of each sequence, and of each row of targets, counts.
    blank : int
        The class that stands between labels, and for none.
    """

    targets: Any
    input_lengths: Any
    target_lengths: Any
    blank: int

    def states(self) -> Any:
        """Return the labels with blanks around each of them, shape (n, 2 s + 1)."""
        count, size = self.targets.shape
        states = np.full((count, 2 * size + 1), self.blank)
        states[:, 1::2] = self.targets
        return states


def _log_sums(log: Any, states: Any) -> Any:
    """Return for each state the sum of what leads to it: itself and the one or two before it.

    A blank between equal labels must not be left out.
    """
    pad = np.full((len(log), 2), -np.inf, log.dtype)
    before, second = (np.concatenate([pad[:, k:], log], 1)[:, : log.shape[1]] for k in (1, 0))
    may_skip = np.zeros(states.shape, bool)
    may_skip[:, 2:] = states[:, 2:] != states[:, :-2]
    return np.logaddexp(np.logaddexp(log, before), np.where(may_skip, second, -np.inf))


def _emitted(x: Any, states: Any) -> Any:
    """Return the log-probability of each state at each time, shape (t, n, states)."""
    return np.take_along_axis(x, np.broadcast_to(states, (len(x), *states.shape)), 2)


@op(
    "ctc_loss(x, labels)",
    tex=r"-\ln \textstyle\sum_{\pi} \prod_t e^{x_{t, \pi_t}}",
    layout="own",
    by_products=("log_alpha",),
)
def ctc_loss(x: Value, *, labels: Labels, zero_infinity: bool) -> Any:
    """Return how surprised log-probabilities x, shape (t, n, classes), are by labels: (n,).

    With ``zero_infinity``, the gradient of a loss that is infinite is 0.
    """
    states, last = labels.states(), 2 * labels.target_lengths
    rows = np.arange(len(states))
    emitted = _emitted(x, states)
    log_alpha = np.full(emitted.shape, -np.inf, x.dtype)
    log_alpha[:1, :, :2] = emitted[:1, :, :2]
    for t in range(1, len(x)):
        log_alpha[t] = _log_sums(log_alpha[t - 1], states) + emitted[t]
    ends = log_alpha[labels.input_lengths - 1, rows]
    log_sum = np.where(last > 0, ends[rows, last - 1], -np.inf)
    log_sum = np.logaddexp(ends[rows, last], log_sum)
    nothing = np.where(last > 0, -np.inf, 0)
    losses = -np.where(labels.input_lengths > 0, log_sum, nothing)
    return losses.astype(x.dtype), log_alpha


@ctc_loss.vjp("x", tex=r"\bar z \odot (e^{x} - P(\pi_t = c))")
def _(g: Value, x: Value, out: Value, log_alpha: Any, labels: Labels, zero_infinity: bool) -> Value:
    return ctc_loss_backward(x, out, log_alpha, g, labels=labels, zero_infinity=zero_infinity)


def _no_rule(g: Value) -> NoReturn:
    no_derivative("autograd.no_second_derivative", "_ctc_loss_backward")


@op(
    "ctc_loss_backward(x, losses, log_alpha, g_)",
    node="torch::autograd::NotImplemented",
    layout="own",
)
@vjp("x", _no_rule, tex=r"\text{none}")
@vjp("losses", _no_rule, tex=r"\text{none}")
@vjp("log_alpha", _no_rule, tex=r"\text{none}")
@vjp("g_", _no_rule, tex=r"\text{none}")
def ctc_loss_backward(
    x: Value, losses: Value, log_alpha: Value, g_: Value, *, labels: Labels, zero_infinity: bool
) -> Value:
    """Return what flows back to x, if x are the log-probabilities of whole distributions.

    As in PyTorch, the softmax before the loss is part of it: what is returned is the gradient for
    the numbers that went into it, and ``log_softmax`` leaves it as it is.
    """
    states, last = labels.states(), 2 * labels.target_lengths
    emitted = _emitted(x, states)
    places = np.arange(states.shape[1])
    is_end = (places == last[:, None]) | (places == last[:, None] - 1)
    log_beta = np.full((len(x) + 1, *states.shape), -np.inf, x.dtype)
    for t in reversed(range(len(x))):
        later = _log_sums(log_beta[t + 1, :, ::-1], states[:, ::-1])[:, ::-1]
        left = (labels.input_lengths - 1 - t)[:, None]
        step = np.where((left == 0) & is_end, 0, np.where(left > 0, later, -np.inf))
        log_beta[t] = step + emitted[t]
    shares = np.exp(log_alpha + log_beta[:-1] - emitted + losses[:, None])
    of_classes = np.zeros(x.shape, x.dtype)
    for place in places:  # a class can have several states
        at: Any = (slice(None), np.arange(len(states)), states[:, place])
        np.add.at(of_classes, at, np.nan_to_num(shares[..., place]))
    gradient = (np.exp(x) - of_classes) * g_[:, None]
    gradient = np.where(np.isinf(losses)[:, None], 0 if zero_infinity else np.nan, gradient)
    counts = np.arange(len(x))[:, None, None] < labels.input_lengths[:, None]
    return np.where(counts, gradient, 0).astype(x.dtype)
