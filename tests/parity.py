"""PyTorch as the oracle: there, or skipped with a reason, or required."""

import importlib
import importlib.util
import os
from typing import Any

import pytest

VERSION = "2.13.0"  # what the kit is a subset of; other versions print and fail otherwise
IS_LEFT_OUT = False  # conftest.py sets it for a run with -m "not parity"


def require_torch() -> Any:
    """Return PyTorch; call it at the top of a test module, which is skipped where it is missing.

    With ``ADK_REQUIRE_PARITY=1`` a missing or other PyTorch is a failure.
    """
    if importlib.util.find_spec("torch") is None:
        reason = 'needs PyTorch: pip install -e ".[parity]"'
    else:
        torch = _imported()
        if torch.__version__.split("+")[0] == VERSION:
            return torch
        reason = f"needs PyTorch {VERSION}, found {torch.__version__}"
    if os.environ.get("ADK_REQUIRE_PARITY") == "1":
        pytest.fail(f"ADK_REQUIRE_PARITY=1, but the test {reason}", pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def torch_if_there() -> Any:
    """Return PyTorch; None where it is missing or another one, and in a run that leaves it out.

    With ``ADK_REQUIRE_PARITY=1`` a missing or other PyTorch is a failure.
    """
    if IS_LEFT_OUT:
        return None
    if os.environ.get("ADK_REQUIRE_PARITY") == "1":
        return require_torch()
    if importlib.util.find_spec("torch") is None:
        return None
    torch = _imported()
    return torch if torch.__version__.split("+")[0] == VERSION else None


def _imported() -> Any:
    """Import PyTorch; ``manual_seed`` then seeds the processor and the devices that are there.

    For each that is missing it would keep the seed with the text of the whole stack, which takes
    longer than most samples, and never lets go of it.
    """
    torch = importlib.import_module("torch")
    for device in (torch.cuda, torch.xpu, torch.mtia):
        if not device.is_available():
            device.manual_seed_all = _seed_nothing
    return torch


def _seed_nothing(seed: int) -> None:
    """Stand for the seeding of a device that is missing."""
