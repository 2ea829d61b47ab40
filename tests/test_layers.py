"""The layer rule: nothing points back, and the core needs nothing but NumPy.

``widgets -> view -> record -> core``; an arrow means "may import". The rule is read from the
sources, so that an import hidden in a function counts as much as one at the top.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.layers import (
    FLOORS,
    floor_of,
    graph,
    imports,
    violations,
)
from tests.rows import for_each
from tests.sources import MODULES, PACKAGE, name_of, parse

TESTS = PACKAGE.parent / "tests"


@for_each("path", MODULES, ids=name_of)
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    source = path.read_text(encoding="utf-8")

    faults = violations(name_of(path), source, is_package=path.name == "__init__.py")

    assert faults == []


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
        ("autodiff_kit.ops.arithmetic", "from ..core import node"),
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


def test_importing_the_kit_loads_nothing_that_is_heavy_or_slow() -> None:
    heavy = ["IPython", "anywidget", "click", "ipywidgets", "matplotlib", "rich", "torch"]
    slow = ["importlib.abc", "tempfile", "threading"]
    parts = ("autograd.engine", "record", "view", "widgets", "lessons", "cli")
    rows = [path for path in (PACKAGE / "ops").glob("*.py") if "\n@op(" in path.read_text("utf-8")]
    ops_by_need = {f"ops.{path.stem}" for path in rows} - {"ops.arithmetic"}
    names = {*heavy, *slow, *(f"autodiff_kit.{name}" for name in (*parts, *ops_by_need))}
    code = "import sys, numpy; before = set(sys.modules); import autodiff_kit\n"
    code += f"print(sorted({names} & sys.modules.keys() - before))"

    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
    )

    assert process.stdout.strip() == "[]"


# -- tests -----------------------------------------------------------------------------------------


def imported_test_modules(source: str) -> set[str]:
    """Return the test modules of which a source imports something."""
    names = {name for name, _, _ in imports("", source, True)}
    nodes = [node for node in ast.walk(parse(source)) if isinstance(node, ast.ImportFrom)]
    names |= {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}
    return {match[0] for name in names if (match := re.match(r"tests\.([a-z_]+\.)*test_\w+", name))}


def test_what_test_modules_share_stands_beside_them() -> None:
    files = [path for path in TESTS.rglob("*.py") if "node_modules" not in path.parts]
    faults = {path.name: imported_test_modules(path.read_text("utf-8")) for path in files}

    assert {name: modules for name, modules in faults.items() if modules} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from tests.ops.test_every_op import REFUSED",
        "from tests.ops import test_every_op",
        "import tests.ops.test_every_op as every_op",
        "def f():\n    from tests.ops.test_every_op import REFUSED",
    ],
)
def test_an_import_of_a_test_module_is_found(source: str) -> None:
    assert imported_test_modules(source) == {"tests.ops.test_every_op"}


# -- names ---------------------------------------------------------------------------------------


def private_names(module: str, source: str) -> list[str]:
    """Return the private names of other files that a source uses."""
    tree = parse(source)
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    own = [
        (n, a)
        for n in nodes
        if n.level or (n.module or "").startswith("autodiff_kit")
        for a in n.names
    ]
    modules = {a.asname or a.name for n, a in own if is_file(f"{n.module}.{a.name}")}
    faults = [f"{module}:{n.lineno}: {a.name}" for n, a in own if is_private(a.name)]
    faults += [
        f"{module}:{node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and is_private(node.attr)
        if isinstance(node.value, ast.Name) and node.value.id in modules
    ]
    return faults


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_file(name: str) -> bool:
    place = PACKAGE.parent.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


def test_private_names_stay_in_their_file() -> None:
    faults = [
        name for path in MODULES for name in private_names(name_of(path), path.read_text("utf-8"))
    ]

    assert faults == []


@pytest.mark.parametrize(
    "source",
    [
        "from autodiff_kit.methods.storage import _converter",
        "from autodiff_kit.methods.storage import _converter as converter",
        "from autodiff_kit.methods import storage\nstorage._converter",
        "from .storage import _converter",
    ],
)
def test_a_private_name_of_another_file_is_found(source: str) -> None:
    assert len(private_names("autodiff_kit.tensor", source)) == 1


def test_a_file_has_one_idea_and_no_more_than_460_lines() -> None:
    lines = {name_of(path): path.read_text("utf-8").count("\n") for path in MODULES}

    assert {name: count for name, count in lines.items() if count > 460} == {}


# Where code is made of text: it is derived from the source that is read, or it is the learner's.
MAKES_CODE = {
    "core.positions": "rules by position, as a namedtuple makes its methods",
    "core.specialise": "fast twins of functions, derived from their source",
    "ops.fast": "ops on the fast path, derived from ops/apply.py",
    "sphinxext.running": "the author's",
    "static": "the program that a trace is",
    "widgets.batching": "the learner's",
    "widgets.beside": "the learner's",
    "widgets.calls": "a call as the learner would write it",
    "widgets.memory": "a run as the learner would write it",
}


# They run beside submissions, and have built-in functions of their own.
SEALED = ("grading.child", "grading.namespace", "grading.seal", "grading.wire")


def made_by(path: Path) -> set[str]:
    """Return by which of eval, exec and globals a file makes code or names, if it may not."""
    module = name_of(path).removeprefix("autodiff_kit.")
    calls = [n for n in ast.walk(parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)]
    names = {n.func.id for n in calls if isinstance(n.func, ast.Name)}
    if module in MAKES_CODE or module.startswith("grading."):  # it runs submissions
        names -= {"eval", "exec"}
    if module in SEALED:
        names -= {"globals"}
    return names & {"eval", "exec", "globals"}


def test_no_names_are_made_by_eval_or_globals() -> None:
    assert {name_of(path): made_by(path) for path in MODULES if made_by(path)} == {}


def imported_for_types(path: Path) -> set[str]:
    """Return the modules of which a package imports something under TYPE_CHECKING."""
    checks = [
        node
        for node in parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return {
        name for check in checks for name, _, _ in imports("", ast.unparse(check), is_package=True)
    }


def test_what_is_loaded_later_is_known_to_editors_and_mypy() -> None:
    from autodiff_kit.function_files import FILES

    own = {"__init__", "declared"}
    files = {path.stem for path in (PACKAGE / "functions").glob("*.py")} - own
    at_once = {t for t in graph()["autodiff_kit.ops"] if t.startswith("autodiff_kit.ops.")}
    files_of_ops = {p for p in (PACKAGE / "ops").glob("*.py") if "@op(" in p.read_text("utf-8")}
    others = {"autodiff_kit.ops.layouts", "autodiff_kit.ops.table"}  # which these import
    later = {name_of(p) for p in files_of_ops} - others

    assert files == FILES.keys()
    assert {f"autodiff_kit.functions.{name}" for name in files} <= imported_for_types(
        PACKAGE / "__init__.py"
    )
    assert later <= at_once
    assert {"autodiff_kit.autograd.function", "autodiff_kit.autograd.gradcheck"} <= (
        imported_for_types(PACKAGE / "autograd" / "__init__.py")
    )


@for_each("module", [m for m in map(name_of, MODULES) if floor_of(m) < len(FLOORS)])
def test_a_module_of_the_core_imports_nothing_from_a_floor_above_its_own(module: str) -> None:
    own = floor_of(module)

    assert {t for t in graph()[module] if floor_of(t) > own} == set()


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("autodiff_kit.core.node", "from ..ops.apply import apply"),
        ("autodiff_kit.ops.arithmetic", "def f():\n    from ..autograd import engine"),
        ("autodiff_kit.autograd.engine", "if TYPE_CHECKING:\n    from ..tensor import Tensor"),
        ("autodiff_kit.views", "import_module('autodiff_kit.creation')"),
    ],
)
def test_the_floors_refuse(module: str, source: str) -> None:
    (target,) = {target for target, _, _ in imports(module, source, is_package=False)}

    assert floor_of(target) > floor_of(module)


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the circles of a graph: sets of modules that all lead to one another (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    knots: list[set[str]] = []

    def visit(module: str) -> None:
        order[module] = low[module] = len(order)
        stack.append(module)
        for target in graph.get(module, ()):
            if target not in order:
                visit(target)
            if target in stack:
                low[module] = min(low[module], low[target])
        if low[module] == order[module]:
            circle = set(stack[stack.index(module) :])
            del stack[stack.index(module) :]
            if len(circle) > 1:
                knots.append(circle)

    for module in graph:
        if module not in order:
            visit(module)
    return knots


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(graph()) == []


def test_a_circle_is_found_also_by_an_import_inside_of_a_function_and_for_a_type() -> None:
    sources = {
        "a": "def f():\n    import b",
        "b": "if TYPE_CHECKING:\n    from c import C",
        "c": "from importlib import import_module\nimport_module('a')",
        "d": "import a",
    }
    graph = {m: {t for t, _, _ in imports(m, s, False)} for m, s in sources.items()}

    assert circles(graph) == [{"a", "b", "c"}]


FIRST = """
core.base core.node_hooks core.view_nodes from_data ops.several views methods.makers
autograd.accumulate autograd.graph tensor
"""


def test_a_module_of_the_core_can_be_the_first_import() -> None:
    # The face imports all of the core itself: without it, as if it were empty.
    code = f"""
