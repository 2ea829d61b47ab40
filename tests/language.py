"""Words that the field does not use for its things, and names that do not say what a thing is.

``python -m tests.language`` prints where the package, its messages, the lessons, the exercises and
the documents use such a word, with the field's word for it, and where the package, the exercises
and the tests have such a name. It is a part of the lint step.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.sources import parse

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
    r"\b[a-z]_bar\b": "x.grad; grad of y; dL/dx",
    r"\bturn(?:s|ed|ing)? (?:the |a |its )?(?:controls?|sliders?|knobs?)\b": "change, set",
}
ANY_WORD = re.compile("|".join(f"(?:{pattern})" for pattern in WORDS), re.IGNORECASE)

# Where a word stands for something else.
# (its file or folder, what its line holds)
EXCEPTIONS: frozenset[tuple[str, str]] = frozenset(
    {
        ("autodiff_kit/lessons/bank/lesson_03.py", 'key="03.mend"'),  # in learners' progress files
        ("notebooks/03_the_backward_pass.ipynb", 'predict("03.mend")'),
        ("notebooks/12_building_and_training.ipynb", "written by hand on paper"),
    }
)

# Participles that are no names: ``found`` says how the code came to a thing, not what it is.
PARTICIPLES = frozenset(
    {"asked", "brought", "found", "given", "gone", "got", "heard", "held", "kept", "made", "met"}
    | {"noted", "said", "seen", "shown", "told", "wanted", "worded"}
)

# The file or folder and the participle, where it is the name of the thing in the field.
NAMES: frozenset[tuple[str, str]] = frozenset(
    {
        ("autodiff_kit/grading/", "given"),  # "given code": what an exercise brings along
        ("autodiff_kit/puzzles/performing.py", "told"),  # a trait that the browser reads
        ("autodiff_kit/view/perform/walk.py", "asked"),  # a key in learners' files of results
    }
)


def files() -> list[Path]:
    """Return the files whose words are looked at."""
    package = ROOT / "autodiff_kit"
    kinds = (".py", ".toml", ".js", ".mjs", ".css", ".html")
    paths = [path for path in package.rglob("*") if path.suffix in kinds]
    paths += [*ROOT.glob("*.md"), ROOT / "exercises/README.md"]
    paths += [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/source/*/*.ipynb")]
    paths += ROOT.glob("exercises/checks/*/checks.py")
    paths += ROOT.glob("exercises/checks/*/*.toml")
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
        if not ANY_WORD.search("\n".join(lines)):
            continue  # most files; line by line takes far longer
        for number, line in enumerate(lines, start=1):
            if any(name.startswith(file) and text in line for file, text in EXCEPTIONS):
                continue
            for word, instead in homemade_in(line):
                yield f"{name}:{number}", word, f"{instead}    | {line.strip()}"


def sources() -> list[Path]:
    """Return the files whose names are looked at: not programs in other people's style."""
    paths = [*ROOT.glob("autodiff_kit/**/*.py"), *ROOT.glob("exercises/checks/**/*.py")]
    paths += ROOT.glob("tests/**/*.py")
    others = ("autodiff_kit/outside", "tests/same_as_torch/learners", "tests/browser/node_modules")
    return sorted(p for p in paths if not any(p.is_relative_to(ROOT / other) for other in others))


def participles_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each variable, argument or attribute that is a participle."""
    for node in ast.walk(parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                pass
            case ast.Attribute(attr=name, ctx=ast.Store()):
                pass
            case _:
                continue
        if name.strip("_") in PARTICIPLES:
            yield node.lineno, name


def cells() -> Iterator[tuple[str, str]]:
    """Yield each cell of an exercise's notebook that holds code, with its place."""
    for path in sorted(ROOT.glob("exercises/source/*/*.ipynb")):
        name = path.relative_to(ROOT).as_posix()
        for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            if cell["cell_type"] == "code":
                yield f"{name}:cell {number}", "".join(cell["source"])


def participles() -> Iterator[tuple[str, str]]:
    """Yield each place where a participle is a name, and the name."""
    for place, source in cells():
        yield from ((f"{place}:{line}", name) for line, name in participles_in(source))
    for path in sources():
        source = path.read_text(encoding="utf-8")
        if not any(word in source for word in PARTICIPLES):
            continue
        name = path.relative_to(ROOT).as_posix()
        for number, participle in participles_in(source):
            if not any(name.startswith(p) and participle == word for p, word in NAMES):
                yield f"{name}:{number}", participle


def main() -> int:
    """Print each homemade word and name with its place; return 1 if there are any, else 0."""
    lines = [f"{place}: {word!r} -> {instead}" for place, word, instead in homemade()]
    lines += [f"{place}: {name!r} -> a noun: what it is" for place, name in participles()]
    print(*lines, sep="\n", end="\n" * bool(lines))
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
