"""Normalised notebooks: the lesson stays, the noise goes, and twice is the same as once."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autodiff_kit.lessons import normalise
from autodiff_kit.lessons.normalise import execute, main

VIEW = "application/vnd.jupyter.widget-view+json"
SVG = "image/svg+xml"


@pytest.fixture
def noisy(tmp_path: Path) -> Path:
    """A notebook as Jupyter saves it after some work."""
    widget = {VIEW: {"model_id": "0af3"}, SVG: "<svg/>", "text/plain": "Stepper(5 ops)"}
    cells = [
        new_markdown_cell("# A lesson", metadata={"editable": True}),
        new_code_cell(
            "stepper",
            execution_count=17,
            metadata={"tags": ["raises-exception"], "execution": {"iopub.status.busy": "now"}},
            outputs=[new_output("execute_result", data=widget, execution_count=17)],
        ),
        new_code_cell(""),
        new_code_cell(
            "print(1); print(2)",
            execution_count=23,
            outputs=[
                new_output("stream", text="1\n"),
                new_output("stream", text="2\n"),
                new_output("stream", name="stderr", text="!\n"),
                new_output("display_data", data={VIEW: {"model_id": "77"}}),
            ],
        ),
    ]
    widgets = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    metadata = {
        "kernelspec": {"name": "my-env", "display_name": "My env"},
        "language_info": {"name": "python", "version": "3.11.7"},
        "widgets": widgets,
    }
    path = tmp_path / "lesson.ipynb"
    path.write_text(nbformat.writes(new_notebook(cells=cells, metadata=metadata)) + "\n\n")
    return path


@pytest.fixture
def clean(noisy: Path) -> Any:
    assert main([str(noisy)]) == 0
    return nbformat.read(noisy, as_version=4)


def test_of_the_metadata_only_the_kernel_stays(clean: Any) -> None:
    assert dict(clean.metadata) == {"kernelspec": normalise.KERNEL}
    assert clean.metadata.kernelspec.name == "python3"


def test_cells_are_numbered(clean: Any) -> None:
    assert [cell.id for cell in clean.cells] == ["cell-00", "cell-01", "cell-02", "cell-03"]


def test_of_the_cells_metadata_only_tags_stay(clean: Any) -> None:
    assert [dict(cell.metadata) for cell in clean.cells] == [
        {},
        {"tags": ["raises-exception"]},
        {},
        {},
    ]


def test_runs_are_counted_from_one_and_an_empty_cell_never_ran(clean: Any) -> None:
    assert [cell.execution_count for cell in clean.cells[1:]] == [1, None, 2]
    assert clean.cells[1].outputs[0].execution_count == 1


def test_the_widget_model_goes_and_its_picture_stays(clean: Any) -> None:
    assert clean.cells[1].outputs[0].data == {SVG: "<svg/>", "text/plain": "Stepper(5 ops)"}


def test_pieces_of_one_stream_are_joined_and_an_output_without_data_goes(clean: Any) -> None:
    outputs = clean.cells[3].outputs

    assert [(out.name, out.text) for out in outputs] == [("stdout", "1\n2\n"), ("stderr", "!\n")]


def test_the_file_ends_with_one_newline(noisy: Path, clean: Any) -> None:
    assert noisy.read_bytes().endswith(b"}\n")


def test_a_second_run_changes_no_byte(
    noisy: Path, clean: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    once = noisy.read_bytes()
    capsys.readouterr()

    assert main([str(noisy)]) == 0

    assert noisy.read_bytes() == once
    assert capsys.readouterr().out == "1 notebooks: 0 changed, 0 broken.\n"


def test_a_traceback_keeps_no_path_of_this_machine() -> None:
    lines = [
        "File \x1b[32m/home/me/autodiff_kit/autodiff_kit/tensor.py:12\x1b[39m, in mul",
        "File ~/.venv/lib/python3.12/site-packages/numpy/core.py:3, in add",
        r"File C:\Users\me\autodiff_kit\tensor.py:12",
        "RuntimeError: read about it in /usr/share/doc",
    ]
    cell = new_code_cell("1/0", outputs=[new_output("error", traceback=lines)])
    notebook = new_notebook(cells=[cell])

    normalise.normalise(notebook)

    assert notebook.cells[0].outputs[0].traceback == [
        "File \x1b[32mautodiff_kit/tensor.py:12\x1b[39m, in mul",
        "File site-packages/numpy/core.py:3, in add",
        r"File autodiff_kit\tensor.py:12",
        "RuntimeError: read about it in /usr/share/doc",
    ]


def test_check_names_the_file_and_writes_nothing(
    noisy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = noisy.read_bytes()

    assert main(["--check", str(noisy)]) == 1

    assert f"would change: {noisy}" in capsys.readouterr().out
    assert noisy.read_bytes() == before


def test_check_is_content_with_a_normalised_notebook(noisy: Path, clean: Any) -> None:
    assert main(["--check", str(noisy)]) == 0


def test_a_folder_means_its_notebooks_without_jupyters_copies(noisy: Path, clean: Any) -> None:
    leftover = noisy.parent / ".ipynb_checkpoints" / "lesson.ipynb"
    leftover.parent.mkdir()
    leftover.write_text("not even a notebook")

    assert main(["--check", str(noisy.parent)]) == 0


def test_a_folder_without_notebooks_is_fine(tmp_path: Path) -> None:
    assert main(["--check", str(tmp_path)]) == 0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', '{"nbformat": 4, "cells": [{}]}'])
def test_a_broken_notebook_is_named_and_left_as_it_is(
    noisy: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = noisy.parent / "broken.ipynb"
    broken.write_text(text)

    assert main([str(noisy.parent)]) == 1

    assert f"{broken} is not a valid notebook" in capsys.readouterr().err
    assert broken.read_text() == text


def test_the_notebooks_beside_a_broken_one_are_still_normalised(noisy: Path) -> None:
    (noisy.parent / "broken.ipynb").write_text("{")

    main([str(noisy.parent)])

    assert main(["--check", str(noisy)]) == 0


@pytest.mark.usefixtures("kernels")
def test_a_kernel_whose_port_was_taken_is_started_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = []

    def start(client: Any) -> None:
        starts.append(client)
        if len(starts) == 1:
            raise RuntimeError("Kernel died before replying to kernel_info")

    monkeypatch.setattr("nbclient.NotebookClient.execute", start)
    execute(nbformat.v4.new_notebook(), tmp_path / "a.ipynb")

    assert len({id(client) for client in starts}) == 2


def test_execute_runs_the_cells_in_the_notebooks_folder_and_twice_gives_the_same_bytes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.ipynb"
    (tmp_path / "beside.txt").write_text("seen")
    cells = [new_code_cell("text = open('beside.txt').read()"), new_code_cell("print(text); text")]
    path.write_text(nbformat.writes(new_notebook(cells=cells)))

    assert main(["--execute", str(path)]) == 0
    once = path.read_bytes()
    assert main(["--execute", str(path)]) == 0

    outputs = nbformat.read(path, as_version=4).cells[1].outputs
    assert outputs[0].text == "seen\n"
    assert outputs[1].data["text/plain"] == "'seen'"
    assert path.read_bytes() == once


@pytest.mark.usefixtures("kernels")
def test_a_notebook_that_raises_is_named_and_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "raises.ipynb"
    path.write_text(nbformat.writes(new_notebook(cells=[new_code_cell("1 / 0")])))
    before = path.read_bytes()

    assert main(["--execute", str(path)]) == 1

    error = capsys.readouterr().err
    assert f"{path} did not run to its end" in error
    assert "ZeroDivisionError" in error
    assert path.read_bytes() == before
