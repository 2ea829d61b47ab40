"""The table at the end of the course says what the lessons found, of every claim."""

import json
from pathlib import Path

import pytest

from autodiff_kit.lessons.verdicts import Verdict, verdicts


def write(folder: Path, name: str, text: str) -> None:
    cells = [{"cell_type": "markdown", "source": text.splitlines(True)}]
    (folder / name).write_text(json.dumps({"cells": cells}))


def test_rows_of_a_table_about_an_article_are_verdicts_and_others_are_not(tmp_path: Path) -> None:
    table = "| the article says | what you saw |\n| --- | --- |\n"
    rows = (
        "| *a* | **Yes**, so. |\n| `b` | **No.** |\n| c | **Yes.** |\n| d | **If x.** | \n"
    ).replace("| \n", "|\n")
    other = "\n| name | value |\n| --- | --- |\n| e | **Yes.** |\n"
    write(tmp_path, "03_x.ipynb", f"# T\n\n{table}{rows}{other}")
    write(tmp_path, "notes.ipynb", table + rows)

    table_of = verdicts(tmp_path)

    assert [tuple(v)[1::2] for v in table_of] == [
        ("*a*", "holds"),
        ("`b`", "does not hold"),
        ("c", "holds"),
        ("d", "in part"),
    ]
    assert table_of[0] == Verdict("03", "*a*", "**Yes**, so.", "holds")
    assert repr(table_of) == "4 claims: 2 hold, 1 hold in part, 1 do not hold"
    assert "><code>b</code></td>" in table_of._repr_html_()
    assert "<strong>No.</strong>" in table_of._repr_html_()


def test_a_row_without_a_verdict_is_told(tmp_path: Path) -> None:
    write(tmp_path, "03_x.ipynb", "| an article says | what |\n| --- | --- |\n| a | perhaps |\n")

    with pytest.raises(ValueError, match="begins with one in bold"):
        verdicts(tmp_path)
