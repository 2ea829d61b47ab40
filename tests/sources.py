"""The package's own sources, for tests that look at what is written in them."""

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "autodiff_kit"
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def parse(source: str) -> ast.Module:
    """Return what Python reads in a source, to be looked at only: it is parsed once for all."""
    return ast.parse(source)


def name_of(path: Path) -> str:
    """Return the name that a module is imported by."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
