"""What is still missing of something new: ``python -m tests.missing op exp2``.

Also ``layer Linear``, ``lab Slope``, ``lesson 03`` and ``exercise 04.accumulate``. Each line is a
part, where it belongs, and whether it is there; the last one says what to run next.
"""

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Part = tuple[bool, str, str]  # whether it is there, what it is, and in which file


def op(name: str) -> Iterator[Part]:
    """Yield the parts of an op with its function and its method."""
    import autodiff_kit
    from autodiff_kit.core.op import OPS
    from autodiff_kit.ops import load_all
    from tests.ops import samples

    load_all()
    found = OPS.get(name)
    home = found.forward.__module__.split(".")[-1] if found else "FILE"
    yield found is not None, "the block @op(...)", f"autodiff_kit/ops/{home}.py"
    if found is not None:
        rules = ", ".join(found.rules) or "none: no gradient"
        yield True, f"backward rules: {rules}", f"autodiff_kit/ops/{home}.py"
        try:
            has_sample = bool(samples.INSTEAD.get(name) or samples.default(found))
        except KeyError:
            has_sample = False
        yield has_sample, "inputs for the generic tests", "tests/ops/samples.py"
    names = pytorch()
    for kind, there in (("function", autodiff_kit), ("method", autodiff_kit.Tensor)):
        if name in names["torch" if kind == "function" else "torch.Tensor"]:
            where = "autodiff_kit/functions/ and function_files.py"
            yield hasattr(there, name), f"the {kind}, which PyTorch has", where
    if f"{name}_" in names["torch.Tensor"]:
        has_it = hasattr(autodiff_kit.Tensor, f"{name}_")
        yield has_it, "the in-place method", "autodiff_kit/function_files.py, _IN_PLACE"


def layer(name: str) -> Iterator[Part]:
    """Yield the parts of a layer or loss."""
    from autodiff_kit import nn

    there = getattr(nn, name, None)
    yield name in pytorch()["torch.nn"], "the name is PyTorch's", "torch.nn"
    yield there is not None, "the class, in its file's __all__", "autodiff_kit/nn/"
    yield bool(there and there.__doc__), "its docstring", "autodiff_kit/nn/"
    yield name in nn.__all__, "its file in the list of files", "autodiff_kit/nn/__init__.py"
    yield mentions("tests/nn", rf"\bnn\.{name}\b"), "a line beside PyTorch's", "tests/nn/"


def lab(name: str) -> Iterator[Part]:
    """Yield the parts of a lab."""
    from autodiff_kit import widgets

    there = getattr(widgets, name, None)
    example = bool(there) and ">>>" in (there.__doc__ or "")
    row = re.search(rf"^\| `{name}\(", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    yield there is not None, "the class", "autodiff_kit/widgets/"
    yield name in widgets.__all__, "its name in __all__", "autodiff_kit/widgets/__init__.py"
    yield example, "an example in its docstring", "autodiff_kit/widgets/"
    yield row is not None, "its row in the table of labs", "README.md"
    yield mentions("tests/widgets", rf"\b{name}\b"), "its tests", "tests/widgets/"


def lesson(number: str) -> Iterator[Part]:
    """Yield the parts of a lesson."""
    notebook = next((ROOT / "notebooks").glob(f"{number}_*.ipynb"), None)
    bank = ROOT / "autodiff_kit" / "lessons" / "bank" / f"lesson_{number}.py"
    proofs = ROOT / "tests" / "lessons" / "proofs" / f"lesson_{number}.py"
    yield bank.is_file(), "title and questions", shown(bank)
    yield notebook is not None, "the notebook, run", f"notebooks/{number}_NAME.ipynb"
    yield proofs.is_file(), "the code behind every answer", shown(proofs)
    if notebook is not None:
        text = notebook.read_text("utf-8")
        keys = re.findall(rf'"({number}\.\w+)"', bank.read_text("utf-8")) if bank.is_file() else []
        for key in dict.fromkeys(keys):
            yield key in text, f"the question {key} is asked", shown(notebook)
            if proofs.is_file():
                yield key in proofs.read_text("utf-8"), f"the proof of {key}", shown(proofs)
        before = f"{int(number) - 1:02}"
        for path in (ROOT / "notebooks").glob(f"{before}_*.ipynb"):
            yield (
                notebook.name in path.read_text("utf-8"),
                "the link from the last one",
                shown(path),
            )


def exercise(key: str) -> Iterator[Part]:
    """Yield the parts of an exercise, and what `verify` finds under ten seeds."""
    from autodiff_kit.grading.course import open_course
    from autodiff_kit.grading.exercise import ExerciseError
    from autodiff_kit.grading.release import build
    from autodiff_kit.grading.verify import verify

    name = f"e{key.replace('.', '_')}"
    checks = ROOT / "exercises" / "checks" / name
    for file in ("exercise.toml", "checks.py", "messages.toml", "mutants.toml", "alternatives"):
        yield (checks / file).exists(), file, shown(checks)
    source, release = (
        ROOT / "exercises" / k / name / f"{name}.ipynb" for k in ("source", "release")
    )
    yield source.is_file(), "the notebook with its solution", shown(source)
    try:
        course = open_course(ROOT / "exercises")
        (verdict,) = verify(course, 10, [key])
    except ExerciseError as error:
        yield False, str(error), shown(checks)
        return
    for problem in (*verdict.problems, *verdict.survivors):
        yield False, problem, shown(checks)
    is_new = release.is_file() and release.read_bytes() == build(source.read_bytes())
    yield is_new, "the learner's notebook: autodiff-kit build --course exercises", shown(release)


def pytorch() -> dict[str, list[str]]:
    """Return PyTorch's public names by their place."""
    path = ROOT / "autodiff_kit" / "outside" / "names.toml"
    return {k: names.split() for k, names in tomllib.loads(path.read_text("utf-8")).items()}


def mentions(folder: str, pattern: str) -> bool:
    """Tell whether a file of a folder has the pattern."""
    files = (path for kind in ("*.py", "*.ipynb") for path in (ROOT / folder).rglob(kind))
    return any(re.search(pattern, path.read_text("utf-8")) for path in files)


def shown(path: Path) -> str:
    """Return a path as it is seen from the checkout."""
    return path.relative_to(ROOT).as_posix()


KINDS: dict[str, tuple[Callable[[str], Iterator[Part]], str]] = {
    "op": (op, "pytest tests/ops tests/same_as_torch -k NAME"),
    "layer": (layer, "pytest tests/nn"),
    "lab": (lab, "pytest tests/widgets"),
    "lesson": (lesson, "pytest tests/lessons notebooks -k NAME"),
    "exercise": (exercise, "autodiff-kit verify NAME --course exercises"),
}


def main(arguments: list[str]) -> int:
    """Print the parts; return 1 if one is missing."""
    if len(arguments) != 2 or arguments[0] not in KINDS:
        print(f"usage: python -m tests.missing {{{','.join(KINDS)}}} NAME")
        return 2
    kind, name = arguments
    parts_of, tests = KINDS[kind]
    parts = list(parts_of(name))
    for is_there, what, where in parts:
        print(f"{'  there  ' if is_there else 'MISSING  '}{what}  ({where})")
    print(f"Then: {tests.replace('NAME', name)}")
    return 0 if all(is_there for is_there, _, _ in parts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
