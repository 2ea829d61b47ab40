"""Which packages the browser's Python needs, and where each of them comes from.

After reading you can say what a lock file of Pyodide is: for each package its file, its hash and
what it depends on. The site has a lock of its own: the part of the release's lock that the kit
needs, and an entry for each package that no release has, such as the kit itself.

Source: Pyodide's documentation, "Lockfile". Read next: ``contents.py``.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from importlib import metadata
from pathlib import Path
from typing import TypedDict, cast

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from autodiff_kit.site import SiteError

__all__ = ["CORE", "LOCK", "Distribution", "distribution_at", "write_packages"]

LOCK = "pyodide-lock.json"
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
# What JupyterLite's kernel imports before it runs the first cell.
KERNEL = ("comm", "ipython", "jedi", "micropip")
# Not loaded until a cell imports it: two thirds of all bytes, for figures on paper alone.
LATER = {"matplotlib"}
KIT = "autodiff-kit"
SECONDS = 60  # that a server may take to answer


class Package(TypedDict):
    """What a lock says of a package; each entry has more, which the browser reads."""

    name: str
    version: str
    file_name: str
    install_dir: str
    sha256: str
    package_type: str
    imports: list[str]
    depends: list[str]
    unvendored_tests: bool


class Lock(TypedDict):
    """What ``pyodide-lock.json`` holds."""

    info: dict[str, str]
    packages: dict[str, Package]


@dataclass(frozen=True)
class Distribution:
    """A release of Pyodide: its core, its lock and its packages.

    Attributes
    ----------
    url : str
        Where the browser gets it; empty if the site brings it along.
    folder : Path or None
        Where it lies on this machine, for a site that brings it along.
    lock : Lock
    """

    url: str
    folder: Path | None
    lock: Lock

    @property
    def python(self) -> str:
        """The version of Python, ``"3.14"``."""
        return ".".join(str(self.lock["info"]["python"]).split(".")[:2])


def distribution_at(place: str) -> Distribution:
    """Return the release of Pyodide at a URL, or in a folder.

    Parameters
    ----------
    place : str
        The URL of a folder, ending in a slash or not, or a folder on this machine.

    Raises
    ------
    SiteError
        If there is no lock file of Pyodide's, or parts of the core are missing.
    """
    if place.startswith(("http://", "https://")):
        url = place.rstrip("/") + "/"
        try:
            with urllib.request.urlopen(url + LOCK, timeout=SECONDS) as answer:
                text = answer.read()
        except (urllib.error.URLError, OSError) as error:
            raise SiteError(
                f"{url}{LOCK} could not be read ({error}).\n-> Is this machine online? Else give "
                "the folder of a release that you have: autodiff-kit site OUT --pyodide FOLDER"
            ) from error
        return Distribution(url, None, _parsed(text, url + LOCK))
    folder = Path(place)
    absent = [name for name in (LOCK, *CORE) if not (folder / name).is_file()]
    if absent:
        raise SiteError(
            f"{folder} is no release of Pyodide: it has no {' and no '.join(absent)}.\n-> Unpack "
            "a release there, and name the folder that holds pyodide.mjs."
        )
    return Distribution("", folder, _parsed((folder / LOCK).read_bytes(), str(folder / LOCK)))


def _parsed(text: bytes, name: str) -> Lock:
    try:
        lock = json.loads(text)
        if isinstance(lock["packages"], dict) and lock["info"]["python"]:
            return cast(Lock, lock)
    except (ValueError, KeyError, TypeError):
        pass
    raise SiteError(f"{name} is no lock file of Pyodide's.")


def write_packages(
    release: Distribution, own: Sequence[Path], out: Path, wheels: Path | None = None
) -> list[str]:
    """Write the site's lock, and the files of all packages that the site brings along.

    Parameters
    ----------
    release : Distribution
    own : sequence of Path
        Wheels of the site's own, the kit's among them; they win over others of their name.
    out : Path
        Folder for them; made if missing.
    wheels : Path, optional
        Folder with wheels that need not be downloaded.

    Returns
    -------
    list of str - the names of all files that a browser will load.

    Raises
    ------
    SiteError
        If a package cannot be had, or is compiled and not the file that the release's lock names.
    """
    out.mkdir(parents=True, exist_ok=True)
    official: dict[str, Package] = {
        canonicalize_name(name): entry for name, entry in release.lock["packages"].items()
    }
    by_name = {_name_of(path): path for path in own}
    source = _Source(release, official, wheels, out)
    entries: dict[str, Package] = {}
    requirements = [Requirement(name) for name in (KIT, *KERNEL)]
    while requirements:
        # What is not in the release is asked for all at once: pip takes a second for each call.
        source.download([r for r in requirements if canonicalize_name(r.name) not in by_name])
        following: list[Requirement] = []
        for requirement in requirements:
            name = canonicalize_name(requirement.name)
            if name in entries:
                continue
            if name in by_name:
                entries[name] = _entry(by_name[name], release.python)
                shutil.copy(by_name[name], out)
            else:
                entries[name] = source.entry(name)
            if name == KIT:
                depends = [d for d in entries[name]["depends"] if d not in LATER]
                following += [Requirement(d) for d in LATER]
                entries[name]["depends"] = depends
            following += [Requirement(d) for d in entries[name]["depends"]]
        requirements = [r for r in following if canonicalize_name(r.name) not in entries]
    lock = {"info": release.lock["info"], "packages": entries}
    (out / LOCK).write_text(json.dumps(lock, indent=1), encoding="utf-8")
    later = _closure(LATER, entries) - _closure({KIT, *KERNEL}, entries)
    return sorted(entry["file_name"] for name, entry in entries.items() if name not in later)


def _closure(names: Iterable[str], entries: dict[str, Package]) -> set[str]:
    """Return packages and all that they depend on."""
    packages: set[str] = set()
    waiting = list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in packages:
            packages.add(name)
            waiting += entries[name]["depends"]
    return packages


class _Source:
    """Where packages come from that are not the site's own: the release, or the package index."""

    def __init__(
        self,
        release: Distribution,
        official: dict[str, Package],
        wheels: Path | None,
        out: Path,
    ) -> None:
        self._release, self._official, self._out = release, official, out
        self._at_hand = {_name_of(p): p for p in sorted(wheels.glob("*.whl"))} if wheels else {}

    def download(self, requirements: Sequence[Requirement]) -> None:
        """Have pip bring what neither the release nor the given folder has."""
        wishes = []
        for requirement in requirements:
            name = canonicalize_name(requirement.name)
            if name in self._at_hand:
                continue
            if name not in self._official:
                wishes.append(_as_installed(requirement))
            elif self._release.folder and not self._file(name).is_file():
                wishes.append(f"{name}=={self._official[name]['version']}")
        if not wishes:
            return
        place = self._out / "downloaded"
        process = subprocess.run(
            [
                *(
                    sys.executable,
                    "-m",
                    "pip",
                    "download",
                    "--quiet",
                    "--no-deps",
                    "-d",
                    str(place),
                ),
                *("--only-binary", ":all:", "--platform", "any", "--abi", "none"),
                *("--implementation", "py", "--python-version", self._release.python),
                *wishes,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            last = process.stderr.strip().splitlines()[-1:] or ["no reason given"]
            raise SiteError(
                f"These packages could not be downloaded: {', '.join(wishes)} ({last[0]}).\n"
                "-> Is this machine online? Else put their wheels into a folder: --wheels FOLDER"
            )
        for path in place.glob("*.whl"):
            self._at_hand[_name_of(path)] = path

    def entry(self, name: str) -> Package:
        """Return a package's entry of the lock; copy its file, if the site brings it along."""
        official = self._official.get(name)
        if official is None:
            path = self._at_hand[name]
            entry = _entry(path, self._release.python)
        elif self._release.url:
            return {**official, "file_name": self._release.url + official["file_name"]}
        else:
            path = self._file(name)
            if not path.is_file():
                path = self._at_hand[name]
            is_official = _digest(path) == official["sha256"]
            # What is not the release's own file must be pure Python: _entry sees to that.
            entry = official.copy() if is_official else _entry(path, self._release.python)
        shutil.copy(path, self._out / entry["file_name"])
        return entry

    def _file(self, name: str) -> Path:
        assert self._release.folder is not None
        return self._release.folder / str(self._official[name]["file_name"])


def _as_installed(requirement: Requirement) -> str:
    """Return the version of a package that is installed here, as the kit was tried with it."""
    try:
        return f"{requirement.name}=={metadata.version(requirement.name)}"
    except metadata.PackageNotFoundError:
        return f"{requirement.name}{requirement.specifier}"


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _name_of(wheel: Path) -> str:
    return str(parse_wheel_filename(wheel.name)[0])


def _entry(wheel: Path, python: str) -> Package:
    """Return the entry of the lock for a wheel, made of what the wheel says of itself."""
    if not wheel.name.endswith("-none-any.whl"):
        raise SiteError(
            f"{wheel.name} is compiled, and not a file of this release of Pyodide.\n-> Take all "
            "files of one release; what is none of its own must be pure Python."
        )
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = next(name for name in names if name.endswith(".dist-info/METADATA"))
        message = Parser().parsestr(archive.read(about).decode())
    tops = {name.split("/")[0].removesuffix(".py") for name in names if name.endswith(".py")}
    return {
        "name": str(message["Name"]),
        "version": str(message["Version"]),
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": _digest(wheel),
        "package_type": "package",
        "imports": sorted(top for top in tops if top.isidentifier()),
        "depends": _depends(message, python),
        "unvendored_tests": False,
    }


def _depends(message: Message, python: str) -> list[str]:
    place = {
        "sys_platform": "emscripten",
        "platform_system": "Emscripten",
        "os_name": "posix",
        "python_version": python,
        "python_full_version": f"{python}.0",
        "extra": "",
    }
    requirements = map(Requirement, message.get_all("Requires-Dist", []))
    return [
        str(canonicalize_name(r.name))
        for r in requirements
        if not r.marker or r.marker.evaluate(place)
    ]