import importlib, sys, types
for first in {FIRST.split()}:
    for name in [name for name in sys.modules if name.startswith("autodiff_kit")]:
        del sys.modules[name]
    face = sys.modules["autodiff_kit"] = types.ModuleType("autodiff_kit")
    face.__path__ = [{str(PACKAGE)!r}]
    importlib.import_module(f"autodiff_kit.{{first}}")
"""

    subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, check=True)


# -- what travels between layers -----------------------------------------------------------------

ANYTHING = re.compile(r"\b(?:dict|Mapping|MutableMapping)\[str, (?:typing\.)?Any\]")
ALIAS = re.compile(r"([A-Z]\w+) = (?:dict|Mapping)\[str, Any\]  # \w")  # of what names


def bare_dictionaries(source: str) -> list[int]:
    """Return the lines in which a dictionary of anything has neither a type nor a name."""
    return [
        number
        for number, line in enumerate(source.splitlines(), start=1)
        if ANYTHING.search(line) and not ALIAS.match(line)
    ]


@for_each("path", MODULES, ids=name_of)
def test_a_dictionary_has_a_type_or_a_name(path: Path) -> None:
    assert bare_dictionaries(path.read_text(encoding="utf-8")) == []


def test_a_bare_dictionary_is_found_wherever_it_stands() -> None:
    source = """
def f(x: dict[str, Any]) -> Mapping[str, Any] | None: ...
class A:
    y: list[dict[str, Any]]
z: dict[str, Any] = {}
B = dict[str, Any]
Names = dict[str, Any]  # of a program
"""
    assert bare_dictionaries(source) == [2, 4, 5, 6]


def test_an_alias_of_a_dictionary_is_made_once() -> None:
    lines = [line for path in MODULES for line in path.read_text(encoding="utf-8").splitlines()]
    names = [match[1] for line in lines if (match := ALIAS.match(line))]

    assert sorted(names) == sorted(set(names))
