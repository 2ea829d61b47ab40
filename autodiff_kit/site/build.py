"""Put the site together: JupyterLite, the browser's Python with the kit in it, the learner's files.

After reading you can say in which order a site is made, and why one that is there stays whole
until the new one is complete. Read next: ``trial.py``.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import TypedDict

from jupyter_core.paths import jupyter_path

import autodiff_kit
from autodiff_kit.lessons import library
from autodiff_kit.site import STATIC, SiteError, require_jupyterlite
from autodiff_kit.site.contents import title_of, write_contents
from autodiff_kit.site.first_look import first_looks
from autodiff_kit.site.pages import Lesson, write_pages
from autodiff_kit.site.pyodide import CORE as CORE_FILES
from autodiff_kit.site.pyodide import LOCK, Distribution, distribution_at, write_packages

__all__ = ["MARK", "build"]

MARK = "autodiff-kit-site.json"  # stands in every site, so that another folder is never replaced
PACKAGES = "static/packages"
CORE = "static/pyodide"
KERNEL = "@jupyterlite/pyodide-kernel-extension"


def build(
    out: Path,
    *,
    exercises: Mapping[str, bytes],
    course: Path | None = None,
    pyodide: str = "",
    wheels: Path | None = None,
    title: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Write a folder of static files in which all lessons run.

    Parameters
    ----------
    out : Path
        The folder. A site that is there is replaced when the new one is complete; what others
        have put beside its files stays.
    exercises : mapping of str to bytes
        Path in the learner's folder -> notebook.
    course : Path, optional
        A teacher's own notebooks.
    pyodide : str, optional
        URL or folder of a release of Pyodide. The default is the public one that JupyterLite's
        kernel names.
    wheels : Path, optional
        Folder with wheels that need not be downloaded.
    title : str, optional
        Of the course.
    say : callable, optional
        Is told of each step, in a few words.

    Returns
    -------
    Path - ``out``.

    Raises
    ------
    SiteError
        If ``out`` is a folder of something else, or a part cannot be had. What was there is whole.
    """
    require_jupyterlite()
    _require_own(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=out.resolve().parent, prefix=".autodiff-kit-site-"
    ) as place:
        draft = Path(place) / "site"
        _build(Path(place), draft, exercises, course, out, pyodide, wheels, title, say)
        _put(draft, out)
    return out


def _put(draft: Path, out: Path) -> None:
    """Put a new site in the place of the old one, all or nothing.

    What others have put beside the old one moves into the new one last: where something fails on
    the way, everything goes back to where it was. The old one is removed when all is done.
    """
    aside = Path(tempfile.mkdtemp(dir=out.resolve().parent, prefix=".autodiff-kit-before-"))
    before = aside / "site"
    undo: list[tuple[Path, Path]] = []

    def move(path: Path, to: Path) -> None:
        path.rename(to)
        undo.append((to, path))

    try:
        if out.exists():
            others = [path.name for path in _of_others(out)]  # a CNAME, or version control's folder
            move(out, before)
            move(draft, out)
            for name in others:
                move(before / name, out / name)
        else:
            move(draft, out)
    except OSError as error:
        for path, to in reversed(undo):
            path.rename(to)
        aside.rmdir()
        raise SiteError(
            f"The new site could not be put into {out}: {error}\n-> Everything there is as it "
            "was. Close what holds its files open, and build again."
        ) from error
    shutil.rmtree(aside, ignore_errors=True)


def _build(
    work: Path,
    site: Path,
    exercises: Mapping[str, bytes],
    course: Path | None,
    out: Path,
    pyodide: str,
    wheels: Path | None,
    title: str,
    say: Callable[[str], None],
) -> None:
    lite = work / "lite"
    say("Lessons and exercises ...")
    files = lite / "files"
    lessons = write_contents(files, exercises, course, without=out.resolve(), say=say)
    say("The browser's Python ...")
    release = distribution_at(pyodide or _public_release())
    own = [_kit_wheel(work / "kit"), *_stub_wheels()]
    names = write_packages(release, own, work / "packages", wheels)
    say("A program to step through for each lesson ...")
    looks = first_looks(lessons, library.find(), work / "looks")
    say("JupyterLite ...")
    _write_config(lite, release)
    _run_jupyterlite(lite, site)
    shutil.copytree(work / "packages", site / PACKAGES, ignore=shutil.ignore_patterns("downloaded"))
    shutil.copytree(work / "looks", site / "looks")
    core = _copy_core(release, site / CORE)
    _add_offline(site / "service-worker.js")
    as_listed = [
        Lesson(path.relative_to(files).as_posix(), title_of(path), looks[path]) for path in lessons
    ]
    others = [
        Lesson(name, title_of(files / name), "first.html")
        for name in sorted(exercises)
        if name.endswith(".ipynb")
    ]
    needed = [*core, f"{PACKAGES}/{LOCK}", *(n if ":" in n else f"{PACKAGES}/{n}" for n in names)]
    for folder in ("files", "looks", "api/contents"):
        paths = sorted((site / folder).rglob("*"))
        needed += [path.relative_to(site).as_posix() for path in paths if path.is_file()]
    write_pages(site, title or "See what loss.backward() does", as_listed, others, needed)
    about = About(
        version=autodiff_kit.__version__,
        lessons=[lesson.path for lesson in as_listed],
        needs=release.url,
        own=sorted([MARK, *(path.name for path in site.iterdir())]),
    )
    _write(site / MARK, about)


