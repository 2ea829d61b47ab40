"""The files of a site: what learners get, and what the pages say."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from autodiff_kit.grading.learner import for_lessons
from autodiff_kit.lessons import library
from autodiff_kit.site import SiteError
from autodiff_kit.site.contents import KERNELSPEC, title_of, write_contents
from autodiff_kit.site.first_look import first_looks
from autodiff_kit.site.pages import Lesson, write_pages


def notebook(path: Path, *sources: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [
        {"cell_type": "markdown" if s.startswith("#") else "code", "source": s, "metadata": {}}
        for s in sources
    ]
    data = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(data))


def test_learners_get_all_lessons_and_exercises_without_outputs(tmp_path: Path) -> None:
    exercises = for_lessons()
    lessons = write_contents(tmp_path, exercises)

    names = [path.name for path in lessons]
    assert names == sorted(path.name for path in library.find().glob("*.ipynb"))
    notebooks = list(tmp_path.rglob("*.ipynb"))
    assert len(notebooks) == len(names) + len(exercises)
    for path in notebooks:
        data = json.loads(path.read_text(encoding="utf-8"))
        assert data["metadata"]["kernelspec"] == KERNELSPEC
    for path in lessons:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not [cell for cell in cells if cell.get("outputs")]
    assert not list(tmp_path.rglob(".*"))


def test_a_teachers_own_notebooks_come_first_with_what_lies_beside_them(tmp_path: Path) -> None:
    course = tmp_path / "my course"
    notebook(course / "1 Slopes.ipynb", "# Slopes", "x = 1")
    (course / "data.csv").write_text("1,2")
    (course / ".hidden").write_text("secret")
    (course / "helpers").mkdir()
    (course / "helpers" / "__init__.py").write_text("")
    notebook(course / "public" / "files" / "00.ipynb", "# An older site")
    site = course / "public"
    lessons = write_contents(tmp_path / "files", {}, course, without=site)

    assert lessons[0].relative_to(tmp_path / "files").as_posix() == "my course/1 Slopes.ipynb"
    assert title_of(lessons[0]) == "Slopes"
    assert {p.name for p in lessons[0].parent.iterdir()} == {
        "1 Slopes.ipynb",
        "data.csv",
        "helpers",
    }


def test_the_first_look_shows_its_program(tmp_path: Path) -> None:
    (page,) = first_looks([tmp_path / "a.ipynb"], tmp_path, tmp_path / "looks").values()
    text = (tmp_path / "looks" / page).read_text(encoding="utf-8")

    assert "<pre>" in text
    assert "z = 4 * (2 * x + 3) - 1" in text
    assert str(tmp_path) not in text


def test_a_course_without_notebooks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "course").mkdir()

    with pytest.raises(SiteError, match="There is no notebook in"):
        write_contents(tmp_path / "files", {}, tmp_path / "course")


def test_a_notebook_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "course").mkdir()
    (tmp_path / "course/broken.ipynb").write_text("{")

    with pytest.raises(SiteError, match=r"broken\.ipynb is no notebook that can be read"):
        write_contents(tmp_path / "files", {}, tmp_path / "course")


class Tags(HTMLParser):
    """What a page consists of: its tags with their attributes, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_titles_cannot_become_markup(tmp_path: Path) -> None:
    title = '</script><script>alert("x")</script>'
    write_pages(tmp_path, title, [Lesson("a b.ipynb", title, "first.html")], [], [])

    for name in ("index.html", "lesson.html"):
        page = Tags((tmp_path / name).read_text(encoding="utf-8"))
        scripts = [attributes for tag, attributes in page.tags if tag == "script"]
        assert all(a.get("src") or a["type"] == "application/json" for a in scripts)
    home = Tags((tmp_path / "index.html").read_text(encoding="utf-8"))
    links = [a["href"] for tag, a in home.tags if tag == "a" and "lesson.html" in str(a["href"])]
    assert links == ["lesson.html?path=a%20b.ipynb"] * 2
    assert title in home.texts


def test_the_pages_load_nothing_from_elsewhere(tmp_path: Path) -> None:
    write_pages(tmp_path, "Graphs", [Lesson("a.ipynb", "00 Start", "first.html")], [], [])

    for name in ("index.html", "lesson.html"):
        page = Tags((tmp_path / name).read_text(encoding="utf-8"))
        addresses = [a.get("src") or a.get("href") for _, a in page.tags]
        assert not [address for address in addresses if address and "//" in address]
