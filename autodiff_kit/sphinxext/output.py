"""What a Stepper becomes: HTML, a picture, or its steps in words.

After reading you know which builder gets which: pages in a browser the Stepper; EPUB, and LaTeX
where something converts SVG, the picture; all others, and LaTeX without a converter, each step in
words. Read next: ``view/embed.py``.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.transforms.post_transforms.images import ImageConverter

from autodiff_kit.sphinxext.directive import StepNode
from autodiff_kit.view.embed import embed_script, embed_style

__all__ = ["add_output"]

SCRIPT, STYLE = "autodiff-step.js", "autodiff-step.css"
SVG = "image/svg+xml"

PageContext = dict[str, Any]  # what the page's template knows


def add_output(app: Sphinx) -> None:
    """Register what writes Steppers."""
    app.add_node(StepNode, html=(_visit, _depart))
    app.add_post_transform(Elsewhere)
    app.connect("builder-inited", _add_files)
    app.connect("html-page-context", _add_to_page)


def _is_live(builder: Builder) -> bool:
    """Return whether what a builder writes is read in a browser: no EPUB, no help file."""
    return builder.format == "html" and not getattr(builder, "embedded", False)


class Elsewhere(SphinxPostTransform):
    """Replace Steppers by what other builders can write."""

    default_priority = 150  # before pictures are converted

    def run(self, **_: Any) -> None:
        """Replace them in this document."""
        if _is_live(self.app.builder):
            return
        for node in list(self.document.findall(StepNode)):
            node.replace_self(self._picture(node) if self._has_pictures() else _words(node))

    def _has_pictures(self) -> bool:
        supported = self.app.builder.supported_image_types
        if SVG in supported:
            return True
        for converter in self.app.registry.get_post_transforms():
            if issubclass(converter, ImageConverter) and any(
                source == SVG and target in supported
                for source, target in converter.conversion_rules
            ):
                return True
        return False

    def _picture(self, node: StepNode) -> nodes.Element:
        folder = Path(self.app.doctreedir) / "autodiff-step"
        folder.mkdir(exist_ok=True)
        name = sha256(node["svg"].encode()).hexdigest()[:16]
        path = folder / f"autodiff-step-{name}.svg"
        path.write_text(node["svg"], encoding="utf-8")
        self.env.images.add_file(self.env.docname, str(path))
        image = nodes.image("", uri=str(path), candidates={SVG: str(path)}, alt=node["alt"])
        image.source, image.line = node.source, node.line
        return image


def _words(node: StepNode) -> nodes.Element:
    steps = [nodes.list_item("", nodes.paragraph(text, text)) for text in node["captions"]]
    return nodes.enumerated_list("", *steps, enumtype="arabic", prefix="", suffix=".")


def _visit(writer: Any, node: StepNode) -> None:
    writer.body.append(node["html"])


def _depart(writer: Any, node: StepNode) -> None:
    """Nothing is left to write."""


def _add_files(app: Sphinx) -> None:
    """Put script and looks among the static files: the Steppers of all pages share them."""
    if _is_live(app.builder):
        folder = Path(app.outdir) / "_static"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SCRIPT).write_text(embed_script(), encoding="utf-8")
        (folder / STYLE).write_text(embed_style(), encoding="utf-8")


def _add_to_page(
    app: Sphinx, page: str, template: str, context: PageContext, doctree: nodes.document | None
) -> None:
    if doctree is not None and next(iter(doctree.findall(StepNode)), None) is not None:
        app.add_js_file(SCRIPT, loading_method="defer")
        app.add_css_file(STYLE)
