"""Building documentation with Sphinx, in one process for several builders: it imports once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "documentation"
CONF = 'extensions = ["autodiff_kit.sphinxext", "myst_parser"]\nexclude_patterns = ["_build"]\n'

_PROGRAM = """
import json, sys
from sphinx.cmd.build import main
sys.exit(max(main(words) for words in json.loads(sys.argv[1])))
"""


def build(source: Path, out: Path, *builders: str, options: tuple[str, ...] = ()) -> str:
    """Build the documents of a folder with some builders; return what Sphinx warns of.

    Each writes into a folder of its own name in ``out``. As with ``-W``, a warning counts as a
    failure: then the text ends with the status.
    """
    calls = [
        ["-q", "-W", "--keep-going", *options, "-b", builder, str(source), str(out / builder)]
        for builder in builders
    ]
    process = subprocess.run(
        [sys.executable, "-c", _PROGRAM, json.dumps(calls)],
        cwd=source,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return process.stderr + f"status {process.returncode}" * bool(process.returncode)


def write(folder: Path, **documents: str) -> Path:
    """Write a project: ``index="..."`` is ``index.rst``, ``two_md="..."`` is ``two.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    documents.setdefault("conf_py", CONF)
    for name, text in documents.items():
        stem, _, kind = name.partition("_")
        (folder / f"{stem}.{kind or 'rst'}").write_text(text, encoding="utf-8")
    return folder
