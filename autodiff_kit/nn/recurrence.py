"""One layer of a recurrent network: what a cell computes, and the loop over time.

After reading this file you know what the gates of an LSTM and of a GRU do, and that a network that
reads a sequence is a graph as long as the sequence. The state is a tuple of tensors of shape
(n, hidden_size): h, and for an LSTM also c. Read next: ``rnn.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autodiff_kit import ops
from autodiff_kit.functions import cat
from autodiff_kit.nn import functional as F
from autodiff_kit.tensor import Tensor

__all__ = ["CELLS", "Cell", "State", "run"]

State = tuple[Tensor, ...]


def _tanh_step(inputs: Tensor, hidden: Tensor, state: State) -> State:
    """Elman, Finding structure in time (1990): ``h' = tanh(W x + U h + b)``."""
    return ((hidden + inputs).tanh(),)


def _relu_step(inputs: Tensor, hidden: Tensor, state: State) -> State:
    """Do the same with ``relu``."""
    return ((hidden + inputs).relu(),)


def _gates(together: Tensor, count: int) -> tuple[Tensor, ...]:
    """Return the gates that stand side by side; as in PyTorch, they are no views."""
    size = together.shape[1] // count
    gates: tuple[Tensor, ...] = ops.unsafe_split(together, split_size=size, dim=1)
    return gates


def _lstm_step(inputs: Tensor, hidden: Tensor, state: State) -> State:
    """Keep a part of c, add to it, and show a part of it as h.

    Source: Hochreiter and Schmidhuber, Long short-term memory (1997).
    """
    gates = _gates(hidden + inputs, 4)
    let_in, keep, show = gates[0].sigmoid(), gates[1].sigmoid(), gates[3].sigmoid()
    c = keep * state[1] + let_in * gates[2].tanh()
    return show * c.tanh(), c


def _gru_step(inputs: Tensor, hidden: Tensor, state: State) -> State:
    """Mix h with a new value, for which h was partly reset.

    Source: Cho et al., Learning phrase representations using RNN encoder-decoder (2014).
    """
    from_input, from_state = _gates(inputs, 3), _gates(hidden, 3)
    reset = (from_state[0] + from_input[0]).sigmoid()
    keep = (from_state[1] + from_input[1]).sigmoid()
    new = (from_input[2] + from_state[2] * reset).tanh()
    return ((state[0] - new) * keep + new,)


class Cell(NamedTuple):
    """A kind of cell: how many gates it has, how many tensors its state, and its step.

    The step gets ``W x + b`` and ``U h + b``, for all gates side by side, and the state.
    """

    gates: int
    states: int
    step: Callable[[Tensor, Tensor, State], State]


CELLS = {
    "RNN_TANH": Cell(1, 1, _tanh_step),
    "RNN_RELU": Cell(1, 1, _relu_step),
    "LSTM": Cell(4, 2, _lstm_step),
    "GRU": Cell(3, 1, _gru_step),
}


def run(
    cell: Cell, inputs: Sequence[Tensor], state: State, weights: tuple[Any, ...], backward: bool
) -> tuple[list[Tensor], State]:
    """Run a cell over time, from the start or, ``backward``, from the end.

    Parameters
    ----------
    inputs : sequence of Tensor, shape (n, gates * hidden_size)
        ``W x + b`` for every time. n may fall from time to time: sequences are sorted by length.
    state : tuple of Tensor, shape (n, hidden_size)
        Of the first time, or, where n falls, of all sequences.
    weights : (U, b)

    Returns
    -------
    (outputs, state) - h at every time, and the state of each sequence at its end.
    """
    whole, ended, outputs = state, list[State](), list[Tensor]()
    if backward:
        inputs = inputs[::-1]
        state = _rows(whole, 0, len(inputs[0]))
    for x in inputs:
        n, running = len(x), len(state[0])
        if n < running:  # the shortest sequences are over
            ended.append(_rows(state, n, running))
            state = _rows(state, 0, n)
        elif n > running:  # shorter sequences begin, seen from the end
            state = _joined([state, _rows(whole, running, n)])
        state = cell.step(x, F.linear(state[0], *weights), state)
        outputs.append(state[0])
    state = _joined([state, *ended[::-1]])
    return outputs[::-1] if backward else outputs, state


def _rows(state: State, start: int, end: int) -> State:
    return state if end - start == len(state[0]) else tuple(s[start:end] for s in state)


def _joined(states: list[State]) -> State:
    return states[0] if len(states) == 1 else tuple(cat(s) for s in zip(*states, strict=True))
