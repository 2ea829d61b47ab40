"""Recurrent cells: one step of an RNN, LSTM or GRU, for loops that you write yourself.

After reading this file you know that a cell takes an input and the state and returns the next
state, and which shapes it takes. Read next: ``rnn.py``, which runs cells over whole sequences.
"""

from __future__ import annotations

import math
from typing import Any

from autodiff_kit.core.observer import installed
from autodiff_kit.creation import empty, zeros
from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn import init
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.parameter import Parameter
from autodiff_kit.nn.recurrence import CELLS, State
from autodiff_kit.tensor import Tensor

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "draw_evenly"]


def draw_evenly(module: Module, hidden_size: int) -> None:
    """Draw all parameters of a layer evenly within 1 over the root of ``hidden_size``."""
    bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNCellBase(Module):
    """One step: input of shape ((n,) input_size), state of shape ((n,) hidden_size)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, mode: str, device: Any, dtype: Any
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        self._mode, rows = mode, CELLS[mode].gates * hidden_size
        shapes = {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size)}
        with installed(None):
            for name, shape in shapes.items():
                self.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)))
            for name in ("bias_ih", "bias_hh"):
                parameter = Parameter(empty(rows, device=device, dtype=dtype)) if bias else None
                self.register_parameter(name, parameter)
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters evenly within 1 over the root of ``hidden_size``."""
        draw_evenly(self, self.hidden_size)

    def _step(self, input: Tensor, state: Any) -> State:
        cell, kind = CELLS[self._mode], type(self).__name__
        if input.ndim not in (1, 2):
            raise error("nn.cell_rank", kind=kind, what="input", rank=input.ndim)
        for i, s in enumerate(state or ()):
            if s.ndim not in (1, 2):
                what = f"hx[{i}]" if cell.states == 2 else "hidden"
                raise error("nn.cell_rank", kind=kind, what=what, rank=s.ndim)
        is_batched = input.ndim == 2
        rows = input if is_batched else input.unsqueeze(0)
        if state is None:
            with installed(None):
                state = (zeros(len(rows), self.hidden_size, dtype=input.dtype),) * cell.states
        elif not is_batched:
            state = tuple(s.unsqueeze(0) for s in state)
        if rows.shape[1] != self.input_size:
            raise error("nn.cell_input", size=rows.shape[1], expected=self.input_size)
        for i, s in enumerate(state):
            if len(s) != len(rows):
                raise error("nn.cell_batch", n=len(rows), place=i, m=len(s))
            if s.shape[1] != self.hidden_size:
                raise error("nn.cell_state", place=i, size=s.shape[1], expected=self.hidden_size)
        parts = [
            (rows, self.weight_ih, self.bias_ih),
            (state[0], self.weight_hh, self.bias_hh),
        ]
        if self._mode == "GRU":  # as in PyTorch; it shows in the order in which leaves are complete
            from_input, from_state = (F.linear(*part) for part in parts)
        else:
            from_state, from_input = (F.linear(*part) for part in parts[::-1])
        out = cell.step(from_input, from_state, state)
        return out if is_batched else tuple(s.squeeze(0) for s in out)

    def extra_repr(self) -> str:
        """Return the sizes, and what differs from the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        for name, value in {"bias": True, "nonlinearity": "tanh"}.items():
            own = self.__dict__.get(name, value)
            text += "" if own == value else f", {name}={own}"
        return text


class RNNCell(RNNCellBase):
    """One step of an ``RNN``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        mode = "RNN_RELU" if nonlinearity == "relu" else "RNN_TANH"
        super().__init__(input_size, hidden_size, bias, mode, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state; it begins with zeros."""
        if self.nonlinearity not in ("relu", "tanh"):
            raise error("nn.cell_nonlinearity", name=self.nonlinearity)
        return self._step(input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of an ``LSTM``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, "LSTM", device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the next state (h, c); it begins with zeros."""
        h, c = self._step(input, hx)
        return h, c


class GRUCell(RNNCellBase):
    """One step of a ``GRU``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, "GRU", device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state; it begins with zeros."""
        return self._step(input, None if hx is None else (hx,))[0]
