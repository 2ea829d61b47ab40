"""The layer rule: nothing points back, and the core needs nothing but NumPy.

``widgets -> view -> record -> core``; an arrow means "may import". The rule is read from the
sources, so that an import hidden in a function counts as much as one at the top.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "autodiff_kit"
MODULES = sorted(PACKAGE.rglob("*.py"))

# "face" is `autodiff_kit/__init__.py` itself; modules not named here are the core.
CORE = {"core", "errors", "files"}
MAY_IMPORT = {
    "errors": {"errors"},
    "files": {"files"},
    "core": CORE,
    "nn": CORE | {"nn", "face"},
    "optim": CORE | {"optim", "nn", "face"},
    "utils": CORE | {"utils", "face"},
    "static": CORE | {"static", "face"},
    "subset": CORE | {"subset", "nn", "optim", "utils", "face"},
    "record": CORE | {"record", "face"},
    "view": {"errors", "files", "record", "view"},
    "widgets": CORE | {"face", "record", "static", "view", "widgets"},
    "lessons": CORE | {"face", "record", "view", "widgets", "lessons"},
    "grading": CORE | {"face", "record", "grading"},
    "cli": CORE | {"face", "record", "view", "widgets", "lessons", "grading", "cli"},
    "face": CORE | {"nn", "optim", "utils", "static", "face"},
}
FACE_MAY_LOAD_LATER = {"record", "view", "widgets", "grading"}
JUPYTER = {"IPython", "anywidget", "ipywidgets", "matplotlib", "numpy", "traitlets"}
OTHERS = {  # packages besides the standard library and ourselves
    "errors": set[str](),
    "view": {"numpy"},
    "widgets": JUPYTER,
    "lessons": JUPYTER | {"nbclient", "nbformat"},
    "grading": {"numpy", "click", "dask", "distributed", "rich"},
    "cli": {"click", "rich", "jupyterlab", "jupyter_core"},
}


def layer_of(module: str) -> str:
    parts = module.split(".")
    if len(parts) == 1:
        return "face"
    if parts[1] == "__main__":  # python -m autodiff_kit
        return "cli"
    return parts[1] if parts[1] in MAY_IMPORT else "core"


def imports(module: str, source: str, is_package: bool) -> Iterator[tuple[str, int, bool]]:
    """Yield (absolute name, line, is inside a function) of everything a source imports."""
    home = module if is_package else module.rpartition(".")[0]

    def walk(node: ast.AST, inside: bool) -> Iterator[tuple[str, int, bool]]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno, inside
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = home.split(".")[: len(home.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                # `from autodiff_kit import record` names a module, `... import zeros` does not.
                name = f"{base}.{alias.name}"
                yield (name if is_module(name) else base), node.lineno, inside
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("importlib.import_module", "import_module", "__import__")
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            name = node.args[0].value
            yield (f"{home}{name}" if name.startswith(".") else name), node.lineno, inside
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    yield from walk(ast.parse(source), False)


def violations(module: str, source: str, is_package: bool = False) -> list[str]:
    layer = layer_of(module)
    found = []
    for name, line, inside in imports(module, source, is_package):
        top = name.split(".")[0]
        if top == "autodiff_kit":
            target = layer_of(name)
            allowed = set(MAY_IMPORT[layer])
            if layer == "face" and inside:
                allowed |= FACE_MAY_LOAD_LATER
            if target not in allowed:
                found.append(f"{module}:{line}: {layer} may not import {name} ({target})")
        elif top not in sys.stdlib_module_names and top not in OTHERS.get(layer, {"numpy"}):
            found.append(f"{module}:{line}: {layer} may not import {top}")
    return found


def is_module(name: str) -> bool:
    if layer_of(name) not in ("core", "face"):
        return True
    place = PACKAGE.parent.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    source = path.read_text(encoding="utf-8")

    found = violations(name_of(path), source, is_package=path.name == "__init__.py")

    assert found == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("autodiff_kit.tensor", "import autodiff_kit.record"),
        ("autodiff_kit.tensor", "from autodiff_kit import record"),
        ("autodiff_kit.tensor", "from . import record"),
        ("autodiff_kit.tensor", "from .record import recording"),
        ("autodiff_kit.ops.arithmetic", "from ..view.svg import still_svg"),
        ("autodiff_kit.ops.arithmetic", "from .. import widgets"),
        ("autodiff_kit.autograd.engine", "def f():\n    from autodiff_kit.record import record"),
        ("autodiff_kit.autograd.engine", "import importlib\nimportlib.import_module('rich')"),
        ("autodiff_kit.autograd.engine", "if TYPE_CHECKING:\n    import autodiff_kit.nn"),
        ("autodiff_kit.tensor", "import matplotlib"),
        ("autodiff_kit.tensor", "import autodiff_kit"),
        ("autodiff_kit.view.scene", "from autodiff_kit.tensor import Tensor"),
        ("autodiff_kit.view.scene", "from autodiff_kit import zeros"),
        ("autodiff_kit.view.scene", "import ipywidgets"),
        ("autodiff_kit.view.scene", "from ..widgets import stepper"),
        ("autodiff_kit.record.recorder", "from autodiff_kit.view import svg"),
        ("autodiff_kit.record.recorder", "from IPython import get_ipython"),
        ("autodiff_kit.widgets.stepper", "import autodiff_kit.lessons.predict"),
        ("autodiff_kit.lessons.library", "import click"),
        ("autodiff_kit.errors", "import numpy"),
    ],
)
def test_the_rule_refuses(module: str, source: str) -> None:
    assert len(violations(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "autodiff_kit.tensor",
            "from __future__ import annotations\nimport numpy as np\nimport os",
        ),
        ("autodiff_kit.tensor", "from .ops.table import op"),
        ("autodiff_kit.ops.arithmetic", "from ..autograd import node"),
        ("autodiff_kit.record.recorder", "from ..tensor import Tensor"),
        ("autodiff_kit.view.scene", "from ..record.recording import Recording"),
        ("autodiff_kit.widgets.stepper", "import anywidget\nfrom autodiff_kit.view import page"),
        ("autodiff_kit.lessons.predict", "import ipywidgets\nfrom autodiff_kit import zeros"),
        ("autodiff_kit.cli", "import click, rich"),
    ],
)
def test_the_rule_allows(module: str, source: str) -> None:
    assert violations(module, source) == []


def test_the_face_may_load_widgets_later_but_not_at_once() -> None:
    later = "def __getattr__(name):\n    from autodiff_kit import widgets"
    at_once = "from autodiff_kit import widgets"

    assert violations("autodiff_kit", later, is_package=True) == []
    assert len(violations("autodiff_kit", at_once, is_package=True)) == 1


def test_importing_the_kit_loads_no_widget_plotting_or_terminal_package() -> None:
    heavy = ["IPython", "anywidget", "click", "ipywidgets", "matplotlib", "rich", "torch"]
    own = [f"autodiff_kit.{name}" for name in ("record", "view", "widgets", "lessons", "cli")]
    code = f"import sys, autodiff_kit; print([m for m in {heavy + own} if m in sys.modules])"

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "[]"
