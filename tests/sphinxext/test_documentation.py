"""The directive for Sphinx and MyST: what builders write, what authors are told.

Needs the extra: ``pip install -e ".[sphinx]"``. ``ADK_REQUIRE_SPHINX=1`` makes that a must.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.sphinxext.building import CONF, SAMPLE, build, write

NEEDED = ("sphinx", "myst_parser")
if os.environ.get("ADK_REQUIRE_SPHINX") != "1" and not all(map(importlib.util.find_spec, NEEDED)):
    pytest.skip('needs Sphinx and MyST: pip install -e ".[sphinx]"', allow_module_level=True)

STEPPER = re.compile(r'<div class="autodiff-step[ "].*?</script></div>', re.DOTALL)


MANY = """\
   net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
   opt = torch.optim.SGD(net.parameters(), lr=0.1)
   for epoch in range(4):
       for i in range(25):
           opt.zero_grad()
           loss = (net(torch.ones(4, 2)) ** 2).mean()
           loss.backward()
           opt.step()
"""


def steppers(page: Path) -> list[str]:
    return STEPPER.findall(page.read_text(encoding="utf-8"))


def data(stepper: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json">(.*)</script>', stepper)
    assert match is not None
    return dict(json.loads(match[1]))


def payload(stepper: str) -> dict[str, Any]:
    return dict(json.loads(zlib.decompress(base64.b64decode(data(stepper)["payload"]))))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, built in two processes with warnings as errors."""
    out = tmp_path_factory.mktemp("sample")
    warnings = build(SAMPLE, out, "html", options=("-j", "2"))
    assert warnings == ""
    return out / "html"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample as other builders write it; LaTeX with something that converts SVG."""
    folder = tmp_path_factory.mktemp("elsewhere")
    converter = """
from sphinx.transforms.post_transforms.images import ImageConverter
class Converter(ImageConverter):
    conversion_rules = [("image/svg+xml", "image/png")]
    def is_available(self): return True
    def convert(self, source, target):
        open(target, "wb").write(open(source, "rb").read())
        return True
def setup(app):
    app.add_post_transform(Converter)
"""
    conf = (SAMPLE / "conf.py").read_text(encoding="utf-8") + 'version = "1"\n'
    documents = {
        f"{path.stem}_{path.suffix[1:]}": path.read_text(encoding="utf-8")
        for path in SAMPLE.glob("[ig]*.*")
    }
    write(folder / "plain", conf_py=conf, **documents)
    write(folder / "converting", conf_py=conf + converter, **documents)
    assert build(folder / "plain", folder, "text", "latex", "man") == ""
    assert build(folder / "converting", folder / "converted", "latex") == ""
    return folder


def test_each_stepper_of_the_sample_takes_less_than_60_kilobytes(sample: Path) -> None:
    sizes = [
        len(s.encode()) for page in ("index", "graphs") for s in steppers(sample / f"{page}.html")
    ]

    assert len(sizes) == 7
    assert max(sizes) < 60_000


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Short documents, built as HTML, text and EPUB."""
    folder = tmp_path_factory.mktemp("small")
    here = "\n.. autodiff-step::\n"
    write(
        folder / "in",
        conf_py=CONF + "version = copyright = '1'\n",
        index="T\n=\n\n.. toctree::\n\n   many\n   context\n   hidden\n",
        many=f"Many\n====\n{here}\n{MANY}",
        context="Context\n=======\n"
        f"{here}   :context:\n\n   a = torch.rand(1)\n   torch.set_grad_enabled(False)\n"
        f"{here}   :context:\n\n   b = torch.rand(1)\n   print('same', bool(a == b))\n"
        f"{here}\n   c = torch.ones(1, requires_grad=True) * 2\n"
        "   print(c.requires_grad, 'a' in vars())\n",
        hidden=f"Hidden\n======\n{here}   :hide-code:\n\n   # secret\n   x = torch.ones(1)\n",
    )
    options = ("-d", str(folder / "trees"))
    assert build(folder / "in", folder, "html", "text", "epub", options=options) == ""
    return folder


def test_a_program_with_many_parts_takes_no_more(small: Path) -> None:
    [stepper] = steppers(small / "html/many.html")

    assert len(stepper.encode()) < 60_000
    assert len(data(stepper)["parts"]) > 3  # and still there is something to open


