"""Write ``payload.json``, which the tests of the viewer draw: ``python tests/js/make_payload.py``.

A product twice in a loop, plus a leaf that is used twice: small, and yet contributions add up.
"""

import json
import linecache
from pathlib import Path
from typing import Any

from autodiff_kit.record import record
from autodiff_kit.view.scene import Picture, build

CODE = """\
x = tensor(2.0, requires_grad=True)
w = tensor(3.0, requires_grad=True)
h = x
for i in range(2):
    h = h * w  # grows by w each time
z = h + x
z.backward()
"""
FILE = Path(__file__).with_name("payload.json")


def picture(code: str = CODE) -> Picture:
    """Run some code as a notebook's cell would be run, and build its picture."""
    from autodiff_kit import relu, tensor

    linecache.cache["<cell>"] = (len(code), None, code.splitlines(keepends=True), "<cell>")
    names: dict[str, Any] = {"tensor": tensor, "relu": relu}
    with record() as recording:
        exec(compile(code, "<cell>", "exec"), names)
    return build(recording)


if __name__ == "__main__":
    text = json.dumps(picture().payload(), indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")
