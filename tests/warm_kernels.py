"""Kernels that are copies of one process which has imported Jupyter and the kit, and run nothing.

A kernel of its own spends most of its start on imports, the same in each. Here one process imports
what kernels need, and forks when a kernel is to start: its names, its progress file, its folder and
its environment are its own. To Jupyter this is a kernel like others: a program that it starts,
interrupts and kills. ``conftest.py`` has the fixture; nbval, in the gate, runs kernels of its own.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Not the kit's widgets: a notebook that imports them gets the magics, which is to be tested.
IMPORTED = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "numpy.random",
    "anywidget",  # and with it ipywidgets
    "autodiff_kit.nn.functional",
    "autodiff_kit.lessons.predict",
    "autodiff_kit.view.story_svg",
    "autodiff_kit.view.panels",
)


def spec(folder: Path) -> None:
    """Write a kernel named python3, for ``JUPYTER_PATH``, that asks the server in a folder."""
    place = folder / "kernels" / "python3"
    place.mkdir(parents=True)
    stand_in = [sys.executable, "-I", "-S", __file__, "kernel", str(folder / "s")]
    words = {
        "argv": [*stand_in, "-f", "{connection_file}"],
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
    }
    (place / "kernel.json").write_text(json.dumps(words))


@contextmanager
def server(folder: Path) -> Iterator[None]:
    """Serve from an empty folder, as long as it is needed."""
    spec(folder)
    root = str(Path(__file__).parents[1])
    paths = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
    command = [sys.executable, __file__, "serve", str(folder / "s")]
    with subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        yield
        process.terminate()


def kernel(address: str, *options: str) -> None:
    """Stand for the kernel in the eyes of Jupyter: end with it, and hand interrupts on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        start = {"options": options, "folder": os.getcwd(), "environment": dict(os.environ)}
        line.sendall(json.dumps(start).encode() + b"\n")
        number = int(line.recv(64))
        signal.signal(signal.SIGINT, lambda *_: os.kill(number, signal.SIGINT))
        line.recv(1)  # nothing comes: the other end is closed when the kernel ends


def serve(address: str) -> None:
    """Import what kernels need, and fork a kernel for whoever asks."""
    import gc
    import importlib

    sys.path.pop(0)  # this file's folder: a kernel's code finds no tests there
    signal.signal(signal.SIGCHLD, reap)
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # the copies share these pages as long as no collector writes in them
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        print("open", flush=True)
        while True:
            line, _ = door.accept()
            if os.fork() == 0:
                door.close()
                become_kernel(line)
                return
            line.close()


def reap(*_: object) -> None:
    """Take note of the kernels that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def become_kernel(line: socket.socket) -> None:
    """Run a kernel in this process until it is shut down, or its stand-in is killed."""
    from ipykernel.kernelapp import IPKernelApp

    with line.makefile("r", encoding="utf-8") as text:
        start = json.loads(text.readline())
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(start["environment"])
    os.chdir(start["folder"])
    sys.argv = ["ipykernel_launcher.py", *start["options"]]
    line.sendall(str(os.getpid()).encode())

    def end_with_it() -> None:
        line.recv(1)
        os._exit(1)

    threading.Thread(target=end_with_it, daemon=True).start()
    IPKernelApp.launch_instance()


if __name__ == "__main__":
    {"kernel": kernel, "serve": serve}[sys.argv[1]](*sys.argv[2:])