def test_an_epub_gets_the_picture(small: Path) -> None:
    page = (small / "epub/hidden.xhtml").read_text(encoding="utf-8")

    [name] = re.findall(r'<img alt="[^"]*" src="_images/(autodiff-step-\w+\.svg)"', page)
    assert "<svg" in (small / "epub/_images" / name).read_text(encoding="utf-8")
    assert "<script" not in page


def test_examples_share_what_their_context_has_and_nothing_else(small: Path) -> None:
    text = (small / "text/context.txt").read_text(encoding="utf-8")

    assert "same False" in text  # random numbers go on, too
    assert "True False" in text  # the grad mode is put back, and `a` is not there


def test_hidden_code_is_in_no_part_of_the_page(small: Path) -> None:
    page = small / "html/hidden.html"

    assert "secret" not in page.read_text(encoding="utf-8")
    assert "secret" not in json.dumps(payload(steppers(page)[0]))


def test_a_page_has_the_script_once_and_only_where_it_has_a_stepper(sample: Path) -> None:
    counts = {
        path.stem: path.read_text(encoding="utf-8").count("autodiff-step.js")
        for path in sample.glob("*.html")
    }

    assert counts == {"index": 1, "graphs": 1, "genindex": 0, "search": 0}
    assert (sample / "_static/autodiff-step.js").is_file()


def test_nothing_is_asked_of_any_other_host(sample: Path) -> None:
    texts = [(sample / "_static" / f"autodiff-step.{kind}").read_text() for kind in ("js", "css")]
    texts += [s for page in ("index", "graphs") for s in steppers(sample / f"{page}.html")]

    names = "http://www.w3.org/2000/svg"  # a name, never fetched
    assert not re.search(
        r"https?://|//[a-z]+\.[a-z]|@import|url\(", "".join(texts).replace(names, "")
    )


def test_a_caption_makes_a_figure_with_a_number_and_a_name(sample: Path) -> None:
    text = (sample / "index.html").read_text(encoding="utf-8")

    assert re.search(
        r'<figure class="align-default" id="one-layer">\s*<div class="autodiff-step"', text
    )
    assert re.search(r'href="#one-layer"><span class="std std-numref">Fig\. \d', text)


def test_code_and_what_it_prints_stand_in_the_document(sample: Path) -> None:
    text = (sample / "index.html").read_text(encoding="utf-8")

    assert "autodiff-step-code" in text
    # d/dw of (w x + b - 2)^2 at w x + b = -0.5: 2 (-2.5) x.
    assert "tensor([ -5., -10.]) tensor(-5.)" in text


def test_an_error_that_is_the_subject_opens_explained(sample: Path) -> None:
    last = steppers(sample / "graphs.html")[-1]
    frames = payload(last)["frames"]

    assert data(last)["step"] == len(frames) - 1
    assert frames[-1]["explanation"]["fix"]


@pytest.mark.parity
def test_with_pytorch_itself_pages_show_the_same(sample: Path, tmp_path: Path) -> None:
    options = ("-D", "autodiff_step_library=torch")

    assert build(SAMPLE, tmp_path, "html", options=options) == ""

    for page in ("index.html", "graphs.html"):
        kit, torch = (
            map(payload, steppers(folder / page)) for folder in (sample, tmp_path / "html")
        )
        assert list(torch) == list(kit)


def test_builders_that_cannot_step_tell_each_step_in_words(elsewhere: Path) -> None:
    text = (elsewhere / "text/graphs.txt").read_text(encoding="utf-8")
    latex = next((elsewhere / "latex").glob("*.tex")).read_text(encoding="utf-8")

    assert "while h < 5.0:" in text
    assert "1. x = 1.5 is a leaf" in text
    assert "The loop ends when" in text
    assert "is a leaf: you made it" in latex
    assert "includegraphics" not in latex


def test_latex_gets_the_picture_where_something_converts_it(elsewhere: Path) -> None:
    folder = elsewhere / "converted/latex"
    latex = next(folder.glob("*.tex")).read_text(encoding="utf-8")

    names = re.findall(r"includegraphics(?:\[.*?\])?\{\{(autodiff-step-\w+)\}\.png\}", latex)
    assert len(names) == 7
    assert all((folder / f"{name}.png").is_file() for name in names)


