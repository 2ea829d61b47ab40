"""Where a site may be written, and what is said if it cannot be built."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.site import build as building
from autodiff_kit.site.build import MARK, SiteError, build


@pytest.fixture(autouse=True)
def jupyterlite_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_require_jupyterlite", lambda: None)


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


def test_the_command_says_what_is_missing_and_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = CliRunner().invoke(cli, ["site", str(tmp_path / "public")])

    assert result.exit_code == 1
    assert 'pip install "autodiff_kit[site]"' in result.output
    assert not (tmp_path / "public").exists()
