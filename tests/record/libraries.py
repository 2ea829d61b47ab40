"""The same cell, recorded on the kit and on real PyTorch; who needs this is skipped without it."""

from typing import Any

import pytest

import autodiff_kit as ak
from autodiff_kit.record import Recording
from tests.parity import require_torch
from tests.record.cells import cell

torch = require_torch()
LIBRARIES = pytest.mark.parametrize("library", [ak, torch], ids=["kit", "torch"])

X = "x = torch.tensor(3., requires_grad=True)\n"
V = "x = torch.tensor([1., 2.], requires_grad=True)\n"


def recorded(source: str, library: Any = torch, **space: Any) -> Recording:
    space |= {"torch": library}
    try:
        with ak.record(library) as rec:
            cell(source, space)
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
        assert rec.error is not None
    assert rec.note is None
    return rec


def both(source: str) -> tuple[Recording, Recording]:
    return recorded(source, ak), recorded(source)