class About(TypedDict):
    """What a site says of itself, in the file ``MARK``.

    Attributes
    ----------
    version : str
        Of the kit.
    lessons : list of str
        Paths of the notebooks, in order.
    needs : str
        URL of the release of Pyodide that browsers load; empty if the site has it.
    own : list of str
        What lies in its folder.
    """

    version: str
    lessons: list[str]
    needs: str
    own: list[str]


def _of_others(site: Path) -> list[Path]:
    """Return what lies in the folder of a site and does not belong to it."""
    try:
        own = set(json.loads((site / MARK).read_text(encoding="utf-8"))["own"])
    except (ValueError, KeyError, TypeError) as error:
        raise SiteError(
            f"{site / MARK} does not say what belongs to the site.\n-> Name a new folder."
        ) from error
    return [path for path in site.iterdir() if path.name not in own]


def _require_own(out: Path) -> None:
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).is_file():
        raise SiteError(
            f"{out} holds other files, which a site would replace.\n-> Name a new folder."
        )
    if out.exists() and not out.is_dir():
        raise SiteError(f"{out} is a file.\n-> Name a new folder.")


def _public_release() -> str:
    """Return the URL of the release that this version of JupyterLite's kernel is made for."""
    constants = importlib.import_module("jupyterlite_pyodide_kernel.constants")
    return str(constants.PYODIDE_CDN_URL).rpartition("/")[0]


def _stub_wheels() -> list[Path]:
    """Return what stands for a package that only a server needs; JupyterLite's kernel has it."""
    for place in jupyter_path("labextensions"):
        wheels = sorted(Path(place, KERNEL, "static/pypi").glob("widgetsnbextension-4*.whl"))
        if wheels:
            return wheels
    raise SiteError(
        f"The extension {KERNEL} is not where Jupyter looks for it.\n"
        "-> pip install --force-reinstall jupyterlite-pyodide-kernel"
    )


def _kit_wheel(folder: Path) -> Path:
    """Return a wheel of this very kit: built from a checkout, or made of what is installed."""
    folder.mkdir(parents=True)
    source = Path(autodiff_kit.__file__).resolve().parents[1]
    if (source / "pyproject.toml").is_file():
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder)]
        process = subprocess.run(
            [*command, str(source)], capture_output=True, text=True, check=False
        )
        if process.returncode:
            raise SiteError(f"The kit's own wheel was not built:\n{process.stderr.strip()}")
        return next(folder.glob("autodiff_kit-*.whl"))
    installed = metadata.distribution("autodiff_kit")
    wheel = folder / f"autodiff_kit-{installed.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in installed.files or ():
            path = Path(str(installed.locate_file(file)))
            if ".." not in file.parts and path.suffix != ".pyc" and path.is_file():
                archive.write(path, file.as_posix())
    return wheel


def _write_config(lite: Path, release: Distribution) -> None:
    kernel = {
        "disablePyPIFallback": True,
        "loadPyodideOptions": {
            "packages": ["autodiff-kit"],
            "lockFileURL": f"./{PACKAGES}/{LOCK}",
        },
        "pyodideUrl": f"{release.url}pyodide.mjs" if release.url else f"./{CORE}/pyodide.mjs",
    }
    page = {
        "exposeAppInBrowser": True,
        "litePluginSettings": {f"{KERNEL}:kernel": kernel},
    }
    _write(
        lite / "jupyter-lite.json", {"jupyter-lite-schema-version": 0, "jupyter-config-data": page}
    )
    config = {"contents": ["files"], "apps": ["lab", "notebooks"], "no_sourcemaps": True}
    _write(lite / "jupyter_lite_config.json", {"LiteBuildConfig": config})


def _write(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, indent=1), encoding="utf-8")


def _run_jupyterlite(lite: Path, site: Path) -> None:
    # Its notes of an earlier build lie in the current folder, and would leave settings out.
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    process = subprocess.run(
        [
            *(sys.executable, "-m", "jupyterlite_core.app", "build"),
            *("--lite-dir", str(lite), "--output-dir", str(site)),
        ],
        cwd=lite,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode or not (site / "notebooks/index.html").is_file():
        last = "\n".join((process.stdout + process.stderr).strip().splitlines()[-12:])
        raise SiteError(f"JupyterLite did not build the site. Its last words:\n{last}")


def _copy_core(release: Distribution, target: Path) -> list[str]:
    """Copy the core of Pyodide, unless the browser gets it elsewhere; return its addresses."""
    if release.folder is None:
        return [release.url + name for name in CORE_FILES]
    target.mkdir(parents=True)
    for name in CORE_FILES:
        shutil.copyfile(release.folder / name, target / name)
    return [f"{CORE}/{name}" for name in CORE_FILES]


def _add_offline(worker: Path) -> None:
    """Let JupyterLite's service worker keep files, so that the site works without a network."""
    own = (STATIC / "offline.js").read_text(encoding="utf-8")
    worker.write_text(own + worker.read_text(encoding="utf-8"), encoding="utf-8")
