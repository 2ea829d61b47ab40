"""What the README says is tried out: its example runs, and every path in it is there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
READING_ORDER = re.findall(r"^\d+\. `(.+?)`", README, flags=re.MULTILINE)


def run(example: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "example.py").write_text(example)
    return subprocess.run(
        [sys.executable, "example.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_prints_what_its_comment_says(tmp_path: Path) -> None:
    (expected,) = re.findall(r"^print.*# (.+)$", EXAMPLES[0], flags=re.MULTILINE)

    process = run(EXAMPLES[0], tmp_path)

    assert (process.stdout, process.stderr) == (expected + "\n", "")
    assert (tmp_path / "steps.html").is_file()


def test_the_example_of_a_lab_runs_and_answers(tmp_path: Path) -> None:
    (example,) = [example for example in EXAMPLES if "autodiff_kit.widgets" in example]
    lab = example.strip().split("\n")[-1]

    process = run(example + f"\nprint({lab})", tmp_path)

    assert process.stderr == ""
    # x * x * x * x at 2, and 4 x^3; what each lab shows: tests/widgets/test_examples.py.
    assert process.stdout.startswith(
        "ControlFlow(The answer is 16.0, with x.grad 32.0. Line 7: h > 0"
    )


@pytest.mark.parametrize("path", READING_ORDER)
def test_a_file_of_the_reading_order_is_there(path: str) -> None:
    assert (ROOT / path).is_file()


def test_every_picture_of_the_readme_is_there() -> None:
    pictures = re.findall(r"!\[.*?\]\((.+?)\)", README)

    assert [picture for picture in pictures if not (ROOT / picture).is_file()] == []


def test_the_strip_of_steps_is_what_the_kit_draws_now():
    from tests.readme_pictures import FOLDER, strip

    assert (FOLDER / "steps.svg").read_text(encoding="utf-8") == strip()
