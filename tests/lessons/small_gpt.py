"""The small GPT as a module for the kit's tensors, or for PyTorch's."""

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from autodiff_kit.lessons.programs import small_gpt


def program_with(torch: Any) -> Any:
    """Return the program that uses the kit or PyTorch."""
    return small_gpt if torch.__name__ == "autodiff_kit" else _with_pytorch()


@cache
def _with_pytorch() -> Any:
    source = Path(small_gpt.__file__).read_text(encoding="utf-8")
    source, count = re.subn(r"^import autodiff_kit as torch$", "import torch", source, flags=re.M)
    source, more = re.subn(r"^from autodiff_kit import", "from torch import", source, flags=re.M)
    assert (count, more) == (1, 1)
    scope: dict[str, Any] = {"__name__": "program", "__file__": small_gpt.__file__}
    exec(compile(source, "small_gpt with PyTorch", "exec"), scope)
    return SimpleNamespace(**scope)
