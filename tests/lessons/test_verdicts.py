"""The table at the end of the course says what the lessons found, of every claim."""

import json
from pathlib import Path

import pytest

from autodiff_kit.lessons.verdicts import Verdict, verdicts
from tests.parity import VERSION

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("[0-9]*.ipynb"))


def write(folder: Path, name: str, text: str) -> None:
    cells = [{"cell_type": "markdown", "source": text.splitlines(True)}]
    (folder / name).write_text(json.dumps({"cells": cells}))


def test_rows_of_a_table_about_an_article_are_verdicts_and_others_are_not(tmp_path: Path) -> None:
    table = "| the article says | what you saw | where |\n| --- | --- | --- |\n"
    rows = "| *a* | **Yes**, so. | A |\n| `b` | **No.** | A |\n| c | **Yes.** | A |\n"
    rows += "| d | **If x.** | B |\n"
    other = "\n| name | value |\n| --- | --- |\n| e | **Yes.** |\n"
    write(tmp_path, "03_x.ipynb", f"# T\n\n{table}{rows}{other}")
    write(tmp_path, "notes.ipynb", table + rows)

    table_of = verdicts(tmp_path)

    assert [(v.claim, v.kind) for v in table_of] == [
        ("*a*", "holds"),
        ("`b`", "does not hold"),
        ("c", "holds"),
        ("d", "in part"),
    ]
    assert table_of[0] == Verdict("03", "*a*", "**Yes**, so.", "holds", "A")
    assert repr(table_of) == "4 claims: 2 hold, 1 hold in part, 1 do not hold"
    assert "><code>b</code></td>" in table_of._repr_html_()
    assert "<strong>No.</strong>" in table_of._repr_html_()


def test_each_row_names_the_section_whose_experiment_decides() -> None:
    sections: dict[str, dict[str, bool]] = {}  # lesson -> heading -> whether code stands below it
    for path in NOTEBOOKS:
        headings = sections.setdefault(path.name[:2], {})
        heading = ""
        for cell in json.loads(path.read_text())["cells"]:
            for line in "".join(cell["source"]).split("\n"):
                if cell["cell_type"] == "markdown" and line.startswith("## "):
                    heading = line[3:]
                    headings[heading] = False
            if cell["cell_type"] == "code" and heading:
                headings[heading] = True

    for verdict in verdicts():
        if verdict.where == f"PyTorch {VERSION} itself":
            continue  # run by test_pytorch_said.py
        lesson, colon, heading = verdict.where.removeprefix("lesson ").partition(": ")
        where = (
            (lesson, heading) if colon and lesson.isdecimal() else (verdict.lesson, verdict.where)
        )
        assert where[0] <= verdict.lesson or verdict.lesson == "01", verdict
        has_experiment = sections[where[0]][where[1]]
        assert has_experiment or where == ("07", "The same functions in PyTorch"), verdict


def test_a_row_without_a_verdict_is_told(tmp_path: Path) -> None:
    write(
        tmp_path,
        "03_x.ipynb",
        "| an article says | what | where |\n| --- | --- | --- |\n| a | perhaps | A |\n",
    )

    with pytest.raises(ValueError, match="begins with one in bold"):
        verdicts(tmp_path)
