from typing import Any

from tests.lessons.proofs import leaf, proves


@proves("00.slope")
def _(torch: Any) -> str:
    x = leaf(torch, 3.0)
    (x * x).backward()
    return str(x.grad)


@proves("00.task")
def _(torch: Any) -> str:
    x = leaf(torch, 5.0)
    (x * x).backward()
    return str(x.grad)
