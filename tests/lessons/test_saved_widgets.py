"""What a save may not lose: the widgets of outputs that are still in the notebook."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autodiff_kit.lessons.saved_widgets import STATE, VIEW, keep_widgets


def widget(**state: Any) -> dict[str, Any]:
    return {"model_name": "AnyModel", "model_module": "anywidget", "state": state}


def notebook(models: list[str], widgets: dict[str, Any] | None) -> dict[str, Any]:
    """A notebook with one output for each of these ids, and these widgets."""
    outputs = [{"output_type": "display_data", "data": {VIEW: {"model_id": i}}} for i in models]
    outputs.append({"output_type": "stream", "name": "stdout", "text": "words"})
    metadata = {} if widgets is None else {"widgets": {STATE: {"state": widgets}}}
    cells = [{"cell_type": "markdown", "source": ""}, {"cell_type": "code", "outputs": outputs}]
    return {"cells": cells, "metadata": metadata}


@pytest.fixture
def save(tmp_path: Path) -> Any:
    """Save a notebook over another one, ``save(before, now)``; return the widgets it has then."""

    def saved(before: Any, now: dict[str, Any]) -> dict[str, Any]:
        if before is not None:
            (tmp_path / "mine.ipynb").write_text(json.dumps(before))
        model = {"type": "notebook", "content": now}
        manager = SimpleNamespace(root_dir=str(tmp_path))
        keep_widgets(model=model, path="/mine.ipynb", contents_manager=manager)
        return dict(now["metadata"].get("widgets", {}).get(STATE, {}).get("state", {}))

    return saved


@pytest.mark.parametrize("now", [{}, None], ids=["none of them lives", "no widgets at all"])
def test_widgets_that_are_shown_are_stored_again(save: Any, now: Any) -> None:
    board, layout = widget(layout="IPY_MODEL_l", rows=[{"a": "IPY_MODEL_p"}]), widget()
    before = notebook(["b"], {"b": board, "l": layout, "p": widget(), "other": widget()})

    assert save(before, notebook(["b"], now)) == {"b": board, "l": layout, "p": widget()}


def test_what_links_two_of_them_is_stored_again(save: Any) -> None:
    link = widget(source=["IPY_MODEL_a", "step"], target=["IPY_MODEL_b", "step"])
    half = widget(source=["IPY_MODEL_a", "step"], target=["IPY_MODEL_gone", "step"])
    before = notebook(["a", "b"], {"a": widget(), "b": widget(), "link": link, "half": half})

    assert set(save(before, notebook(["a", "b"], {}))) == {"a", "b", "link"}


def test_a_widget_that_lives_is_stored_as_it_is_now(save: Any) -> None:
    before = notebook(["a", "b"], {"a": widget(step=1), "b": widget(step=1)})
    now = notebook(["a", "b"], {"a": widget(step=2)})

    assert save(before, now) == {"a": widget(step=2), "b": widget(step=1)}


def test_widgets_of_outputs_that_are_gone_go_with_them(save: Any) -> None:
    assert save(notebook(["old"], {"old": widget()}), notebook(["new"], {})) == {}
    assert save(notebook(["old"], {"old": widget()}), notebook([], {})) == {}


@pytest.mark.parametrize("before", [None, "no notebook", {"cells": []}])
def test_over_a_file_without_widgets_the_notebook_is_saved_as_it_is(save: Any, before: Any) -> None:
    assert save(before, notebook(["a"], {"b": widget()})) == {"b": widget()}


def test_saved_under_a_new_name_a_notebook_takes_its_widgets_along(
    save: Any, tmp_path: Path
) -> None:
    (tmp_path / "damaged.ipynb").write_text("{")
    first = notebook(["a"], {"a": widget(), "b": widget()})
    (tmp_path / "first.ipynb").write_text(json.dumps(first))

    assert save(None, notebook(["a"], {})) == {"a": widget()}


def test_what_is_no_notebook_is_left_alone(tmp_path: Path) -> None:
    for model in ({"type": "file", "content": "text"}, {"type": "directory"}):
        before = dict(model)
        keep_widgets(model, "a.txt", SimpleNamespace(root_dir=str(tmp_path)))
        assert model == before
