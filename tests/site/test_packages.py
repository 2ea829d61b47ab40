"""The lock of a site: what the browser loads, and where each file comes from."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.site import SiteError
from autodiff_kit.site.pyodide import CORE, LOCK, distribution_at, write_packages

KERNEL = ("comm", "ipython", "jedi", "micropip")


def wheel(folder: Path, name: str, *needs: str, tag: str = "py3-none-any") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    module = name.replace("-", "_")
    path = folder / f"{module}-1.0-{tag}.whl"
    lines = [f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {need}" for need in needs)]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{module}/__init__.py", "")
        archive.writestr(f"{module}-1.0.dist-info/METADATA", "\n".join(lines) + "\n")
    return path


def release(folder: Path, **packages: list[str]) -> Path:
    """Make a release with these packages, each with what it depends on."""
    entries: dict[str, Any] = {}
    for name, needs in packages.items():
        file = wheel(folder, name, tag="cp314-cp314-pyemscripten_2026_0_wasm32")
        entries[name] = {
            "name": name,
            "version": "1.0",
            "file_name": file.name,
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "depends": needs,
        }
    for name in CORE:
        (folder / name).write_text("")
    lock = {"info": {"python": "3.14.2"}, "packages": entries}
    (folder / LOCK).write_text(json.dumps(lock))
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    names = {"numpy": [], "matplotlib": ["pillow", "numpy"], "pillow": [], "scipy": ["numpy"]}
    release(tmp_path / "pyodide", **names)
    for name in KERNEL:
        wheel(tmp_path / "wheels", name)
    wheel(tmp_path / "wheels", "helper")
    return tmp_path


def written(place: Path, *needs: str) -> tuple[list[str], dict[str, Any]]:
    kit = wheel(place / "own", "autodiff-kit", *needs)
    out = place / "out"
    files = write_packages(distribution_at(str(place / "pyodide")), [kit], out, place / "wheels")
    packages: dict[str, Any] = json.loads((out / LOCK).read_text())["packages"]
    assert {entry["file_name"] for entry in packages.values()} | {LOCK} == {
        path.name for path in out.iterdir()
    }
    return files, packages


def test_the_lock_holds_what_the_kit_needs_and_nothing_else(place: Path) -> None:
    _, packages = written(place, "numpy>=1", "helper")

    assert set(packages) == {"autodiff-kit", "numpy", "helper", *KERNEL, "matplotlib", "pillow"}


def test_figures_on_paper_are_loaded_when_a_cell_imports_them(place: Path) -> None:
    files, packages = written(place, "numpy", "matplotlib")

    assert "matplotlib" not in packages["autodiff-kit"]["depends"]
    assert not [name for name in files if name.startswith(("matplotlib", "pillow"))]
    assert [name for name in files if name.startswith("numpy")]


def test_what_another_system_needs_is_left_out(place: Path) -> None:
    _, packages = written(place, 'absent; sys_platform == "win32"', 'absent2; extra == "lab"')

    assert packages["autodiff-kit"]["depends"] == []


def test_packages_of_a_release_elsewhere_are_named_by_their_whole_address(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autodiff_kit.site import pyodide

    lock = json.loads((place / "pyodide" / LOCK).read_text())
    far = pyodide.Distribution("https://python.example/full/", None, lock)
    kit = wheel(place / "own", "autodiff-kit", "numpy", "helper")
    files = write_packages(far, [kit], place / "out", place / "wheels")
    packages = json.loads((place / "out" / LOCK).read_text())["packages"]

    assert packages["numpy"]["file_name"].startswith("https://python.example/full/numpy-1.0-cp314")
    assert packages["helper"]["file_name"] == "helper-1.0-py3-none-any.whl"
    assert not list((place / "out").glob("numpy*"))
    assert packages["numpy"]["file_name"] in files


def test_a_compiled_file_that_the_release_does_not_name_is_refused(place: Path) -> None:
    next((place / "pyodide").glob("numpy*")).write_bytes(b"another file")

    with pytest.raises(SiteError, match=r"numpy-1\.0-cp314.* is compiled, and not a file of this"):
        written(place, "numpy")


def test_a_folder_that_is_no_release_is_refused_by_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=r"no pyodide-lock\.json and no pyodide\.mjs"):
        distribution_at(str(tmp_path))


def test_a_damaged_lock_is_refused(place: Path) -> None:
    (place / "pyodide" / LOCK).write_text('{"packages": []}')

    with pytest.raises(SiteError, match="no lock file of Pyodide's"):
        distribution_at(str(place / "pyodide"))