def test_what_has_not_changed_is_not_run_again(tmp_path: Path) -> None:
    source, ran = tmp_path / "in", tmp_path / "ran"
    note = f"open({str(ran)!r}, 'a').write"
    directive = ".. autodiff-step::"
    first = f"T\n=\n\n.. toctree::\n\n   two\n\n{directive}\n\n   torch.ones(1); {note}('1')\n"
    write(source, index=first, two=f"U\n=\n\n{directive} program.py\n")
    (source / "program.py").write_text(f"torch.ones(1); {note}('2')\n")
    build(source, tmp_path, "html", options=("-j", "2"))
    assert sorted(ran.read_text()) == ["1", "2"]

    ran.write_text("")
    assert build(source, tmp_path, "html") == ""
    assert ran.read_text() == ""
    (source / "program.py").write_text(f"torch.ones(1); {note}('3')\n")
    assert build(source, tmp_path, "html") == ""

    assert ran.read_text() == "3"
    assert all(steppers(tmp_path / "html" / name) for name in ("index.html", "two.html"))


RST = """\
Wrong
=====

.. toctree::

   two

.. autodiff-step::
   :caption: with options

   x = torch.ones(2)

   x.backward()

* In a list:

  .. autodiff-step::

     def f(:

.. include:: part.txt

.. autodiff-step:: program.py

.. autodiff-step::
   :step: 9

   torch.ones(2)

.. autodiff-step::

   import torch
   torch.ones(2)

.. autodiff-step::
   :raises: ValueError

   torch.ones(2)

.. autodiff-step:: missing.py
"""
MYST = """\
# Two

```{autodiff-step}
:caption: with options

x = torch.ones(2)

x.backward()
```

- In a list:

  ```{autodiff-step}
  ---
  caption: yaml
  ---
  x = torch.ones(2)
  x.backward()
  ```
"""
PROGRAM = "def f(x):\n    raise ValueError('own words')\n\n\nf(1)\n"
PART = "Part\n\n.. autodiff-step::\n\n   torch.ones(2)\n   torch.ones(2) @ torch.ones(3)\n"
NO_GRAD = "`x.backward()` ended with RuntimeError: element 0 of tensors does not require grad"
WARNINGS = [  # file, line as an editor counts, words
    ("index.rst", 13, NO_GRAD),
    ("index.rst", 19, "`def f(:` ended with SyntaxError: invalid syntax"),
    ("part.txt", 6, "`torch.ones(2) @ torch.ones(3)` ended with RuntimeError"),
    ("program.py", 2, "`raise ValueError('own words')` ended with ValueError: own words"),
    ("index.rst", 25, "There is no step 9: write 1 to 1, or `last`."),
    ("index.rst", 30, "Nothing was recorded: this code works with PyTorch itself"),
    ("index.rst", 35, "This code was to raise ValueError, and it ran to its end."),
    ("index.rst", 40, "missing.py cannot be read"),
    ("two.md", 8, NO_GRAD),
    ("two.md", 18, NO_GRAD),
]


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("wrong")
    write(folder, index=RST, two_md=MYST, part_txt=PART, program_py=PROGRAM)
    # `import torch` is to be there also where PyTorch is not.
    (folder / "torch.py").write_text("def ones(*_): pass\n")
    return build(folder, folder / "_build", "html"), folder / "_build/html"


@pytest.mark.parametrize(("file", "line", "words"), WARNINGS)
def test_a_mistake_is_a_warning_with_file_and_line(
    wrong: tuple[str, Path], file: str, line: int, words: str
) -> None:
    assert re.search(rf"(^|/){re.escape(file)}:{line}: WARNING: {re.escape(words)}", wrong[0], re.M)


def test_there_is_one_warning_for_each_mistake_and_the_build_fails(wrong: tuple[str, Path]) -> None:
    assert wrong[0].count("WARNING: ") == len(WARNINGS)
    assert wrong[0].endswith("status 1")


def test_code_that_fails_is_stepped_through_up_to_there(wrong: tuple[str, Path]) -> None:
    stepper = steppers(wrong[1] / "index.html")[0]

    assert [frame["kind"] for frame in payload(stepper)["frames"]][-1] == "error"
