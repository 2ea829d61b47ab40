"""What is still missing of something new: ``python -m tests.missing op exp2``.

Also ``layer Linear``, ``lab Slope``, ``lesson 03`` and ``exercise 04.accumulate``. Each line is a
part, where it belongs, and whether it is there; the last one says what to run next.
"""

import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Part = tuple[bool, str, str]  # whether it is there, what it is, and in which file


def op(name: str) -> Iterator[Part]:
    """Yield the parts of an op with its function and its method."""
    import autodiff_kit
    from autodiff_kit.core.op import OPS
    from autodiff_kit.function_files import FILE_OF
    from autodiff_kit.ops import load_all

    load_all()
    row = OPS.get(name)
    home = row.forward.__module__.split(".")[-1] if row else "FILE"
    yield row is not None, "the block @op(...)", f"autodiff_kit/ops/{home}.py"
    names = pytorch()
    if row is not None:
        public = import_module(row.forward.__module__).__all__
        rules = ", ".join(row.rules) or "none: no gradient"
        yield row.forward.__name__ in public, "its name in __all__", f"autodiff_kit/ops/{home}.py"
        yield True, f"backward rules: {rules}", f"autodiff_kit/ops/{home}.py"
        yield from inputs_of(row)
        yield from text_of(row)
    if name in names["torch"]:
        file = FILE_OF.get(name)
        where = f"autodiff_kit/functions/{file or 'FILE'}.py"
        yield file is not None, "its row in the table", "autodiff_kit/function_files.py"
        if file is not None:
            public = import_module(f"autodiff_kit.functions.{file}").__all__
            yield name in public, "the function's name in __all__", where
        if row is not None:
            yield from calls_of(row, where)
    for method in (name, f"{name}_"):
        if method in names["torch.Tensor"]:
            is_same = method == name
            where = "function_files.py, _NO_METHODS" if is_same else "in_place_ops.py"
            where = f"autodiff_kit/{where}"
            yield hasattr(autodiff_kit.Tensor, method), f"the method {method}", where


def inputs_of(row: Any) -> Iterator[Part]:
    """Yield whether the generic tests have inputs for an op."""
    from tests.ops import samples

    problem = problem_of(lambda: samples.samples(row))
    yield not problem, "inputs for the generic tests" + problem, "tests/ops/samples.py"


def text_of(row: Any) -> Iterator[Part]:
    """Yield whether NumPy computes what the text of an op says: the generic tests' value."""

    def compute() -> None:
        from tests.ops.expected import expected  # which needs samples of all ops
        from tests.ops.samples import samples

        expected(row, samples(row)[0])

    problem = problem_of(compute)
    what = "its text is NumPy's, or has an entry in WITH_NUMPY"
    yield not problem, what + problem, "tests/ops/expected.py"


def calls_of(row: Any, where: str) -> Iterator[Part]:
    """Yield whether the function named as an op works, and does what PyTorch's does."""
    import numpy as np

    import autodiff_kit
    from tests.ops import calls, samples

    if row.name in calls.APART:
        return
    try:
        every = samples.samples(row)
    except KeyError:
        return  # which has been said
    what = f"torch.{row.name} can be called"
    problem = problem_of(lambda: [calls.called(autodiff_kit, row, s) for s in every])
    yield not problem, what + problem, where
    if problem or not find_spec("torch"):
        return
    torch = import_module("torch")

    def compare() -> None:
        for sample in every:
            values = [calls.called(kit, row, sample) for kit in (autodiff_kit, torch)]
            ours, theirs = (v[0] if isinstance(v, tuple | list) else v for v in values)
            assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1], "dtype"
            np.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=1e-9)

    problem = problem_of(compare)
    yield not problem, "and gives what PyTorch's gives" + problem, where


def problem_of(call: Callable[[], Any]) -> str:
    """Return what goes wrong in a call, to be printed behind what it should show; "" if nothing."""
    try:
        call()
    except Exception as error:  # all that new code can do
        lines = [line for line in str(error).splitlines() if line.strip()]
        return f" - {type(error).__name__}: {' '.join(lines[:3])}"
    return ""


def layer(name: str) -> Iterator[Part]:
    """Yield the parts of a layer or loss, of the functions it calls, and of the ops behind it."""
    import autodiff_kit
    from autodiff_kit import nn
    from autodiff_kit.core.op import OPS
    from autodiff_kit.nn import functional
    from autodiff_kit.ops import load_all
    from tests.nn.layers import LAYERS, program
    from tests.same_as_torch.outcomes import run, run_both

    there = getattr(nn, name, None)
    yield name in pytorch()["torch.nn"], "the name is PyTorch's", "torch.nn"
    yield there is not None, "the class, in its file's __all__", "autodiff_kit/nn/"
    yield bool(there and there.__doc__), "its docstring", "autodiff_kit/nn/"
    yield name in nn.__all__, "its file in the list of files", "autodiff_kit/nn/__init__.py"
    for function in functions_of(there) if there else ():
        where = "autodiff_kit/nn/functional_*.py, __all__ there"
        is_public = function in functional.__all__ and hasattr(functional, function)
        yield is_public, f"the function F.{function}", where
    load_all()
    for row in OPS.values():  # one of them may be new: only what lacks something is of interest
        for part in inputs_of(row):
            if not part[0]:
                yield part[0], f"op {row.name}: {part[1]}", part[2]
    cases = [case for case in LAYERS if case.startswith(f"nn.{name}(")]
    has_line = bool(cases) or mentions("tests/nn", rf"\bnn\.{name}\b")
    yield has_line, "a line beside PyTorch's", "tests/nn/layers.py"
    torch = import_module("torch") if find_spec("torch") else None
    for case in cases:
        error = run(autodiff_kit, program(case)).raised
        yield error is None, f"{case} - {': '.join(error or ('works',))}", "autodiff_kit/nn/"
        if error is None and torch is not None:
            problem = problem_of(partial(run_both, torch, program(case)))
            yield not problem, f"{case} - is as PyTorch's{problem}", "autodiff_kit/nn/"


def functions_of(kind: Any) -> list[str]:
    """Return which functions ``F.NAME`` a class of layers calls, in its own text."""
    return sorted(set(re.findall(r"\bF\.(\w+)\(", inspect.getsource(kind))))


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
    "layer": (layer, "pytest tests/nn tests/ops"),
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
