"""NumPy warns of nothing in the kit, and warns as before outside of it; whatever NumPy it is."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import warnings
warnings.simplefilter("error")
import numpy as np
{before}
import autodiff_kit as torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = (1 / x + (x - 2).log()).sum()  # inf, and nan
y.backward()
x.grad.div_(0.0)
print(y.item(), x.grad.tolist(), sorted(set(np.geterr().values())))
try:
    np.ones(1) / 0
except RuntimeWarning as warning:
    print(warning)
"""
# What a NumPy would be like that does not keep its settings by context: as before 2.0, by thread.
BY_THREAD = """
import threading
class Settings(threading.local):
    now = np.geterr()
settings = Settings()
seterr, geterr = np.seterr, np.geterr
class errstate:
    def __init__(self, all): self.all = all
    def __enter__(self): self.before = numpy_seterr(all=self.all)
    def __exit__(self, *exc): numpy_seterr(**self.before)
def numpy_seterr(all=None, **kinds):
    before = settings.now
    settings.now = dict.fromkeys(before, all) if all else {**before, **kinds}
    seterr(**settings.now)
    return before
np.seterr, np.geterr, np.errstate = numpy_seterr, lambda: dict(settings.now), errstate
"""


def run(before: str) -> list[str]:
    code = PROGRAM.replace("{before}", before)
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return process.stdout.splitlines()


@pytest.mark.parametrize("before", ["", BY_THREAD], ids=["this NumPy", "by thread"])
def test_the_kit_divides_by_zero_without_a_warning_and_numpy_warns_outside_of_it(
    before: str,
) -> None:
    # 1/0 + 1/1 = inf, log(-2) = nan; -1/0**2 and 1/-2 over 0: infinite
    numbers, settings, warning = "nan [-inf, -inf]", "['ignore', 'warn']", "divide by zero"

    first, last = run(before)

    assert first == f"{numbers} {settings}"
    assert warning in last


def test_a_backward_pass_in_which_a_hook_fails_leaves_numpys_settings_as_they_were() -> None:
    import autodiff_kit as torch

    def fail(_: Any) -> None:
        raise ValueError

    x = torch.tensor(0.0, requires_grad=True)
    y = 1 / x
    y.register_hook(fail)

    with np.errstate(divide="raise"):
        before = np.geterr()
        with pytest.raises(ValueError):
            y.backward()

        assert np.geterr() == before
