"""The layers of the package and the floors of its core, and what its modules import."""

import ast
import sys
from collections.abc import Iterator
from functools import cache

from tests.sources import MODULES, PACKAGE, name_of, parse

# "face" is `autodiff_kit/__init__.py` itself; modules not named here are the core.
CORE = {"core", "errors", "files", "late", "lazy"}
MAY_IMPORT = {
    "errors": {"errors"},
    "files": {"files"},
    "html_page": {"html_page"},
    "late": {"late"},
    "lazy": {"lazy"},
    "core": CORE,
    "nn": CORE | {"nn", "face"},
    "optim": CORE | {"optim", "nn", "face"},
    "utils": CORE | {"utils", "face"},
    "static": CORE | {"static", "face"},
    "subset": CORE | {"subset", "nn", "optim", "utils", "face"},
    "record": CORE | {"record", "face"},
    "view": {"errors", "files", "html_page", "record", "view"},
    "widgets": CORE | {"face", "record", "static", "view", "widgets"},
    "lessons": CORE | {"face", "nn", "record", "view", "widgets", "lessons"},
    "grading": CORE | {"face", "html_page", "record", "view", "grading"},
    "puzzles": CORE | {"face", "record", "view", "widgets", "lessons", "grading", "puzzles"},
    "site": CORE | {"face", "record", "lessons", "grading", "site"},
    "sphinxext": {"face", "record", "sphinxext", "view"},
    "cli": CORE | {"face", "record", "view", "widgets", "lessons", "grading", "site", "cli"},
    "face": CORE | {"nn", "optim", "utils", "static", "face"},
}
FACE_MAY_LOAD_LATER = {"record", "view", "widgets", "lessons", "grading"}
JUPYTER = {"IPython", "anywidget", "ipywidgets", "matplotlib", "numpy", "traitlets"}
OTHERS = {  # packages besides the standard library and ourselves
    "errors": set[str](),
    "html_page": set[str](),
    "late": set[str](),
    "lazy": set[str](),
    "view": {"contourpy", "numpy"},
    "widgets": JUPYTER,
    "lessons": JUPYTER | {"nbclient", "nbformat"},
    "grading": {"numpy", "click", "dask", "distributed", "ipywidgets", "rich"},
    "puzzles": JUPYTER,
    "site": {
        *(
            "click",
            "jupyter_core",
            "jupyterlite_pyodide_kernel",
            "nbformat",
            "packaging",
            "playwright",
        ),
    },
    "sphinxext": {"docutils", "sphinx"},
    "cli": {"click", "rich", "jupyterlab", "jupyter_core"},
}


def layer_of(module: str) -> str:
    parts = module.split(".")
    if len(parts) == 1:
        return "face"
    if parts[1] == "__main__":  # python -m autodiff_kit
        return "cli"
    return parts[1] if parts[1] in MAY_IMPORT else "core"


@cache
def imports(module: str, source: str, is_package: bool) -> list[tuple[str, int, bool]]:
    """Return (absolute name, line, is inside a function) of everything a source imports."""
    home = module if is_package else module.rpartition(".")[0]
    has_calls = "import_module" in source or "__import__" in source

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
            if has_calls or not isinstance(child, ast.expr):
                yield from walk(child, inside)

    return list(walk(parse(source), False))


def violations(module: str, source: str, is_package: bool = False) -> list[str]:
    layer = layer_of(module)
    faults = []
    for name, line, inside in imports(module, source, is_package):
        top = name.split(".")[0]
        if top == "autodiff_kit":
            target = layer_of(name)
            allowed = set(MAY_IMPORT[layer])
            if layer == "face" and inside:
                allowed |= FACE_MAY_LOAD_LATER
            if target not in allowed:
                faults.append(f"{module}:{line}: {layer} may not import {name} ({target})")
        elif top not in sys.stdlib_module_names and top not in OTHERS.get(layer, {"numpy"}):
            faults.append(f"{module}:{line}: {layer} may not import {top}")
    return faults


@cache
def is_module(name: str) -> bool:
    place = PACKAGE.parent.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


# The floors inside the core, from below. A module may import its own floor and those below it;
# in what belongs to no floor, and so stands above them all, `face` is `autodiff_kit/__init__.py`.
FLOORS = [
    (
        "what has no graph",
        {"dtypes", "errors", "files", "free_form", "function_files", "in_place_ops"}
        | {"late", "lazy", "outside"},
    ),
    ("what a call may look like", {"calls", "signature_texts", "signatures"}),
    ("core: what a graph is", {"core"}),
    ("arrays: made of data, and where they lie", {"from_data", "overlap", "random"}),
    ("ops: the op table", {"ops"}),
    ("around memory", {"views"}),
    ("what may be given to a tensor", {"operands", "return_types", "sizes"}),
    (
        "what a tensor can do",
        {"assignment", "inplace", "methods", "printing"},
    ),
    ("how a gradient flows", {"autograd"}),
    ("the tensor", {"tensor"}),
]
# Of `autograd`, what a learner uses on tensors: it stands above the tensor.
ABOVE = {"anomaly", "function", "function_node", "functional", "gradcheck", "graph", "variable"}


def floor_of(module: str) -> int:
    """Return the number of a module's floor; what has none is above them all."""
    parts = module.split(".")
    name = parts[1] if len(parts) > 1 else ""
    if name == "autograd" and (len(parts) == 2 or parts[2] in ABOVE):
        return len(FLOORS)
    return next((i for i, (_, names) in enumerate(FLOORS) if name in names), len(FLOORS))


@cache
def graph() -> dict[str, set[str]]:
    """Return what each module imports: at the top, in functions, by name, for types.

    Through a package's face (``__init__.py`` without definitions) the module behind it is meant.
    """
    edges: dict[str, set[str]] = {}
    for path in MODULES:
        module, source = name_of(path), path.read_text(encoding="utf-8")
        targets = imports(module, source, is_package=path.name == "__init__.py")
        edges[module] = {t for t, _, _ in targets if t.split(".")[0] == "autodiff_kit"} - {module}
    return edges
