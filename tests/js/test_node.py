"""The viewer under Node's own test runner, and beside Python: both must tell the same story."""

import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.view.viewer import performing_script, script

HERE = Path(__file__).parent
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node 20 or newer")

_spec = importlib.util.spec_from_file_location("make_payload", HERE / "make_payload.py")
assert _spec and _spec.loader
make_payload = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_payload)

CODES = {
    "a loop": make_payload.CODE,
    "matrices, broadcasting and a leaf without a gradient": """\
x = tensor([[1.0, 2.0], [3.0, 4.0]])
W = tensor([[0.5, -1.0], [1.5, 2.0]], requires_grad=True)
b = tensor([0.1, 0.2], requires_grad=True)
loss = relu(x @ W + b).mean()
loss.backward()
""",
    "two backward passes, the second adding to the first": """\
x = tensor(2.0, requires_grad=True)
y = x * x
y.backward()
y = x * x * x
y.backward()
""",
    "forward only": "x = tensor(2.0)\ny = x * 3.0\n",
}


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    assert NODE
    return subprocess.run(
        [NODE, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=HERE,
        timeout=120,
        check=False,
    )


def test_the_drawing_code_passes_its_own_tests() -> None:
    files = sorted(path.name for path in HERE.glob("*.test.mjs"))

    process = run("--test", *files)

    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_browser_and_python_show_the_same_at_every_step(code: str) -> None:
    picture = make_payload.picture(code)
    payload = json.dumps(picture.payload())

    process = run("states.mjs", stdin=payload)

    assert process.returncode == 0, process.stderr
    states = json.loads(process.stdout)
    assert len(states) == len(picture.frames) > 1
    for k, nodes in enumerate(states):
        assert nodes == json.loads(json.dumps(picture.state(k)["nodes"])), f"step {k}"


def test_the_stored_payload_has_the_shape_of_those_made_today() -> None:
    """Words and pixels may differ; when this fails: python tests/js/make_payload.py."""

    def shape(payload: dict[str, Any]) -> Any:
        keys = ("phase", "kind", "node", "edge")
        frames = [([frame[key] for key in keys], sorted(frame)) for frame in payload["frames"]]
        nodes = {id: sorted(node) for id, node in payload["nodes"].items()}
        return sorted(payload), frames, nodes, payload["order"], payload["turn"]

    stored = json.loads(make_payload.FILE.read_text("utf-8"))

    assert shape(stored) == shape(make_payload.picture().payload())


@pytest.mark.parametrize("make", [script, performing_script])
def test_the_modules_of_a_viewer_are_one_that_imports_nothing(make: Callable[[], str]) -> None:
    """Joined they share one scope: no name may be given twice, or the browser refuses all."""
    text = make()

    top = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", text, flags=re.MULTILINE)
    process = run("--input-type=module", "--check", stdin=text)

    assert process.returncode == 0, process.stderr
    assert not re.search(r"^import ", text, flags=re.MULTILINE)
    exported = re.findall(r"^export (?:function )?(\w+)", text, flags=re.MULTILINE)
    assert exported == ["mount", "default"]
    assert len(top) == len(set(top))
