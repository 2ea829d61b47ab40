"""Files that want to stop, or to fill, the process that reads, judges or shows them.

None of them has any right to points; beside each, an honest learner is graded.
"""

import base64
import io
import json
import zipfile
import zlib
from functools import partial

from autodiff_kit.grading.notebook import MAX_CODE
from tests.grading import tiny

# What a bz2 of 1.2 GB of zeros looks like, packed once more.
ZEROS = zlib.decompress(
    base64.b85decode(
        "c-nJ{%CIzaj8qGb<l}sFpE17Af#CoH1BU{GL4&WG(*o6%Tn*Dl<wxa5<q63*JU;b-!Dx#UP@WO2LSd<iWRI#!w4kQa$8we6R!%14D<=y8;(`f_"
    )
)


def cell(source: str) -> bytes:
    return tiny.notebook(source)


def raw(cells: object) -> bytes:
    return json.dumps({"cells": cells}).encode()


def stub(error: str) -> bytes:
    return cell(f"def double(x):\n    raise NotImplementedError({error})\n")


def answering(value: str) -> bytes:
    return f"import numpy as np\ndef double(x):\n    return {value}\n".encode()


SCRIPTS = {
    "deep brackets": "(" * 90_000 + ")" * 90_000,
    "many signs": "x = " + "-" * 200_000 + "1",
    "many attributes": "x = a" + ".a" * 100_000,
    "many calls": "x = a" + "()" * 100_000,
    "long sum": "x = " + "+".join(["1"] * 100_000),
    "long comparison": "x = " + "<".join(["1"] * 100_000),
    "nested functions": "".join(" " * n + "def f():\n" for n in range(99)) + " " * 99 + "pass",
    "nested lambdas": "x = " + "lambda:" * 30_000 + "0",
    "nested lists": "x = " + "[" * 199 + "]" * 199,
    "many decorators": "@f\n" * 60_000 + "def double(x): pass",
    "many else": "if x: pass\n" + "elif x: pass\n" * 18_000,
    "number of many digits": "x = " + "9" * 200_000,
    "hexadecimal of many digits": "x = 0x" + "f" * 200_000,
    "text in many parts": "x = " + "'a' " * 60_000,
    "format within format": "x = " + "f'{" * 140 + "0" + "}'" * 140,
    "many names": "\n".join(f"a{n} = {n}" for n in range(18_000)),
    "many short lines": "0\n" * (MAX_CODE // 2 - 10),
    "many marks": "(\n" + "# %%\n" * 50_000,
    "many marks with broken cells": "(\n# %%\n" * 1_900,
    "marks of two thousand cells that fit together": "x = '''\n" + "# %%\n" * 1_990,
    "null characters": "\0" * 1000,
    "not yet in UTF-8": "# coding: utf-7\n+AGEAYg-",
    "form feeds and odd line ends": "x = 1\x0c\x1c\u2028\rdef double(y): return 1/0\r\n",
    "names of no letters": "\U0001d41d\U0001d428 = 1\n" * 1000,
}
ANSWERS = {
    "very many small arrays": "[np.array(1.0)] * 999_000",
    "as many as may be sent": "[np.array(1.0)] * 9_990",
    "many dimensions": "np.zeros((2,) * 22, bool)",
    "sixteen dimensions": "np.zeros((2,) * 16, bool)",
    "no size in many dimensions": "np.zeros((0,) + (2**31,) * 2)[:0]",
    "twelve to the fifth lists": "eval('[' * 4 + '[[]] * 12' + '] * 12' * 4)",
    "a list at every depth": "eval('[' * 48 + '1' + ']' * 48)",
    "long text": "'x' * (8 * 2**20 - 100)",
    "odd text": "'\\x1b\\u202e' * 10**5",
    "long keys": "{'k' * 10**6 + str(n): n for n in range(8)}",
    "many keys": "{str(n): n for n in range(49_000)}",
    "as many bytes as may be": "np.zeros(8 * 2**20 - 200, np.uint8)",
    "not a number eight million times": "np.full(2**20 - 30, np.nan)",
    "the smallest numbers": "np.full(1000, 5e-324)",
    "the largest numbers": "np.full(1000, 1.7e308)",
    "halves": "np.full(1000, 6e4, np.float16)",
    "smallest integer": "np.full(3, -2**63)",
    "tuple of tuples": "((((),) * 200,) * 200)",
}
NOTEBOOKS = {
    "stub of four hundred terms": lambda: stub(" + ".join(["a"] * 400)),
    "stub with a long hexadecimal": lambda: stub("0x" + "f" * 6000),
    "a million lines": lambda: cell("0\n" * 1_000_000),
    "very many cells": lambda: raw([{}] * 400_000),
    "very many cells of code": lambda: raw([{"cell_type": "code", "source": ""}] * 100_000),
    "very many lines in one cell": lambda: raw([{"cell_type": "code", "source": [""] * 1_000_000}]),
    "lists without end": lambda: b"[" * 1_000_000,
    "twenty megabytes of lists": lambda: b'{"cells": [' + b"[]," * 6_900_000 + b"[]]}",
    "twenty megabytes of keys": lambda: b'{"cells": [' + b'{"a":{}},' * 2_300_000 + b"{}]}",
    "number of many digits": lambda: b'{"cells": ' + b"1" * 100_000 + b"}",
    "infinite number of cells": lambda: b'{"cells": Infinity}',
    "keys twice": lambda: b'{"cells": 1, "cells": [], "cells": {}}',
    "source that is a dict": lambda: raw([{"cell_type": "code", "source": {"a": 1}}]),
    "half a character": lambda: b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}',
    "text in UTF-16": lambda: "{}".encode("utf-16"),
    "half a text in UTF-16": lambda: b"\xff\xfe{",
    "magics only": lambda: cell("%%time\n" * 20_000),
    "blanks before a magic": lambda: cell(" \t" * 100_000 + "%x"),
    "only blanks": lambda: cell(" \n" * 100_000),
    "blanks before broken code": lambda: cell("if x:\n" + " " * 200_000 + "x ("),
    "blanks before a broken comment": lambda: cell("if x:\n" + " " * 200_000 + "# x\n("),
}


