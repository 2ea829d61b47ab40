"""Where a site may be written, and what is said if it cannot be built."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.site import SiteError
from autodiff_kit.site import build as building
from autodiff_kit.site.build import MARK, build


@pytest.fixture(autouse=True)
def jupyterlite_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "require_jupyterlite", lambda: None)


def test_a_folder_of_something_else_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")

    with pytest.raises(SiteError, match="holds other files"):
        build(tmp_path, exercises={})
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "public").write_text("mine")

    with pytest.raises(SiteError, match="is a file"):
        build(tmp_path / "public", exercises={})


def test_a_site_stays_whole_if_the_new_one_cannot_be_built(tmp_path: Path) -> None:
    site = tmp_path / "public"
    site.mkdir()
    (site / MARK).write_text("{}")
    (site / "index.html").write_text("the old one")

    with pytest.raises(SiteError, match="no release of Pyodide"):
        build(site, exercises={}, pyodide=str(tmp_path / "nothing"))
    assert (site / "index.html").read_text() == "the old one"
    assert [path.name for path in tmp_path.iterdir()] == ["public"]


def test_what_others_put_beside_a_site_stays_when_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "public"
    site.mkdir()
    (site / MARK).write_text('{"own": ["autodiff-kit-site.json", "index.html"]}')
    (site / "index.html").write_text("the old one")
    (site / "CNAME").write_text("graphs.example")

    def built(work: Path, draft: Path, *_: object) -> None:
        draft.mkdir()
        (draft / "index.html").write_text("the new one")

    monkeypatch.setattr(building, "_build", built)
    build(site, exercises={})

    assert (site / "CNAME").read_text() == "graphs.example"
    assert (site / "index.html").read_text() == "the new one"
    assert [path.name for path in tmp_path.iterdir()] == ["public"]


@pytest.mark.parametrize("failing", range(4))
def test_what_is_there_goes_back_to_its_place_if_a_file_cannot_be_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    out, draft = tmp_path / "site", tmp_path / "draft"
    for folder, text in ((out, "old"), (draft, "new")):
        folder.mkdir()
        (folder / "index.html").write_text(text)
        (folder / MARK).write_text(json.dumps({"own": ["index.html", MARK]}))
    (out / "CNAME").write_text("address")
    (out / ".git").mkdir()
    (out / ".git/HEAD").write_text("ref")
    before = {path: path.is_file() and path.read_text() for path in sorted(out.rglob("*"))}
    rename, calls = Path.rename, iter(range(100))

    def full_disk(path: Path, to: Path) -> Path:
        if next(calls) == failing:
            raise OSError("No space left on device")
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", full_disk)
    with pytest.raises(SiteError, match="Everything there is as it was"):
        building._put(draft, out)

    assert {path: path.is_file() and path.read_text() for path in sorted(out.rglob("*"))} == before
    assert (draft / "index.html").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["draft", "site"]


def test_the_command_needs_nothing_of_jupyter_to_say_what_is_missing(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "for name in ('jupyter_core', 'nbformat', 'nbclient', 'packaging', 'jupyterlite_core'):\n"
        "    sys.modules[name] = None\n"
        "from autodiff_kit.cli import cli\n"
        f"cli(['site', {str(tmp_path / 'public')!r}])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert process.returncode == 1
    assert 'pip install "autodiff_kit[site]"' in process.stderr
    assert "Traceback" not in process.stderr


def test_the_command_says_what_is_missing_and_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = CliRunner().invoke(cli, ["site", str(tmp_path / "public")])

    assert result.exit_code == 1
    assert 'pip install "autodiff_kit[site]"' in result.output
    assert not (tmp_path / "public").exists()
