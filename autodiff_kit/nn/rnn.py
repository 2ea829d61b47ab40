"""Recurrent networks: RNN, LSTM and GRU.

After reading this file you know that a recurrent layer is a loop over time: a cell takes one input
and the state, and returns the next state. The layers of a network come one after the other, each
over the whole sequence; a bidirectional one runs a second cell from the end to the start.
Read next: ``recurrence.py``, where one layer runs over time.
"""

from __future__ import annotations

import warnings
from typing import Any

from autodiff_kit.core.observer import installed
from autodiff_kit.creation import empty, zeros
from autodiff_kit.errors import error
from autodiff_kit.functions import cat, stack
from autodiff_kit.nn import functional as F
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.parameter import Parameter
from autodiff_kit.nn.recurrence import CELLS, State, run
from autodiff_kit.nn.rnn_cells import draw_evenly
from autodiff_kit.nn.utils.rnn import PackedSequence
from autodiff_kit.outside import only_default
from autodiff_kit.tensor import Tensor

__all__ = ["GRU", "LSTM", "RNN"]


class RNNBase(Module):
    """What RNN, LSTM and GRU have in common.

    Parameters
    ----------
    mode : {"RNN_TANH", "RNN_RELU", "LSTM", "GRU"}
    input_size, hidden_size : int
        Features of the input and of the state.
    num_layers : int
        Each layer after the first one reads the outputs of the layer before.
    bias : bool
    batch_first : bool
        Whether input and output have shape (n, length, features), else (length, n, features).
    dropout : float
        Probability with which outputs of all layers but the last become 0, in training.
    bidirectional : bool
        Whether each layer also runs from the end to the start; outputs stand side by side.
    proj_size : int
        0: PyTorch can also project the state of an LSTM to another size.

    TypeError or ValueError for numbers out of range.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        only_default("nn.LSTM", proj_size=proj_size)
        is_number = isinstance(dropout, int | float) and not isinstance(dropout, bool)
        if not is_number or not 0 <= dropout <= 1:
            raise error("nn.rnn_dropout")
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
                f"num_layers={num_layers}",
                UserWarning,
                stacklevel=3,
            )
        for name, value in {"bias": bias, "batch_first": batch_first}.items():
            if not isinstance(value, bool):
                raise error("nn.rnn_type", name=name, expected="bool", kind=type(value).__name__)
        for name, size in {"input_size": input_size, "hidden_size": hidden_size}.items():
            if not isinstance(size, int):
                raise error("nn.rnn_type", name=name, expected="int", kind=type(size).__name__)
            if size <= 0:
                raise error("nn.rnn_size", name=name)
        if num_layers <= 0:
            raise error("nn.rnn_size", name="num_layers")
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional = float(dropout), bidirectional
        self.proj_size = proj_size
        rows = CELLS[mode].gates * hidden_size
        with installed(None):
            for layer, suffix in self._runs():
                inputs = input_size if layer == 0 else hidden_size * (1 + bidirectional)
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (rows, inputs),
                    "weight_hh": (rows, hidden_size),
                }
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                for name, shape in shapes.items():
                    parameter = Parameter(empty(shape, device=device, dtype=dtype))
                    setattr(self, f"{name}_l{layer}{suffix}", parameter)
            self.reset_parameters()

    def _runs(self) -> list[tuple[int, str]]:
        """Return the layers and directions, in the order of the states."""
        suffixes = ("", "_reverse") if self.bidirectional else ("",)
        return [(layer, suffix) for layer in range(self.num_layers) for suffix in suffixes]

    def _weights(self, layer: int, suffix: str) -> tuple[Any, ...]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return tuple(getattr(self, f"{n}_l{layer}{suffix}", None) for n in names)

    @property
    def _flat_weights_names(self) -> list[str]:
        """The names of all parameters, which learners' initializations go through."""
        return [*self._parameters]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[w for w in self._weights(*run) if w is not None] for run in self._runs()]

    def reset_parameters(self) -> None:
        """Draw all parameters evenly within 1 over the root of ``hidden_size``."""
        draw_evenly(self, self.hidden_size)

    def flatten_parameters(self) -> None:
        """Do nothing: on a GPU, PyTorch moves the parameters into one block of memory."""

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Run over the sequence.

        Parameters
        ----------
        input : Tensor, shape (length, n, input_size), see ``batch_first``, or (length, input_size)
            Or a ``PackedSequence``.
        hx : Tensor, shape (layers and directions, n, hidden_size), optional
            The state at the start, zeros if left out; for an LSTM a pair (h, c).

        Returns
        -------
        (output, hx) - the outputs of the last layer at all times, and the states of all layers at
        the end.

        Raises
        ------
        RuntimeError, ValueError
            If shapes or dtypes do not fit.
        """
        state = hx if hx is None else (hx[0], hx[1]) if self._states == 2 else (hx,)
        over: Any = self._over_packed if isinstance(input, PackedSequence) else self._over_tensor
        output, state = over(input, state)
        return output, state if self._states == 2 else state[0]

    @property
    def _states(self) -> int:
        return CELLS[self.mode].states

    def _over_tensor(self, input: Tensor, state: State | None) -> tuple[Tensor, State]:
        if input.ndim not in (2, 3):
            kind = self.mode.split("_")[0]
            end = "D tensor instead" if kind == "RNN" else "D instead"
            raise error("nn.rnn_rank", kind=kind, rank=input.ndim, end=end)
        batch = 0 if self.batch_first else 1
        is_batched = input.ndim == 3
        if not is_batched:
            input = input.unsqueeze(batch)
        if state is not None:
            self._check_ranks(state, is_batched)
            state = state if is_batched else tuple(s.unsqueeze(1) for s in state)
        self._check_input(input, 3)
        state = self._checked_state(state, input.shape[batch], input)
        steps = input.transpose(0, 1) if self.batch_first else input
        if not len(steps):
            raise error("nn.rnn_length")
        output, state = self._through_layers(steps, None, state)
        if self.batch_first:  # in place, but for LSTM: so does PyTorch
            turn = output.transpose if self.mode == "LSTM" else output.transpose_
            output = turn(0, 1)
        if not is_batched:
            output, state = output.squeeze(batch), tuple(s.squeeze(1) for s in state)
        return output, state

    def _over_packed(self, input: PackedSequence, state: Any) -> tuple[PackedSequence, State]:
        data, sizes, order, back = input
        if state is not None and order is not None:
            state = tuple(s.index_select(1, order) for s in state)
        self._check_input(data, 2)
        state = self._checked_state(state, int(sizes[0]), data)
        output, state = self._through_layers(data, sizes.tolist(), state)
        if back is not None:
            state = tuple(s.index_select(1, back) for s in state)
        return PackedSequence(output, sizes, order, back), state

    def _through_layers(
        self, input: Tensor, sizes: list[int] | None, state: State
    ) -> tuple[Tensor, State]:
        """Run one layer after the other; ``sizes``: of the steps, which stand one below another."""
        cell, states = CELLS[self.mode], []
        runs = self._runs()
        for layer in range(self.num_layers):
            outputs = []
            for index, (_, suffix) in enumerate(runs[: 1 + self.bidirectional]):
                w, u, b, c = self._weights(layer, suffix)
                number = layer * (1 + self.bidirectional) + index
                steps = F.linear(input, w, b)
                each = steps.unbind(0) if sizes is None else steps.split(sizes)
                start = tuple(s[number] for s in state)
                hidden, end = run(cell, each, start, (u, c), backward=bool(suffix))
                outputs.append(stack(hidden) if sizes is None else cat(hidden))
                states.append(end)
            input = cat(outputs, -1) if self.bidirectional else outputs[0]
            if layer < self.num_layers - 1:
                input = F.dropout(input, self.dropout, self.training)
        return input, tuple(stack(s) for s in zip(*states, strict=True))

    def _check_ranks(self, state: State, is_batched: bool) -> None:
        ranks = [s.ndim for s in state]
        if all(rank == 2 + is_batched for rank in ranks):
            return
        names, actual = "hx", f"{ranks[0]}-D tensor"
        if self._states == 2:
            names, actual = "hx and cx", f"({ranks[0]}-D, {ranks[1]}-D) tensors"
        words = "batched 3-D" if is_batched else "unbatched 2-D"
        expected = 2 + is_batched
        raise error("nn.rnn_state_rank", input=words, names=names, expected=expected, actual=actual)

    def _check_input(self, input: Tensor, rank: int) -> None:
        expected = self._weights(0, "")[0].dtype
        if input.dtype is not expected:
            raise error("nn.rnn_dtype", own=input.dtype, expected=expected)
        if input.ndim != rank:
            raise error("nn.rnn_packed_rank", expected=rank, rank=input.ndim)
        if input.shape[-1] != self.input_size:
            raise error("nn.rnn_input", expected=self.input_size, size=input.shape[-1])

    def _checked_state(self, state: State | None, count: int, input: Tensor) -> State:
        shape = (len(self._runs()), count, self.hidden_size)
        if state is None:
            with installed(None):
                return (zeros(shape, dtype=input.dtype),) * self._states
        for i, s in enumerate(state):
            if s.shape != shape:
                place = f"[{i}]" if self._states == 2 else ""
                raise error("nn.rnn_state", place=place, expected=shape, actual=list(s.shape))
        return state

    def extra_repr(self) -> str:
        """Return the sizes, and what differs from the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        for name, value in {**usual, "bidirectional": False}.items():
            if getattr(self, name) != value:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(RNNBase):
    """A recurrent network: ``h = tanh(W x + U h + b)`` at every time, or ``relu``.

    For the parameters see ``RNNBase``; ``nonlinearity`` is "tanh" or "relu", else ValueError.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise error("nn.rnn_nonlinearity", name=nonlinearity)
        mode = f"RNN_{nonlinearity.upper()}"
        options = num_layers, bias, batch_first, dropout, bidirectional
        super().__init__(mode, input_size, hidden_size, *options, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """A recurrent network with long short-term memory: its state is (h, c).

    For the parameters see ``RNNBase``.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = num_layers, bias, batch_first, dropout, bidirectional, proj_size
        super().__init__("LSTM", input_size, hidden_size, *options, device=device, dtype=dtype)


class GRU(RNNBase):
    """A recurrent network of gated recurrent units; for the parameters see ``RNNBase``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = num_layers, bias, batch_first, dropout, bidirectional
        super().__init__("GRU", input_size, hidden_size, *options, device=device, dtype=dtype)


for _layer in (RNN, LSTM, GRU):  # PyTorch's take all but their kind from there
    _layer.__init__.__qualname__ = "RNNBase.__init__"
