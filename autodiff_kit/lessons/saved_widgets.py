"""Keep the widgets of a notebook through any number of openings, restarts and saves.

After reading this file you can say why a Stepper can still be stepped through weeks later.
JupyterLab saves the widgets that have a kernel, and no others: a notebook that is opened again and
saved without a run, or saved after a restart of its kernel, would lose them all. ``autodiff-kit
lab`` loads this file into its Jupyter server (``jupyter_config/jupyter_server_config.d``). Read
next: ``cards.py``.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autodiff_kit.free_form import Json

__all__ = ["keep_widgets"]

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
_REFERENCE = "IPY_MODEL_"


def keep_widgets(model: Json, path: str, contents_manager: Any, **_: Any) -> None:
    """Add to a notebook that is about to be saved the widgets that only its file has.

    Parameters
    ----------
    model : dict
        What Jupyter's contents manager saves; a notebook's ``metadata`` is changed in place.
    path : str
        Where to, from the server's folder on.
    contents_manager : jupyter_server.services.contents.manager.ContentsManager
    """
    if model.get("type") != "notebook" or not model.get("content"):
        return
    notebook = model["content"]
    visible_ids = set(_shown(notebook))
    if not visible_ids:
        return
    in_file = _stored(Path(contents_manager.root_dir, path.strip("/")))
    live = _models(notebook)
    missing_ids = _needed(visible_ids - live.keys(), in_file)
    if missing_ids:
        models = {**{name: in_file[name] for name in sorted(missing_ids)}, **live}
        state = {"version_major": 2, "version_minor": 0, "state": models}
        notebook.setdefault("metadata", {}).setdefault("widgets", {})[STATE] = state


def _stored(file: Path) -> Json:
    """Return the widgets in a notebook's file; under a new name, those in the files beside it."""
    widgets: Json = {}
    for each in [file] if file.exists() else sorted(file.parent.glob("*.ipynb")):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # it has nothing to lose
            widgets |= _models(json.loads(each.read_bytes()))
    return widgets


def _shown(notebook: Json) -> Iterator[str]:
    """Return the ids of the widgets that a notebook's outputs show."""
    for cell in notebook.get("cells", ()):
        for output in cell.get("outputs", ()):
            view = output.get("data", {}).get(VIEW)
            if view:
                yield view["model_id"]


def _models(notebook: Json) -> Json:
    """Return the widgets stored in a notebook, by their ids."""
    widgets = notebook.get("metadata", {}).get("widgets", {})
    return dict(widgets.get(STATE, {}).get("state", {}))


def _needed(ids: set[str], widgets: Json) -> set[str]:
    """Return the stored widgets of these ids, what they consist of, and what links them."""
    result: set[str] = set()
    waiting = ids & widgets.keys()
    references = {name: set(_references(widget)) for name, widget in widgets.items()}
    while waiting:
        result |= waiting
        parts = set[str]().union(*(references[name] for name in waiting))
        links = {name for name, both in references.items() if both and both <= result}
        waiting = ((parts | links) & widgets.keys()) - result
    return result


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value.startswith(_REFERENCE):
        yield value.removeprefix(_REFERENCE)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _references(part)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    server.contents_manager.register_pre_save_hook(keep_widgets)