def zipped(name: str, data: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr(name, data)
    return packed.getvalue()


def bomb() -> bytes:
    """Return a zip whose entry, packed by bz2, becomes 1.2 GB."""
    small = bytearray(zipped("e01_double.py", ZEROS, zipfile.ZIP_STORED))
    for start, place in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        at = small.index(start) + place
        small[at : at + 2] = (12).to_bytes(2, "little")
    size = (1_200_000_000).to_bytes(4, "little")
    for start, place in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        at = small.index(start) + place
        small[at : at + 4] = size
    return bytes(small)


def flagged(bit: int) -> bytes:
    """Return a zip with one more flag: 0 says that it is encrypted, 11 that names are UTF-8."""
    data = bytearray(zipped("e01_doubl\u00e9.py".encode().decode("latin-1"), b"x = 1"))
    for start, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = data.index(start) + place
        flags = int.from_bytes(data[at : at + 2], "little") | 1 << bit
        data[at : at + 2] = flags.to_bytes(2, "little")
    return bytes(data)


ZIPS = {
    "bomb of bz2": bomb,
    "bomb of deflate": lambda: zipped("e01_double.py", bytes(50 * 2**20)),
    "bomb of lzma": lambda: zipped("e01_double.py", bytes(50 * 2**20), zipfile.ZIP_LZMA),
    "encrypted": lambda: flagged(0),
    "name that is no text": lambda: flagged(11).replace(b"\xc3\xa9", b"\xc3\xff"),
    "name of sixty thousand letters": lambda: zipped("a/" * 30_000 + "e01_double.py", b"x = 1"),
    "zip in a zip": lambda: zipped("e01_double.zip", zipped("e01_double.py", b"x = 1")),
    "path out of it": lambda: zipped("../../e01_double.py", b"x = 1"),
    "cut short": lambda: zipped("e01_double.py", b"x = 1" * 99)[:-30],
    "nothing": lambda: b"",
    "end only": lambda: b"PK\5\6" + b"\xff" * 18,
    "end of many entries": lambda: b"PK\5\6" + bytes(4) + b"\xff\xff" * 2 + bytes(8) + b"\0\0",
}


# Name: what makes its bytes, and its suffix. Some are large, and only one test reads them.
ALL = {
    **{f"script: {name}": (code.encode, ".py") for name, code in SCRIPTS.items()},
    **{f"answer: {name}": (partial(answering, value), ".py") for name, value in ANSWERS.items()},
    **{f"notebook: {name}": (make, ".ipynb") for name, make in NOTEBOOKS.items()},
    **{f"zip: {name}": (make, ".zip") for name, make in ZIPS.items()},
}
