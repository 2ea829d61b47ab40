"""Words that the field does not use for its things, and the field's words for them.

``python -m tests.language`` prints where the package, its messages, the lessons, the exercises and
the documents use one; it is a part of the lint step.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

# What is not written, and what is written instead.
WORDS = {
    r"\bway back\b|\bway forward\b|\bthe way that was taken\b": "path; backward pass; branch",
    r"\b(?:what|that) comes back\b": "the gradient flowing into the node",
    r"\bhand(?:s|ed|ing)? (?:on|to|back)\b|\bsen(?:ds?|t) back\b": "passes on, passes to, returns",
    r"\bwhole (?:numbers?|dtypes?)\b": "integer, integer dtype",
    r"\bwith a rest\b": "remainder",
    r"\bfirst values\b": "initialization, initial values",
    r"\bnumbers (?:to learn|that are learn(?:t|ed))\b": "parameters",
    r"\bmade small\b": "the loss",
    r"\bstep size\b": "learning rate",
    r"\bgradients that are too long\b": "gradient norm, clipping",
    r"\bshare of a normal\b": "standard normal CDF",
    r"\bendless": "infinite",
    r"\bmemory of (?:its|their) own\b|\ba memory\b": "storage",
    r"\blet(?:s|ting)? go\b|\bgives? back\b": "frees, releases",
    r"\bkeeps? (?:\w+ )?for (?:the )?backward": "saves for backward",
    r"\bno ordinary number": "non-finite value",
    r"\bnodes of operations\b": "operation nodes",
    r"\bone number of many\b": "reduces to one number",
    r"\btak(?:es?|ing) away\b": "subtracting",
    r"\bmend(?:s|ed|ing)?\b": "fix, fixes, fixed",
    r"\bin print\b|\bas printed there\b": "as published",
    r"\bour sources?\b": "the article's title",
    r"\b(?:whoever|somebody|nobody)\b": "name who: you, the code, a caller, PyTorch",
    r"\bpieces? of (?:code|text|an answer|a formula)\b": "snippet, part, expression",
    r"\bnumbers of \d bytes\b": "4-byte floats",
}

# Where a word stands for something else.
# (its file or folder, what its line holds)
EXCEPTIONS: frozenset[tuple[str, str]] = frozenset(
    {
        ("autodiff_kit/lessons/bank/lesson_03.py", 'key="03.mend"'),  # in learners' progress files
        ("notebooks/03_the_backward_pass.ipynb", 'predict("03.mend")'),
        ("notebooks/10_building_and_training.ipynb", "written by hand on paper"),
    }
)


def files() -> list[Path]:
    """Return the files whose words are looked at."""
    package = ROOT / "autodiff_kit"
    kinds = (".py", ".toml", ".js", ".mjs", ".css", ".html")
    paths = [path for path in package.rglob("*") if path.suffix in kinds]
    paths += [*ROOT.glob("*.md"), ROOT / "exercises/README.md"]
    paths += [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/source/*.ipynb")]
    paths += ROOT.glob("exercises/checks/*/checks.py")
    return sorted(path for path in paths if not path.is_relative_to(package / "outside"))


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file; those of a notebook are what its cells' sources say."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return text.splitlines()


def homemade_in(line: str) -> list[tuple[str, str]]:
    """Return the homemade words in a line, each with the field's word for it."""
    return [
        (match[0], instead)
        for pattern, instead in WORDS.items()
        for match in re.finditer(pattern, line, re.IGNORECASE)
    ]


def homemade() -> Iterator[tuple[str, str, str]]:
    """Yield each place, the word there, and the field's word for it."""
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        lines = lines_of(path)
        if not homemade_in("\n".join(lines)):
            continue  # most files; line by line takes ten times as long
        for number, line in enumerate(lines, start=1):
            if any(name.startswith(file) and text in line for file, text in EXCEPTIONS):
                continue
            for word, instead in homemade_in(line):
                yield f"{name}:{number}", word, f"{instead}    | {line.strip()}"


def main() -> int:
    """Print each homemade word with its place; return how many there are, at most 1."""
    places = list(homemade())
    for place, word, instead in places:
        print(f"{place}: {word!r} -> {instead}")
    return min(len(places), 1)


if __name__ == "__main__":
    sys.exit(main())
