"""``python -m tests.site.fixture FOLDER``: a release of Pyodide for tests.

No package index has Pyodide's compiled packages under their own names. One wheel carries some of
them along, unchanged: what is taken from it is what the lock of Pyodide's own npm package names by
its hash, so the carrier need not be trusted. This is a fixture, and never published.
"""

import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PYODIDE = "314.0.3"  # the two versions move together
CARRIER = "open-webui", "0.12.4", "open_webui/frontend/pyodide/"


def make(folder: Path) -> None:
    """Download Pyodide's core, and those of its packages that the carrier has."""
    with tempfile.TemporaryDirectory() as place:
        pack = ["npm", "pack", "--silent", "--pack-destination", place, f"pyodide@{PYODIDE}"]
        subprocess.run(pack, check=True, stdout=subprocess.DEVNULL)
        name, version, inner = CARRIER
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", place]
        subprocess.run([*pip, f"{name}=={version}"], check=True)
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(next(Path(place).glob("*.tgz"))) as archive:
            for member in archive.getmembers():
                file = archive.extractfile(member)
                if file and member.name.count("/") == 1:
                    (folder / Path(member.name).name).write_bytes(file.read())
        lock = json.loads((folder / "pyodide-lock.json").read_text())
        hashes = {entry["file_name"]: entry["sha256"] for entry in lock["packages"].values()}
        with zipfile.ZipFile(next(Path(place).glob("*.whl"))) as carrier:
            for path in carrier.namelist():
                wheel = path.removeprefix(inner)
                if path.startswith(inner) and wheel in hashes:
                    data = carrier.read(path)
                    if hashlib.sha256(data).hexdigest() == hashes[wheel]:
                        with open(folder / wheel, "wb") as target:
                            shutil.copyfileobj(io.BytesIO(data), target)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
